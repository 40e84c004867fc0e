"""Child processes: starting them, their limits, talking to them, and pools of them.

The door is empty, and its modules are public, so that a child loads no more than it uses: `process` (call a
child, and get its answer or its death), `starting` (start a child, and end it), `child` (what a child does
before its own `main`, and the loop that answers), `messages` (frames, and the values in them), `pool`
(children that take turns, and how much memory the machine has left for them).
"""
