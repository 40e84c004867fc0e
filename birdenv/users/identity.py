"""The identity of a simulated user: the facts that determine its answers, and a digest of these facts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from importlib import metadata, resources
from typing import Any, Final

from birdenv.version import __version__

_DIGITS: Final = 16
_WITH_RULES: Final = frozenset({"rule", "rule+llm"})
_WITH_MODEL: Final = frozenset({"llm", "llm-one-prompt", "rule+llm"})
_STANDARD: Final = {"kind": "rule", "profile": "strict", "style": "plain", "sees": "words", "guard": "filter"}


def user_facts(user: str, settings: Mapping[str, Any], models: Mapping[str, Any]) -> dict[str, str]:
    """Return the facts that determine a user's answers, and their digest under the key `digest`.

    Args:
        user: the user's spec, or the name of its class.
        settings: the game's settings. Only `profile`, `user_style`, `user_sees` and `leak_guard` are used.
        models: the value of `ModelSettings.config`. Only the settings for the user's model are used.
    """
    name, _, argument = user.partition(":")
    facts = {
        "kind": "rule" if user == "rule:cooperative" else user,
        "version": __version__,
        "profile": str(settings.get("profile", "strict")),
        "style": str(settings.get("user_style", "plain")),
        "sees": str(settings.get("user_sees", "words")),
        "guard": str(settings.get("leak_guard", "filter")),
        "sqlglot": metadata.version("sqlglot"),
    }
    if name in _WITH_RULES:
        facts["weights"] = _weights_digest()
    if name in _WITH_MODEL:
        facts["model"] = argument or str(models.get("user_model") or models.get("model") or "")
        facts["prompts"] = _prompts_digest(models)
    return {**facts, "digest": _digest(json.dumps(facts, sort_keys=True))}


def standard_line(facts: Mapping[str, str]) -> str:
    """Return a sentence stating whether these facts describe the standard user.

    The standard user is `rule` with the default settings.
    """
    others = [f"{name} {facts.get(name)}" for name, value in _STANDARD.items() if facts.get(name) != value]
    who = f"This is not the standard user: {', '.join(others)}" if others else "This is the standard user"
    return f"{who} (version {facts.get('version')}, digest {facts.get('digest')})"


def changed_facts(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the differences between two users' facts, each as text such as "style (plain and terse)"."""
    names = [name for name in dict.fromkeys([*one, *other]) if name != "digest"]
    return [
        f"{name} ({one.get(name, 'none')} and {other.get(name, 'none')})"
        for name in names
        if one.get(name) != other.get(name)
    ]


@cache
def _weights_digest() -> str:
    """Return the digest of the rules' data files: weights and lists of phrases."""
    files = resources.files("birdenv.users.understanding").iterdir()
    data = [file for file in files if file.name.endswith((".json", ".txt"))]
    texts = [file.name + file.read_text(encoding="utf-8") for file in data]
    return _digest("\0".join(sorted(texts)))


def _prompts_digest(models: Mapping[str, Any]) -> str:
    """Return the digest of the prompts in use, from `--user-prompts` or from the package."""
    if own := models.get("user_prompts_sha256"):
        return _digest(json.dumps(own, sort_keys=True))
    folder = resources.files("birdenv.users.model_user") / "prompts"
    texts = [file.name + file.read_text(encoding="utf-8") for file in folder.iterdir()]
    return _digest("\0".join([str(models.get("prompts", "full")), *sorted(texts)]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
