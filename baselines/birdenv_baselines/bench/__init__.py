"""`make bench`, or `python -m birdenv_baselines.bench`: birdenv's speed as one table and a JSON file.

Every line answers a question of a user. What a line compares takes turns within one run (`_measure`), so that
a busy machine slows all of it. `lines/` has one module for each subject; `_databases` builds the databases
they read, `_tasks` has their questions and the usual way of playing them, `_mini_dev` reads BIRD mini-dev and
scores it as the official script does, `_processes` counts processes and their memory, `_table` prints.
"""
