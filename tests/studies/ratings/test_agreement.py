"""Agreement and means: textbook values, and words where nothing is defined."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from birdenv.studies.ratings._agreement import fleiss_kappa, krippendorff_alpha, mean_answer
from birdenv.studies.ratings._judgements import Rating

# Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C: four observers, twelve units.
OBSERVERS = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
# Fleiss 1971's kind of table, as in the usual worked example: 14 raters, 10 subjects, 5 categories.
SUBJECTS = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)  # fmt: skip


def ratings_of(rows: Sequence[str]) -> list[Rating]:
    """A row for each rater, a figure for each unit; a dot is no rating."""
    return [
        Rating(f"D{unit}", f"R{rater}", "q", float(value))
        for rater, row in enumerate(rows)
        for unit, value in enumerate(row)
        if value != "."
    ]


@pytest.mark.parametrize(("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_is_the_textbooks(level: str, value: float) -> None:
    found = krippendorff_alpha(ratings_of(OBSERVERS), level)  # type: ignore[arg-type]
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.interval is not None and 0.3 < found.interval.low < value < found.interval.high <= 1


def test_alpha_is_what_a_hand_works_out() -> None:
    """Two raters, four dialogues: 11, 12, 22, 33. Of the eight values 3 are 1, 3 are 2 and 2 are 3.

    Nominal: 2 of 8 values stand beside another one, and 2 (3*3 + 3*2 + 3*2) = 42 of 8*7 pairs differ by
    chance: alpha = 1 - (2/8) / (42/56). Interval: 2 * 1 squared difference observed, by chance
    2 (3*3*1 + 3*2*1 + 3*2*4) = 78: alpha = 1 - (2/8) / (78/56).
    """
    rows = ("1123", "1223")
    assert krippendorff_alpha(ratings_of(rows), "nominal").value == pytest.approx(2 / 3, abs=1e-6)
    assert krippendorff_alpha(ratings_of(rows), "interval").value == pytest.approx(64 / 78, abs=1e-6)


def test_alpha_of_words_is_nominal() -> None:
    words = [each._replace(value=f"w{each.value}") for each in ratings_of(OBSERVERS)]
    assert krippendorff_alpha(words, "ordinal").value == pytest.approx(0.743, abs=5e-4)


def test_kappa_is_the_textbooks() -> None:
    rows = ["".join(str(value) * count for value, count in enumerate(row)) for row in SUBJECTS]
    found = fleiss_kappa(ratings_of(["".join(column) for column in zip(*rows, strict=True)]))
    assert found.value == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(
    ("rows", "alpha", "kappa"),
    [
        (["1234"], "only one rater", "only one rater"),
        (["12..", "..34"], "no two of the 2 raters", "no two of the 2 raters"),
        (["1", "2", "1"], "only one dialogue", "only one dialogue"),
        (["12", "2."], "only one dialogue", "only one dialogue"),
        (["3333", "3333"], "are equal", "are equal"),
        (["123", "12."], "", "the same number of ratings, not 1 to 2"),
    ],
)
def test_undefined_agreement_is_said_in_words(rows: Sequence[str], alpha: str, kappa: str) -> None:
    for found, why in (
        (krippendorff_alpha(ratings_of(rows)), alpha),
        (fleiss_kappa(ratings_of(rows)), kappa),
    ):
        assert why in found.why and (found.value is None) == bool(why) and found.interval is None
        assert not why or found.text().startswith("not defined: ")


def test_means_have_intervals_over_dialogues_and_over_raters() -> None:
    ratings = ratings_of(["1111111111", *["5555555555"] * 5])  # raters differ, dialogues do not
    over_dialogues, over_raters = mean_answer(ratings), mean_answer(ratings, "rater")
    assert over_dialogues.value == over_raters.value == pytest.approx(13 / 3)
    assert over_dialogues.interval is None and "dialogues are equal" in over_dialogues.why
    assert over_raters.interval is not None and over_raters.interval.low < 13 / 3 < over_raters.interval.high
    assert mean_answer(ratings_of(["22"])).text() == "2.000 (all answers are equal: no interval)"
    assert mean_answer(ratings_of(["25"]), "rater").why == "only 1 rater: an interval needs at least 5"
    assert mean_answer([ratings[0]._replace(value="good")]).why == "answers in words have no mean"


@pytest.mark.parametrize("dialogues", range(1, 8))
@pytest.mark.parametrize("rows", [("1313131", "1313131"), ("1212122", "2121211"), ("1111111", "5555555")])
def test_no_interval_is_a_point(rows: Sequence[str], dialogues: int) -> None:
    ratings = ratings_of([row[:dialogues] for row in rows])
    for found in (mean_answer(ratings), krippendorff_alpha(ratings), fleiss_kappa(ratings)):
        assert found.interval is None or found.interval.high - found.interval.low > 0.01
        assert (found.interval is None) == bool(found.why) and (dialogues >= 5 or found.interval is None)


def test_free_words_are_on_no_scale() -> None:
    said = [
        each._replace(value=f"It was {each.value}, and I would talk to it again.")
        for each in ratings_of(["12", "21"])
    ]
    assert krippendorff_alpha(said).why == fleiss_kappa(said).why == "answers in free text have no categories"


def test_without_its_package_alpha_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    why = krippendorff_alpha(ratings_of(OBSERVERS)).why
    assert why.endswith("pip install 'birdenv[ratings]' (in a clone: -e '.[ratings]')")
