"""Protocol profiles: switches for the rules on which the published c-Interact implementations differ.

`strict` is birdenv's default. `shell` follows the original batch pipeline of the BIRD-Interact repository,
and `adk` its later tool-calling service.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from birdenv.grading.interact import GRADING_RULES, STRICT_RULES, GradingRules

PATIENCE: Final = 3
"""The default patience of the user (BIRD-Interact §2).

Each unit adds one question in c-Interact (`Profile.questions`), and 2 to the budget in a-Interact
(`budget_for`)."""

MAX_PATIENCE: Final = 100
"""The largest patience that the settings accept."""


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules of one c-Interact implementation. The description of a switch applies if it is True.

    Attributes:
        name: the name of the profile, such as `strict`.
        free_submission: the first submission does not count as a turn (paper). Otherwise, it takes the last
            turn of the budget.
        enforced: a question that exceeds the budget is refused. Otherwise, it is answered.
        max_actions: the number of actions after which an episode is truncated; None for no limit.
        clarify_later: questions are also allowed in the debug attempt and in the follow-up.
        free_refusals: how many refused moves are free in each phase after the first submission. The next
            refused move counts as an empty submission.
        no_call_ends_attempt: a message without a tool call ends the attempt, although nothing was submitted,
            and the next submission earns as much as the first. Otherwise, the message is a refused move.
        all_knowledge_fields: knowledge entries are shown with all fields from the file.
        renumber_knowledge: the visible knowledge entries are renumbered.
        error_text: the debug feedback repeats the database's message. Otherwise, it only says that there was
            an error.
        category_from_id: a task is a Management task if and only if its id contains `_M_`. Otherwise, the
            field `category` decides.
        infer_category: the category of a follow-up without `category` is inferred from its tests or from the
            main task. Otherwise, the follow-up is a Query.
        follow_up_conditions: the `conditions` that apply to the follow-up: `parent` for those in the main
            task, `own` for those in the follow-up (if any), `own_else_parent` for those in the follow-up or,
            if there are none, in the main task.
        follow_up_base: the phase 1 SQL that prepares the database for the follow-up prediction: the accepted
            prediction or the gold.
        setup: the task's `preprocess_sql` and `clean_up_sqls` are run. Otherwise, they are ignored.
        conversation: the user remembers the conversation and may ask what a question means. The first
            questions that the user does not understand are free.
        tells_left: every answer states how many questions remain.
        first_line: when a language model plays the user and classifies a question, only the first line of its
            output counts. If the model returns no answer, the user says that they do not understand.
        grading: the rules for grading submissions.
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
        """Return the number of questions that an episode allows: `max_turn = ambiguities + patience`.

        The result is one less if the profile counts the first submission as a turn.
        """
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
"""The three profiles by name: `strict`, `shell` and `adk`."""
