"""Plans by the thousand: at random from a seed, or systematically, every pair of faults once.

A generator is told the lie of the land (`chaos.terrain`), which a recorded run shows, and draws
from a menu: one entry per fault that makes sense unasked. A random plan may also give the workload
another shape. Equal seeds give equal plans.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, Final, TypeAlias

from chaos.choice import APPWRAPPER_LABEL, NodeChoice, ObjectChoice, PodChoice, named_kind
from chaos.fault import Fault
from chaos.faults import (
    ApiErrors,
    AutopilotLabel,
    BreakWatch,
    Cordon,
    CreateObject,
    DelayWatch,
    DeleteObject,
    DeletePod,
    DoubleOperator,
    EvictPod,
    HoldObject,
    Kill,
    KillPod,
    LoseReply,
    NodeDeleted,
    NodeLost,
    NodeNotReady,
    Pause,
    Restart,
    SlowApi,
    StaleReads,
    StickPod,
    Suspend,
    Taint,
    Tamper,
    TimeOut,
    WebhookOutage,
)
from chaos.ground import OPERATOR
from chaos.plan import Plan, Step
from chaos.random_workload import random_workload
from chaos.terrain import Terrain
from chaos.trigger import At, On, Trigger, field_change
from vocabulary.clock import SECOND, Micros
from vocabulary.kinds import APPWRAPPER, RESOURCE_QUOTA

MAX_FAULTS_AT_RANDOM: Final = 5
VARIED_SHARE: Final = 0.5
"""In so many of the random plans the workload is not the scenario's own."""
UNNOTICED_SHARE: Final = 0.15
"""In so many of the random plans a user acts while the operator is down."""
_READS: Final = ("get", "list")
"""Reads are in no history; every operator makes them."""


Rng: TypeAlias = random.Random
MenuEntry: TypeAlias = Callable[[Rng, Terrain], Fault]


def _pods(rng: Rng, terrain: Terrain) -> PodChoice:
    which = rng.choice(("first", "last", "random", "all"))
    return PodChoice(appwrapper=terrain.appwrapper, which=which)


def _nodes(rng: Rng, terrain: Terrain) -> NodeChoice:
    if rng.random() < 0.7:
        return NodeChoice(hosting=PodChoice(appwrapper=terrain.appwrapper))
    return NodeChoice(which="random")


def _component(rng: Rng, terrain: Terrain) -> tuple[str, ObjectChoice]:
    return rng.choice(terrain.components), ObjectChoice(appwrapper=terrain.appwrapper)


def _users_object(rng: Rng, terrain: Terrain) -> tuple[str, str | ObjectChoice]:
    """The AppWrapper, or one of its components."""
    if rng.random() < 0.4:
        return str(APPWRAPPER.kind), terrain.appwrapper
    return _component(rng, terrain)


def _users_deletion(rng: Rng, terrain: Terrain) -> DeleteObject:
    kind, name = _users_object(rng, terrain)
    return DeleteObject(kind, name, rng.choice(("Background", "Foreground", "Orphan")))


def _quota(rng: Rng, terrain: Terrain) -> Mapping[str, Any]:
    """A ResourceQuota that forbids to create pods, or components of one kind."""
    kind = named_kind(rng.choice(("Pod", *terrain.components)))
    counted = f"count/{kind.plural}.{kind.group}" if kind.group else f"count/{kind.plural}"
    return {
        "apiVersion": RESOURCE_QUOTA.api_version,
        "kind": RESOURCE_QUOTA.kind,
        "metadata": {"name": f"none-of-{kind.plural}"},
        "spec": {"hard": {counted: "0"}},
    }


def _verbs(rng: Rng, terrain: Terrain) -> tuple[str, ...]:
    """One that the operator was seen to write by, or one by which it reads."""
    return (rng.choice((*dict.fromkeys(write.verb for write in terrain.writes), *_READS)),)


def _seconds(rng: Rng, least: int, most: int) -> Micros:
    return rng.randint(least, most) * SECOND


FAULT_MENU: Final[dict[str, MenuEntry]] = {
    "kill": lambda rng, _: Kill(OPERATOR, restart_after=_seconds(rng, 1, 90)),
    "restart": lambda rng, _: Restart(OPERATOR, _seconds(rng, 1, 30)),
    "double_operator": lambda _rng, _: DoubleOperator(),
    "pause": lambda rng, terrain: Pause(rng.choice((OPERATOR, *terrain.controllers))),
    "kill_pod": lambda rng, terrain: KillPod(_pods(rng, terrain), rng.choice((0, 1, 137, 143))),
    "stick_pod": lambda rng, terrain: StickPod(
        _pods(rng, terrain), rng.choice(("terminating", "pending", "init", "image", "not_ready"))
    ),
    "evict_pod": lambda rng, terrain: EvictPod(_pods(rng, terrain)),
    "delete_pod": lambda rng, terrain: DeletePod(_pods(rng, terrain), rng.choice((None, 0))),
    "taint": lambda rng, terrain: Taint(
        _nodes(rng, terrain), "example.com/broken", "", rng.choice(("NoSchedule", "NoExecute"))
    ),
    "cordon": lambda rng, terrain: Cordon(_nodes(rng, terrain)),
    "autopilot_label": lambda rng, terrain: AutopilotLabel(
        _nodes(rng, terrain), rng.choice(("ERR", "EVICT", "TESTING", "WARN"))
    ),
    "node_not_ready": lambda rng, terrain: NodeNotReady(_nodes(rng, terrain)),
    "node_lost": lambda rng, terrain: NodeLost(_nodes(rng, terrain)),
    "node_deleted": lambda rng, terrain: NodeDeleted(_nodes(rng, terrain)),
    "api_error": lambda rng, terrain: ApiErrors(
        verb=_verbs(rng, terrain),
        code=rng.choice((409, 429, 500, 503, 504)),
        times=rng.choice((1, 2, 3, 5, 14)),  # the last outlasts a minute of a client's waits
    ),
    "time_out": lambda rng, terrain: TimeOut(verb=_verbs(rng, terrain), after=_seconds(rng, 1, 30)),
    "lose_reply": lambda rng, terrain: LoseReply(verb=_verbs(rng, terrain)),
    "slow_api": lambda rng, _: SlowApi(by=_seconds(rng, 1, 30), times=rng.randint(1, 5)),
    "webhook_outage": lambda _rng, _: WebhookOutage(),
    "stale_reads": lambda rng, terrain: StaleReads(kind=rng.choice(("", *terrain.watched))),
    "delay_watch": lambda rng, terrain: DelayWatch(
        kind=rng.choice(terrain.watched), by=_seconds(rng, 1, 60)
    ),
    "break_watch": lambda rng, terrain: BreakWatch(
        kind=rng.choice(("", *terrain.watched)), gap=_seconds(rng, 1, 30)
    ),
    "hold_object": lambda rng, terrain: HoldObject(*_component(rng, terrain)),
}
"""What may go wrong in any run: by the faults' names in plans."""

USER_MENU: Final[dict[str, MenuEntry]] = {
    "suspend": lambda _rng, terrain: Suspend(terrain.appwrapper),
    "delete_object": _users_deletion,
    "tamper": lambda rng, terrain: Tamper(
        *_users_object(rng, terrain), rng.choice(("finalizers", "labels", "annotations"))
    ),
    "create_object": lambda rng, terrain: CreateObject(_quota(rng, terrain)),
}
"""What users and administrators may do in any run."""


def random_plan(terrain: Terrain, seed: int) -> Plan:
    """A plan of one to five faults, each with a trigger, some of them for a while only; often of
    another workload, too."""
    rng = random.Random(f"{seed}/plan")
    workload = random_workload(rng, terrain) if rng.random() < VARIED_SHARE else None
    if workload is not None and workload.name:
        terrain = replace(terrain, appwrapper=workload.name)
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
    down_us, delay_us = _seconds(rng, 10, 90), _seconds(rng, 1, 9)
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
        Step(Kill(OPERATOR, restart_after=down_us), killed),
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


def _menu(terrain: Terrain) -> dict[str, MenuEntry]:
    whole = FAULT_MENU | USER_MENU
    return {name: entry for name, entry in whole.items() if name not in terrain.without}


def _step(entry: MenuEntry, when: Trigger, rng: Rng, terrain: Terrain) -> Step:
    fault = entry(rng, terrain)
    lasts_us = None
    if not fault.leaves_nothing and rng.random() < 0.7:
        lasts_us = _seconds(rng, 1, max(1, terrain.span_us // SECOND // 4))
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
    return _around(rng, On(by=OPERATOR, occurrence=k))


def _write_of_a_sort(rng: Rng, terrain: Terrain) -> Trigger:
    """Around the operator's k-th write of one verb, kind and subresource."""
    write = rng.choice(terrain.writes)
    return _around(
        rng,
        On(
            by=OPERATOR,
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
    """When, or somewhat later than, a field of the AppWrapper takes a value."""
    return On(
        after="commit",
        kind="AppWrapper",
        name=terrain.appwrapper,
        field=(field_change(path, value),),
        delay=_seconds(rng, 0, 60) if rng.random() < 0.5 else 0,
    )


def _pod_phase_change(rng: Rng, terrain: Terrain) -> Trigger:
    change = field_change("status.phase", rng.choice(terrain.pod_phases))
    return replace(_pod(rng, terrain), field=(change,), event="updated")


def _pod_event(rng: Rng, terrain: Terrain) -> Trigger:
    return replace(_pod(rng, terrain), event=rng.choice(("created", "updated", "deleted")))


def _pod(rng: Rng, terrain: Terrain) -> On:
    labels = f"{APPWRAPPER_LABEL}={terrain.appwrapper}"
    return On(after="commit", kind="Pod", labels=labels, occurrence=rng.randint(1, 6))
