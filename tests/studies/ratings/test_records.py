"""Files of ratings: what people have is read, and what cannot be used is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from birdenv.errors import InputError
from birdenv.studies.ratings._judgements import BlindChoice, Rating, joined, read_judgements
from birdenv.studies.ratings._sources import import_judgements, read_folder

HEAD = "dialogue,rater,question,value\n"
JSONL = '{"dialogue": "D1", "rater": "ann", "question": "fluent", "value": 4}\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "ratings"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "D1,ann,fluent,4\n",
        "\ufeff" + HEAD + "D1,ann,fluent,4",
        HEAD.replace(",", ";") + "D1;ann;fluent;4\r\n",
        HEAD.replace(",", "\t") + "D1\tann\tfluent\t4.0\n\n",
        "Value, Rater ,Question,Dialogue,Country\n4,ann,fluent,D1,NL\n",
        HEAD + '"D1","ann","fluent","4"\n"D1","ann","fluent","4"\n',
        JSONL,
        f"[{JSONL}]",
    ],
)
def test_the_usual_kinds_of_files_are_read(text: str, tmp_path: Path) -> None:
    assert read_judgements(written(tmp_path, text)).ratings == (Rating("D1", "ann", "fluent", 4.0),)


def test_a_question_without_an_answer_is_counted_apart(tmp_path: Path) -> None:
    found = read_judgements(
        written(tmp_path, HEAD + "D1,ann,fluent,\nD1,ann,polite,null\nD1,bo,polite,very\n")
    )
    assert found.unanswered == 2 and found.ratings == (Rating("D1", "bo", "polite", "very"),)


def test_winners_are_read_as_people_write_them(tmp_path: Path) -> None:
    text = 'left,right,winner,rater,justification\na,b,Left,ann,\na,b,both bad,ann,"no, \nneither"\n'
    found = read_judgements(written(tmp_path, text)).comparisons
    assert found == (
        BlindChoice("a", "b", "left", "ann"),
        BlindChoice("a", "b", "both_bad", "ann", "no, \nneither"),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        (HEAD, "contains no ratings"),
        (HEAD + "D1,ann,fluent,4\nD1,ann,fluent\n", "line 3 has 3 cells, but the first line names 4"),
        (HEAD + 'D1,ann,fluent,"4\n', "line 2 is not valid CSV"),
        (HEAD + "D1,,fluent,4\n", "line 2: `rater` is missing"),
        (HEAD + "D1,ann,fluent,inf\n", "line 2: `value` must be a finite number"),
        (JSONL.replace("4}", "NaN}"), "record 1: `value` must be a finite number"),
        (JSONL.replace("4}", "9" * 400 + "}"), "record 1: `value` must be a finite number"),
        (
            HEAD + "D1,ann,fluent,4\nD1,ann,fluent,5\n",
            "line 3: 'ann' answered 'fluent' about 'D1' with 5 here",
        ),
        ("dialogue,rater,value\nD1,ann,4\n", "missing: question"),
        ("dialogue,rater,rater,question,value\n", "names the column 'rater' twice"),
        ("left,right,winner\na,b,left\n", "missing: rater"),
        ("left,right,winner,rater\na,b,mine,ann\n", "line 2: `winner` must be one of left, right"),
        (JSONL + JSONL[:30], "line 2 is not JSON"),
        (JSONL + "[1]\n", "record 2 is not a JSON object"),
        (JSONL + '{"dialogue": "D1"}\n', "record 2: a rating needs `value`"),
        (JSONL.replace('"ann"', '{"a": 1}'), "record 1: `rater` must be text"),
        (JSONL.replace("ann", "\\ud800"), "record 1: the field 'rater' contains half a character"),
        ("hello\n", "must name the columns dialogue, rater, question, value"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ratings") as caught:
        read_judgements(written(tmp_path, text))
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_an_import_adds_each_answer_once(tmp_path: Path) -> None:
    text = HEAD + "D1,ann,fluent,4\nD2,ann,fluent,2\n"
    first = read_judgements(written(tmp_path, text))
    choices = read_judgements(written(tmp_path, "left,right,winner,rater\na,b,left,ann\na,b,left,ann\n"))
    assert import_judgements(tmp_path, first) == (2, 0)
    assert import_judgements(tmp_path, choices) == (0, 2)
    assert import_judgements(tmp_path, first) == import_judgements(tmp_path, choices) == (0, 0)
    assert joined([choices, choices]) == choices
    kept = read_folder(tmp_path)
    assert kept.ratings == first.ratings and kept.comparisons == choices.comparisons
    other = read_judgements(written(tmp_path, HEAD + "D2,ann,fluent,3\n"))
    with pytest.raises(
        InputError, match="two files disagree: 'ann' answered 'fluent' about 'D2' with 2 and with 3"
    ):
        import_judgements(tmp_path, other)


def test_comparisons_of_other_dialogues_are_others(tmp_path: Path) -> None:
    head = "left,right,winner,rater,left_dialogue,right_dialogue\n"
    one = read_judgements(written(tmp_path, head + "a,b,left,ann,D1,D2\n"))
    two = read_judgements(written(tmp_path, head + "a,b,left,ann,D3,D4\na,b,left,ann,D1,D2\n"))
    assert import_judgements(tmp_path, one) == (0, 1)
    assert import_judgements(tmp_path, two) == (0, 1)
    assert {each.left_dialogue for each in read_folder(tmp_path).comparisons} == {"D1", "D3"}
