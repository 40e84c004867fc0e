"""Protocol profiles: where the published implementations of c-Interact disagree, as data.

`strict` is birdenv's default; `shell` follows the original batch pipeline, `adk` the later tool-calling
service (BIRD-Interact repository). Profiles switch the protocol, and name the rules by which
submissions are judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from birdenv.grading.interact import GRADING_RULES, STRICT_RULES, GradingRules

PATIENCE: Final = 3
"""Questions beyond one for each ambiguity, unless the settings say otherwise (BIRD-Interact §2).

In c-Interact each adds one question (`Profile.questions`), in a-Interact 2 to the budget (`budget_for`)."""

MAX_PATIENCE: Final = 100
"""The most that the setting takes."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One implementation's rules.

    Attributes:
        free_submission: the first submission lies outside the turn budget (paper), or takes its last turn.
        enforced: a question beyond the budget is refused, or answered all the same.
        max_actions: actions after which an episode is truncated, where the budget is not enforced.
        clarify_later: questions are also allowed in the debug attempt and in the follow-up.
        free_refusals: moves that are not possible and cost nothing, in each phase after the first submission;
            the next one is an empty submission, as every one is where there are none.
        no_call_ends_attempt: a message without a tool call ends the attempt without a submission, and the
            next submission is paid as the first; or it is as other actions that are not possible.
        all_knowledge_fields: knowledge entries are shown with every field of the file.
        renumber_knowledge: ids of the visible entries are counted anew.
        error_text: the debug feedback repeats the database's message, or says only that there was an error.
        category_from_id: Management is told by `_M_` in the instance id, or by the record's `category`.
        infer_category: a follow-up without a `category` gets it from its tests or its parent, or is a Query.
        follow_up_conditions: whose `conditions` the follow-up is compared under: the parent's, its own (none
            if it has none), or its own if it has some, else the parent's.
        follow_up_base: whose accepted first-phase SQL the prediction's follow-up starts from.
        setup: `preprocess_sql` and `clean_up_sqls` are run.
        conversation: the user remembers what was said and asks back; its first questions back are free.
        tells_left: every answer says how many questions are left.
        first_line: of what a model in the user's seat chooses, the first line counts; if it words no answer,
            it says that it does not understand.
        grading: how a submission is judged.
    """

    name: str
    free_submission: bool = True
    enforced: bool = True
    max_actions: int | None = None
    clarify_later: bool = False
    free_refusals: int = 0
    no_call_ends_attempt: bool = False
    all_knowledge_fields: bool = False
    renumber_knowledge: bool = True
    error_text: bool = True
    category_from_id: bool = False
    infer_category: bool = True
    follow_up_conditions: Literal["parent", "own", "own_else_parent"] = "own_else_parent"
    follow_up_base: Literal["prediction", "gold"] = "prediction"
    setup: bool = True
    conversation: bool = True
    tells_left: bool = False
    first_line: bool = False
    grading: GradingRules = STRICT_RULES

    def questions(self, counted_ambiguities: int, patience: int) -> int:
        """Return how many clarification questions the budget `max_turn = ambiguities + patience` holds."""
        max_turn = counted_ambiguities + patience
        return max_turn if self.free_submission else max(max_turn - 1, 0)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("strict", free_refusals=2),
        Profile(
            "shell",
            free_submission=False,
            all_knowledge_fields=True,
            renumber_knowledge=False,
            error_text=False,
            category_from_id=True,
            follow_up_conditions="parent",
            follow_up_base="gold",
            conversation=False,
            grading=GRADING_RULES["shell"],
        ),
        Profile(
            "adk",
            enforced=False,
            max_actions=60,
            clarify_later=True,
            no_call_ends_attempt=True,
            renumber_knowledge=False,
            infer_category=False,
            follow_up_conditions="own",
            setup=False,
            conversation=False,
            tells_left=True,
            first_line=True,
            grading=GRADING_RULES["adk"],
        ),
    )
}
"""By name: `strict`, `shell`, `adk`."""
