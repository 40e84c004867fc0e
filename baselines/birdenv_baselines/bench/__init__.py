"""`make bench`, or `python -m birdenv_baselines.bench`: birdenv's speed as one table of ratios.

Each line is measured side by side in this run and held against a bar. What is measured:

    isolation   starting and writing episodes, against copies of the database file
    wall        what worker processes cost: a statement, the first one, many episodes
    steps       what the environment adds to the statements that it runs
    episodes    whole episodes, against two ways in which they are usually played; are the verdicts equal?
    models      many episodes with a language model at once, against what the model alone takes
    candidates  batches of candidate episodes, against Gymnasium's vector environments
    scoring     13 systems' answers, against the official script's way and against executing them once
    postgres    episodes on PostgreSQL, against BIRD-Interact's way of resetting; a whole run beside SQLite's

How: `_databases` builds what is read, `_episode_tasks` has the questions, `_peers` the other ways of playing,
`_measure` takes the times, `_table` prints. Real questions and answers are in `_mini_dev`, their databases in
`_filled_databases`, the official script's way in `_official_script`. The PostgreSQL servers are in
`_postgres_servers`, BIRD-Interact's way in `_postgres_peers`, the processes that play in `_postgres_runners`.
"""
