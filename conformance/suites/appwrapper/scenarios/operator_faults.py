"""The operator itself fails: killed, paused, doubled, cut off, lied to by its caches."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.fault import Fault
from chaos.faults import (
    ApiErrors,
    BreakWatch,
    DelayWatch,
    DeleteObject,
    DoubleOperator,
    Kill,
    KillPod,
    LoseReply,
    Pause,
    Restart,
    SlowApi,
    StaleReads,
    Suspend,
    TakeLease,
    TimeOut,
    WebhookOutage,
)
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD
from conformance.world import Condition, World
from vocabulary.clock import MILLISECOND, SECOND

RUNNING_POD = PodChoice(of="AppWrapper/a", phase="Running")
RENEW_DEADLINE_US = 10 * SECOND
"""client-go's: a leader may act for so long after its last renewal, whatever the Lease's holder."""


def _fail_once(world: World, aw: AppWrapper) -> None:
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(RUNNING_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-5", "AW-051", "AW-006", "MLB-049"])
def killed_while_a_failure_is_borne(world: World) -> None:
    """A restart in the middle of a grace period neither prolongs it nor counts twice."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.shows("Unhealthy"))
    world.inject(Kill())
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-8", "AW-021"])
def killed_after_a_look_that_was_late(world: World) -> None:
    """An operator that hears late of its own writes, and dies after its first one about a running
    AppWrapper, carries on with that."""
    world.inject(DelayWatch(by=50 * MILLISECOND, kind="AppWrapper"))
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running"))
    world.until(aw.changes())
    world.inject(Kill())
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-013", "AW-049", "AW-050", "AW-074", "INV-5", "MLB-046"])
def killed_while_a_reset_deletes(world: World) -> None:
    """A restart in the middle of a reset carries the reset on where it was."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.inject(Kill(restart_after=1 * SECOND))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-057", "AW-035", "AW-022"])
def down_while_a_component_is_deleted(world: World) -> None:
    """A deletion that happened while the operator was down is noticed when it is back."""
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(restart_after=3 * SECOND))
    world.inject(DeleteObject("ConfigMap", "a-config"))
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-054"])
def down_while_it_is_suspended(world: World) -> None:
    """A suspension that happened while the operator was down is carried out when it is back."""
    aw = AppWrapper.submit(world, "job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Restart(downtime=3 * SECOND))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["MLB-050"])
def paused_in_the_middle(world: World) -> None:
    """An operator that stands still for a while acts on what is, not on what was."""
    aw = AppWrapper.submit(world, "deployment.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Pause("operator"))
    world.inject(KillPod(FIRST_POD))
    world.wait(3 * SECOND)
    world.revert(Pause("operator"))
    world.wait(3 * world.durations.failure_grace_us)


@scenario(arms=["INV-3", "INV-5", "AW-051"])
def two_operators_without_election(world: World) -> None:
    """Two operators that both believe they lead create nothing twice and count nothing twice."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Resuming", "Running"))
    world.inject(DoubleOperator())
    _fail_once(world, aw)


@scenario(arms=["INV-3", "INV-5"], operators=2)
def leader_is_killed(world: World) -> None:
    """When the leader dies for good, the other operator takes over and counts on."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Kill(world.leader, restart_after=None))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-3", "INV-5", "AW-006"], operators=2)
def lease_is_taken(world: World) -> None:
    """A leader whose Lease is taken stops leading, and the next leader continues the count."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    grace_us = world.durations.failure_grace_us
    world.inject(TakeLease(holds=RENEW_DEADLINE_US + 3 * grace_us))
    world.wait(RENEW_DEADLINE_US)
    world.inject(KillPod(FIRST_POD))
    world.wait(2 * grace_us)
    stood_back = Condition("nobody acted while nobody led", lambda: aw.resets == 0)
    world.until(stood_back, within_us=0)
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-3", "INV-5", "AW-006"], operators=2)
def lease_is_taken_in_a_reset(world: World) -> None:
    """A leader whose Lease is taken while it deletes leaves the rest to the next leader."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.inject(TakeLease())
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


API_FAULTS: dict[str, Fault] = {
    "conflict": ApiErrors(verb=("update", "patch"), kind="AppWrapper", code=409, times=3),
    "throttled": ApiErrors(code=429, times=5),
    "server-error": ApiErrors(code=500, times=5),
    "lost-status-replies": LoseReply(verb=("update", "patch"), kind="AppWrapper", times=3),
    "lost-create-replies": LoseReply(verb=("create",), kind="Pod", times=2),
    "lost-delete-replies": LoseReply(verb=("delete",), kind="Pod", times=2),
    "lost-requests": TimeOut(verb=("create", "delete"), kind="Pod", times=2, after=2 * SECOND),
    "failing-lists": ApiErrors(verb=("list",), kind="Pod", code=500, times=6),
    "slow-watches": DelayWatch(by=2 * SECOND),
    "late-pods": DelayWatch(kind="Pod", by=3 * SECOND),
    "late-appwrappers": DelayWatch(kind="AppWrapper", by=3 * SECOND),
    "broken-watches": BreakWatch(gap=2 * SECOND),
    "slow-answers": SlowApi(by=2 * SECOND, times=6),
    "webhook-outage": WebhookOutage("AppWrapper"),
}


@scenario(arms=["AW-006", "AW-013", "INV-3", "INV-5"], cases=API_FAULTS)
def retried_over_a_bad_connection(world: World, fault: Fault) -> None:
    """A failure is retried once, and counted once, whatever the connection does meanwhile."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(fault)
    world.inject(KillPod(FIRST_POD))
    world.wait(world.durations.failure_grace_us + 5 * SECOND)
    world.revert(fault)
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


OTHERS = {name: fault for name, fault in API_FAULTS.items() if name != "webhook-outage"}
"""Without its webhook nothing could be submitted."""


@scenario(arms=["INV-3", "AW-006"], cases=OTHERS)
def started_over_a_bad_connection(world: World, fault: Fault) -> None:
    """Components are created exactly once, whatever the connection does meanwhile."""
    world.inject(fault)
    aw = AppWrapper.submit(world, "pods.yaml")
    world.wait(5 * SECOND)
    world.revert(fault)
    _fail_once(world, aw)


@scenario(
    arms=["AW-013", "AW-015"],
    cases={
        "failing-lists": ApiErrors(verb=("list",), kind="Pod", code=500, times=0),
        "failing-reads": ApiErrors(verb=("get", "list"), code=500, times=0),
    },
)
def suspended_over_a_bad_connection(world: World, fault: Fault) -> None:
    """Objects that cannot be read do not count as gone: quota is kept while lists fail."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 20s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Suspend("AppWrapper/a"))
    world.until(aw.is_in("Suspending"))
    world.inject(fault)
    world.wait(5 * SECOND)
    world.revert(fault)
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-013", "AW-014", "AW-015"])
def suspended_blindly(world: World) -> None:
    """Pods that no cache shows, and that cannot be listed either, are not taken for gone."""
    stale = StaleReads(kind="Pod")
    failing = ApiErrors(verb=("list",), kind="Pod", code=500, times=0)
    world.inject(stale)
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 20s")
    world.until(aw.has_pods(2, "Running"))
    world.wait(5 * SECOND)
    world.inject(failing)
    world.inject(Suspend("AppWrapper/a"))
    world.wait(5 * SECOND)
    world.revert(failing)
    world.revert(stale)
    world.until(aw.is_in("Suspended") & aw.shows("QuotaReserved", "False"))


@scenario(arms=["INV-1", "INV-3", "INV-5"])
def frozen_caches(world: World) -> None:
    """An operator that restarts onto stale caches neither creates twice nor releases early."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, stop 5s", retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(StaleReads())
    world.inject(KillPod(FIRST_POD))
    world.wait(2 * SECOND)
    world.inject(Kill(restart_after=1 * SECOND))
    world.wait(5 * SECOND)
    world.revert(StaleReads())
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-006", "INV-5"])
def api_server_is_away_for_minutes(world: World) -> None:
    """An API server that refuses everything for a while delays the retry and changes nothing."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    away = ApiErrors(code=503, times=0)
    world.inject(away)
    world.inject(KillPod(FIRST_POD))
    world.wait(3 * world.durations.failure_grace_us)
    world.revert(away)
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
