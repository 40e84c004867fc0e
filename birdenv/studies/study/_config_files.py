"""Read a study's configuration in birdenv's format or in any variant of CoCoA's `app_params.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any, Final
from warnings import warn

from pydantic import BaseModel, ConfigDict, Field

from birdenv.checks import read_as
from birdenv.dialogue import Game
from birdenv.dialogue.players import AGENTS, USERS, player_names
from birdenv.errors import InputError
from birdenv.files import read_json, read_text
from birdenv.studies.study._config import HUMAN, Check, Partner, StudyConfig, default_survey

_TAG: Final = re.compile(r"<[^<>]*>")


def read_config(path: Path) -> StudyConfig:
    """Read a study's configuration in birdenv's format or in any variant of CoCoA's `app_params.json`.

    Raises:
        InputError: the file cannot be used.
    """
    record = read_json(path)
    if not isinstance(record, dict):
        raise InputError(f"{path}: a study's configuration must be a JSON object")
    if record.keys() & (AppParams.model_fields.keys() - StudyConfig.model_fields.keys()):
        record = _without_nulls(record)
        _name_unused(path, record)
        record = read_as(AppParams, record, path).study(path)
    return read_as(StudyConfig, record, path)


def example_config(game: Game) -> StudyConfig:
    """Return an example configuration for a game, in which every field has a value."""
    names = game.seat_names
    players = [player for _, player in sorted(game.players.items())]
    has_pairs = len(game.players) == len(names)
    partners = {player: Partner(player=player, chats=2) for player in players[:1]}
    if has_pairs or not players:
        partners = {HUMAN: Partner(chats=2), **partners}
    free = [name for seat, name in enumerate(names) if seat not in game.players]
    return StudyConfig(
        title=game.study_title or game.title or game.name,
        instructions="Please talk as you would in a chat. The study takes about 15 minutes.",
        check=(
            Check(
                question="What happens if you close the page in the middle of the conversation?",
                options=(
                    "It waits for me for a day.",
                    "After a minute I count as gone, and the conversation ends.",
                ),
                answer=1,
            ),
        ),
        seat=free[0] if free and players else None,
        partners=partners,
        standby=players[0] if has_pairs and players else None,
        codes={"done": "CODE-DONE", "partner_left": "CODE-PARTNER-LEFT", "nobody_came": "CODE-NOBODY-CAME"},
        survey=default_survey(game),
        typing_speed=6,
        hosts=("study.example.org",),
        contact="study@example.org",
    )


class _Params(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Status(_Params):
    num_seconds: float


class _AgentModel(_Params):
    active: bool = True
    type: str = ""
    checkpoint: str = ""


class AppParams(_Params):
    """The fields of CoCoA's `app_params.json` that studies use. Page templates and images are ignored.

    A file may have one quota for all partners, one quota for each partner, or no quotas. If `models` is
    missing, all partners are people. Fields with the value null count as missing.
    """

    status_params: Mapping[str, _Status] = Field(default_factory=dict)
    connection_timeout_num_seconds: float = 3
    idle_timeout_num_seconds: float = -1
    task_title: str = ""
    instructions: str = ""
    end_survey: int = 0
    num_chats_per_scenario: int | Mapping[str, int] | None = None
    models: Mapping[str, _AgentModel] = Field(default_factory=dict)

    def study(self, path: Path) -> dict[str, Any]:
        """Convert the parameters to a study configuration in birdenv's format, as JSON data.

        Raises:
            InputError: a limit or a quota is missing.
        """
        made: dict[str, Any] = {
            "title": self.task_title,
            "instructions": self._told(path),
            "partners": self._partners(path),
            "limits": {
                "waiting": self._seconds("waiting", path),
                "chat": self._seconds("chat", path),
                "idle": _limit(self.idle_timeout_num_seconds),
                "away": _limit(self.connection_timeout_num_seconds),
            },
        }
        return made if self.end_survey else made | {"survey": []}

    def _told(self, path: Path) -> str:
        """Return the text of the instruction file, without HTML tags."""
        file = path.parent / self.instructions
        if not self.instructions:
            return ""
        if not file.is_file():
            warn(f"{path}: instructions are left out, because the file {file} does not exist", stacklevel=4)
            return ""
        return unescape(_TAG.sub(" ", read_text(file))).strip()

    def _partners(self, path: Path) -> dict[str, Any]:
        known = {*player_names(AGENTS), *player_names(USERS)}
        players: dict[str, str | None] = {HUMAN: None}
        unknown: set[str] = set()
        for name, model in self.models.items():
            if not model.active:
                continue
            if model.type.partition(":")[0] in known:
                if name == HUMAN:
                    raise InputError(
                        f"{path}: a model cannot have the name {HUMAN!r}, which stands for a person"
                    )
                has_file = model.checkpoint and ":" not in model.type
                file = f":{(path.parent / model.checkpoint).absolute()}" if has_file else ""
                players[name] = model.type + file
            else:
                unknown.add(name)
                warn(
                    f"{path}: model {name!r} is left out, because its type {model.type!r} is unknown",
                    stacklevel=4,
                )
        if isinstance(self.num_chats_per_scenario, Mapping):
            for name in sorted(self.num_chats_per_scenario.keys() - players.keys() - unknown):
                warn(
                    f"{path}: num_chats_per_scenario.{name} is ignored: no active model has that name",
                    stacklevel=4,
                )
        made = {name: {"player": each, "chats": self._quota(name, path)} for name, each in players.items()}
        made = {name: each for name, each in made.items() if each["chats"] != 0}
        if not made:
            raise InputError(
                f"{path}: no partner is left, because all quotas in num_chats_per_scenario are 0"
            )
        return made

    def _quota(self, name: str, path: Path) -> int | None:
        quotas = self.num_chats_per_scenario
        if not isinstance(quotas, Mapping):
            return quotas
        if name not in quotas:
            raise InputError(
                f"{path}: num_chats_per_scenario does not mention {name!r}: write "
                f'"num_chats_per_scenario": {{"{name}": 1, ...}}'
            )
        return quotas[name]

    def _seconds(self, status: str, path: Path) -> float | None:
        if status not in self.status_params:
            raise InputError(
                f"{path}: status_params.{status}.num_seconds is missing: write "
                f'"status_params": {{"{status}": {{"num_seconds": 300}}, ...}}, or -1 for no limit'
            )
        return _limit(self.status_params[status].num_seconds)


def _name_unused(path: Path, record: Mapping[str, Any]) -> None:
    unused = sorted(record.keys() - AppParams.model_fields.keys())
    if unused:
        own = ""
        if "templates_dir" in unused:
            own = ". birdenv uses its own pages: write text for participants in `instructions`"
        warn(f"{path}: these fields are ignored: {', '.join(unused)}{own}", stacklevel=4)


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _without_nulls(each) for name, each in value.items() if each is not None}


def _limit(seconds: float) -> float | None:
    return None if seconds == -1 else seconds
