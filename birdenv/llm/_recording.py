"""Record model calls in an append-only file. A call is recorded before its answer is used.

The key of a call is a digest of its scope (the task, the episode number and the seat), its request (excluding
parameters that do not change the answer), and the number of identical requests that were made earlier in the
scope. Concurrent episodes therefore never share a call, and replaying an episode returns the same answers in
the same order.

The recorded calls also show each dialogue as its model saw it.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from birdenv.errors import InputError, RunEndedError
from birdenv.files import exists, lines_of
from birdenv.llm._completion import check_message, completion_of

Call: TypeAlias = dict[str, Any]
"""A recorded call: its key, its scope, the request and the answer."""

_MOST_DOLLARS: Final = 1e9  # limit for one call; NaN must be rejected, because it would disable budgets
_NO_PART: Final = frozenset({"user", "metadata", "service_tier", "prompt_cache_key", "stream"})


def call_key(scope: str, request: Mapping[str, Any], again: int) -> str:
    """Return the key under which a call is recorded.

    Args:
        scope: the task, the episode number and the seat, such as `library_1/0/system`.
        request: the body of the request.
        again: the number of identical requests that were made earlier in the same scope.
    """
    asked = {name: value for name, value in request.items() if value is not None and name not in _NO_PART}
    text = json.dumps([scope, asked, again], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class _CallPlace(NamedTuple):
    """The position of a call in its file and in the order of calls."""

    start: int
    size: int
    scope: str
    number: int


class CallFile:
    """A file of recorded calls. The methods are thread-safe, and other processes may append to the file.

    If two processes record the same call, the first record is used.

    Attributes:
        path: the path of the file.
        calls: the number of paid calls in the file when it was opened.
        cost: the cost of these calls in US dollars, as far as it is known.
        tokens: the number of tokens in these calls.
        unpriced: the number of these calls with an unknown cost.
        unmetered: the number of these calls with an unknown token count.
    """

    def __init__(self, path: Path, *, append: bool) -> None:
        """Open the file, which may be missing. A missing file is created when the first call is added.

        An incomplete last line is ignored, and removed before a call is appended.

        Raises:
            InputError: the file cannot be read, or a line other than the last is damaged.
        """
        self.path = path
        self.cost, self.tokens, self.calls, self.unpriced, self.unmetered = 0.0, 0, 0, 0, 0
        self._lines: dict[str, _CallPlace] = {}
        self._lock = threading.Lock()
        self._reading: int | None = None
        self._writing: int | None = None
        self._append = append
        try:
            self._index()
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the call recorded under a key, or None if there is no such call.

        Raises:
            RunEndedError: the file was changed after it was opened.
        """
        line = self._lines.get(key)
        if line is None:
            return None
        try:
            found = read_call(self._read(line), self.path)
        except (InputError, OSError):
            found = {}
        if found.get("key") != key:
            raise RunEndedError(f"{self.path} was changed while it was in use")
        return found

    def add(self, key: str, entry: Mapping[str, Any]) -> None:
        """Append a call to the file.

        Raises:
            RunEndedError: the file cannot be written.
        """
        data = (json.dumps({"key": key, **entry}) + "\n").encode()
        with self._lock:
            if key in self._lines:
                return
            try:
                if self._writing is None:
                    self._writing = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
                written = os.write(self._writing, data)
                end = os.lseek(self._writing, 0, os.SEEK_CUR)
                if written != len(data):
                    os.ftruncate(self._writing, end - written)
                    raise OSError(None, "no space left")
                self._lines[key] = _CallPlace(end - written, written, entry["scope"], entry["n"])
            except OSError as error:
                raise RunEndedError(f"{self.path}: cannot be written: {error.strerror}") from None

    def by_episode(self) -> dict[str, list[str]]:
        """Return the keys of each episode's calls, keyed by episode (see `episode_of`)."""
        found: dict[str, list[str]] = {}
        for key, line in self._lines.items():
            found.setdefault(episode_of(line.scope), []).append(key)
        return found

    def sort(self) -> None:
        """Sort the calls in the file by scope and number, so that identical runs write identical files."""
        if not self._lines:
            return
        ordered = sorted(self._lines.items(), key=lambda each: (each[1].scope, each[1].number, each[0]))
        scratch = self.path.with_name(f".{self.path.name}.new")
        try:
            with scratch.open("wb") as file:
                for key, line in ordered:
                    self._lines[key] = line._replace(start=file.tell())
                    file.write(self._read(line))
            with self._lock:
                self._shut()
                scratch.replace(self.path)
        except OSError as error:
            raise RunEndedError(f"{self.path}: cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._shut()

    def _read(self, line: _CallPlace) -> bytes:
        with self._lock:
            if self._reading is None:
                self._reading = os.open(self.path, os.O_RDONLY)
            return os.pread(self._reading, line.size, line.start)

    def _shut(self) -> None:
        for file in (self._reading, self._writing):
            if file is not None:
                os.close(file)
        self._reading = self._writing = None

    def _index(self) -> None:
        if not self.path.exists():
            return
        place = 0
        for number, line in lines_of(self.path):
            if not line.endswith(b"\n"):
                break
            self._enter(line, place, number)
            place += len(line)
        if self._append and place < self.path.stat().st_size:
            os.truncate(self.path, place)

    def _enter(self, line: bytes, place: int, number: int) -> None:
        entry = read_call(line, self.path, number)
        self._lines.setdefault(entry["key"], _CallPlace(place, len(line), entry["scope"], entry["n"]))
        if not entry.get("reused"):
            recorded = completion_of(entry["message"], None, entry.get("usage"))
            self.calls += 1
            self.cost += entry.get("cost_usd") or 0.0
            self.unpriced += entry.get("cost_usd") is None
            self.unmetered += recorded.prompt_tokens is None or recorded.completion_tokens is None
            self.tokens += (recorded.prompt_tokens or 0) + (recorded.completion_tokens or 0)


class CollectedCalls:
    """A worker's calls, kept in memory until the run's main process records them.

    All methods are thread-safe.
    """

    def __init__(self) -> None:
        self._calls: dict[str, dict[str, Call]] = {}
        self._known: dict[str, dict[str, Call]] = {}
        self._lock = threading.Lock()

    def begin(self, episode: str, known: Iterable[Call]) -> None:
        """Begin an episode. `known` contains earlier recorded calls for `find` to return."""
        with self._lock:
            self._known[episode] = {call["key"]: call for call in known}

    def find(self, key: str) -> Call | None:
        """Return the call with this key in the episodes in progress, or None if there is no such call."""
        with self._lock:
            episodes = [*self._calls.values(), *self._known.values()]
            return next((calls[key] for calls in episodes if key in calls), None)

    def add(self, key: str, entry: Mapping[str, Any]) -> None:
        """Store a call under its key."""
        with self._lock:
            self._calls.setdefault(episode_of(entry["scope"]), {})[key] = {"key": key, **entry}

    def take(self, episode: str) -> tuple[Call, ...]:
        """Remove and return the calls of a finished episode."""
        with self._lock:
            self._known.pop(episode, None)
            return tuple(self._calls.pop(episode, {}).values())

    def sort(self) -> None:
        """Do nothing, because the run's main process sorts the call file."""

    def close(self) -> None:
        """Do nothing, because no file is open."""


def episode_of(scope: str) -> str:
    """Return the part of a scope that identifies the episode but not the seat, such as `library_1/0`."""
    return scope.rpartition("/")[0]


def read_call(line: bytes, path: Path, number: int = 1) -> dict[str, Any]:
    """Parse and validate a line of a call file, and return the call.

    Args:
        line: the line.
        path: the path of the file, for error messages.
        number: the number of the line, for error messages.

    Raises:
        InputError: the line is not a valid call.
    """
    where = f"{path}: line {number} is not a recorded call"
    try:
        entry = json.loads(line)
        cost = entry.get("cost_usd")
        is_call = (
            isinstance(entry["key"], str)
            and isinstance(entry["scope"], str)
            and isinstance(entry["n"], int)
            and (cost is None or (isinstance(cost, int | float) and 0 <= cost < _MOST_DOLLARS))
        )
        message = entry["message"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise InputError(where) from None
    if not is_call:
        raise InputError(where)
    check_message(message, f"{where}: its message")
    found: dict[str, Any] = entry
    return found


class RecordedDialogue(NamedTuple):
    """A dialogue in one episode, from the perspective of one seat's model.

    Attributes:
        messages: the chat messages, including the model's last answer.
        tools: the schemas of the tools that the model could call.
    """

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


def recorded_dialogues(path: Path) -> Mapping[str, RecordedDialogue]:
    """Return the dialogues in a call file, keyed by scope, such as `library_1/0/system`.

    The mapping is empty if the file does not exist. An incomplete last line is ignored.

    Raises:
        InputError: a line other than the last is damaged.
    """
    found: dict[str, RecordedDialogue] = {}
    if not exists(path):
        return found
    # The last line may be incomplete.
    whole = ((number, line) for number, line in lines_of(path) if line.endswith(b"\n"))
    entries = [(number, read_call(line, path, number)) for number, line in whole]
    sent: dict[str, list[dict[str, Any]]] = {}
    offered: dict[str, dict[str, dict[str, Any]]] = {}
    for number, entry in sorted(entries, key=lambda each: (each[1]["scope"], each[1]["n"])):
        scope = entry["scope"]
        try:
            sent[scope] = _messages(sent.get(scope, []), entry)
            for tool in entry.get("params", {}).get("tools", ()):
                offered.setdefault(scope, {}).setdefault(tool["function"]["name"], tool)
        except (TypeError, KeyError, AttributeError, InputError):
            raise InputError(f"{path}: line {number} is not a recorded call") from None
        answer = completion_of(entry["message"], entry.get("finish_reason"), None).history()
        found[scope] = RecordedDialogue([*sent[scope], answer], list(offered.get(scope, {}).values()))
    return found


def recorded_exchange(calls: CallFile, keys: Sequence[str]) -> tuple[str, str]:
    """Return the text of all messages in the last call in `keys`, and the raw text of its answer.

    Args:
        calls: the call file.
        keys: the keys of the calls, in order. Each call continues the previous call's dialogue.

    Raises:
        InputError: a call is not in the file, or is damaged.
    """
    messages: list[dict[str, Any]] = []
    answer = ""
    for key in keys:
        entry = calls.find(key)
        if entry is None:
            raise InputError(f"{calls.path} lacks the call {key[:12]}, which the run's records refer to")
        try:
            messages = _messages(messages, entry)
            answer = completion_of(entry["message"], None, None).raw_content
        except (TypeError, KeyError, AttributeError, InputError):
            raise InputError(f"{calls.path}: the call {key[:12]} is damaged") from None
    return "\n\n".join(str(message.get("content") or "") for message in messages), answer


def _messages(before: list[dict[str, Any]], entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all messages of a call: those that it shares with the previous call, and the new messages.

    Raises:
        KeyError, TypeError, AttributeError, InputError: a field is missing or invalid.
    """
    kept: int = entry["kept"]
    new: list[dict[str, Any]] = entry["messages"]
    if not 0 <= kept <= len(before) or not all(isinstance(each.get("role"), str) for each in new):
        raise TypeError
    for each in new:
        check_message(each, "")
        if not all(isinstance(call["function"]["name"], str) for call in each.get("tool_calls") or ()):
            raise TypeError
    return before[:kept] + new
