"""The figures of a user as text: by class, by style, by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from birdenv.runs.user_evaluation._answer_judging import OUTCOMES, Judged
from birdenv.statistics import between, wilson

_CLASSES = {
    "labelled": "labelled",
    "unlabelled": "unlabelled",
    "unanswerable": "refusals",
    "extraction": "refusals",
}
_CALLS = ("labelled", "unlabelled", "unanswerable", "unclear", "not said")
_SHOWN = 12


def evaluation_text(judged: Sequence[Judged], worst: int = _SHOWN) -> str:
    """Say how the questions of each class, style and hand were answered.

    The intervals are Wilson's 95 % intervals; questions count as independent.

    Args:
        judged: the judged questions.
        worst: how many of the answers with wrong content are printed.
    """
    parts = [_table("class", judged, lambda one: _CLASSES[one.question.kind]), _confusion(judged)]
    for head in ("style", "hand"):
        if len({getattr(one.question, head) for one in judged}) > 1:
            parts.append(_table(head, judged, _group(head)))
    wrong = [one for one in judged if one.outcome == "wrong"][:worst]
    if wrong:
        parts.append("\n".join(["answers with wrong content:", *map(_example, wrong)]))
    return "\n\n".join(parts)


def _group(head: str) -> Callable[[Judged], str]:
    return lambda one: f"{_CLASSES[one.question.kind]}, {getattr(one.question, head) or '-'}"


def _table(head: str, judged: Iterable[Judged], group: Callable[[Judged], str]) -> str:
    counts: dict[str, Counter[str]] = {}
    for one in judged:
        counts.setdefault(group(one), Counter())[one.outcome] += 1
    width = max(14, *(len(name) for name in counts))
    titles = " ".join(f"{outcome:>10}" for outcome in OUTCOMES)
    lines = [f"{head:<{width}} {'n':>5} {titles}  right, 95 %      wrong, 95 %"]
    for name, found in sorted(counts.items()):
        total = sum(found.values())
        cells = " ".join(f"{100 * found[outcome] / total:>10.1f}" for outcome in OUTCOMES)
        lines.append(
            f"{name:<{width}} {total:>5} {cells}  {between(wilson(found['right'], total))}"
            f"  {between(wilson(found['wrong'], total))}"
        )
    return "\n".join(lines)


def _confusion(judged: Sequence[Judged]) -> str:
    """What the questions of a class were taken for, in percent, and what was told or stopped."""
    counts: dict[str, Counter[str]] = {}
    for one in judged:
        counts.setdefault(_CLASSES[one.question.kind], Counter())[one.heard.call or "not said"] += 1
    calls = [call for call in _CALLS if any(found[call] for found in counts.values())]
    lines = [f"{'taken for':<14} {'n':>5} " + " ".join(f"{call:>12}" for call in calls)]
    for name, found in sorted(counts.items()):
        total = found.total()
        cells = " ".join(f"{100 * found[call] / total:>12.1f}" for call in calls)
        lines.append(f"{name:<14} {total:>5} {cells}")
    refusals = [one for one in judged if one.question.is_refused]
    told = sum(one.outcome == "wrong" for one in refusals)
    stopped = sum(bool(one.heard.guard) for one in judged)
    lines += [
        "",
        f"told something that should be refused: {_share(told, len(refusals))}",
        f"answers that the leak guard stopped: {_share(stopped, len(judged))}",
    ]
    return "\n".join(lines)


def _share(count: int, total: int) -> str:
    return f"{count} of {total}, {between(wilson(count, total)).strip()} %" if total else "no question"


def _example(one: Judged) -> str:
    return f"  {one.question.instance_id}: {one.question.question}\n      {one.heard.text}"
