"""Start, limit and call child processes, and keep pools of them.

* `process`: call a child process, and get its answer or the cause of its death.
* `starting`: start and end a child process.
* `child`: the code that runs inside a child process.
* `messages`: the format of the messages between a child process and its parent.
* `pool`: reuse child processes, and determine how much memory is left for more.

The package itself imports nothing, so a child process loads only the modules that it uses.
"""
