"""The messages that c-Interact sends to the system."""

from __future__ import annotations

from collections.abc import Sequence

from birdenv.databases import QueryError
from birdenv.statistics import counted
from birdenv.tasks.interact._knowledge import knowledge_text
from birdenv.tasks.interact._task import CInteractTask
from birdenv.tasks.interact.profile import Profile
from birdenv.tasks.sql._actions import KINDS, Kind
from birdenv.tasks.sql._result_text import not_executed

LEFT = "You left without an answer."
EMPTY = "The text of the action is empty."
NO_CALL = "A message without a tool call ends the attempt without a submission."
ONE_MORE = "You have one more attempt: submit_sql."
USED_UP = "counts as an empty submission"
"""The end of the sentence that says that a refused action used up an attempt."""

MAX_EXECUTIONS = 50
"""The maximum number of `execute_sql` actions in an episode. Further actions of this kind are refused."""

_RULES = """\
You help a user to get an answer from a {engine} database. The user's request is ambiguous: first find out
what is meant, then write the SQL.
- clarify asks the user a question. You may ask {questions}. Of several questions in one message, the user
  answers only the first two.
- submit_sql submits your SQL for grading. If the SQL is wrong, you get one more attempt.{execute}
If your SQL is right, a follow-up request may come, again with one more attempt if you need it.
An action that is not possible costs a question. If no question is left, it counts as an empty
submission.{beyond}
The user knows what they want, but not how the data is stored. Ask in plain words, one point at a time."""

_LATER = """
After your first submission, you cannot ask any more questions. From then on, an action that is not possible
is free {free} in each phase; the next one uses up the attempt."""

_EXECUTE = f"""
- execute_sql runs one statement on your own copy of the database and shows the result. You can use it
  {MAX_EXECUTIONS} times."""


def instruction(task: CInteractTask, profile: Profile, engine: str, questions: int, execute_sql: bool) -> str:
    """Return the system's instruction: the rules, the request, the schema and the visible knowledge."""
    notes = task.private.notes
    knowledge = knowledge_text(
        notes,
        task.private.deleted_knowledge,
        all_fields=profile.all_knowledge_fields,
        renumber=profile.renumber_knowledge,
    )
    free = profile.free_refusals
    beyond = f"\n{NO_CALL}" if profile.no_call_ends_attempt else ""
    if free:
        beyond += _LATER.format(free=_times(free))
    rules = _RULES.format(
        engine=engine,
        questions=counted(questions, "question"),
        execute=_EXECUTE if execute_sql else "",
        beyond=beyond,
    )
    return "\n\n".join(
        (
            rules,
            f"Request: {task.public.question}",
            f"Database: {task.public.database}\n{notes.schema}",
            f"Knowledge about this database, one entry per line:\n{knowledge}",
        )
    )


def cost(left: int) -> str:
    """Return a sentence that says that a refused action cost one question, and how many questions remain."""
    return f"That cost you one question; you have {counted(left, 'question')} left."


def free_refusal(left: int) -> str:
    """Return a sentence that says that a refused action was free, and how many more will be free."""
    if left:
        return f"That was free; {left} more such action{'' if left == 1 else 's'} will be free in this phase."
    return "That was free, but the next such action in this phase uses up your attempt."


def used_up(profile: Profile, *, has_submitted: bool) -> str:
    """Return a sentence that explains why a refused action counts as an empty submission."""
    if has_submitted and profile.free_refusals:
        free = f"Such actions were free {_times(profile.free_refusals)} in this phase"
        return f"{free}; this one uses up your attempt: it {USED_UP}."
    if has_submitted and not profile.clarify_later:
        rule = f"by the rules of the profile {profile.name} it {USED_UP}"
        return f"After the first submission, no question is left to pay for it: {rule}."
    return f"You have no questions left, so it {USED_UP}."


def free(left: int) -> str:
    """Return a sentence that says that a question was free, and how many questions remain.

    A question is free if the user did not understand it.
    """
    return f"That cost you no question; you have {counted(left, 'question')} left."


def left(left: int, most: int) -> str:
    """Return the number of remaining questions as a note, which some profiles add to every answer."""
    return f"({left} of {counted(most, 'question')} left)"


def refusal(action: str, legal: Sequence[Kind]) -> str:
    """Return the message that refuses an action and lists the possible actions."""
    if action not in KINDS:
        return f"That is not a valid action. Possible actions: {', '.join(legal)}."
    return f"{action} is not possible now. Possible actions: {', '.join(legal)}."


def failed(status: str, error: QueryError | None, error_text: bool, *, last: bool) -> str:
    """Return the feedback on a failed attempt, which reveals nothing about the expected result."""
    next_step = "The episode ends." if last else ONE_MORE
    if status in ("malformed", "no_submission"):
        return f"That was not a SQL submission. {next_step}"
    if error is None:
        return f"Your SQL runs, but it is not what the user asked for. {next_step}"
    return f"{not_executed(error, error_text)}\n{next_step}"


def follow_up(query: str, may_clarify: bool) -> str:
    """Return the message that says that phase 1 is passed, followed by the follow-up request."""
    asking = "" if may_clarify else "\nNo further questions are possible: answer with submit_sql."
    return f"Your SQL is correct. Follow-up request: {query}{asking}"


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
