"""What the errors of Ray mean, without a cluster: an actor that is away is not lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from birdenv.engines import Job, WorkerLostError, _ray
from birdenv.engines._ray import _Actor
from birdenv.errors import InputError, RunEndedError


class RayError(Exception):
    pass


class RayActorError(RayError):
    pass


class ActorUnavailableError(RayActorError):
    """A subclass of what says that an actor is dead, as in Ray."""


class GetTimeoutError(RayError):
    pass


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        super().__init__("a remote traceback of ten lines")
        self.cause = cause


ERRORS = (RayError, RayActorError, ActorUnavailableError, GetTimeoutError, RayTaskError)


class FakeRay:
    """Ray with an actor whose calls have outcomes that are given; an exception is raised."""

    exceptions = SimpleNamespace(**{each.__name__: each for each in ERRORS})

    def __init__(self, *outcomes: Any) -> None:
        self.outcomes = list(outcomes)
        self.killed = 0
        method = SimpleNamespace(remote=lambda *values: None)
        self.actor = SimpleNamespace(open=method, play=method)

    def remote(self, **options: Any) -> Any:
        return lambda kind: SimpleNamespace(remote=lambda work: self.actor)

    def get(self, reference: Any, timeout: float | None = None) -> Any:
        found = self.outcomes.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def kill(self, actor: Any) -> None:
        self.killed += 1


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ray.time, "sleep", lambda seconds: None)


def actor(*outcomes: Any) -> _Actor:
    work: Any = None
    return _Actor(FakeRay(None, *outcomes), work, 2)


def test_an_actor_that_is_away_is_asked_again() -> None:
    away = ActorUnavailableError("the network")
    assert actor(away, away, "played").play(Job("1")) == "played"


def test_an_actor_that_stays_away_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ray, "AWAY_SECONDS", -1.0)
    with pytest.raises(WorkerLostError, match="a Ray actor was lost: the network"):
        actor(ActorUnavailableError("the network")).play(Job("1"))


@pytest.mark.parametrize(
    ("raised", "expected", "says"),
    [
        (RayActorError("it died\nand more"), WorkerLostError, "^a Ray actor was lost: it died$"),
        (RayTaskError(InputError("no data")), InputError, "^no data$"),
        (RayTaskError(RunEndedError("no budget")), RunEndedError, "^no budget$"),
        (RayTaskError(KeyError("x")), RunEndedError, "^a Ray actor failed: KeyError: 'x'"),
        (RayError("the raylet died"), RunEndedError, "^the Ray cluster was lost: the raylet died$"),
    ],
)
def test_errors_of_ray_become_ours(raised: Exception, expected: type[Exception], says: str) -> None:
    with pytest.raises(expected, match=says):
        actor(raised).play(Job("1"))


def test_an_actor_that_does_not_open_is_ended() -> None:
    ray = FakeRay(GetTimeoutError("late"))
    work: Any = None
    with pytest.raises(WorkerLostError, match="did not start within 600 seconds"):
        _Actor(ray, work, 2)
    assert ray.killed == 1
