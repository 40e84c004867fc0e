"""`make bench`, or `python -m birdenv_baselines.bench`: birdenv's speed as one table and a JSON file.

Each line of the table answers a question that a user may have. Most lines compare birdenv with another way of
doing the same work. The two take turns within one run, so that a busy machine slows both of them.

The modules in `lines/` each measure one subject. `_measure` has the clock and the figures, `_databases`
builds the databases, `_tasks` has the tasks and the usual way of playing them, `_mini_dev` reads BIRD
mini-dev and scores it as the official script does, `_processes` counts processes and their memory, and
`_table` prints the table.
"""
