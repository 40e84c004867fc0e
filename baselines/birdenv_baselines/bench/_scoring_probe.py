"""A process that scores answers of five million rows each when it is told to, for others to watch its memory.

python -m birdenv_baselines.bench._scoring_probe FOLDER

FOLDER has the database superhero. Prints a line when it is ready, waits for one, scores, prints a line.
"""

from __future__ import annotations

import sys
from typing import Final

from birdenv.databases import SqliteSource
from birdenv.grading import Pair, score_pairs

__all__: list[str] = []

_ROWS: Final = 5_000_000
_PRODUCT: Final = f"FROM hero_power, hero_power AS other LIMIT {_ROWS}"
_PAIRS: Final = (
    # every row is one of the gold's, so that the last may still decide
    ("SELECT hero_id FROM hero_power", f"SELECT hero_power.hero_id {_PRODUCT}"),
    ("SELECT hero_id, power_id FROM hero_power", f"SELECT hero_power.* {_PRODUCT}"),
    # the first row decides
    ("SELECT count(*) FROM hero_power", f"SELECT other.* {_PRODUCT}"),
    # the rows become foreign after five thousand
    ("SELECT id FROM superhero", f"SELECT other.hero_id * hero_power.rowid {_PRODUCT}"),
)


def main() -> None:
    source = SqliteSource(sys.argv[1])
    warm = [Pair("superhero", ("SELECT 1",), f"SELECT {number}") for number in range(4)]
    score_pairs(warm, source, workers=2)
    print("ready", flush=True)
    sys.stdin.readline()
    pairs = [Pair("superhero", (gold,), prediction) for gold, prediction in _PAIRS]
    for pair, verdict in zip(pairs, score_pairs(pairs, source, workers=2), strict=True):
        if verdict.status != "wrong_result":
            raise SystemExit(f"{pair.prediction}: {verdict.status}, {verdict.reason}")
    print("done", flush=True)


if __name__ == "__main__":
    main()
