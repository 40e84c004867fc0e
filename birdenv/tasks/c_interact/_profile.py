"""Protocol profiles: where the published implementations of c-Interact disagree, as data.

`strict` is birdenv's default; `shell` follows the original batch pipeline, `adk` the later tool-calling
service (BIRD-Interact repository). Profiles switch the protocol; the comparison of results is the strict one
in all three.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["PROFILES", "Profile"]


@dataclass(frozen=True, slots=True)
class Profile:
    """One implementation's rules.

    Attributes:
        free_submission: the first submission lies outside the turn budget (paper), or takes its last turn.
        enforced: a question beyond the budget is refused, or answered all the same.
        max_actions: actions after which an episode is truncated, where the budget is not enforced.
        clarify_later: questions are allowed in the debug attempt and in the follow-up, too.
        all_knowledge_fields: knowledge entries are shown with every field of the file.
        renumber_knowledge: ids of the visible entries are counted anew.
        error_text: the debug feedback repeats the database's message, or says only that there was an error.
        category_from_id: Management is told by `_M_` in the instance id, or by the record's `category`.
        follow_up_conditions: the follow-up is compared under its own `conditions`, if it has some.
        follow_up_base: whose accepted first-phase SQL the prediction's follow-up starts from.
        setup: `preprocess_sql` and `clean_up_sqls` are run.
    """

    name: str
    free_submission: bool = True
    enforced: bool = True
    max_actions: int | None = None
    clarify_later: bool = False
    all_knowledge_fields: bool = False
    renumber_knowledge: bool = True
    error_text: bool = True
    category_from_id: bool = False
    follow_up_conditions: bool = True
    follow_up_base: Literal["prediction", "gold"] = "prediction"
    setup: bool = True

    def questions(self, counted_ambiguities: int, patience: int) -> int:
        """How many clarification questions the budget `max_turn = ambiguities + patience` holds."""
        max_turn = counted_ambiguities + patience
        return max_turn if self.free_submission else max(max_turn - 1, 0)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("strict"),
        Profile(
            "shell",
            free_submission=False,
            all_knowledge_fields=True,
            renumber_knowledge=False,
            error_text=False,
            category_from_id=True,
            follow_up_conditions=False,
            follow_up_base="gold",
        ),
        Profile(
            "adk",
            enforced=False,
            max_actions=60,
            clarify_later=True,
            renumber_knowledge=False,
            setup=False,
        ),
    )
}
"""By name: `strict`, `shell`, `adk`."""
