"""Seats a simulated user in a c-Interact dialogue."""

from __future__ import annotations

from birdenv.dialogue import Move
from birdenv.tasks.c_interact._user_seat import UserView
from birdenv.users import User

__all__ = ["UserSession"]


class UserSession:
    """Answers each question through a `User`; the answer keeps its trace for the private log."""

    def __init__(self, user: User) -> None:
        self._user = user

    def move(self, view: UserView) -> Move:
        return Move("answer", self._user.answer(view.brief, view.question))
