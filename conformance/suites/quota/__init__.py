"""The quota ledger: is quota held as long as pods run, and given back at the right moment?

Everything is worked out from histories: what pods use, against what Workloads reserve.

- `claims`: the ledger's sentences, each with its checker. Read `claims/holding.py` first.
- `scenarios`: the cells of the table (kind × way to lose quota × how pods stop), and others.
- `view`: the ledger: reservations and their pods as step functions.
- `matrix`: when quota is to be given back, by edition and cause; `cells`: the table's cells.
- `judging`: the decorators that make a generator the checker of a claim.
- `decisions`, `sources`: the suite's decisions, and the sources that claims cite.

It has no operator of its own: Kueue's is under test, with those of the jobs that it admits.
"""

from typing import Final

from conformance.suite import Suite
from conformance.suites.quota.editions import BY_EDITION, EDITIONS

SUITE: Final = Suite(
    name="quota",
    title="The quota ledger",
    prefixes=("QL",),
    package=__name__,
    roles=("kueue",),
    editions=EDITIONS,
    by_edition=BY_EDITION,
)
