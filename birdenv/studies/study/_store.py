"""The database of a study: people, dialogues, moves and surveys in one SQLite file."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from birdenv.dialogue import Event
from birdenv.errors import InputError
from birdenv.files import file_errors
from birdenv.studies._database import Database
from birdenv.studies.study._records import Person, ProblemReport, StoredDialogue, StoredMove

FILE: Final = "study.sqlite"
"""The name of the database in the folder of a study."""

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS study(name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS person(
  id TEXT PRIMARY KEY, external TEXT UNIQUE, platform TEXT NOT NULL, status TEXT NOT NULL,
  since REAL NOT NULL, tries INTEGER NOT NULL DEFAULT 0, dialogue TEXT, seat INTEGER, ending TEXT,
  code TEXT);
CREATE TABLE IF NOT EXISTS dialogue(
  id TEXT PRIMARY KEY, task TEXT NOT NULL, partner TEXT NOT NULL, seed INTEGER NOT NULL,
  seats TEXT NOT NULL, started REAL NOT NULL, ended REAL, status TEXT, outcome TEXT, rewards TEXT);
CREATE TABLE IF NOT EXISTS seated(
  dialogue TEXT NOT NULL, seat INTEGER NOT NULL, person TEXT NOT NULL, PRIMARY KEY(dialogue, seat));
CREATE TABLE IF NOT EXISTS move(
  dialogue TEXT NOT NULL, number INTEGER NOT NULL, seat INTEGER NOT NULL, cid TEXT,
  action TEXT NOT NULL, data TEXT NOT NULL, event TEXT NOT NULL,
  PRIMARY KEY(dialogue, number), UNIQUE(dialogue, seat, cid));
CREATE TABLE IF NOT EXISTS noted(
  dialogue TEXT NOT NULL, number INTEGER NOT NULL, said TEXT NOT NULL, PRIMARY KEY(dialogue, number));
CREATE TABLE IF NOT EXISTS survey(
  dialogue TEXT NOT NULL, seat INTEGER NOT NULL, answers TEXT NOT NULL, PRIMARY KEY(dialogue, seat));
CREATE TABLE IF NOT EXISTS report(
  person TEXT NOT NULL, dialogue TEXT, status TEXT NOT NULL, time REAL NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS person_status ON person(status);
"""


class Store(Database):
    """The thread-safe database of a study.

    Args:
        path: the path of the database file.
        for_reading: True to open an existing file without writing anything.
    """

    def __init__(self, path: Path | str, for_reading: bool = False) -> None:
        super().__init__(path, _TABLES, for_reading)

    # --- the study

    def game(self) -> dict[str, Any]:
        """Return a mapping with the name (`game`) and the settings (`settings`) of the study's game.

        The setting `isolation`, which only earlier versions had, is left out.

        Raises:
            InputError: nobody has taken part yet.
        """
        rows = self.rows("SELECT value FROM study WHERE name = 'game'")
        if not rows:
            raise InputError(f"{Path(self.path).parent}: nobody has taken part in this study yet")
        told: dict[str, Any] = self.parsed(rows[0][0])
        told["settings"].pop("isolation", None)
        return told

    def setting(self, name: str, value: str) -> str:
        """Return the value stored under a name. If no value is stored, store and return `value`."""
        self.rows("INSERT OR IGNORE INTO study VALUES (?, ?)", name, value)
        return str(self.rows("SELECT value FROM study WHERE name = ?", name)[0][0])

    # --- people

    def add_person(self, id: str, external: str | None, platform: Mapping[str, str], now: float) -> Person:
        """Add a person who has given consent, or return the person whom the platform sent earlier.

        If a person returns with the same browser, `platform` replaces the stored parameters, because the link
        back to the platform needs the current ones.

        Args:
            id: the id of a new person.
            external: the person's id on the platform; None if no platform sent the person.
            platform: the parameters that the platform sent.
            now: the current time in seconds since 1970.
        """
        self.rows(
            "INSERT OR IGNORE INTO person(id, external, platform, status, since) VALUES (?, ?, ?, ?, ?)",
            *(id, external, json.dumps(dict(platform)), "instructions", now),
        )
        if platform:
            sql = "UPDATE person SET platform = ? WHERE id = ? AND external = ?"
            self.rows(sql, json.dumps(dict(platform)), id, external)
        found = self._people("id = ?", id) or self._people("external = ?", external)
        return found[0]

    def person(self, id: str) -> Person | None:
        """Return a person, or None if the id is unknown."""
        found = self._people("id = ?", id)
        return found[0] if found else None

    def person_named(self, name: str) -> Person | None:
        """Return the person whose id in the study or on the platform is `name`, or None if there is none."""
        found = self._people("? IN (id, external, substr(external, instr(external, ':') + 1))", name)
        return found[0] if found else None

    def people(self, status: str) -> list[Person]:
        """Return the people with a status, in the order in which they reached it."""
        return self._people("status = ? ORDER BY since, id", status)

    def _people(self, where: str, *values: Any) -> list[Person]:
        rows = self.rows(
            "SELECT id, external, platform, status, since, tries, dialogue, seat, ending, code "
            f"FROM person WHERE {where}",
            *values,
        )
        return [Person._make((*row[:2], self.parsed(row[2]), *row[3:])) for row in rows]

    def move_person(self, id: str, status: str, now: float, **fields: Any) -> None:
        """Set a person's status, the time of the change, and other fields of `Person`."""
        names = "".join(f", {name} = ?" for name in fields)
        self.rows(
            f"UPDATE person SET status = ?, since = ?{names} WHERE id = ?", status, now, *fields.values(), id
        )

    def counts(self) -> dict[str, int]:
        """Count the people with each status. Instead of the status `finished`, the endings are counted."""
        sql = "SELECT COALESCE(ending, status), COUNT(*) FROM person GROUP BY 1 ORDER BY 1"
        return dict(self.rows(sql))

    # --- dialogues

    def add_dialogue(self, made: StoredDialogue, people: Mapping[int, str]) -> bool:
        """Store a new dialogue for waiting people, and change their status to `chat`.

        If one of the people is no longer waiting, change nothing and return False.

        Args:
            made: the new dialogue.
            people: the ids of the people, keyed by seat.
        """
        with self.transaction():
            for id in people.values():
                person = self.person(id)
                if person is None or person.status != "waiting":
                    return False
            self.rows(
                "INSERT INTO dialogue(id, task, partner, seed, seats, started) VALUES (?, ?, ?, ?, ?, ?)",
                *(made.id, made.task, made.partner, made.seed, json.dumps(made.seats), made.started),
            )
            for seat, id in people.items():
                self.rows("INSERT INTO seated VALUES (?, ?, ?)", made.id, seat, id)
                self.move_person(id, "chat", made.started, dialogue=made.id, seat=seat)
        return True

    def dialogue(self, id: str) -> StoredDialogue:
        """Return a dialogue by id."""
        return self.dialogues("id = ?", id)[0]

    def dialogues(self, where: str = "1", *values: Any) -> list[StoredDialogue]:
        """Return the dialogues that satisfy an SQL condition with parameters `values`, oldest first."""
        rows = self.rows(
            "SELECT id, task, partner, seed, seats, started, ended, status, outcome, rewards FROM dialogue "
            f"WHERE {where} ORDER BY started, id",
            *values,
        )
        return [
            StoredDialogue._make((*row[:4], self.parsed(row[4]), *row[5:8], *map(self.parsed, row[8:])))
            for row in rows
        ]

    def finished(self) -> list[StoredDialogue]:
        """Return the dialogues that have ended, excluding deleted ones."""
        return self.dialogues("ended IS NOT NULL AND status IS NOT 'deleted'")

    def running(self) -> list[StoredDialogue]:
        """Return the dialogues that have not ended."""
        return self.dialogues("ended IS NULL")

    def seated(self, dialogue: str) -> dict[int, str]:
        """Return the ids of the people in a dialogue, keyed by seat."""
        return dict(self.rows("SELECT seat, person FROM seated WHERE dialogue = ?", dialogue))

    def everybody(self) -> list[tuple[Person, list[str]]]:
        """Return all people, each with their dialogues as `ID/SEAT`, sorted by platform id, then by id."""
        sql = "SELECT person, seated.dialogue || '/' || seat FROM seated JOIN dialogue ON id = dialogue"
        had: dict[str, list[str]] = {}
        for person, dialogue in self.rows(f"{sql} ORDER BY started"):
            had.setdefault(person, []).append(dialogue)
        return [(each, had.get(each.id, [])) for each in self._people("1 ORDER BY external, id")]

    def tasks_of(self, person: str) -> set[str]:
        """Return the ids of the tasks in all of a person's dialogues."""
        sql = "SELECT task FROM seated JOIN dialogue ON id = dialogue WHERE person = ?"
        return {row[0] for row in self.rows(sql, person)}

    def used(self, broken: Sequence[str], *, finished: bool = False) -> dict[tuple[str, str], int]:
        """Count the dialogues for each pair (task, kind of partner).

        Dialogues with a status in `broken` do not count. Running dialogues count unless `finished` is True.
        """
        marks = ", ".join("?" * len(broken))
        rows = self.rows(
            "SELECT task, partner, COUNT(*) FROM dialogue "
            f"WHERE COALESCE(status, '') NOT IN ({marks}) AND (ended IS NOT NULL OR NOT ?) GROUP BY 1, 2",
            *(*broken, finished),
        )
        return {(task, partner): count for task, partner, count in rows}

    def end_dialogue(
        self, id: str, now: float, status: str, outcome: Mapping[str, Any], rewards: Sequence[float]
    ) -> None:
        """Store the end of a dialogue: its time, status, outcome and rewards."""
        self.rows(
            "UPDATE dialogue SET ended = ?, status = ?, outcome = ?, rewards = ? WHERE id = ?",
            *(now, status, json.dumps(dict(outcome)), json.dumps(list(rewards)), id),
        )

    # --- moves

    def add_move(
        self,
        dialogue: str,
        number: int,
        seat: int,
        cid: str | None,
        data: Any,
        event: Event,
        noted: Any = None,
    ) -> None:
        """Store a move.

        Args:
            dialogue: the id of the dialogue.
            number: the position of the move in the dialogue, from 1.
            seat: the seat that made the move.
            cid: the browser's id for the move; None if a player made the move.
            data: the data of the move as it was sent.
            event: the event of the move in the log.
            noted: the value of `Rules.noted` that was recorded after the move, which a replay needs.
        """
        sent = json.dumps(data)
        heard = json.dumps(event.to_json())
        insert = "INSERT INTO move VALUES (?, ?, ?, ?, ?, ?, ?)"
        values = dialogue, number, seat, cid, event.action, sent, heard
        if noted is None:
            self.rows(insert, *values)
            return
        with self.transaction():
            self.rows(insert, *values)
            self.rows("INSERT INTO noted VALUES (?, ?, ?)", dialogue, number, json.dumps(noted))

    def moves(self, dialogue: str) -> list[StoredMove]:
        """Return the moves of a dialogue in order."""
        sql = (
            "SELECT seat, cid, event, said FROM move LEFT JOIN noted USING (dialogue, number) "
            "WHERE dialogue = ? ORDER BY number"
        )
        return [
            StoredMove(seat, cid, Event.from_json(self.parsed(event)), self.parsed(said))
            for seat, cid, event, said in self.rows(sql, dialogue)
        ]

    def move_counts(self) -> dict[str, int]:
        """Return the number of moves in each dialogue."""
        return dict(self.rows("SELECT dialogue, COUNT(*) FROM move GROUP BY 1"))

    def words(self, dialogue: str, seat: int) -> int:
        """Return the number of words in the moves of a seat, excluding refused moves."""
        events = (move.event for move in self.moves(dialogue) if move.seat == seat)
        said = (event.data for event in events if not (event.metadata or {}).get("refused"))
        return sum(len(data.split()) for data in said if isinstance(data, str))

    # --- surveys

    def add_survey(self, dialogue: str, seat: int, answers: Mapping[str, Any]) -> None:
        """Store the survey answers of the person in a seat. Later answers are ignored."""
        self.rows("INSERT OR IGNORE INTO survey VALUES (?, ?, ?)", dialogue, seat, json.dumps(dict(answers)))

    def surveys(self, dialogue: str) -> dict[int, dict[str, Any]]:
        """Return the survey answers about a dialogue, keyed by the seat of the person who answered."""
        rows = self.rows("SELECT seat, answers FROM survey WHERE dialogue = ?", dialogue)
        return {seat: self.parsed(answers) for seat, answers in rows}

    # --- reports

    def add_report(self, report: ProblemReport) -> None:
        """Store a problem report."""
        self.rows("INSERT INTO report VALUES (?, ?, ?, ?, ?)", *report)

    def reports(self, person: str | None = None) -> list[ProblemReport]:
        """Return the reports from a person, or from all people, in chronological order."""
        sql = "SELECT person, dialogue, status, time, text FROM report WHERE ? IN (person, '') ORDER BY time"
        return [ProblemReport._make(row) for row in self.rows(sql, person or "")]


def open_store(folder: Path) -> Store:
    """Open the database in a study's folder, creating the folder and the database if necessary.

    Raises:
        InputError: the folder or the file cannot be used.
    """
    with file_errors(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True)
    return Store(folder / FILE)


@contextmanager
def held_study(folder: Path) -> Iterator[None]:
    """Lock a study's folder during the `with` block, so that no other server can run the same study.

    Raises:
        InputError: another server has locked the folder, or the folder cannot be used.
    """
    with file_errors(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder} is in use by another server: stop that server first") from None
        yield
    finally:
        os.close(descriptor)
