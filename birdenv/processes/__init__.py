"""Child processes: starting them, their limits, talking to them, and pools of them.

This door is empty so that a child loads no more than the module it asks for: `_process` (start, frames, end),
`_pool` (workers that are leased, groups that survive the death of one), `_messages` (frames and what is in
them), `_child` (what a child does before its own `main`).
"""
