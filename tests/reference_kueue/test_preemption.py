"""Victims: no smaller part of them would do, and only those are taken that may be."""

from __future__ import annotations

import random
from itertools import chain, combinations

from reference_controller.kueue.amounts import FlavorResource, added
from reference_controller.kueue.config import Requeuing
from reference_controller.kueue.preemption import Preemptor, Victim
from reference_controller.kueue.quota import Quotas
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from reference_controller.runtime.controller import Key
from tests.reference_kueue.made import cluster_queue, workload

_CPU = FlavorResource("one", "cpu")
_WITHIN = ("Never", "LowerPriority", "LowerOrNewerEqualPriority")
_RECLAIM = ("Never", "LowerPriority", "Any")


def _random_state(draw: random.Random) -> Preemptor:
    """One to three queues of a cohort with up to eight Workloads that hold quota, and one that
    needs some."""
    queues = {}
    for name in "abc"[: draw.randint(1, 3)]:
        reclaims = draw.choice(_RECLAIM)
        borrows = "LowerPriority" if reclaims != "Never" and draw.random() < 0.3 else "Never"
        queues[name] = cluster_queue(
            name,
            "all",
            draw.randint(0, 6),
            preemption={
                "withinClusterQueue": draw.choice(_WITHIN),
                "reclaimWithinCohort": reclaims,
                "borrowWithinCohort": {"policy": borrows},
            },
        )
    quotas = Quotas(queues)
    holders: dict[str, dict] = {name: {} for name in queues}
    for n in range(draw.randint(0, 8)):
        queue = draw.choice(list(queues))
        held = workload(
            f"w{n}",
            draw.randint(1, 3),
            priority=draw.randint(0, 2),
            created_s=draw.randint(0, 5),
            holds=queue,
            since_s=draw.randint(0, 5),
            conditions={"Evicted": ("True", "Preempted", 6)} if draw.random() < 0.2 else {},
        )
        if all(value <= quotas.available(queue, what) for what, value in held.usage.items()):
            quotas.hold(queue, held.usage)
            holders[queue][held.key] = held
    first = workload("p", priority=draw.randint(0, 2), created_s=draw.randint(0, 5))
    return Preemptor(first, "a", quotas, holders, Rules(), Requeuing())


def _fits_without(state: Preemptor, victims: tuple[Victim, ...], usage: dict) -> bool:
    for each in victims:
        state.quotas.hold(each.queue, each.workload.usage, -1)
    fits = all(value <= state.quotas.available("a", what) for what, value in usage.items())
    is_within = not state.quotas.borrows("a", usage)
    for each in victims:
        state.quotas.hold(each.queue, each.workload.usage)
    return fits and (is_within or state.quotas.queues["a"].preemption.borrows)


def test_no_smaller_part_of_the_victims_would_do() -> None:
    """In 10,000 random states, each against all parts of its victims."""
    draw, found = random.Random(7), 0
    for _ in range(10_000):
        state = _random_state(draw)
        usage = {_CPU: draw.randint(1, 6) * 1000}
        if usage[_CPU] <= state.quotas.available("a", _CPU):
            continue
        before = added(state.quotas.used.values())
        victims = state.victims(usage)
        assert added(state.quotas.used.values()) == before
        if victims is None:
            continue
        found += 1
        assert _fits_without(state, tuple(victims), usage)
        for part in chain.from_iterable(combinations(victims, n) for n in range(len(victims))):
            fits = _fits_without(state, part, usage)
            needs_nominal = victims[0].reason != "InCohortReclaimWhileBorrowing"
            assert not fits or (needs_nominal and state.quotas.queues["a"].preemption.borrows)
    assert found > 1000


def test_queues_within_their_nominal_quota_lose_nothing_to_others() -> None:
    draw = random.Random(11)
    for _ in range(2_000):
        state = _random_state(draw)
        usage = {_CPU: draw.randint(1, 6) * 1000}
        if usage[_CPU] <= state.quotas.available("a", _CPU):
            continue
        for each in state.victims(usage) or ():
            if each.queue != "a" and not each.workload.is_leaving:
                assert state.quotas.held(each.queue, _CPU) > state.quotas.nominal(each.queue, _CPU)


def _preemptor(cpu: int, *held: Workload, **policies: str) -> Preemptor:
    names = sorted({"a", "b", *(each.cluster_queue for each in held)})
    queues = {name: cluster_queue(name, "all", cpu, preemption={**policies}) for name in names}
    quotas = Quotas(queues)
    holders: dict[str, dict[Key, Workload]] = {name: {} for name in names}
    for each in held:
        quotas.hold(each.cluster_queue, each.usage)
        holders[each.cluster_queue][each.key] = each
    first = workload("p", priority=1, created_s=10)
    return Preemptor(first, "a", quotas, holders, Rules(), Requeuing())


def _names(victims: list[Victim] | None) -> list[str]:
    return [each.workload.uid for each in victims or ()]


def test_borrowers_lose_before_workloads_of_the_own_queue() -> None:
    state = _preemptor(
        4,
        workload("own", 2, holds="a"),
        workload("nominal", 4, holds="b", since_s=1),
        workload("borrows", 2, holds="b", since_s=2),
        withinClusterQueue="LowerPriority",
        reclaimWithinCohort="Any",
    )
    assert _names(state.victims({_CPU: 2000})) == ["borrows"]


def test_one_that_is_evicted_already_comes_first() -> None:
    evicted = {"Evicted": ("True", "Preempted", 3)}
    state = _preemptor(
        4,
        workload("late", 2, holds="a", since_s=2),
        workload("early", 2, holds="a", since_s=1, conditions=evicted),
        workload("fills", 4, priority=9, holds="b"),
        withinClusterQueue="LowerPriority",
    )
    assert _names(state.victims({_CPU: 2000})) == ["early"]


def test_more_than_nominal_preempts_nothing() -> None:
    state = _preemptor(
        2,
        workload("low", 2, holds="a"),
        workload("other", 2, holds="b"),
        withinClusterQueue="LowerPriority",
        reclaimWithinCohort="Any",
    )
    assert state.victims({_CPU: 3000}) is None


def test_an_equal_one_is_preempted_if_it_is_newer() -> None:
    held = workload("equal", 2, priority=1, created_s=20, holds="a")
    other = workload("fills", 2, priority=9, holds="b")
    for policy, expected in (("LowerPriority", []), ("LowerOrNewerEqualPriority", ["equal"])):
        state = _preemptor(2, held, other, withinClusterQueue=policy)
        assert _names(state.victims({_CPU: 2000})) == expected


def test_one_that_leaves_is_enough_though_its_queue_borrows_no_more() -> None:
    """Its queue gave other quota back meanwhile: no further Workload is evicted in its place."""
    leaving = {"Evicted": ("True", "Preempted", 3)}
    state = _preemptor(
        4,
        workload("leaves", 4, holds="b", since_s=1, conditions=leaving),
        workload("borrows", 6, holds="c", since_s=2),
        reclaimWithinCohort="Any",
    )
    assert _names(state.victims({_CPU: 4000})) == ["leaves"]
