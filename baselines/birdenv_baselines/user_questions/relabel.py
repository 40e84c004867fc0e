"""Make training rows from questions with known answers.

    python -m birdenv_baselines.user_questions.relabel FILE... [--mini-interact FOLDER] [--without FILE]
        [--golds FILE...]

Each FILE contains one author's questions and is called `<author>.jsonl`. Its fields are `instance_id`,
`question`, `kind`, `must`, `half` and `expected`, as in the files for `birdenv users eval`. A candidate is
right if its answer matches one list in `must`. If there is no such candidate, those that match one list in
`half` are right. If several candidates are right, `expected` (terms or clauses) selects among them.

Questions about the tasks that occur in the file `--without` are left out. The files `--golds` contain the
gold SQL (`instance_id`, `sol_sql`) that the authors saw for tasks whose own gold SQL is withheld. This gold
SQL is saved, too. The rows are written to the folder of this module.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from birdenv.users import Brief
from birdenv.users._proposal import agreed
from birdenv.users.decoder import decode
from birdenv.users.understanding._candidate import Candidate
from birdenv.users.understanding._choice import choice_of
from birdenv.users.understanding._index import index_of
from birdenv.users.understanding._question import take_apart
from birdenv_baselines.user_questions._questions import (
    FOLDER,
    GOLDS,
    WITH_GOLD,
    is_alike,
    load_briefs,
    read_lines,
    with_places,
)

_RELATED = {
    "from": ("join", "group"),
    "values": ("assign",),
    "columns": ("output",),
    "output": ("select",),
    "select": ("output", "count"),
    "tie": ("order",),
    "order": ("tie",),
}
"""For each clause that an author may have expected, the clauses that may settle the question instead."""


def relabelled(raw: dict[str, Any], brief: Brief, hand: str) -> dict[str, Any] | None:
    """Return the training row for a question, or None if no candidate gives a right answer.

    Args:
        raw: the question, as read from the author's file.
        brief: what the user knows about the task.
        hand: the author's short name.
    """
    row = {"instance_id": raw["instance_id"], "question": raw["question"]}
    if raw["kind"] in ("unanswerable", "extraction"):
        return {**row, "class": "refuse", "expected": [], "hand": hand}
    candidates = index_of(brief).candidates
    answers = [(one, _answer(one, raw["question"], brief)) for one in candidates]
    right = [one for one, text in answers if _holds(raw["must"], text)]
    right = right or [one for one, text in answers if _holds(raw.get("half", ()), text)]
    find = _terms if raw["kind"] == "labelled" else _clauses
    expected = find(raw["expected"], candidates, right)
    return {**row, "class": raw["kind"], "expected": expected, "hand": hand} if expected else None


def _answer(candidate: Candidate, question: str, brief: Brief) -> str:
    choice = choice_of(candidate)
    said = agreed(take_apart(question), choice, brief)
    return f"{said}. {decode(choice, brief)}" if said else decode(choice, brief)


def _holds(lists: Iterable[Sequence[str]], text: str) -> bool:
    return any(all(re.search(one, text, re.IGNORECASE) for one in patterns) for patterns in lists if patterns)


def _terms(expected: Sequence[str], candidates: Sequence[Candidate], right: Sequence[Candidate]) -> list[str]:
    """Return the expected terms, or otherwise the right ones, together with terms of identical content."""
    spelt = {" ".join(one.target.lower().split()): one.target for one in candidates if one.items}
    meant = [spelt[name] for term in expected if (name := " ".join(term.lower().split())) in spelt]
    meant = meant or [one.target for one in right if one.items]
    points = [one for one in candidates if one.items and one.target in meant]
    alike = [one.target for one in candidates if any(is_alike(one, point) for point in points)]
    return list(dict.fromkeys([*meant, *alike]))


def _clauses(
    expected: Sequence[str], candidates: Sequence[Candidate], right: Sequence[Candidate]
) -> list[str]:
    """Return labels for the right candidates.

    Parts of an expected clause come first, then parts of a related clause, then any other right candidates.
    """
    hints = [hint.partition(":")[0] for hint in expected]
    wanted = {clause for hint in hints for clause in (hint, *_RELATED.get(hint, ()))}
    parts = [one for one in right if one.group in ("part", "said")]
    chosen = [one for one in parts if one.clause in hints] or [one for one in parts if one.clause in wanted]
    if "none" in hints:
        chosen += [one for one in right if one.group == "open"]
    chosen = chosen or parts or [one for one in right if one.items] or list(right)
    is_open = [one for one in candidates if one.group == "open"]
    found = ["none"] if is_open and set(is_open) <= set(chosen) else []
    return list(
        dict.fromkeys(
            [*found, *(_label(one, candidates) for one in chosen if not found or one not in is_open)]
        )
    )


def _label(one: Candidate, candidates: Sequence[Candidate]) -> str:
    if one.items:
        return f"term:{one.target}"
    if one.group == "open":
        return f"open:{one.clause}"
    twins = sum(other.group == one.group and other.clause == one.clause for other in candidates)
    return one.clause if one.group == "said" or twins == 1 else f"{one.clause}:{one.segments[0].sql}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--mini-interact", type=Path, help="the folder of Mini-Interact")
    parser.add_argument("--without", type=Path, help="file with questions whose tasks to leave out")
    parser.add_argument(
        "--golds", nargs="+", type=Path, default=[], help="files with the gold SQL that authors saw"
    )
    options = parser.parse_args(arguments)
    kept_back = {raw["instance_id"] for raw in read_lines(options.without)} if options.without else set()
    golds = {raw["instance_id"]: raw for file in options.golds for raw in read_lines(file)}
    keep_golds(
        {name: raw["sol_sql"] for name, raw in golds.items() if name not in kept_back},
        load_briefs(options.mini_interact),
    )
    briefs = load_briefs(options.mini_interact)
    for file in options.files:
        raws = [raw for raw in read_lines(file) if raw["instance_id"] not in kept_back]
        if golds:
            raws = [{**raw, "instance_id": f"{raw['instance_id']}{WITH_GOLD}"} for raw in raws]
        raws = [raw for raw in raws if raw["instance_id"] in briefs]
        rows = [row for raw in raws if (row := relabelled(raw, briefs[raw["instance_id"]], file.stem))]
        _write(FOLDER / file.name, rows)
        print(f"{file.name}: {len(rows)} of {len(raws)} questions")


def keep_golds(golds: Mapping[str, Sequence[str]], briefs: Mapping[str, Brief]) -> None:
    """Add gold SQL to the saved file, with the benchmark's own snippets replaced by numbers."""
    kept = {raw["instance_id"]: raw["sol_sql"] for raw in read_lines(GOLDS)}
    for name, statements in golds.items():
        kept[name] = [with_places(sql, briefs[name]) for sql in statements]
    _write(GOLDS, [{"instance_id": name, "sol_sql": kept[name]} for name in sorted(kept)])


def _write(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    file.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
