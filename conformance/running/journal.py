"""The journal of a campaign: each run that ended, on disk, so that a campaign may be stopped.

One SQLite file, which a killed process leaves as of its last commit. A campaign that goes on reads
its runs from there instead of making them, and so does the merge of several shards: what follows
from runs, their report above all, is made by the same code as if they had just ended.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, Protocol

import msgspec

from conformance.report.conformance_report import ReportError
from conformance.report.folder import JOURNAL_NAME
from conformance.report.run_result import RunResult
from conformance.report.uneventful import Uneventful
from conformance.running.workers import ManyTasks, RunAll, Task, Tasks

SECONDS_PER_COMMIT: Final = 0.5
"""So much of the work of a killed campaign is done again at most."""
MAX_RUN_BYTES: Final = 1024**3
"""An upper bound on what is unpacked of one run."""
_SCHEMA: Final = """
CREATE TABLE campaign (description BLOB);
CREATE TABLE run (
    scenario TEXT, variant TEXT, seed INTEGER, session INTEGER, result BLOB,
    PRIMARY KEY (scenario, variant, seed)
) WITHOUT ROWID;
"""
_FIND: Final = (
    "SELECT result FROM run WHERE scenario = ? AND variant = ? AND seed = ? AND session < ?"
)


class Shard(NamedTuple):
    """A part of a campaign: of `parts` runs in a row one."""

    part: int
    """From 1."""
    parts: int

    def __str__(self) -> str:
        return f"{self.part}/{self.parts}"

    def has(self, number: int) -> bool:
        """True for a run of this shard, by its position among those of its campaign."""
        return number % self.parts == self.part - 1


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """The campaign that a journal is of."""

    command: str
    """Of the whole campaign, also in the journal of a shard."""
    assay: str
    """The version that makes the runs; another one may make other runs."""
    shard: str = ""
    """`1/3`; empty: all of it."""


class JournalError(ValueError):
    """A journal that cannot be used; the message names the next action."""


class Kept(Protocol):
    """Runs that ended before."""

    def through(self, run_all: RunAll, tasks: Tasks) -> Iterator[RunResult]:
        """The results of the tasks in their order; those that are missing come from `run_all`."""


class Journal:
    """The journal of a campaign that is under way; see `begun` and `resumed`."""

    def __init__(self, path: Path, database: sqlite3.Connection, session: int) -> None:
        self.path = path
        self._database = database
        self._session = session
        self._committed = time.monotonic()

    def through(self, run_all: RunAll, tasks: Tasks) -> Iterator[RunResult]:
        """See `Kept`; results that were missing are stored before they are handed on."""

        def missing() -> Iterator[Task]:
            return (task for task in tasks if self._stored(task) is None)

        made = run_all(ManyTasks(len(tasks), missing))
        for task in tasks:
            stored = self._stored(task)
            result = next(made) if stored is None else unpacked(stored, self.path)
            if stored is None:
                self._store(task, result)
            yield result
        self.commit()

    def commit(self) -> None:
        """From now on the file has all that was stored."""
        self._database.commit()

    def _stored(self, task: Task) -> bytes | None:
        # Runs of this session are not looked for: a task that occurs twice is made twice.
        key = (task.scenario, task.variant, task.seed, self._session)
        return next((row[0] for row in self._database.execute(_FIND, key)), None)

    def _store(self, task: Task, result: RunResult) -> None:
        row = (task.scenario, task.variant, task.seed, self._session, packed(result))
        self._database.execute("INSERT OR REPLACE INTO run VALUES (?, ?, ?, ?, ?)", row)
        if time.monotonic() - self._committed > SECONDS_PER_COMMIT:
            self._database.commit()
            self._committed = time.monotonic()


@contextmanager
def begun(path: Path, described: Described) -> Iterator[Journal]:
    """A new journal, in the place of an earlier one; it stays when the block ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove(path)
    with _opened(path) as database:
        database.executescript(_SCHEMA)
        database.execute("INSERT INTO campaign VALUES (?)", [msgspec.json.encode(described)])
        database.commit()
        yield Journal(path, database, session=1)


def remove(path: Path) -> None:
    """Remove a journal, and what SQLite has beside it of one whose process was killed."""
    for each in (path, path.with_name(f"{path.name}-journal")):
        each.unlink(missing_ok=True)


@contextmanager
def resumed(path: Path, described: Described) -> Iterator[Journal]:
    """The journal of a campaign that was stopped; JournalError if it is of another one."""
    if not path.is_file():
        raise JournalError(
            f"{path}: no campaign was stopped there, or it came to its end; leave --resume out"
        )
    with _opened(path) as database:
        found = _described(database, path)
        for what, was, now in (
            ("command", found.command, described.command),
            ("shard", found.shard, described.shard),
            ("Assay", found.assay, described.assay),
        ):
            if was != now:
                raise JournalError(
                    f"{path}: is of the {what} {was or '(all)'}, and this is {now or '(all)'}; "
                    "give the same, or leave --resume out to start again"
                )
        (last,) = database.execute("SELECT max(session) FROM run").fetchone()
        yield Journal(path, database, session=(last or 0) + 1)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    database = sqlite3.connect(path, timeout=0)
    try:
        # One process at a time, which another one is told at once.
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        yield database
        database.commit()
    except sqlite3.OperationalError as error:
        raise JournalError(
            f"{path}: {error}; if another campaign writes there, wait for it or name another "
            "folder with --out"
        ) from error
    except sqlite3.DatabaseError as error:
        raise JournalError(f"{path}: is no journal of a campaign: {error}") from error
    finally:
        database.close()


class MergedShards:
    """The runs of several shards, which together are a whole campaign."""

    def __init__(self, folders: Sequence[Path], assay: str) -> None:
        """ReportError unless the directories have the shards of one campaign, each once, made by
        this Assay."""
        self._stores: list[tuple[Path, sqlite3.Connection]] = []
        by_shard: dict[str, tuple[Path, Described]] = {}
        for folder in folders:
            path = folder / JOURNAL_NAME
            if not path.is_file():
                raise ReportError(
                    f"{folder}: has no {JOURNAL_NAME}; name the report of a shard, which "
                    "assay run --shard I/N wrote and did not leave unfinished"
                )
            # Not written to, and so not locked.
            database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
            self._stores.append((path, database))
            try:
                found = _described(database, path)
            except (sqlite3.DatabaseError, JournalError) as error:
                raise ReportError(f"{path}: is no journal of a campaign: {error}") from error
            if found.shard in by_shard:
                raise ReportError(
                    f"{folder}: is shard {found.shard}, as is {by_shard[found.shard][0]}; name "
                    "each shard once"
                )
            by_shard[found.shard] = (folder, found)
        self.command = self._one(by_shard, assay)

    @staticmethod
    def _one(by_shard: dict[str, tuple[Path, Described]], assay: str) -> str:
        """The command of the campaign."""
        (first_folder, first), *others = by_shard.values()
        for folder, found in others:
            if found.command != first.command:
                raise ReportError(
                    f"{folder}: is of another campaign than {first_folder}: {found.command}, not "
                    f"{first.command}"
                )
        for folder, found in by_shard.values():
            if found.assay != assay:
                raise ReportError(
                    f"{folder}: was run by Assay {found.assay}, and this is {assay}; merge it with "
                    "the one that ran it"
                )
        count = first.shard.partition("/")[2]
        missing = [
            name for n in range(1, int(count) + 1) if (name := f"{n}/{count}") not in by_shard
        ]
        if missing or len(by_shard) > int(count):
            raise ReportError(
                f"the shards named are {', '.join(sorted(by_shard))}; "
                + (f"missing: {', '.join(missing)}" if missing else "name those of one campaign")
            )
        return first.command

    def through(self, _run_all: RunAll, tasks: Tasks) -> Iterator[RunResult]:
        """See `Kept`; ReportError for a task that no shard has made."""
        for task in tasks:
            yield self._result(task)

    def _result(self, task: Task) -> RunResult:
        key = (task.scenario, task.variant, task.seed, 2**62)
        for path, database in self._stores:
            for (stored,) in database.execute(_FIND, key):
                return msgspec.structs.replace(unpacked(stored, path), is_reported=True)
        raise ReportError(
            f"no shard has the run {task.scenario} [{task.variant}], seed {task.seed}; one that "
            "was ended by --exit-first is not whole: run that shard again"
        )


def _described(database: sqlite3.Connection, path: Path) -> Described:
    rows = database.execute("SELECT description FROM campaign").fetchall()
    try:
        ((description,),) = rows
        return msgspec.json.decode(description, type=Described)
    except (ValueError, TypeError, msgspec.MsgspecError) as error:
        raise JournalError(f"{path}: is no journal of a campaign: {error}") from error


def packed(result: RunResult) -> bytes:
    """A result as a journal has it: without what only pages of kept runs show."""
    if Uneventful.is_one(result):
        verdicts = tuple(msgspec.structs.replace(v, kept=()) for v in result.verdicts)
        result = msgspec.structs.replace(result, verdicts=verdicts)
    return zlib.compress(msgspec.msgpack.encode(result), 1)


def unpacked(stored: bytes, path: Path) -> RunResult:
    """The result; JournalError for bytes that are none, or too many."""
    unpacking = zlib.decompressobj()
    try:
        whole = unpacking.decompress(stored, MAX_RUN_BYTES)
        if not unpacking.eof:
            raise JournalError(f"{path}: a run is cut off, or larger than {MAX_RUN_BYTES} bytes")
        return _DECODER.decode(whole)
    except (zlib.error, TypeError, msgspec.MsgspecError) as error:
        raise JournalError(f"{path}: a run in it cannot be read: {error}") from error


_DECODER: Final = msgspec.msgpack.Decoder(RunResult)
