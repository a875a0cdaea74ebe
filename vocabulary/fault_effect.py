"""The effect of a fault on the controllers under test, as far as a judge has to know it.

A fault describes its own effect; the injector writes it into the history beside the fault. A
checker reads nothing else about a fault, so it knows no fault by name and repeats no default.
"""

from __future__ import annotations

from typing import Any

import msgspec

from vocabulary.clock import Micros


class Refusal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Requests that are refused. Empty criteria fit all requests."""

    verbs: tuple[str, ...] = ()
    kind: str = ""
    """As in a history: `Pod`, `Job.batch`."""
    name: str = ""
    times: int = 0
    """How many requests are refused; 0: all of them while the fault lasts."""
    retry_after_us: Micros = 0
    """How long each refusal asks the client to wait."""
    for_good: bool = False
    """The answer tells the client not to repeat the request: a conflict, an invalid object."""


class FaultEffect(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a fault hinders a controller from its injection to its end.

    The default hinders none: the fault strikes the workload or its nodes, or its effect on a
    process is recorded in the process's own entries.
    """

    hinders: str = ""
    """The hindered actors, comma-separated, empty for none; a pattern may end in `*`."""
    costs_us: Micros | None = None
    """The longest delay that it causes; None: no bound, or the one that `refuses` implies."""
    lingers_us: Micros = 0
    """How long after its end it still hinders: what is on its way arrives no sooner."""
    backs_off: bool = False
    """Requests fail, so clients back off, and may still be waiting when the fault has ended."""
    refuses: Refusal | None = None
    """The requests that it refuses; None: none."""
    ends: dict[str, Any] | None = None
    """The fault, as its plan spells it, that ends with this one; it has that fault's effect."""
