"""Faults that last as long as some steps, which say what the workload does meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chaos.faults import Kill, Start
from vocabulary.clock import Micros

if TYPE_CHECKING:
    from chaos.fault import Fault
    from conformance.world import World


@contextmanager
def operator_away(world: World, *, for_us: Micros = 0) -> Iterator[None]:
    """No operator runs during the steps, and for that long after them."""
    world.inject(Kill(restart_after=None))
    yield
    if for_us:
        world.wait(for_us)
    world.inject(Start())


@contextmanager
def during(world: World, fault: Fault) -> Iterator[None]:
    """The fault lasts as long as the steps."""
    world.inject(fault)
    yield
    world.revert(fault)
