"""Macro faults: patterns of single faults that have proved good at finding bugs."""

from __future__ import annotations

import random
from collections.abc import Sequence

from chaos.faults import Kill, StaleReads
from chaos.plan import Step
from chaos.trigger import At
from vocabulary.clock import Micros
from vocabulary.history import OPERATOR


def swizzle(
    kinds: Sequence[str], seed: int, *, at_us: Micros, step_us: Micros, actor: str = OPERATOR
) -> tuple[Step, ...]:
    """Freeze a random subset of the watches one by one, thaw them one by one in another order.

    So the actor's caches disagree with one another in ever new ways. One watch is frozen
    every `step_us` from `at_us` on, then one is thawed every `step_us`.
    """
    rng = random.Random(f"{seed}/swizzle")
    chosen = rng.sample(list(kinds), rng.randint(1, len(kinds)))
    thawed = rng.sample(chosen, len(chosen))
    steps = []
    for number, kind in enumerate(chosen):
        begins_us = at_us + number * step_us
        ends_us = at_us + (len(chosen) + thawed.index(kind)) * step_us
        steps.append(Step(StaleReads(actor=actor, kind=kind), At(begins_us), ends_us - begins_us))
    return tuple(steps)


def restart_storm(
    times: int, *, at_us: Micros, every_us: Micros, actor: str = OPERATOR
) -> tuple[Step, ...]:
    """Kill the actor so many times in a row, each time when it has hardly come back."""
    return tuple(
        Step(Kill(actor=actor, restart_after=every_us // 2), At(at_us + number * every_us))
        for number in range(times)
    )
