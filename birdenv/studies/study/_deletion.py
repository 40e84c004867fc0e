"""Delete the data of people who withdraw from a study."""

from __future__ import annotations

from typing import Final

from birdenv.errors import InputError
from birdenv.studies.study._records import Person
from birdenv.studies.study._store import Store

DELETED: Final = "deleted"
"""The status of a dialogue whose contents were deleted."""


def delete_person(store: Store, name: str) -> int:
    """Delete a person and the contents of the person's dialogues. Partners keep their completion codes.

    The deleted bytes in the database file are overwritten. Copies of the file are not changed.

    Args:
        store: the database of the study.
        name: the person's id in the study or on the platform.

    Returns:
        The number of the person's dialogues.

    Raises:
        InputError: nobody has this id, or the person is currently in a dialogue.
    """
    person = _who_may_go(store, name)
    store.rows("PRAGMA secure_delete = ON")
    with store.transaction():
        had = [row[0] for row in store.rows("SELECT dialogue FROM seated WHERE person = ?", person.id)]
        for dialogue in had:
            for table in ("move", "noted", "survey"):
                store.rows(f"DELETE FROM {table} WHERE dialogue = ?", dialogue)
            store.rows("UPDATE dialogue SET status = ?, outcome = '{}' WHERE id = ?", DELETED, dialogue)
        for table, column in (("seated", "person"), ("report", "person"), ("person", "id")):
            store.rows(f"DELETE FROM {table} WHERE {column} = ?", person.id)
    store.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    return len(had)


def what_is_of(store: Store, name: str) -> list[str]:
    """Return short descriptions of the data that `delete_person` would delete.

    Raises:
        InputError: nobody has this id, or the person is currently in a dialogue.
    """
    person = _who_may_go(store, name)
    had = [row[0] for row in store.rows("SELECT dialogue FROM seated WHERE person = ?", person.id)]
    moves = store.move_counts()
    answers = sum(bool(store.surveys(each)) for each in had)
    return [
        f"The person {person.external or person.id}, with their completion code",
        f"Their dialogues: {len(had)}, with {sum(moves.get(each, 0) for each in had)} moves",
        f"All answers to the survey about these dialogues (given for {answers})",
        f"Problems that they reported: {len(store.reports(person.id))}",
    ]


def _who_may_go(store: Store, name: str) -> Person:
    person = store.person_named(name)
    if person is None:
        raise InputError(f"no person in this study has the id {name}")
    if person.status == "chat":
        raise InputError(f"{name} is in a dialogue now: try again when the dialogue is over")
    return person
