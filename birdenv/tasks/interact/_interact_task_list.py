"""The tasks of c-Interact and a-Interact, from settings."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from birdenv.databases import open_source
from birdenv.demo import DEMO_C_INTERACT_FILE, demo_folder
from birdenv.dialogue import Rules
from birdenv.errors import SettingError
from birdenv.files import file_identity
from birdenv.grading import InteractGrader
from birdenv.tasks.interact._loader import find_task_file, load_benchmark
from birdenv.tasks.interact._profile import MAX_PATIENCE, PATIENCE, PROFILES
from birdenv.tasks.interact._reward_scheme import RewardScheme, Scheme
from birdenv.tasks.interact._task import CInteractTask, private_task_fields, task_fields
from birdenv.tasks.interact._user_seat import LeakGuard, UserSees
from birdenv.tasks.sql._settings import SqlSettings, check_task_file, playable
from birdenv.tasks.sql._sql_task_list import SqlTasks
from birdenv.users import UserStyle

_logger = logging.getLogger("birdenv")


class InteractSettings(SqlSettings):
    """Settings of both games of BIRD-Interact."""

    data_dir: str | None = Field(
        None, description="Folder with the task file and <db>/ folders; default: that of `data`, else demo."
    )
    data: str | None = Field(None, description="Task file, if not the folder's own.")
    profile: str = Field(
        "strict", description="Protocol rules: strict (ours), or a reference implementation's."
    )
    patience: int = Field(
        PATIENCE, description="Questions (or budget) beyond one for each annotated ambiguity."
    )
    user_sees: UserSees = Field("words", description="What the user sees of the system's moves.")
    leak_guard: LeakGuard = Field("filter", description="Replace answers that leak, or only log them.")
    reward_scheme: Scheme = Field(
        "cooperative", description="Who pays for questions and for what the user tells: docs/self-play.md."
    )
    question_price: float = Field(0.0, ge=0, description="What a question takes from the reward.")
    disclosure_price: float = Field(
        0.0, ge=0, description="What each annotated point that the user tells takes from the reward."
    )

    user_style: UserStyle = Field(
        "plain", description="How the rule-based user words its answers (profile strict)."
    )

    @field_validator("user_style")
    @classmethod
    def _can_have_style(cls, value: UserStyle, info: ValidationInfo) -> UserStyle:
        profile = cls.profiles().get(info.data.get("profile", ""))
        if value != "plain" and profile is not None and not profile.conversation:
            raise SettingError(
                "user_style", f" {value!r} needs the profile strict: the others are as published"
            )
        return value

    @field_validator("patience", mode="before")
    @classmethod
    def _is_patience(cls, value: Any) -> Any:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_PATIENCE:
            raise SettingError("patience", f" must be from 0 to {MAX_PATIENCE}, got {value!r}")
        return value

    @field_validator("profile")
    @classmethod
    def _is_profile(cls, value: str) -> str:
        known = cls.profiles()
        if value not in known:
            raise SettingError("profile", f" {value!r} is unknown; known: {', '.join(known)}")
        return value

    @classmethod
    def profiles(cls) -> Mapping[str, Any]:
        """Return the profiles of the game by name."""
        return PROFILES

    def place(self) -> tuple[Path, Path]:
        """Return the folder and the task file."""
        if self.data:
            return Path(self.data_dir) if self.data_dir else Path(self.data).parent, Path(self.data)
        if self.data_dir:
            return Path(self.data_dir), find_task_file(Path(self.data_dir))
        return demo_folder(), demo_folder() / DEMO_C_INTERACT_FILE

    def identity(self) -> Hashable:
        folder, file = self.place()
        return file_identity(folder, file)

    @property
    def scheme(self) -> RewardScheme:
        """How the seats are paid."""
        return RewardScheme(self.reward_scheme, self.question_price, self.disclosure_price)

    def rules(self) -> dict[str, Any]:
        """Return the settings that are the game's own rules, for `config.json` and `overall.json`."""
        return {"profile": self.profile, "patience": self.patience}


class InteractTasks(SqlTasks[CInteractTask]):
    """Tasks of BIRD-Interact; `make_rules` starts an episode of a game."""

    settings: InteractSettings
    make_rules: Callable[..., Rules]
    _idle: Mapping[str, Any]

    def start(self, instance_id: str) -> Rules:
        return self.make_rules(self.tasks[instance_id])

    def skipped(self, instance_id: str) -> Mapping[str, Any]:
        return {"attempts": [], **self._idle, **task_fields(self.tasks[instance_id])}

    def skipped_private(self, instance_id: str) -> Mapping[str, Any]:
        return private_task_fields(self.tasks[instance_id], played=False) | {"log": []}

    def config(self) -> dict[str, Any]:
        notes = {task.public.database: task.private.notes for task in self.tasks.values()}
        digests = {
            name: hashlib.sha256(
                json.dumps(
                    [notes[name].schema, [e.raw for e in notes[name].knowledge], notes[name].column_meanings],
                    sort_keys=True,
                ).encode()
            ).hexdigest()
            for name in sorted(notes)
        }
        sees = {} if self.settings.user_sees == "words" else {"user_sees": self.settings.user_sees}
        style = {} if self.settings.user_style == "plain" else {"user_style": self.settings.user_style}
        guard = {} if self.settings.leak_guard == "filter" else {"leak_guard": self.settings.leak_guard}
        scheme = self.settings.scheme
        paid = {} if scheme == RewardScheme() else {"reward_scheme": asdict(scheme)}
        return (
            super().config() | self.settings.rules() | sees | style | guard | paid | {"notes_sha256": digests}
        )


def load_interact(
    settings: InteractSettings, rules: Callable[..., Rules], idle: Mapping[str, Any], **more: Any
) -> InteractTasks:
    """Load the tasks of a game of BIRD-Interact.

    Tasks that cannot be played are left out with a note (`playable`).

    Args:
        settings: the game's settings.
        rules: the game's rules.
        idle: the record's fields of an episode that never began.
        **more: settings that only these rules have.

    Raises:
        InputError: a file, a name or a database cannot be used.
    """
    folder, file = settings.place()
    check_task_file(file)
    source = open_source(folder, settings.dialect, dsn=settings.dsn, tell=_logger.info)
    try:
        benchmark = load_benchmark(folder, file, source=source)
        chosen, notes = playable(benchmark.tasks, settings, source)
        tasks = InteractTasks(chosen, benchmark.tasks, source, benchmark.task_file, settings)
        tasks.notes += notes
        grader = InteractGrader(source, settings.limits)
        tasks.make_rules = partial(
            rules,
            source=source,
            grader=grader,
            profile=settings.profiles()[settings.profile],
            patience=settings.patience,
            limits=settings.limits,
            user_sees=settings.user_sees,
            leak_guard=settings.leak_guard,
            user_style=settings.user_style,
            scheme=settings.scheme,
            **more,
        )
        tasks._idle = idle
        return tasks
    except BaseException:
        source.close()
        raise
