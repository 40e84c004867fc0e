"""Start, limit and call child processes, and keep pools of them.

The modules are `process` (call a child process, and get its answer or the cause of its death), `starting`
(start and end a child process), `child` (the code that runs inside the child), `messages` (the format of the
messages between the two), and `pool` (a pool of child processes, and the memory that is left on the machine).
The package itself imports nothing, so a child loads only the modules that it uses.
"""
