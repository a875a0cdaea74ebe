"""Kueue: requeuing of Workloads whose pods are not ready (KEP-1282), and the queues around it.

- `claims`: the normative sentences, each with its checker. Read `claims/requeuing.py` first.
- `scenarios`: the situations that put them to the test; `stories` are plans that tell of bugs that
  others had.
- `view`: a history as checkers of Workloads see it: a Workload's states, its admissions, its
  evictions.
- `judging`: the decorators that make a generator the checker of a claim.
- `kind`: Workloads and queues, field by field, live and recorded; `api` has their names.
- `handle`: a Workload and its queues as scenarios use them.
- `settings`: the configuration of the controller, and how long its Workloads may take.
- `lanes`: places in queues and requeue timers on failure pages.
- `sources`, `decisions`: what claims cite, and what the suite decided where the norm is silent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from conformance.suite import Suite
from conformance.suites.kueue.api import KEP, RELEASED
from conformance.suites.kueue.kind import KINDS
from conformance.suites.kueue.settings import SETTINGS

if TYPE_CHECKING:
    from conformance.history import History, Track
    from conformance.history.lanes import Lane


def _lanes(history: History, track: Track) -> Iterable[Lane]:
    from conformance.suites.kueue.lanes import lanes

    return lanes(history, track)


SUITE = Suite(
    name="kueue",
    title="Kueue requeuing and quota",
    prefixes=("KQ",),
    package=__name__,
    roles=("kueue",),
    editions=(KEP, RELEASED),
    kinds=KINDS,
    settings=SETTINGS,
    counts_requests=True,
    lanes=_lanes,
    condition_tones={
        "Evicted": "warn",
        "Finished": "done",
        "DeactivationTarget": "bad",
    },
)
