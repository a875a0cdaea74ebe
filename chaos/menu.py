"""Faults that may strike in any run: one entry for each that makes sense unasked.

An entry draws the details from what a recorded run showed. Suites add entries for their own
kinds (`chaos.subject_kind`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from chaos import faults
from chaos.choice import NodeChoice, ObjectChoice, PodChoice, Which, named_kind
from chaos.fault import Fault
from chaos.faults.api_error import Verb
from chaos.terrain import Terrain
from vocabulary.clock import SECOND, Micros
from vocabulary.kinds import RESOURCE_QUOTA

Rng: TypeAlias = random.Random
MenuEntry: TypeAlias = Callable[[Rng, Terrain], Fault]
_WHICH: Final[tuple[Which, ...]] = ("first", "last", "random", "all")
_READS: Final[tuple[Verb, ...]] = ("get", "list")
"""Reads are in no history; every operator makes them."""


def random_seconds(rng: Rng, least: int, most: int) -> Micros:
    return rng.randint(least, most) * SECOND


def random_nodes(rng: Rng, terrain: Terrain) -> NodeChoice:
    """Most often one that hosts the object under test."""
    if rng.random() < 0.7:
        return NodeChoice(hosting=PodChoice(terrain.subject))
    return NodeChoice(which="random")


def _pods(rng: Rng, terrain: Terrain) -> PodChoice:
    return PodChoice(terrain.subject, which=rng.choice(_WHICH))


def _component(rng: Rng, terrain: Terrain) -> tuple[str, ObjectChoice]:
    return rng.choice(terrain.components), ObjectChoice(terrain.subject)


def _users_object(rng: Rng, terrain: Terrain) -> tuple[str, str | ObjectChoice]:
    """The object under test, or one of its components."""
    if rng.random() < 0.4 or not terrain.components:
        kind, _, name = terrain.subject.rpartition("/")
        return kind, name
    return _component(rng, terrain)


def _users_deletion(rng: Rng, terrain: Terrain) -> faults.DeleteObject:
    kind, name = _users_object(rng, terrain)
    return faults.DeleteObject(kind, name, rng.choice(("Background", "Foreground", "Orphan")))


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


def _verbs(rng: Rng, terrain: Terrain) -> tuple[Verb, ...]:
    """One that the operator was seen to write by, or one by which it reads."""
    writes: dict[Verb, None] = {write.verb: None for write in terrain.writes}
    return (rng.choice((*writes, *_READS)),)


FAULT_MENU: Final[dict[str, MenuEntry]] = {
    "kill": lambda rng, terrain: faults.Kill(
        terrain.operator, restart_after=random_seconds(rng, 1, 90)
    ),
    "restart": lambda rng, terrain: faults.Restart(terrain.operator, random_seconds(rng, 1, 30)),
    "double_operator": lambda _rng, terrain: faults.DoubleOperator(f"{terrain.operator}/1"),
    "pause": lambda rng, terrain: faults.Pause(
        rng.choice((terrain.operator, *terrain.controllers))
    ),
    "kill_pod": lambda rng, terrain: faults.KillPod(
        _pods(rng, terrain), rng.choice((0, 1, 137, 143))
    ),
    "stick_pod": lambda rng, terrain: faults.StickPod(
        _pods(rng, terrain), rng.choice(("terminating", "pending", "init", "image", "not_ready"))
    ),
    "evict_pod": lambda rng, terrain: faults.EvictPod(_pods(rng, terrain)),
    "delete_pod": lambda rng, terrain: faults.DeletePod(_pods(rng, terrain), rng.choice((None, 0))),
    "taint": lambda rng, terrain: faults.Taint(
        random_nodes(rng, terrain),
        "example.com/broken",
        "",
        rng.choice(("NoSchedule", "NoExecute")),
    ),
    "cordon": lambda rng, terrain: faults.Cordon(random_nodes(rng, terrain)),
    "node_not_ready": lambda rng, terrain: faults.NodeNotReady(random_nodes(rng, terrain)),
    "node_lost": lambda rng, terrain: faults.NodeLost(random_nodes(rng, terrain)),
    "node_deleted": lambda rng, terrain: faults.NodeDeleted(random_nodes(rng, terrain)),
    "api_error": lambda rng, terrain: faults.ApiErrors(
        actor=terrain.operator,
        verb=_verbs(rng, terrain),
        code=rng.choice((409, 429, 500, 503, 504)),
        times=rng.choice((1, 2, 3, 5, 14)),  # the last outlasts a minute of a client's waits
    ),
    "time_out": lambda rng, terrain: faults.TimeOut(
        actor=terrain.operator, verb=_verbs(rng, terrain), after=random_seconds(rng, 1, 30)
    ),
    "lose_reply": lambda rng, terrain: faults.LoseReply(
        actor=terrain.operator, verb=_verbs(rng, terrain)
    ),
    "slow_api": lambda rng, terrain: faults.SlowApi(
        actor=terrain.operator, by=random_seconds(rng, 1, 30), times=rng.randint(1, 5)
    ),
    "webhook_outage": lambda _rng, terrain: faults.WebhookOutage(
        terrain.subject.rpartition("/")[0]
    ),
    "stale_reads": lambda rng, terrain: faults.StaleReads(
        actor=terrain.operator, kind=rng.choice(("", *terrain.watched))
    ),
    "delay_watch": lambda rng, terrain: faults.DelayWatch(
        actor=terrain.operator, kind=rng.choice(terrain.watched), by=random_seconds(rng, 1, 60)
    ),
    "break_watch": lambda rng, terrain: faults.BreakWatch(
        actor=terrain.operator,
        kind=rng.choice(("", *terrain.watched)),
        gap=random_seconds(rng, 1, 30),
    ),
    "hold_object": lambda rng, terrain: faults.HoldObject(*_component(rng, terrain)),
}
"""Faults that may strike in any run, by the faults' names in plans."""

USER_MENU: Final[dict[str, MenuEntry]] = {
    "suspend": lambda _rng, terrain: faults.Suspend(terrain.subject),
    "delete_object": _users_deletion,
    "tamper": lambda rng, terrain: faults.Tamper(
        *_users_object(rng, terrain), rng.choice(("finalizers", "labels", "annotations"))
    ),
    "create_object": lambda rng, terrain: faults.CreateObject(_quota(rng, terrain)),
}
"""Acts of users and administrators in any run."""
