"""`make bench`, or `python -m birdenv_baselines.bench`: birdenv's speed as one table and a JSON file.

Each line of the table answers a question of a user. The contenders of a line take turns within one run
(`_measure`), so that a busy machine slows all of them. `lines/` has one module for each subject. `_databases`
builds the databases, `_tasks` has the tasks and the usual way of playing them, `_mini_dev` reads BIRD
mini-dev and scores it as the official script does, `_processes` counts processes and their memory, and
`_table` prints.
"""
