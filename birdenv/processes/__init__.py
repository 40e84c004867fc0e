"""Child processes: starting them, their limits, talking to them, and pools of them.

This door is empty so that a child loads no more than the module it asks for: `_process` (start, frames, end),
`_child` (what a child does before its own `main`: limits), `_messages` (frames and what is in them), `_pool`
(workers that are leased, groups that survive the death of one), `_shared_pool` (a bound on all workers, kept
from one lease to the next, dead ones replaced), `_one_at_a_time` (locks between processes).
"""
