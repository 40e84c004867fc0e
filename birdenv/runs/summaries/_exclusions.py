"""Episodes that rates leave out because the machine or the benchmark was at fault, and the first reason.

An agent that can make its episodes fail in this way takes them out of its own rates. So their number stands
beside the rates, for each agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from birdenv.dialogue.measures import PARTNER_ERROR
from birdenv.runs._run_folder import episode_name
from birdenv.runs.summaries.recorded_run import RecordedRun

_FAULTS: Final = ("infra_error", PARTNER_ERROR, "test_error")
_NOT_PUBLIC: Final = "the benchmark's own SQL or test cases do not run (private.jsonl says why)"
_LONGEST_REASON: Final = 200  # characters


@dataclass(frozen=True, slots=True)
class Exclusions:
    """So many episodes of a run are left out; `first` is the name of the first, `reason` what it says."""

    episodes: int
    first: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {"episodes": self.episodes, "first": self.first, "reason": self.reason}

    def line(self, agent: str) -> str:
        """`2 episode(s) of MODEL are excluded; the first, shop_1: the server is lost`."""
        return f"{self.episodes} episode(s) of {agent} are excluded; the first, {self.first}: {self.reason}"


def exclusions(run: RecordedRun) -> Exclusions | None:
    """Count the excluded episodes of a run, and give the first reason; None where there are none."""
    found = [record for record in run.records if record["status"] in _FAULTS]
    if not found:
        return None
    first = found[0]
    reason = " ".join(str(first.get("error") or _NOT_PUBLIC).split())[:_LONGEST_REASON]
    return Exclusions(len(found), episode_name(first["instance_id"], first.get("repeat")), reason)
