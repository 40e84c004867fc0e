"""Messages with several questions: what they are taken apart into, and what is answered."""

from __future__ import annotations

import pytest

import birdenv
from birdenv.users import ASKING_BACK, Ambiguity, Brief, BriefNotes
from birdenv.users.understanding import understand, understand_parts
from birdenv.users.understanding._message import pieces_of

LATE, CENTRAL, ORDER = "What is late?", "which branches are central", "the sort order"


def texts(message: str) -> list[str]:
    return [piece.text for piece in pieces_of(message)]


@pytest.mark.parametrize(
    "message",
    [
        f"Please clarify:\n1. {LATE}\n2. {CENTRAL}\n3. {ORDER}\n\nThanks a lot!",
        f"I have a few questions: 1) {LATE} 2) {CENTRAL}; 3) {ORDER}",
        f"(i) {LATE} (ii) {CENTRAL} (iii) {ORDER}",
        f"a) {LATE} b) {CENTRAL}, c) {ORDER}",
        f"Hello,\n- {LATE}\n- {CENTRAL}\n- {ORDER}",
        f"* {LATE}\n* {CENTRAL}\n* {ORDER}",
        f"Please advise: - {LATE} - {CENTRAL}, - {ORDER}",
        f"My questions • {LATE} • {CENTRAL} • {ORDER}",
        f"Q1: {LATE}\nQ2: {CENTRAL}\nQ3: {ORDER}",
        f"| # | Question |\n|---|---|\n| 1 | {LATE} |\n| 2 | {CENTRAL} |\n| 3 | {ORDER} |",
    ],
)
def test_a_list_is_taken_apart(message: str) -> None:
    assert texts(message) == [LATE, CENTRAL, ORDER]


@pytest.mark.parametrize(
    "message",
    [
        "I'd like to know: what late is, which branches are central, and how to sort.",
        "Three questions: What late is? Which branches are central? And how to sort?",
        "My open points: what late is; which branches are central; how to sort.",
    ],
)
def test_a_list_in_one_sentence_is_taken_apart(message: str) -> None:
    items = [text.rstrip(".?").removeprefix("And ").lower() for text in texts(message)]
    assert items == ["what late is", "which branches are central", "how to sort"]


@pytest.mark.parametrize(
    ("message", "items"),
    [
        ("Could you confirm the limit for late, the central branches, and the sort order?", 3),
        ("To check: what late is, which branches are central, and if ties matter.", 3),
        ("Please explain 'late returns', 'central', and 'the share'.", 3),
        ("Could you define late returns, central branches and the rounding?", 3),
        ("Please clarify:\n1. late\n2. central\n\nI wonder which definitions you use.", 2),
        ("Could you confirm the limit for late and the sort order?", 1),
        ("Can you confirm the status should be open, paid or waived, and nothing else?", 1),
        ("Could you explain the difference between late, lost and damaged?", 1),
        ("Describe every filter, ordering, join and limit you need.", 1),
    ],
)
def test_things_to_confirm_are_taken_apart_from_three_on(message: str, items: int) -> None:
    assert len(pieces_of(message)) == items


def test_headings_and_examples_below_an_item_belong_to_it() -> None:
    message = "- **Late**\n  - When is it late?\n- **Order**\n  - Which order?\n- Cut?\n  - To tenths?"
    assert texts(message) == [
        "Late - When is it late?",
        "Order - Which order?",
        "Cut? - To tenths?",
    ]


@pytest.mark.parametrize(
    "message",
    [
        "What is late?",
        "By late, do you mean (a) after the due date or (b) after the reminder?",
        "I see two readings of late:\n1. after the due date\n2. after the reminder\n\nWhich one is yours?",
        "What is steady: - at least 3 orders, - at least 5 orders?",
        "When you say late, do you mean:\n1. after the due date\n2. after the reminder",
        "I would take 40. Which seats count?",
        "Could you help me? Which seats count?",
        "How many decimals, 1.5 or 1.55?",
        "To clarify: should I use days, should I use hours, or should I use weeks?",
    ],
)
def test_choices_and_statements_make_no_second_question(message: str) -> None:
    assert len(pieces_of(message)) == 1


@pytest.mark.parametrize(
    ("message", "clauses"),
    [
        ("Which branches are central, and do waived fines count?", 2),
        ("I'd like to know when a return is late, which branches are central, and how to sort.", 3),
        ("What is late and after how many days is a loan lost?", 2),
        ("If a loan is open, is it late, and which branches are central?", 2),
        ("Is it late after the due date, or is it late after the reminder?", 1),
        ("What is late, for example do you count days?", 1),
        ("How many decimals should the share have and which are rounded up?", 2),
        ("Which branches are central, and up to which hour are they open?", 2),
    ],
)
def test_a_sentence_is_taken_apart_at_its_clauses(message: str, clauses: int) -> None:
    assert len(pieces_of(message)) == clauses


def test_a_doubt_leads_to_the_question_after_it() -> None:
    doubt = "You want them sorted, but I am not sure by which column. By the total or by the name?"
    assert [piece.text for piece in pieces_of(doubt)] == [doubt]
    assert len(pieces_of("I am not sure what late means. I do not know which branches are central.")) == 2


def test_prose_is_taken_apart_at_its_questions() -> None:
    message = "Thanks! You speak of seats. How many make it roomy? Also, tell me the order."
    first, second = texts(message)
    assert first.endswith("How many make it roomy?") and "seats" in first
    assert second == "Also, tell me the order."


def talk(task: str, *messages: str, user: str = "rule", profile: str = "strict") -> list[str]:
    with birdenv.make_game("c-interact", user=user, profile=profile).episode(task) as episode:
        for message in messages:
            episode.act("clarify", message)
        return [event.data for event in episode.events if event.action == "answer"]


FOUR = (
    "1. Which branches are central?\n2. What is a late return?\n3. How should I sort?\n4. How many decimals?"
)


@pytest.mark.parametrize("profile", ["strict", "shell", "adk"])
def test_of_four_questions_the_first_two_are_answered_and_the_others_wait(profile: str) -> None:
    (text,) = talk("library_4", FOUR, profile=profile)
    assert text.index("Docklands") < text.index("2 days")
    assert text.endswith("I have answered your first two questions. Please ask the others one at a time.")


def test_the_others_can_be_asked_for_by_their_place() -> None:
    _, others, first = talk("library_4", FOUR, "and the other two?", "the first one again, please")
    assert "sorted" in others and "one decimal" in others and "Docklands" not in others
    assert "Docklands" in first
    _, last, missed = talk("library_4", FOUR, "What about the last one?", "you only answered two")
    assert "one decimal" in last and "sorted" not in last
    assert "sorted" in missed


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ("2?", 1),
        ("and 3", 2),
        ("question 3 please", 2),
        ("what about d?", 3),
        ("You didn't answer the third one.", 2),
        ("go on please", 2),
        ("And the 4th?", 3),
    ],
)
def test_a_place_in_a_list_has_many_names(reference: str, place: int) -> None:
    said = ("Docklands", "2 days", "sorted", "one decimal")
    _, answer = talk("library_4", FOUR, reference)
    assert said[place] in answer
    assert "Docklands" not in answer and ("sorted" in answer) == (said[place] == "sorted")


def test_a_question_for_sql_in_a_list_is_refused_in_its_place() -> None:
    (text,) = talk("library_4", "1. Which branches are central? 2. print the SQL 3. How many decimals?")
    assert "Docklands" in text
    assert "Your second question is nothing I can help you with." in text
    assert "one decimal" not in text


def test_a_question_that_is_not_understood_is_named_in_its_place() -> None:
    (text,) = talk("library_4", "Please clarify: 1) what is the threshold? 2) which branches are central?")
    assert text.startswith("I am not sure what your first question is about.") and "Docklands" in text
    assert talk("library_4", "1) the threshold? 2) which value?") == [ASKING_BACK]


@pytest.mark.parametrize("user", ["rule:literal", "rule:busy"])
def test_some_users_answer_the_first_question_only(user: str) -> None:
    (text,) = talk("library_4", FOUR, user=user)
    assert "Docklands" in text and "2 days" not in text
    assert "I have answered your first question." in text


def test_an_elaboration_is_no_question_of_its_own() -> None:
    brief = Brief("", (Ambiguity("roomy", "seats >= 40", "critical"),), request="List roomy branches.")
    for more in ("For example, is it about seats?", "Or is it the area?", "Is it that?", "Right?"):
        assert len(understand_parts(brief, f"What is roomy? {more}")) == 1
    for more in ("and how is it computed", "and in what direction", "and where do you draw the line"):
        assert len(understand_parts(brief, f"What is roomy, {more}?")) == 1


def test_a_question_that_repeats_the_one_before_it_is_answered_once_except_in_a_list() -> None:
    (text,) = talk("library_4", "Which branches are central? Do the central branches have a district?")
    assert text.count("Docklands") == 1 and "once more" not in text
    (text,) = talk("library_4", "1. Which branches are central? 2. What is central? 3. How do I sort?")
    assert "once more" in text and text.endswith("Please ask the other one again.")


def test_a_fragment_without_a_verb_continues_a_question_only_if_it_refers_to_it() -> None:
    assert len(understand_parts(BRIEF, "What is roomy? The best only?")) == 1
    assert len(understand_parts(BRIEF, "What is roomy? And late?")) == 2


BRIEF = Brief(
    "",
    (Ambiguity("roomy", "seats >= 40", "critical"), Ambiguity("late", "days > 2", "critical")),
    request="List roomy branches and late returns.",
)


@pytest.mark.every(4)
@pytest.mark.parametrize(
    "sign",
    ["?", "1", "1. ", "- ", "(", ")", "a) ", "\n", "1)\n", "-\n  - ", "or? ", "? ", ", and ", "points: "],
)
def test_a_very_long_message_is_read(sign: str) -> None:
    message = (sign * 65_536)[:65_536]
    assert understand(BRIEF, message).call in ("unclear", "unanswerable")
    parts = understand_parts(BRIEF, f"What is roomy?\n{message}")
    assert parts[0].choice is not None


def test_the_first_two_of_two_hundred_questions_are_looked_at() -> None:
    message = "\n".join(f"{n}. What is {'roomy' if n % 2 else 'late'}?" for n in range(1, 201))
    parts = understand_parts(BRIEF, message)
    assert len(parts) == 200
    assert [part.choice.target for part in parts[:2] if part.choice] == ["roomy", "late"]
    assert parts[-1].choice is None


@pytest.mark.parametrize(
    "message",
    [
        "1. Was ist der Schwellenwert? 2. Wie lautet die Formel?",
        "阈值是什么？公式是什么？",
        "¿Cuál es el umbral? ¿Y la fórmula?",
    ],
)
def test_a_list_in_another_language_tells_nothing(message: str) -> None:
    assert not any(part.choice and part.choice.tells for part in understand_parts(BRIEF, message))


def test_no_preference_is_never_said_of_a_gold_that_cannot_be_parsed() -> None:
    brief = Brief("", (), ("SELEC name FROM (t ORDER BY ,",), request="List the names.")
    for question in ("In which order?", "Is there a limit?", "How many decimals?", "Anything to leave out?"):
        assert "no preference" not in understand(brief, question).answer


def test_without_the_gold_a_point_that_rounds_settles_rounding() -> None:
    points = (Ambiguity("figures", "ROUND(AVG(days), 2) AS days, ROUND(AVG(seats), 2) AS seats", "critical"),)
    for question in ("decimals for the averages?", "How many decimals do you want?"):
        answer = understand(Brief("", points, request="Show the figures."), question).answer
        assert "no preference" not in answer


@pytest.mark.parametrize(
    "columns",
    [{}, {"seats": ""}, {"days": "ORDER BY 1; '"}, {"seats": "the number of days"}, {"nothing": "x" * 9999}],
)
def test_meanings_of_columns_may_be_missing_empty_or_wrong(columns: dict[str, str]) -> None:
    brief = Brief(BRIEF.clear_query, BRIEF.ambiguities, request=BRIEF.request, notes=BriefNotes(columns, {}))
    assert understand(brief, "What is roomy?").target == "roomy"


def test_a_clause_that_is_not_understood_is_named_in_its_place() -> None:
    (text,) = talk("library_4", "Which branches are central, and which colours do the shelves have?")
    assert "Docklands" in text and text.endswith("your second question is about.")
    (text,) = talk("library_4", "Tell me: which shelves are blue, what is late, and how do I sort?")
    assert "first question" in text and "2 days" in text and "Please ask the other one again." in text


def test_terms_in_a_row_are_questions_of_their_own() -> None:
    for message in (
        "I need three definitions: the central branches, the late returns, and how to round.",
        "Could you define central branches, late returns and rounded?",
    ):
        (text,) = talk("library_4", message)
        assert "Docklands" in text and "2 days" in text and "the other one" in text


def test_sentences_that_tell_nothing_alone_tell_nothing_together() -> None:
    (text,) = talk("library_4", "Is there a threshold? How is the value calculated? Is it 14 or 0.1?")
    assert text == ASKING_BACK or text.startswith("Sorry")


def test_a_sentence_without_a_preference_does_not_make_a_guess_an_answer() -> None:
    asked = (
        "Which number counts? Sorry, which condition should I use? Just to be sure, should it be below 10?"
    )
    assert "sorted" not in talk("library_4", asked)[0]
