"""The tables that suites make of the histories of undisturbed runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from conformance import suite as suites
from conformance.history import History
from conformance.report.run_result import RunResult


def tables_of(runs: Iterable[RunResult]) -> Iterator[tuple[str, str]]:
    """The name of each suite that has a table of these runs, and its text."""
    by_suite: dict[str, list[History]] = {}
    for run in runs:
        name = run.scenario.partition("/")[0]
        if run.entries and not run.variant and not run.error and name in suites.load():
            by_suite.setdefault(name, []).append(History(run.header, run.entries))
    for name, histories in sorted(by_suite.items()):
        text = "\n".join(suites.load()[name].table(histories)).strip("\n")
        for history in histories:
            history.close()
        if text:
            yield name, text
