"""Read end-to-end-negotiator's files, in which each line is a DealOrNoDeal dialogue seen by one seat.

A line in `data.txt` contains counts and values, the messages, the selection, the reward, `agree` or
`disagree`, and the partner's counts and values. `train.txt`, `val.txt` and `test.txt` have the same parts
between tags. Usually there is a line for each seat. The lines for a dialogue are combined into one record.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

from birdenv.errors import InputError
from birdenv.files import file_errors, read_text

_THINGS: Final = ("book", "hat", "ball")
_MOST_BYTES: Final = 2**28  # unpacked
_SIX: Final = r"(\d{1,4}(?: \d{1,4}){5})"
_PLAIN: Final = re.compile(
    rf"{_SIX} (.*?) ?(YOU|THEM): <selection> (.*?) <eos> reward=.*? (?:agree|disagree) {_SIX}"
)
_TAGGED: Final = re.compile(
    rf"<input> {_SIX} </input> <dialogue> (.*?) ?(YOU|THEM): <selection> </dialogue> "
    rf"<output> (.*?) </output> <partner_input> {_SIX} </partner_input>"
)
_END_OF_TURN: Final = " <eos>"
_TAKEN: Final = re.compile(r"item\d=(\d{1,4})")
_WALKED_AWAY: Final = ("no agreement", "<no_agreement>")


class _View(NamedTuple):
    """One line; the seat that spoke first comes first.

    Attributes:
        kbs: the knowledge of each seat.
        talk: who said what.
        ends: the seat that selected first.
        choices: the shares that the line contains, keyed by seat; None for a seat that walked away.
    """

    kbs: tuple[tuple[int, ...], ...]
    talk: tuple[tuple[int, str], ...]
    ends: int
    choices: Mapping[int, tuple[int, ...] | None]


def has_lines(path: Path) -> bool:
    """Return True for a file with a dialogue on each line: a `.txt.gz` or a `.txt` file that is not JSON."""
    is_text = path.suffix == ".txt" and not read_text(path).lstrip().startswith(("[", "{"))
    return is_text or path.name.endswith(".txt.gz")


def negotiate_records(path: Path) -> list[dict[str, Any]]:
    """Read the dialogues in a file, and return them in CoCoA's format, without duplicates.

    The id of a dialogue is computed from both seats' knowledge and messages, so the same dialogue has the
    same id in every file. If no line contains a seat's selection, the selection is missing.

    Raises:
        InputError: the file cannot be read, or a line is malformed.
    """
    found: dict[Any, _View] = {}
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        view = _view(line.strip())
        if view is None:
            raise InputError(
                f"{path}: line {number} is not a DealOrNoDeal dialogue in end-to-end-negotiator's format"
            )
        known = found.setdefault((view.kbs, view.talk), view)
        found[view.kbs, view.talk] = known._replace(choices={**view.choices, **known.choices})
    if not found:
        raise InputError(f"{path} contains no dialogues")
    return [_record(view) for view in found.values()]


def _text(path: Path) -> str:
    if path.suffix != ".gz":
        return read_text(path)
    with file_errors(path):
        try:
            with gzip.open(path) as file:
                data = file.read(_MOST_BYTES + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise InputError(f"{path} is not a complete gzip file") from None
        if len(data) > _MOST_BYTES:
            raise InputError(f"{path} is larger than {_MOST_BYTES // 2**20} MB when unpacked")
        return data.decode()


def _view(line: str) -> _View | None:
    found = _PLAIN.fullmatch(line) or _TAGGED.fullmatch(line)
    if found is None:
        return None
    own, talk, ends, choice, other = found.groups()
    *said, rest = talk.split(_END_OF_TURN)
    turns = [(who, words) for who, _, words in (each.removeprefix(" ").partition(": ") for each in said)]
    if rest or any(who not in ("YOU", "THEM") for who, _ in turns):
        return None
    is_turned = (turns[0][0] if turns else ends) == "THEM"  # the other was the first to speak
    seats = {"YOU": int(is_turned), "THEM": int(not is_turned)}
    kbs = [tuple(map(int, each.split())) for each in (own, other)]
    return _View(
        tuple(kbs[::-1] if is_turned else kbs),
        tuple((seats[who], words) for who, words in turns),
        seats[ends],
        dict(_choices(choice, seats["YOU"])),
    )


def _choices(choice: str, own: int) -> Iterator[tuple[int, tuple[int, ...] | None]]:
    """Yield the selections in a line: the selection of the line's seat, and the partner's if it follows."""
    if choice.startswith(_WALKED_AWAY):
        yield own, None
    taken = tuple(map(int, _TAKEN.findall(choice)))
    for seat, share in ((own, taken[:3]), (1 - own, taken[3:])):
        if len(share) == len(_THINGS):
            yield seat, share


def _record(view: _View) -> dict[str, Any]:
    kbs = [
        [{"Name": t, "Count": kb[2 * n], "Value": kb[2 * n + 1]} for n, t in enumerate(_THINGS)]
        for kb in view.kbs
    ]
    events = [{"agent": seat, "action": "message", "data": words} for seat, words in view.talk]
    split: list[dict[str, int] | None] = [None, None]
    for seat in (view.ends, 1 - view.ends):
        if seat in view.choices and (not events or events[-1]["action"] != "quit"):
            share = view.choices[seat]
            split[seat] = None if share is None else dict(zip(_THINGS, share, strict=True))
            action = "quit" if share is None else "select"
            events.append({"agent": seat, "action": action, "data": split[seat]})
    return {
        "uuid": f"N_{_digest((view.kbs, view.talk))}",
        "scenario_uuid": f"FB_{_digest(view.kbs)}",
        "scenario": {"uuid": f"FB_{_digest(view.kbs)}", "attributes": _attributes(), "kbs": kbs},
        "agents": {"0": "human", "1": "human"},
        "outcome": _outcome(kbs, split),
        "events": [{**event, "time": time} for time, event in enumerate(events)],
    }


def _attributes() -> list[dict[str, Any]]:
    kinds = {"Name": "item", "Count": "integer", "Value": "integer"}
    return [{"name": name, "value_type": kind, "entity": True} for name, kind in kinds.items()]


def _outcome(kbs: Sequence[Any], split: Sequence[Mapping[str, int] | None]) -> dict[str, Any]:
    shares = [share for share in split if share is not None]
    agreed = len(shares) == len(split)
    fits = agreed and all(sum(share[each["Name"]] for share in shares) == each["Count"] for each in kbs[0])
    points = [
        sum(each["Value"] * share[each["Name"]] for each in kb) if share and fits else 0
        for kb, share in zip(kbs, split, strict=True)
    ]
    reward = {str(seat): earned for seat, earned in enumerate(points)}
    return {"reward": reward, "item_split": list(split), "valid_deal": fits, "agreed": agreed}


def _digest(value: Any) -> str:
    return sha256(repr(value).encode()).hexdigest()[:16]
