"""Executed lines of modules, by scenario or by test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import coverage

Executed: TypeAlias = dict[str, dict[int, list[str]]]
"""By path of a file, and by line, the names of what executes it."""


class Recording:
    """Executed lines, under the name of who is at work meanwhile."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._coverage = coverage.Coverage(
            data_file=None, include=[str(Path(each)) for each in paths], config_file=False
        )
        # Scenarios of another suite execute none of them.
        self._coverage.set_option("run:disable_warnings", ["no-data-collected"])

    @contextmanager
    def on(self) -> Iterator[None]:
        self._coverage.start()
        try:
            yield
        finally:
            self._coverage.stop()

    def is_now(self, name: str) -> None:
        """From now on lines are executed by that one."""
        self._coverage.switch_context(name)

    def executed(self) -> Executed:
        data = self._coverage.get_data()
        return {
            path: {
                line: [name for name in names if name]
                for line, names in data.contexts_by_lineno(path).items()
            }
            for path in data.measured_files()
        }


def by_whom(
    executed: Executed, path: str, lines: Iterable[int], scope: Iterable[int] = ()
) -> list[str]:
    """The names of what executes any of these lines of a file, then others of their
    function.

    CPython 3.11 traces no line of a generator that goes on by an exception from the one that it
    delegates to: the lines that handle it have no names, and the function has.
    """
    found = executed.get(path, {})
    first = dict.fromkeys(name for line in lines for name in found.get(line, ()))
    return [*first | dict.fromkeys(name for line in scope for name in found.get(line, ()))]


def merged(parts: Iterable[Mapping[str, Mapping[int, list[str]]]]) -> Executed:
    """All of it in one."""
    whole: Executed = {}
    for part in parts:
        for path, lines in part.items():
            for line, names in lines.items():
                whole.setdefault(path, {}).setdefault(line, []).extend(names)
    return whole
