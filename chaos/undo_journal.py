"""A file that says how to undo what was injected, so that a killed run leaves nothing behind.

Before anything is broken, what will mend it is written down; after it is mended, that too.
Whoever finds the file later (`assay clean`) sees what is outstanding. JSON lines, appended.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

import chaos.faults  # noqa: F401  # registers every fault, for reading
from chaos.fault import Fault, fault_from_data
from vocabulary import canonical


class UndoJournal:
    """Implements `chaos.injector.Journal` on a file; several runs may share it, one by one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._first = max((number for number, _ in _records(path)), default=0)

    def intend(self, number: int, inverses: Sequence[Fault]) -> None:
        self._append(_Record(self._first + number, [fault.to_data() for fault in inverses]))

    def undone(self, number: int) -> None:
        self._append(_Record(self._first + number, undone=True))

    def _append(self, record: _Record) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(canonical.encode(record) + b"\n")
            file.flush()
            os.fsync(file.fileno())


def outstanding(path: Path) -> tuple[Fault, ...]:
    """What still has to be injected to undo everything, the latest injection first."""
    open_: dict[int, tuple[Fault, ...]] = {}
    for number, record in _records(path):
        if record.undone:
            open_.pop(number, None)
        else:
            open_[number] = tuple(
                fault_from_data(data, f"{path}: injection {number}") for data in record.undo
            )
    return tuple(fault for number in sorted(open_, reverse=True) for fault in open_[number])


class _Record(msgspec.Struct, omit_defaults=True):
    n: int
    undo: list[dict[str, Any]] = []
    undone: bool = False


def _records(path: Path) -> list[tuple[int, _Record]]:
    """The whole lines of the file; one that was cut short had not taken effect yet."""
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    records = [msgspec.json.decode(line, type=_Record) for line in lines]
    return [(record.n, record) for record in records]
