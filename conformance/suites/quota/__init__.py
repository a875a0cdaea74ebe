"""The quota ledger: is quota held as long as pods run, and given back at the right moment?

Everything is worked out from histories: what pods use, against what Workloads reserve.

- `claims`: the ledger's sentences, each with its checker. Read `claims/holding.py` first.
- `scenarios`: the cells of the table (kind × way to lose quota × how pods stop), and others;
  `stories` has plans that tell of bugs that others had.
- `view`: the ledger: reservations and their pods as step functions.
- `editions`: the moment of release that each asks for; `cells`, `table`: the table of cells.
- `lanes`: the ledger of a queue on failure pages.
- `judging`: the decorators that make a generator the checker of a claim.
- `decisions`, `sources`: the suite's decisions, and the sources that claims cite.

It has no operator of its own: Kueue's is under test, with those of the jobs that it admits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from conformance.suite import Suite
from conformance.suites.quota.editions import BY_EDITION, EDITIONS

if TYPE_CHECKING:
    from conformance.history import History, Track
    from conformance.history.lanes import Lane, Sheet


def _table(histories: Sequence[History]) -> Iterable[str]:
    from conformance.suites.quota.table import table_lines

    return table_lines(histories)


def _lanes(history: History, track: Track) -> Iterable[Lane]:
    from conformance.suites.quota.lanes import lanes

    return lanes(history, track)


def _sheets(history: History, n: int) -> Iterable[Sheet]:
    from conformance.suites.quota.lanes import sheets

    return sheets(history, n)


SUITE: Final = Suite(
    name="quota",
    title="The quota ledger",
    prefixes=("QL",),
    package=__name__,
    roles=("kueue",),
    editions=EDITIONS,
    by_edition=BY_EDITION,
    lanes=_lanes,
    sheets=_sheets,
    table=_table,
)
