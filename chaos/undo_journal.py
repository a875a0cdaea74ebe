"""A file that says how to undo what was injected, so that a killed run leaves nothing behind.

Before anything is broken, what will mend it is written down; after it is mended, that too.
`assay clean --undo-journal` reads there what is outstanding, and where.
JSON lines, appended; a line that a killed run did not finish is cut off by the next.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import chaos.faults  # noqa: F401  # registers every fault, for reading
from chaos.fault import Fault, fault_from_data
from chaos.fields import PlanError
from vocabulary import canonical


class UndoJournal:
    """Implements `chaos.injector.Journal` on a file; several runs may share it, one by one."""

    def __init__(self, path: Path, namespace: str = "") -> None:
        """`namespace` is where the faults strike: those that undo them have to strike there."""
        self._path = path
        self._namespace = namespace
        self._first = max((number for number, _ in _records(path)), default=0)

    def intend(self, number: int, inverses: Sequence[Fault]) -> None:
        undo = [fault.to_data() for fault in inverses]
        self._append(_Record(self._first + number, undo, namespace=self._namespace))

    def undone(self, number: int) -> None:
        self._append(_Record(self._first + number, undone=True))

    def _append(self, record: _Record) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        _append(self._path, record)


@dataclass(frozen=True, slots=True)
class Outstanding:
    """One injection that has not been undone."""

    number: int
    namespace: str
    faults: tuple[Fault, ...]
    """The faults to inject in order to undo it, in this order."""


def outstanding(path: Path) -> tuple[Outstanding, ...]:
    """The injections that are to be undone, the latest first; none if there is no file.

    Raises PlanError for a line that is none of a journal's.
    """
    open_: dict[int, Outstanding] = {}
    for number, record in _records(path):
        if record.undone:
            open_.pop(number, None)
        else:
            where = f"{path}: injection {number}"
            faults = tuple(fault_from_data(data, where) for data in record.undo)
            open_[number] = Outstanding(number, record.namespace, faults)
    return tuple(open_[number] for number in sorted(open_, reverse=True))


def settle(path: Path, injection: Outstanding) -> None:
    """Note that this has been undone."""
    _append(path, _Record(injection.number, undone=True))


def _append(path: Path, record: _Record) -> None:
    with path.open("ab+") as file:
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
        file.write(canonical.encode(record) + b"\n")
        file.flush()
        os.fsync(file.fileno())


class _Record(msgspec.Struct, omit_defaults=True):
    n: int
    undo: list[dict[str, Any]] = []
    undone: bool = False
    namespace: str = ""


def _records(path: Path) -> list[tuple[int, _Record]]:
    """The whole lines of the file; one that was cut short had not taken effect yet."""
    if not path.exists():
        return []
    records = []
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1], start=1):
        try:
            record = msgspec.json.decode(line, type=_Record)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            problem = f"is none of an undo journal: {error}"
            raise PlanError(f"{path}: line {number}", problem) from error
        records.append((record.n, record))
    return records
