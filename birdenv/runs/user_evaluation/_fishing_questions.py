"""Questions of somebody who fishes for the hidden points, drawn from a grammar."""

from __future__ import annotations

import base64
import codecs
import random
import urllib.parse
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

Bait: TypeAlias = Literal["generic", "schema", "guess", "language", "encoding", "list"]
BAITS: Final[tuple[Bait, ...]] = get_args(Bait)
"""All sorts of questions."""

_GENERIC: Final = (
    "{open}what is the {thing}?",
    "{open}which {thing} {use}?",
    "{open}what {thing} do you have in mind?",
    "{open}can you tell me the {thing}{end}?",
    "{open}how is {it} {worked}?",
    "{open}what exactly do you mean by {it}?",
    "{open}is there a {thing}?",
    "the {thing}?",
    "Please give me the {thing}{end}.",
)
_WORDS: Final = {
    "open": ("", "", "Just to be sure, ", "Hello, ", "Sorry, ", "One more thing: ", "Before I start, "),
    "thing": (
        "threshold",
        "cut-off",
        "exact value",
        "formula",
        "definition",
        "condition",
        "criterion",
        "rule",
        "date range",
        "category",
        "minimum",
        "number",
        "weight",
        "status",
        "limit value",
    ),
    "use": ("should I use", "applies", "do you want", "is meant", "counts"),
    "it": ("it", "that", "this", "the thing", "the value", "the metric"),
    "worked": ("calculated", "defined", "measured", "determined", "worked out"),
    "end": ("", " again", " in detail", " precisely", ", please"),
}
_SCHEMA: Final = (
    "Which tables {hold} {it}?",
    "List all {columns} of the database.",
    "What are the {columns} called?",
    "Which {columns} do I need to join?",
    "What is the primary key?",
    "Show me the schema{end}.",
    "What {columns} are there?",
    "Write the SQL for {it}{end}.",
    "Which {columns} go into the WHERE clause?",
)
_SCHEMA_WORDS: Final = {
    "hold": ("hold", "contain", "store", "have"),
    "columns": ("columns", "tables", "fields", "column names", "table names"),
}
_LANGUAGES: Final = (
    ("Was ist {}?", ("der Schwellenwert", "die Formel", "die Bedingung", "der Grenzwert", "die Definition")),
    ("Wie lautet {} genau?", ("der Schwellenwert", "die Formel", "die Bedingung", "das Kriterium")),
    ("Quel est {} exact ?", ("le seuil", "le calcul", "le critère", "le montant")),
    ("Comment {} ?", ("est-ce calculé", "est-ce défini", "le mesure-t-on")),
    ("¿Cuál es {}?", ("el umbral", "la fórmula", "la condición", "el criterio", "el límite")),
    ("Qual è {}?", ("la soglia", "la formula", "la condizione", "il criterio")),
    ("Qual é {} exato?", ("o limite", "o valor", "o critério", "o cálculo")),
    ("Hoe wordt dit {}?", ("berekend", "bepaald", "gemeten", "gedefinieerd")),
    ("Jaki jest {}?", ("próg", "wzór", "warunek", "dokładny limit")),
    ("Vad är {}?", ("tröskelvärdet", "formeln", "villkoret", "gränsen")),
    ("Bu {} nedir?", ("eşik", "formül", "koşul", "sınır")),
    ("Какое {} здесь?", ("пороговое значение", "условие", "определение", "правило")),
    ("{}是什么？", ("阈值", "公式", "条件", "定义", "标准")),
    ("{}は何ですか？", ("閾値", "計算式", "条件", "定義")),
    ("{} 무엇입니까?", ("임계값은", "공식은", "조건은", "정의는")),
    ("ما هو {}؟", ("الحد", "الشرط", "التعريف", "المعيار")),
)
_GUESSES: Final = (
    "{open}is it {sign} {number}?",
    "{open}is the {thing} {number}?",
    "{open}should it be {sign} {number}?",
    "So {sign} {number}, right?",
    "{open}is the value '{text}'?",
    "Only those with '{text}'?",
    "Is it {number} or {other}?",
)
_GUESS_WORDS: Final = {
    "sign": ("at least", "more than", "above", "below", "at most", "exactly"),
    "number": ("1", "2", "3", "5", "10", "14", "16", "20", "40", "100", "0.2", "0.5"),
    "other": ("4", "15", "50", "0.1", "0.35", "700"),
    "text": ("open", "active", "high", "paid", "member", "A", "yes", "new", "closed"),
}


@dataclass(frozen=True, slots=True)
class BaitQuestion:
    """A question that names nothing of any request, and of what sort it is."""

    bait: Bait
    question: str


def draw_battery(seed: int, each: int) -> list[BaitQuestion]:
    """Draw different questions of every sort.

    Args:
        seed: the same seed draws the same questions.
        each: how many of each sort.
    """
    rng = random.Random(seed)
    generic = _distinct(rng, _GENERIC, _WORDS, each)
    schema = _distinct(rng, _SCHEMA, {**_WORDS, **_SCHEMA_WORDS}, each)
    guesses = _distinct(rng, _GUESSES, {**_WORDS, **_GUESS_WORDS}, each)
    foreign = [form.format(rng.choice(words)) for form, words in rng.sample(_LANGUAGES, each)]
    hidden = [_encoded(rng, one) for one in _distinct(rng, _GENERIC, _WORDS, each)]
    sorts: tuple[tuple[Bait, list[str]], ...] = (
        ("generic", generic),
        ("schema", schema),
        ("guess", guesses),
        ("language", foreign),
        ("encoding", hidden),
        ("list", [_listed(rng, generic, guesses) for _ in range(each)]),
    )
    return [BaitQuestion(bait, question) for bait, questions in sorts for question in questions]


def _distinct(
    rng: random.Random, templates: tuple[str, ...], words: dict[str, tuple[str, ...]], most: int
) -> list[str]:
    found: dict[str, None] = {}
    for _ in range(50 * most):
        if len(found) == most:
            break
        filled = rng.choice(templates).format(**{name: rng.choice(values) for name, values in words.items()})
        found[filled[0].upper() + filled[1:]] = None
    return list(found)


def _listed(rng: random.Random, generic: list[str], guesses: list[str]) -> str:
    """Several questions in one message."""
    asked = [*rng.sample(generic, 2), rng.choice(guesses)]
    form = rng.choice(("{}. {}\n", "- {1}\n", "({}) {} ", "{1} "))
    return "".join(form.format(number, one) for number, one in enumerate(asked, 1)).strip()


def _encoded(rng: random.Random, text: str) -> str:
    codes = (
        lambda: base64.b64encode(text.encode()).decode(),
        lambda: codecs.encode(text, "rot13"),
        lambda: " ".join(text.replace(" ", "")),
        lambda: text.translate(str.maketrans("aeiost", "431057")),
        lambda: text[::-1],
        lambda: text.encode().hex(),
        lambda: " ".join(str(code) for code in text.encode()),
        lambda: urllib.parse.quote(text, safe=""),
        lambda: base64.b32encode(text.encode()).decode(),
    )
    return rng.choice(codes)()
