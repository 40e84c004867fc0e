"""The administrator's page: what it tells of the study, its files, and deleting a person."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from test_dialogues import golds
from web_browser import Browser, Chat, served

from birdenv.report.access import Doors
from birdenv.studies.study._config import Partner, StudyConfig

RULE = StudyConfig(partners={"rule": Partner(player="rule")}, seat="system", codes={"done": "CODE-1"})


def answered(person: Browser) -> None:
    person.post("/survey", dict.fromkeys(("fluent", "correct", "humanlike", "cooperative"), "4"))


def test_a_dialogue_from_its_verdict_to_files_and_deletion(tmp_path: Path) -> None:
    with served(tmp_path, "c-interact", RULE, limit=1) as (study, port):
        person, admin = Browser(port), Browser(port)
        admin.post("/admin", {"token": Doors(tmp_path).admin_token})
        person.enter()
        admin.get("/admin/now")
        assert "<strong>1</strong>" in admin.page
        with Chat(person) as chat:
            chat.wait_turn()
            assert [each["title"] for each in chat.setup["panels"]] == ["Tables", "Knowledge"]
            assert chat.state["left"] == "You can ask 5 more questions. You have 2 attempts at the SQL."
            chat.play("submit_sql", golds(study)[0])
            chat.until(lambda: chat.state["left"].startswith("The second request."))
            chat.play("submit_sql", "SELECT 1")
            chat.until(lambda: chat.state["left"].endswith("You have 1 attempt at the SQL."))
            chat.play("submit_sql", "SELECT unknown_thing")
            chat.until(lambda: chat.status == "survey")
        person.get()
        assert (
            "SELECT unknown_thing" in person.page and "no such column" in person.page
        )  # the verdict, and why
        assert "Your SQL earned 0.7 of 1 point." in person.page
        answered(person)
        assert "CODE-1" in person.page

        admin.get("/admin")
        (stored,) = study.store.dialogues()
        assert f"/admin/replay/dialogue?id={stored.id}" in admin.page and "<td>CODE-1</td>" in admin.page
        admin.get("/admin/export/chats.jsonl")
        (chats,) = map(json.loads, admin.page.splitlines())
        assert chats["seat"] == "system" and chats["messages"][-2]["tool_calls"]
        tables = {}
        for name in ("dialogues", "answers", "people"):
            assert admin.get(f"/admin/export/{name}.csv") == 200
            tables[name] = list(csv.DictReader(io.StringIO(admin.page)))
        assert tables["dialogues"][0] | {"started": "", "minutes": ""} == {
            "dialogue": stored.id,
            "task": stored.task,
            "partner": "rule",
            "players": "human rule",
            "started": "",
            "minutes": "",
            "moves": "3",
            "status": "completed",
            "rewards": "0.7 0.7",
        }
        assert [(row["question"], row["value"], row["seat"]) for row in tables["answers"]] == [
            (name, "4", "0") for name in ("fluent", "correct", "humanlike", "cooperative")
        ]
        who = tables["people"][0]["person"]
        assert admin.get("/admin/export/nothing.csv") == 403

        assert admin.post("/admin/delete", {"person": who}) == 200
        assert "Their dialogues: 1, with 3 moves" in admin.page
        assert study.store.person(who) is not None  # it was only asked
        assert admin.post("/admin/delete", {"person": who, "sure": "yes"}) == 200
        assert "Dialogues deleted with them: 1." in admin.page and study.store.person(who) is None


def test_who_waits_and_a_problem_is_seen_and_text_of_others_is_text(tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(), limit=1) as (_, port):
        person, admin = Browser(port, "PROLIFIC_PID=<i>p</i>&STUDY_ID=s"), Browser(port)
        person.enter()
        with Chat(person) as chat:
            chat.until(lambda: chat.status == "waiting")
            person.post("/report", {"text": "<b>slow</b>"})
            assert "The study team has received your message." in person.page
            admin.post("/admin", {"token": Doors(tmp_path).admin_token})
            admin.get("/admin/now")
            assert "prolific:<i>p</i></td>" in admin.page and "<td>open</td>" in admin.page


def test_leaving_says_what_it_means_for_the_payment(tmp_path: Path) -> None:
    for codes, said in (({}, "You get no completion code"), ({"left": "L"}, "You get a completion code")):
        made = StudyConfig(codes=codes, contact="study@example.org")
        with served(tmp_path / said, "mutual-friends", made, limit=1) as (_, port):
            person = Browser(port)
            person.enter()
            assert said in person.page and "study@example.org" in person.page
            person.post("/step/leave")
            assert ("You do not get a completion code" in person.page) == (not codes)
            assert "study@example.org" in person.page or codes
