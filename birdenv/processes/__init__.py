"""Start, limit and call child processes, and keep pools of them.

The package itself imports nothing, so that a child loads only the modules that it uses: `process` (call a
child, and get its answer or its death), `starting` (start and end a child), `child` (the code that a child
runs before its own `main`, and the loop that answers calls), `messages` (frames, and the values in them), and
`pool` (a pool of children, and the memory that the machine has left).
"""
