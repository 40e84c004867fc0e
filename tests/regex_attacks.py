"""Texts on which a regular expression may backtrack, made of its own parts; and all that the code has."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any, NamedTuple

_MOST = 8  # beginnings, and repeated parts
_TRIED = "a1 ,.\"'<-_(\n"
_NEVER = "\x01"
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_AT_THE_BEGINNING = ("match", "fullmatch")
_ANYWHERE = ("search", "sub", "subn", "findall", "finditer", "split")


class Found(NamedTuple):
    """A pattern of the code: its place, and whether it is only tried at one place of a text."""

    place: str
    pattern: re.Pattern[Any]
    anchored: bool


def patterns_of(*packages: str) -> list[Found]:
    """Return every compiled pattern of modules and their tables, and every literal one of a call of `re`."""
    found: dict[Any, Found] = {}
    for package in packages:
        for name in [
            package,
            *(each.name for each in walk_packages(import_module(package).__path__, f"{package}.")),
        ]:
            if name.endswith("__main__"):
                continue
            try:
                module = import_module(name)
            except ImportError as error:
                if (error.name or "birdenv").startswith("birdenv"):
                    raise
                continue  # it belongs to an extra that is not installed
            text = inspect.getsource(module)
            for place, pattern, anchored in (*_compiled(module, text), *_literal(name, text)):
                known = found.setdefault((pattern.pattern, pattern.flags), Found(place, pattern, anchored))
                if known.anchored and not anchored:
                    found[pattern.pattern, pattern.flags] = Found(place, pattern, False)
    return sorted(found.values(), key=lambda each: each.place)


def _compiled(module: ModuleType, text: str) -> Iterator[tuple[str, re.Pattern[Any], bool]]:
    for name, value in vars(module).items():
        for pattern in _inside(value, 0):
            uses = set(re.findall(rf"\b{re.escape(name)}\.(\w+)", text))
            is_passed = re.search(rf"\b{re.escape(name)}\b(?=\s*[,)\]])", text) is not None
            anchored = isinstance(value, re.Pattern) and bool(uses & {*_AT_THE_BEGINNING})
            yield f"{module.__name__}:{name}", pattern, anchored and not (uses & {*_ANYWHERE} or is_passed)


def _inside(value: Any, depth: int) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, tuple | list | set | frozenset | dict):
        for each in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _inside(each, depth + 1)


def _literal(module: str, text: str) -> Iterator[tuple[str, re.Pattern[Any], bool]]:
    if "re." not in text:
        return
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("re"), attr=attr),
                args=[ast.Constant(str() | bytes() as source), *_],
            ) if attr in (*_AT_THE_BEGINNING, *_ANYWHERE):
                yield f"{module}:re.{attr}({source!r})", re.compile(source), attr in _AT_THE_BEGINNING


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield beginnings, what is repeated after them, and an end that does not match."""
    source = pattern.pattern.decode() if isinstance(pattern.pattern, bytes) else pattern.pattern
    nodes = list(_parser.parse(source, pattern.flags & ~re.UNICODE))
    repeated = [_sample(given[2]) for kind, given in _walk(nodes) if kind in _REPEATS]
    repeated = [text for text in dict.fromkeys([*repeated, " "]) if text][:_MOST]
    for variant in list(_variants(nodes, 0))[:_MOST]:
        heads = dict.fromkeys(_sample(variant[:place]) for place in range(len(variant) + 1))
        for head in list(heads)[-_MOST:]:
            for again in dict.fromkeys([*repeated, head]):
                if again:
                    yield head, again, _NEVER


def _sample(nodes: Any) -> str:
    parts = []
    for kind, given in nodes:
        if kind is op.LITERAL:
            parts.append(chr(given))
        elif kind is op.NOT_LITERAL:
            parts.append("a" if given != ord("a") else "b")
        elif kind is op.ANY:
            parts.append("a")
        elif kind is op.IN:
            parts.append(_member(given))
        elif kind is op.BRANCH:
            parts.append(_sample(given[1][0]))
        elif kind is op.SUBPATTERN:
            parts.append(_sample(given[3]))
        elif kind is op.ATOMIC_GROUP:
            parts.append(_sample(given))
        elif kind in _REPEATS:
            parts.append(_sample(given[2]) * max(1, int(given[0])))
    return "".join(parts)[:40]


def _member(given: Any) -> str:
    kind, value = given[0]
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.RANGE:
        return chr(value[0])
    if kind is op.CATEGORY:
        name = str(value)
        plain = {"SPACE": " ", "DIGIT": "1", "WORD": "a"}
        return ("-" if "WORD" in name else "a") if "NOT" in name else plain[name.rpartition("_")[2]]
    return next((char for char in _TRIED if not any(_has(item, char) for item in given[1:])), "a")


def _has(item: Any, char: str) -> bool:
    kind, value = item
    if kind is op.LITERAL:
        return bool(chr(value) == char)
    if kind is op.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    name = str(value)
    is_in = {"SPACE": char.isspace(), "DIGIT": char.isdigit(), "WORD": char.isalnum() or char == "_"}
    return is_in[name.rpartition("_")[2]] != ("NOT" in name)


def _walk(nodes: Any) -> Iterator[tuple[Any, Any]]:
    for kind, given in nodes:
        yield kind, given
        if kind is op.BRANCH:
            for branch in given[1]:
                yield from _walk(branch)
        elif kind is op.SUBPATTERN:
            yield from _walk(given[3])
        elif kind is op.ATOMIC_GROUP:
            yield from _walk(given)
        elif kind in _REPEATS:
            yield from _walk(given[2])


def _variants(nodes: list[Any], depth: int) -> Iterator[list[Any]]:
    """The pattern with one of the ways at each of its first two forks."""
    for place, (kind, given) in enumerate(nodes):
        inner = list(given[3]) if kind is op.SUBPATTERN else [(kind, given)]
        if depth < 2 and inner and inner[0][0] is op.BRANCH:
            for branch in inner[0][1][1][:_MOST]:
                rest = [*branch, *inner[1:], *nodes[place + 1 :]]
                yield from _variants([*nodes[:place], *rest], depth + 1)
            return
    yield nodes
