"""Episodes on PostgreSQL, against the way in which BIRD-Interact resets its databases; and a whole run."""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from birdenv.databases import Limits, QueryResult
from birdenv_baselines.bench._databases import Size
from birdenv_baselines.bench._measure import (
    Bar,
    Contender,
    Effort,
    Figure,
    Line,
    side_by_side,
    times_as_fast,
    times_as_long,
)
from birdenv_baselines.bench._postgres_peers import ResetByPrograms
from birdenv_baselines.bench._postgres_run import overheads
from birdenv_baselines.bench._postgres_runners import (
    CLONES,
    begin_writing,
    begin_writing_their_way,
    runner,
    together,
    wait_for_clones,
    working_database,
)
from birdenv_baselines.bench._postgres_servers import KINDS, Kind, loaded, server
from birdenv_baselines.bench._setting import Setting

if TYPE_CHECKING:
    from birdenv.databases.postgres import PostgresSource

__all__ = ["lines"]

_RESET: Final = "psql, dropdb, createdb -T, connect"
_SIZES: Final = ("2 MB", "300 MB")  # on the server 10 MB and 390 MB
_READING: Final = "SELECT * FROM orders LIMIT 5"
_LIMITS: Final = Limits()
_ROUNDS: Final = 3  # at most, of what takes seconds
_TIMES_LONGER: Final = 6  # than other lines, for what is quick beside something slow
_RUNNERS: Final = 2
_EPISODES: Final = {"2 MB": (8, 2), "300 MB": (4, 1)}  # of a runner in one turn: ours, theirs
_PARALLEL: Final = 4
_RUNS: Final = 2  # at most, on each engine


def lines(setting: Setting) -> list[Line]:
    made = [line for kind in KINDS for line in _lines_on(setting, kind)]
    run = Line(
        f"env overhead per c-Interact task, -p {_PARALLEL}",
        "SQLite",
        partial(_overhead, setting),
    )
    return [*made, run]


def _lines_on(setting: Setting, kind: Kind) -> list[Line]:
    sizes = [size for size in setting.sizes if size.label in _SIZES]
    made: list[Line] = []
    for what, measure, limit in (
        ("reading episode", _read, 500.0),
        ("first write, clones ready", _write, 20.0),
        (f"writing episodes, {_RUNNERS} runners", _steady, 2.0),
    ):
        made += [
            Line(
                f"{kind}: {what}, {size.label}",
                _RESET,
                partial(measure, setting, kind, size),
                Bar("at least", limit),
                (size.db_id,),
            )
            for size in sizes
        ]
    if len(sizes) > 1:
        smallest, largest = sizes[0], sizes[-1]
        flat = Line(
            f"{kind}: reading episode, {largest.label}",
            f"ourselves at {smallest.label}",
            partial(_growth, setting, kind, smallest, largest),
            Bar("at most", 2.0),
            (smallest.db_id, largest.db_id),
        )
        made.insert(len(sizes), flat)
    return made


def _read(setting: Setting, kind: Kind, size: Size) -> Figure:
    with ExitStack() as stack:
        source = stack.enter_context(_source(setting.folder, kind, size))
        peer = stack.enter_context(working_database(setting.folder, kind, size.db_id))
        read = partial(_read_in_episode, source, size.db_id)
        # Dropping a database makes every session of the server open its files again: the others' doing, which
        # an episode that is not timed takes upon itself.
        ours, theirs = side_by_side(
            [Contender(read, before=read), Contender(partial(_reset_and_read, peer))],
            Effort(setting.effort.rounds, _TIMES_LONGER * setting.effort.seconds),
        )
    return times_as_fast(ours, theirs, note=_note(setting, kind, size))


def _growth(setting: Setting, kind: Kind, smaller: Size, larger: Size) -> Figure:
    with ExitStack() as stack:
        sources = [stack.enter_context(_source(setting.folder, kind, size)) for size in (larger, smaller)]
        times = side_by_side(
            [
                Contender(partial(_read_in_episode, source, size.db_id))
                for source, size in zip(sources, (larger, smaller), strict=True)
            ],
            setting.effort,
        )
    return times_as_long(*times)


def _write(setting: Setting, kind: Kind, size: Size) -> Figure:
    with ExitStack() as stack:
        source = stack.enter_context(_source(setting.folder, kind, size))
        peer = stack.enter_context(working_database(setting.folder, kind, size.db_id))
        watching = stack.enter_context(server(setting.folder, kind).connect())
        begin_writing(source, size.db_id).close()  # from now on clones are made ahead
        ours, theirs = side_by_side(
            [
                Contender(
                    partial(begin_writing, source, size.db_id),
                    before=partial(wait_for_clones, watching, CLONES),
                    after=lambda database: database.close(),
                ),
                Contender(
                    partial(begin_writing_their_way, peer),
                    before=partial(wait_for_clones, watching, CLONES),
                    after=lambda connection: connection.close(),
                ),
            ],
            _few_rounds(setting),
        )
    return times_as_fast(ours, theirs, note=_note(setting, kind, size))


def _steady(setting: Setting, kind: Kind, size: Size) -> Figure:
    loaded(setting.folder, kind, size.db_id)
    our_episodes, their_episodes = _EPISODES[size.label]
    with ExitStack() as stack:
        runners = [stack.enter_context(runner(setting.folder, kind, size.db_id)) for _ in range(_RUNNERS)]
        watching = stack.enter_context(server(setting.folder, kind).connect())

        def ours() -> None:
            together(runners, "ours", our_episodes)
            wait_for_clones(watching, _RUNNERS * CLONES)  # which counts: it is as it was before

        our_time, their_time = side_by_side(
            [Contender(ours), Contender(partial(together, runners, "theirs", their_episodes))],
            _few_rounds(setting),
        )
    note = "time per episode of all runners together; making new clones and dropping old ones are counted"
    return times_as_fast(
        our_time / (_RUNNERS * our_episodes), their_time / (_RUNNERS * their_episodes), note=note
    )


def _overhead(setting: Setting) -> Figure:
    postgres, sqlite = overheads(
        setting.folder, setting.scratch, _PARALLEL, min(_RUNS, setting.effort.rounds)
    )
    note = (
        "all of an episode but the agent (the oracle) and its statements, waiting for the others' turns "
        f"included, mean of {postgres.tasks} tasks; whole episodes {postgres.whole * 1e3:,.1f} ms, on SQLite "
        f"{sqlite.whole * 1e3:,.1f} ms, of which statements {postgres.statements * 1e3:,.1f} and "
        f"{sqlite.statements * 1e3:,.1f} ms"
    )
    return times_as_long(postgres.overhead, sqlite.overhead, note=note)


def _source(folder: Path, kind: Kind, size: Size) -> closing[PostgresSource]:
    """Databases of the benchmark, with the one that is needed loaded."""
    template = loaded(folder, kind, size.db_id)
    from birdenv.databases.postgres import PostgresSource

    source = PostgresSource(server(folder, kind), CLONES)
    source.check(template.stamp.db_id)
    return closing(source)


def _read_in_episode(source: PostgresSource, db_id: str) -> None:
    with source.open(db_id, _LIMITS) as database:
        result = database.execute(_READING)
    if not isinstance(result, QueryResult) or len(result.rows) != 5:
        raise RuntimeError(f"expected five rows, got {result}")


def _reset_and_read(peer: ResetByPrograms) -> None:
    with closing(peer.reset()) as connection:
        connection.execute(_READING).fetchall()


def _few_rounds(setting: Setting) -> Effort:
    return Effort(min(_ROUNDS, setting.effort.rounds), 0.0)


def _note(setting: Setting, kind: Kind, size: Size) -> str:
    megabytes = loaded(setting.folder, kind, size.db_id).size / 1e6
    return f"{megabytes:,.0f} MB on {server(setting.folder, kind).version}, set up for data to throw away"
