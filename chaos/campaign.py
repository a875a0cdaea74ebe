"""Plans by the thousand: at random from a seed, or systematically, every pair of faults once.

A generator is told the lie of the land (`Terrain`), which a recorded run shows, and draws from
a menu: one entry per fault that makes sense unasked. Equal seeds give equal plans.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

from chaos.choice import APPWRAPPER_LABEL, NodeChoice, ObjectChoice, PodChoice
from chaos.fault import Fault
from chaos.faults import (
    ApiErrors,
    AutopilotLabel,
    BreakWatch,
    Cordon,
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
from chaos.trigger import At, FieldChange, On, Trigger
from vocabulary.clock import MINUTE, SECOND, Micros
from vocabulary.history import Entry, Mark, Write
from vocabulary.kinds import APPWRAPPER, DEPLOYMENT, KNOWN_KINDS, REPLICA_SET
from vocabulary.objects import get_path

MAX_FAULTS_AT_RANDOM: Final = 5
SPAN_US: Final = (10 * SECOND, 10 * MINUTE)
"""The least and the most of a run within which faults strike."""


@dataclass(frozen=True, slots=True)
class Terrain:
    """What there is to be broken in a scenario, and for how long it runs."""

    scenario: str
    appwrapper: str
    components: tuple[str, ...] = ("Job",)
    """Kinds of the AppWrapper's components."""
    controllers: tuple[str, ...] = ("job-controller", "garbage-collector", "scheduler")
    """Processes that can be paused, the operator and kubelets apart."""
    watched: tuple[str, ...] = ("AppWrapper", "Pod", "Job")
    """Kinds the operator watches."""
    phases: tuple[str, ...] = ("Resuming", "Running", "Resetting", "Suspending", "Failed")
    span_us: Micros = 10 * MINUTE
    """Faults strike within so much of the beginning."""
    writes: int = 30
    """About how many writes the operator makes."""
    without: frozenset[str] = frozenset()
    """Entries of the menus that are refused where the scenario runs."""
    user_acts: bool = False
    """Whether a user may interfere: suspend, delete components, tamper."""


def terrain_of(scenario: str, entries: Iterable[Entry]) -> Terrain | None:
    """What a recorded run of a scenario shows; None if no AppWrapper was created in it."""
    appwrapper = ""
    components: list[str] = []
    writes, span_us = 0, SPAN_US[1]
    known = {kind.kind for kind in KNOWN_KINDS}
    for entry in entries:
        if isinstance(entry, Mark) and entry.mark == "faults-stopped":
            span_us = entry.t
        if not isinstance(entry, Write):
            continue
        writes += entry.actor == OPERATOR
        if not appwrapper and entry.event == "ADDED" and entry.kind == str(APPWRAPPER):
            appwrapper = entry.name
            wrapped = get_path(entry.object or {}, "spec.components", ())
            kinds = (str(get_path(each, "template.kind", "")) for each in wrapped)
            components = [kind for kind in dict.fromkeys(kinds) if kind in known]
    if not appwrapper or not components:
        return None
    return Terrain(
        scenario,
        appwrapper,
        components=tuple(components),
        watched=tuple(dict.fromkeys((APPWRAPPER.kind, "Pod", *components, *_below(components)))),
        span_us=min(max(span_us, SPAN_US[0]), SPAN_US[1]),
        writes=max(writes, 1),
    )


def _below(components: Iterable[str]) -> Iterator[str]:
    """Kinds that an operator may watch since its components make them."""
    if DEPLOYMENT.kind in components:
        yield REPLICA_SET.kind


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


def _verbs(rng: Rng) -> tuple[str, ...]:
    return (rng.choice(("create", "update", "patch", "delete", "get", "list")),)


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
    "api_error": lambda rng, _: ApiErrors(
        verb=_verbs(rng), code=rng.choice((409, 429, 500, 503, 504)), times=rng.randint(1, 5)
    ),
    "time_out": lambda rng, _: TimeOut(verb=_verbs(rng), after=_seconds(rng, 1, 30)),
    "lose_reply": lambda rng, _: LoseReply(verb=_verbs(rng)),
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
    "delete_object": lambda rng, terrain: DeleteObject(
        *_component(rng, terrain), rng.choice(("Background", "Foreground", "Orphan"))
    ),
    "tamper": lambda rng, terrain: Tamper(
        *_component(rng, terrain), rng.choice(("labels", "annotations"))
    ),
}
"""What users may do as well, where the terrain says so."""


def random_plan(terrain: Terrain, seed: int) -> Plan:
    """A plan of one to five faults, each with a trigger, some of them for a while only."""
    rng = random.Random(f"{seed}/plan")
    menu = _menu(terrain)
    names = sorted(menu)
    steps = tuple(
        _step(menu[rng.choice(names)], rng, terrain)
        for _ in range(rng.randint(1, MAX_FAULTS_AT_RANDOM))
    )
    return _plan(terrain, seed, steps)


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
        steps = tuple(_step(menu[name], rng, terrain) for name in group)
        yield _plan(terrain, seed, steps)


def _menu(terrain: Terrain) -> dict[str, MenuEntry]:
    whole = FAULT_MENU | USER_MENU if terrain.user_acts else FAULT_MENU
    return {name: entry for name, entry in whole.items() if name not in terrain.without}


def _plan(terrain: Terrain, seed: int, steps: tuple[Step, ...]) -> Plan:
    return Plan(terrain.scenario, seed, steps)


def _step(entry: MenuEntry, rng: Rng, terrain: Terrain) -> Step:
    fault = entry(rng, terrain)
    when = _moment(rng, terrain)
    lasts_us = None
    if not fault.leaves_nothing and rng.random() < 0.7:
        lasts_us = _seconds(rng, 1, max(1, terrain.span_us // SECOND // 4))
    return Step(fault, when, lasts_us)


def _moment(rng: Rng, terrain: Terrain) -> Trigger:
    """A time, the operator's k-th write, a change of phase, or something that becomes of a pod."""
    kind = rng.randrange(4)
    if kind == 0:
        return At(rng.randrange(terrain.span_us // SECOND + 1) * SECOND)
    if kind == 1:
        k = rng.randint(1, terrain.writes)
        if rng.random() < 0.5:
            return On(before="commit", by=OPERATOR, occurrence=k)
        return On(after=rng.choice(("commit", "reply")), by=OPERATOR, outcome="any", occurrence=k)
    if kind == 2:
        phase = rng.choice(terrain.phases)
        change = FieldChange("status.phase", ("status", "phase"), "*", phase)
        delay_us = _seconds(rng, 0, 60) if rng.random() < 0.5 else 0
        return On(
            after="commit",
            kind="AppWrapper",
            name=terrain.appwrapper,
            field=(change,),
            delay=delay_us,
        )
    return On(
        after="commit",
        kind="Pod",
        labels=f"{APPWRAPPER_LABEL}={terrain.appwrapper}",
        event=rng.choice(("created", "updated", "deleted")),
        occurrence=rng.randint(1, 6),
    )
