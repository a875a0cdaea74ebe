"""The retry loop: reset, pause, count, and the limit."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.faults import KillPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper, renamed
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, allow_pods, refuse_pods
from conformance.world import World
from vocabulary.clock import MINUTE, SECOND


@scenario(
    arms=["AW-006", "AW-030", "AW-040", "AW-047", "AW-049", "AW-051", "AW-052", "AW-053", "AW-075"],
    cases={str(limit): limit for limit in range(1, 4)},
)
def limit_is_exhausted(world: World, limit: int) -> None:
    """A pod that always fails is reset exactly as often as the limit allows, then Failed."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 2s, exit 1", retryLimit=limit)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-030", "AW-040", "AW-052", "AW-053", "AW-075"])
def no_retry_is_allowed(world: World) -> None:
    """With a limit of 0 the first failure that lasts is final."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 2s, exit 1", retryLimit=0)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=[
        *("AW-006", "AW-047", "AW-048", "AW-050"),
        *("MLB-040", "MLB-041", "MLB-044", "MLB-046", "MLB-048", "MLB-049"),
    ]
)
def one_failure_is_retried(world: World) -> None:
    """A workload that fails once is reset, keeps its quota meanwhile, and then runs healthily."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-005", "AW-030"])
def quota_refuses_the_second_attempt(world: World) -> None:
    """A second attempt that a quota refuses is tried again, and runs when the quota is lifted."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    refuse_pods(world)
    world.wait(4 * MINUTE)
    allow_pods(world)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-005", "AW-006", "AW-048", "MLB-023"])
def all_components_are_replaced(world: World) -> None:
    """A reset replaces every component, not only the one that failed."""
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["MLB-023", "AW-005"],
    cases={
        "pod": "pod.yaml",
        "job": "job.yaml",
        "deployment": "deployment.yaml",
        "stateful-set": "stateful_set.yaml",
    },
)
def every_kind_is_retried_alike(world: World, manifest: str) -> None:
    """For every wrapped kind, a failure that lasts leads to a reset of all of it."""
    aw = AppWrapper.submit(world, manifest, behaviour="stay pending", retryLimit=1)
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-047", "AW-049", "AW-005", "AW-011", "AW-013", "AW-014"])
def pause_begins_when_all_is_gone(world: World) -> None:
    """Pods that take long to stop delay the start of the retry pause."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running"))


@scenario(
    arms=["AW-049", "AW-074"],
    cases={"longer": "7s", "none": "0s", "negative": "-5s", "malformed": "3d"},
)
def pause_follows_its_annotation(world: World, pause: str) -> None:
    """The retry pause is what the annotation says, and the default if it says nothing sensible."""
    aw = AppWrapper.submit(world, "pod.yaml", retryPausePeriodDuration=pause)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running"))


@scenario(arms=["AW-075", "AW-052"], config={"faultTolerance": {"retryLimit": 0}})
def limit_follows_the_operators(world: World) -> None:
    """Without an annotation the operator's limit counts, one of 0 like any other."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 1s, exit 1")
    world.until(aw.is_in("Failed"))


@scenario(
    arms=["AW-075", "AW-052"],
    cases={"negative": "-1", "malformed": "3.0", "blank": " 3", "word": "abc"},
)
def limit_follows_its_annotation(world: World, limit: str) -> None:
    """A negative limit allows no reset, a malformed one means the operator's."""
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="run 1s, exit 1", retryLimit=limit)
    world.until(aw.is_in("Failed"))


@scenario(arms=["AW-051", "MLB-042", "INV-5"])
def counter_outlives_suspension(world: World) -> None:
    """Suspending and resuming keeps the retry counter: it counts for the AppWrapper's lifetime."""
    aw = AppWrapper.submit(world, "pod.yaml", retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    aw.suspend()
    world.until(aw.is_in("Suspended"))
    aw.resume()
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    aw.suspend()
    world.wait(5 * SECOND)
    aw.resume()
    world.wait(5 * SECOND)


@scenario(arms=["AW-070", "INV-5"])
def two_appwrappers_keep_their_own_counts(world: World) -> None:
    """Events of one AppWrapper do not affect another's counter or parameters."""
    manifest = AppWrapper.manifest(world, "pod.yaml")
    first = AppWrapper.submit(world, manifest, behaviour="run 2s, exit 1", retryLimit=1)
    second = AppWrapper.submit(world, renamed(manifest, "b"), retryLimit=2)
    world.until(first.is_in("Failed"))
    world.until(second.is_in("Running"))
    world.inject(KillPod(PodChoice(of="AppWrapper/b")))
    world.until(second.has_reset(1))
    world.until(second.is_in("Running"))


@scenario(arms=["AW-098", "AW-052"], cases={"once": 1, "never": 0})
def creation_is_refused(world: World, limit: int) -> None:
    """A component that a quota keeps from being created is tried again, up to the limit."""
    refuse_pods(world)
    aw = AppWrapper.submit(world, "pods.yaml", retryLimit=limit)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-032"], kills="graces-run-while-it-creates")
def creation_is_refused_for_a_while(world: World) -> None:
    """The time in which a quota refuses the only component is none that its pods have to start."""
    refuse_pods(world)
    aw = AppWrapper.submit(world, "pod.yaml", behaviour="stay pending", retryLimit=0)
    world.wait(world.durations.admission_grace_us // 2)
    allow_pods(world)
    world.until(aw.is_in("Failed"))
