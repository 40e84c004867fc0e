"""What surrounds a SQL answer goes; its tokens stay."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from birdenv.grading import clean_sql

CASES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "clean": ("SELECT 1", "SELECT 1", ()),
    "byte order mark": ("\ufeffSELECT 1", "SELECT 1", ("bom",)),
    "white space": ("\n SELECT 1\t", "SELECT 1", ("whitespace",)),
    "semicolons": ("SELECT 1 ; ;", "SELECT 1", ("semicolon",)),
    "trailing comments": ("SELECT 1; -- done\n/* so */", "SELECT 1", ("semicolon", "comment")),
    "fence": ("```sql\nSELECT 1\n```", "SELECT 1", ("code_fence", "whitespace")),
    "fence, any tag": ("```SQLite\nSELECT 1```", "SELECT 1", ("code_fence",)),
    "fence, unknown tag": ("```c++\nSELECT 1```", "SELECT 1", ("code_fence",)),
    "fence, no tag": ("```\nSELECT 1;\n```", "SELECT 1", ("code_fence", "semicolon", "whitespace")),
    "fence on one line": ("```sql SELECT 1```", "SELECT 1", ("code_fence",)),
    "fence glued to the SQL": ("```SELECT 1```", "SELECT 1", ("code_fence",)),
    "fence, SQL's first word on its line": ("```SELECT\n1```", "SELECT\n1", ("code_fence",)),
    "fence cut off": ("```sqlite\nSELECT 1", "SELECT 1", ("code_fence",)),
    "fence opened in the prompt": ("SELECT 1\n```", "SELECT 1", ("code_fence", "whitespace")),
    "chat tags": ("<s>SELECT 1</s>", "SELECT 1", ("chat_tag",)),
    "chat tags around a fence": (
        "<|im_start|>assistant\n```sql\nSELECT 1;\n```<|im_end|>\n",
        "SELECT 1",
        ("whitespace", "chat_tag", "code_fence", "semicolon"),
    ),
    "only a comment": ("-- nothing", "", ("comment",)),
    "only white space": (" \n", "", ("whitespace",)),
    "empty": ("", "", ()),
    "leading comment stays": ("-- why\nSELECT 1", "-- why\nSELECT 1", ()),
    "inner comment stays": ("SELECT /* x */ 1", "SELECT /* x */ 1", ()),
    "two statements stay": ("SELECT 1; SELECT 2;", "SELECT 1; SELECT 2", ("semicolon",)),
    "two fences stay": ("```\nA\n```\ntext\n```\nB\n```", "```\nA\n```\ntext\n```\nB\n```", ()),
    "prose stays": ("Here it is: SELECT 1", "Here it is: SELECT 1", ()),
    "comment signs in text": ("SELECT '-- x;'", "SELECT '-- x;'", ()),
    "comment signs in names": ('SELECT "--x", `--y`, [--z]', 'SELECT "--x", `--y`, [--z]', ()),
    "doubled quotes": ("SELECT 'it''s --'; --x", "SELECT 'it''s --'", ("semicolon", "comment")),
    "PostgreSQL escapes": (r"SELECT E'\'--';", r"SELECT E'\'--'", ("semicolon",)),
    "PostgreSQL dollar quotes": ("SELECT $q$ ; -- $q$;", "SELECT $q$ ; -- $q$", ("semicolon",)),
    "tag in text": ("SELECT '</s>'", "SELECT '</s>'", ()),
    "tag in open text": ("SELECT '</s>", "SELECT '</s>", ()),
    "open comment": ("SELECT 1 /* ;", "SELECT 1 /* ;", ()),
    "comment in a comment": ("SELECT 1 /* a /* b */ ;", "SELECT 1 /* a /* b */ ;", ()),
}


@pytest.mark.parametrize(("text", "sql", "steps"), CASES.values(), ids=CASES.keys())
def test_cases(text: str, sql: str, steps: tuple[str, ...]) -> None:
    cleaned = clean_sql(text)
    assert cleaned.sql == sql
    assert set(cleaned.steps) == set(steps)
    assert len(cleaned.steps) == len(steps)


pieces = st.sampled_from(
    [
        "SELECT 1",
        "'",
        '"',
        "`",
        "```",
        "```sql\n",
        ";",
        " ",
        "\n",
        "--",
        "/*",
        "*/",
        "</s>",
        "<s>",
        "[",
        "]",
        "$",
    ]
)


@given(st.lists(pieces, max_size=12).map("".join))
def test_only_the_ends_go(text: str) -> None:
    cleaned = clean_sql(text)
    assert cleaned.sql in text
    assert bool(cleaned.steps) == (cleaned.sql != text)


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize(
    "text", [";" * 300_000, "<s>" * 100_000, "</s>" * 100_000, "`" * 300_000, "'x" * 100_000]
)
def test_long_texts_take_linear_time(text: str) -> None:
    began = time.process_time()
    clean_sql(text)
    assert time.process_time() - began < 5
