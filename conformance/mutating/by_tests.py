"""Detection of mutants by tests: those that execute its line, the most specific ones first.

Pytest runs the tests in a separate process. A first pass runs all of them and records the lines
that each executes; it has to pass.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import pytest

from conformance.mutating.alone import OutOfTimeError, Say, each_alone, processor_time
from conformance.mutating.executed import Executed, Recording, by_whom, merged
from conformance.mutating.mutants import SourceMutant
from conformance.mutating.substitute import substitute

SILENCE_SECONDS: Final = 900.0
LEAST_SECONDS: Final = 60.0
_PRELOAD: Final = ("_pytest.assertion.rewrite", "coverage", "hypothesis", "msgspec", "yaml")
# Plain asserts: pytest would load the modules whose asserts it rewrites itself, the originals. Also
# tests that are left out by default, but none beside a real server, which does not wait for a
# simulation whose lines are traced.
_QUIET: Final = (
    "--assert=plain",
    "-q",
    "-m",
    "not control_plane",
    "-x",
    "-n",
    "0",
    "-p",
    "no:cacheprovider",
    "--no-header",
    "--tb=no",
)

Fate: TypeAlias = Literal["noticed", "timed out", "survived"]


class BaselineError(RuntimeError):
    """The tests fail, or cannot be run, without any mutant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantFate:
    """The result of one mutant."""

    mutant: SourceMutant
    fate: Fate
    by: str = ""
    """The test that failed; for one that timed out the test that was running."""
    tests: int = 0
    """How many tests execute its line."""


class Suite:
    """Tests, and which lines of some files each of them executes."""

    def __init__(self, executed: Executed, seconds: float) -> None:
        self._executed = executed
        self._seconds = seconds
        self._lines = Counter(
            name for lines in executed.values() for names in lines.values() for name in names
        )

    def of(self, mutant: SourceMutant) -> list[str]:
        """Those that execute a line of the mutant, the ones that execute the fewest lines first.

        What is executed when its module is loaded, maybe amid one test, is seen by any test: those
        that execute a line of the module come first.
        """
        if mutant.scope != mutant.lines:
            found = by_whom(self._executed, mutant.path, mutant.lines)
            return sorted(found or self._lines, key=lambda name: (self._lines[name], name))
        lines = self._executed.get(mutant.path, {}).values()
        near = {name for names in lines for name in names}
        return sorted(self._lines, key=lambda name: (name not in near, self._lines[name], name))

    @property
    def limit_seconds(self) -> float:
        """How long the tests may compute with a mutant."""
        return max(LEAST_SECONDS, 3 * self._seconds)


def measure(paths: Sequence[str], tests: Sequence[str], jobs: int) -> Suite:
    """Run tests (files, each in a process of its own) and record who executes which lines of these
    files. BaselineError if one fails."""
    tasks = [(list(paths), test) for test in tests]
    parts = [part for _, part in _each(_measure, tasks, jobs)]
    for part in parts:
        if not isinstance(part, tuple):
            raise BaselineError(f"the tests do not pass as they are: {part}")
    return Suite(merged(executed for executed, _ in parts), sum(seconds for _, seconds in parts))


def try_mutants(mutants: Sequence[SourceMutant], tests: Suite, jobs: int) -> Iterator[MutantFate]:
    """Yield the result of each mutant as it becomes available."""
    tasks = [
        (found.module, found.source, tests.of(found), tests.limit_seconds) for found in mutants
    ]
    for index, told in _each(_try, tasks, jobs):
        fate, by = told if isinstance(told, tuple) else ("timed out", str(told))
        yield MutantFate(mutant=mutants[index], fate=fate, by=by, tests=len(tasks[index][2]))


def _each(
    work: Callable[[Any, Say], Any], tasks: Sequence[Any], jobs: int
) -> Iterator[tuple[int, Any]]:
    return each_alone(work, tasks, jobs=jobs, silence_seconds=SILENCE_SECONDS, preload=_PRELOAD)


def _measure(task: tuple[list[str], str], say: Say) -> tuple[Executed, float] | str:
    paths, test = task
    recording = Recording(paths)
    watcher = _Watcher(say, recording.is_now)
    began = os.times()
    with recording.on():
        code = _run([test], watcher)
    ended = os.times()
    if code != pytest.ExitCode.OK:
        return watcher.failed or f"{test}: {code!r}"
    return recording.executed(), ended.user - began.user


def _try(task: tuple[str, str, list[str], float], say: Say) -> tuple[Fate, str]:
    module, source, tests, seconds = task
    substitute(module, source)
    watcher = _Watcher(say, lambda _: None, tests)
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    try:
        with processor_time(seconds):
            code = _run(files, watcher)
    except OutOfTimeError:
        return "timed out", watcher.running
    if code == pytest.ExitCode.OK:
        return "survived", ""
    return "noticed", watcher.failed or "its module cannot be loaded"


def _run(files: Sequence[str], watcher: _Watcher) -> int:
    with open(os.devnull, "w") as nothing:  # noqa: PTH123 - no path of the tree
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    sys.argv = ["pytest"]
    return int(pytest.main([*_QUIET, *files], plugins=[watcher]))


class _Watcher:
    """A plugin that says which test runs, chooses tests and their order, and keeps who failed."""

    def __init__(
        self, say: Say, is_now: Callable[[str], None], chosen: Sequence[str] | None = None
    ) -> None:
        self._say = say
        self._is_now = is_now
        self._chosen = None if chosen is None else {name: at for at, name in enumerate(chosen)}
        self.running = ""
        self.failed = ""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """Behind all others, that only put tests in an order of their own."""
        yield
        chosen = self._chosen
        if chosen is not None:
            items[:] = [item for item in items if item.nodeid in chosen]
            items.sort(key=lambda item: chosen[item.nodeid])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.running = nodeid
        self._say(nodeid)
        self._is_now(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid
