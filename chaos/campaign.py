"""Plans by the thousand: at random from a seed, or systematically, every pair of faults once.

A generator knows the terrain that a recorded run shows (`chaos.terrain`) and draws faults from
`chaos.menu`. A random plan may also give the object under test another shape. Equal seeds give
equal plans.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

from chaos.choice import named_object
from chaos.faults import Kill
from chaos.menu import FAULT_MENU, USER_MENU, MenuEntry, Rng, random_seconds
from chaos.plan import Plan, Step
from chaos.subject_kind import SubjectKind, subject_kind
from chaos.terrain import Terrain
from chaos.trigger import At, On, Trigger, field_change
from vocabulary.clock import SECOND

MAX_FAULTS_AT_RANDOM: Final = 5
VARIED_SHARE: Final = 0.5
"""In so many of the random plans the workload is not the scenario's own."""
UNNOTICED_SHARE: Final = 0.15
"""In so many of the random plans a user acts while the operator is down."""


def random_plan(terrain: Terrain, seed: int) -> Plan:
    """A plan of one to five faults, each with a trigger, some of them for a while only; often of
    another workload, too."""
    rng = random.Random(f"{seed}/plan")
    kind, name = named_object(terrain.subject)
    varies = rng.random() < VARIED_SHARE
    workload = subject_kind(kind).random_variation(rng, name) if varies else None
    if workload is not None and workload.new_name:
        terrain = replace(terrain, subject=f"{kind.kind}/{workload.new_name}")
    menu = _menu(terrain)
    names = sorted(menu)
    steps = tuple(
        _step(menu[rng.choice(names)], _moment(rng, terrain), rng, terrain)
        for _ in range(rng.randint(1, MAX_FAULTS_AT_RANDOM))
    )
    if rng.random() < UNNOTICED_SHARE:
        steps = (*steps[: MAX_FAULTS_AT_RANDOM - 2], *_unnoticed(rng, terrain))
    return Plan(terrain.scenario, seed, steps, workload=workload)


def _unnoticed(rng: Rng, terrain: Terrain) -> tuple[Step, Step]:
    """A user acts while the operator is down."""
    down_us, delay_us = random_seconds(rng, 10, 90), random_seconds(rng, 1, 9)
    killed: Trigger
    acts: Trigger
    if terrain.phases and rng.random() < 0.5:
        killed = change = _phase_change(rng, terrain)
        acts = replace(change, delay=change.delay + delay_us)
    else:
        killed = time = _time(rng, terrain)
        acts = At(time.at + delay_us)
    entry = USER_MENU[rng.choice(sorted(USER_MENU.keys() - terrain.without))]
    return (
        Step(Kill(terrain.operator, restart_after=down_us), killed),
        _step(entry, acts, rng, terrain),
    )


def pairwise(terrain: Terrain, seed: int) -> Iterator[Plan]:
    """Every fault alone, then every pair of different faults, with random details and triggers.

    Most bugs that need more than one fault need two.
    """
    menu = _menu(terrain)
    names = sorted(menu)
    groups: list[tuple[str, ...]] = [(name,) for name in names]
    groups += combinations(names, 2)
    for number, group in enumerate(groups):
        rng = random.Random(f"{seed}/pairwise/{number}")
        steps = tuple(_step(menu[name], _moment(rng, terrain), rng, terrain) for name in group)
        yield Plan(terrain.scenario, seed, steps)


def pair_count(terrain: Terrain) -> int:
    """The number of plans that `pairwise` yields."""
    kinds = len(_menu(terrain))
    return kinds + kinds * (kinds - 1) // 2


def _menu(terrain: Terrain) -> dict[str, MenuEntry]:
    whole = {**FAULT_MENU, **USER_MENU, **_kind(terrain).menu}
    return {name: entry for name, entry in whole.items() if name not in terrain.without}


def _kind(terrain: Terrain) -> SubjectKind:
    kind, _ = named_object(terrain.subject)
    return subject_kind(kind)


def _step(entry: MenuEntry, when: Trigger, rng: Rng, terrain: Terrain) -> Step:
    fault = entry(rng, terrain)
    lasts_us = None
    if not fault.leaves_nothing and rng.random() < 0.7:
        lasts_us = random_seconds(rng, 1, max(1, terrain.span_us // SECOND // 4))
    return Step(fault, when, lasts_us)


def _moment(rng: Rng, terrain: Terrain) -> Trigger:
    """A time, or something that the recorded run shows to happen."""
    kinds = [_time, _any_write, _pod_event]
    kinds += [_write_of_a_sort] * bool(terrain.writes)
    kinds += [_phase_change] * bool(terrain.phases)
    kinds += [_condition_change] * bool(terrain.conditions)
    kinds += [_pod_phase_change] * bool(terrain.pod_phases)
    return rng.choice(kinds)(rng, terrain)


def _time(rng: Rng, terrain: Terrain) -> At:
    return At(rng.randrange(terrain.span_us // SECOND + 1) * SECOND)


def _any_write(rng: Rng, terrain: Terrain) -> Trigger:
    """Around the operator's k-th write."""
    k = rng.randint(1, max(1, sum(write.times for write in terrain.writes)))
    return _around(rng, On(by=terrain.operator, occurrence=k))


def _write_of_a_sort(rng: Rng, terrain: Terrain) -> Trigger:
    """Around the operator's k-th write of one verb, kind and subresource."""
    write = rng.choice(terrain.writes)
    return _around(
        rng,
        On(
            by=terrain.operator,
            verb=(write.verb,),
            kind=write.kind,
            subresource=write.subresource,
            occurrence=rng.randint(1, write.times),
        ),
    )


def _around(rng: Rng, write: On) -> Trigger:
    if rng.random() < 0.5:
        return replace(write, before="commit")
    return replace(write, after=rng.choice(("commit", "reply")), outcome="any")


def _phase_change(rng: Rng, terrain: Terrain) -> On:
    return _change(rng, terrain, "status.phase", rng.choice(terrain.phases))


def _condition_change(rng: Rng, terrain: Terrain) -> Trigger:
    type_, status = rng.choice(terrain.conditions)
    return _change(rng, terrain, f"status.conditions[{type_}].status", status)


def _change(rng: Rng, terrain: Terrain, path: str, value: str) -> On:
    """When, or somewhat later than, a field of the object under test takes a value."""
    kind, _, name = terrain.subject.rpartition("/")
    return On(
        after="commit",
        kind=kind,
        name=name,
        field=(field_change(path, value),),
        delay=random_seconds(rng, 0, 60) if rng.random() < 0.5 else 0,
    )


def _pod_phase_change(rng: Rng, terrain: Terrain) -> Trigger:
    change = field_change("status.phase", rng.choice(terrain.pod_phases))
    return replace(_pod(rng, terrain), field=(change,), event="updated")


def _pod_event(rng: Rng, terrain: Terrain) -> Trigger:
    return replace(_pod(rng, terrain), event=rng.choice(("created", "updated", "deleted")))


def _pod(rng: Rng, terrain: Terrain) -> On:
    label, name = _kind(terrain).label, terrain.subject.rpartition("/")[2]
    labels = f"{label}={name}" if label else ""
    return On(after="commit", kind="Pod", labels=labels, occurrence=rng.randint(1, 6))
