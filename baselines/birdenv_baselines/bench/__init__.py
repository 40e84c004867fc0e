"""`make bench`, or `python -m birdenv_baselines.bench`: birdenv's speed as one table and a JSON file.

Each line of the table answers a question that a user may have. Most lines compare birdenv with a different
way of doing the same work. The two take turns within one run, so that a busy machine slows both of them.

The modules in `lines/` each measure one subject. `_measure` measures and compares times, `_databases` builds
the databases, `_tasks` contains the tasks and plays them in the usual way, `_mini_dev` reads BIRD mini-dev
and scores it as the official script does, `_processes` counts processes and their memory, and `_table` prints
the table.
"""
