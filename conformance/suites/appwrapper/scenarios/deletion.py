"""Deletion: orderly first, forceful when that does not end, and nothing claimed too early."""

from __future__ import annotations

from chaos.choice import NodeChoice, ObjectChoice, PodChoice
from chaos.faults import DeletePod, HoldObject, KillPod, NodeLost, Pause, StickPod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD
from conformance.world import World
from vocabulary.clock import SECOND

ALL_PODS = PodChoice(of="AppWrapper/a", which="all")


@scenario(
    arms=[
        *("AW-010", "AW-013", "AW-014", "AW-015", "AW-053", "AW-062"),
        *("INV-1", "INV-2", "MLB-053"),
    ]
)
def slow_pods_hold_their_quota(world: World) -> None:
    """A failed AppWrapper whose pods take their time to stop keeps its quota until the last."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-007", "AW-010", "AW-012", "AW-013", "AW-077", "INV-10"],
    cases={"pods": "pods.yaml", "job": "job.yaml"},
)
def stuck_pods_are_deleted_forcefully(world: World, manifest: str) -> None:
    """Pods that cannot be stopped are deleted with grace period 0 once the grace has passed."""
    aw = AppWrapper.submit(world, manifest, behaviour="run forever, never stop", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-011", "AW-012", "AW-077", "INV-10"],
    cases={"longer": "9s", "none": "0s", "negative": "-1s", "malformed": "soon"},
)
def forceful_deletion_follows_its_annotation(world: World, grace: str) -> None:
    """Force is used when the annotated grace period has passed, not before."""
    aw = AppWrapper.submit(
        world,
        "pods.yaml",
        behaviour="run forever, never stop",
        retryLimit=0,
        forcefulDeletionGracePeriodDuration=grace,
    )
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-007", "AW-012", "AW-013"])
def pods_stuck_terminating_during_a_reset(world: World) -> None:
    """A reset waits for pods that are stuck, forces them, and only then starts its pause."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(StickPod(ALL_PODS))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running"))


@scenario(arms=["AW-007", "AW-012", "AW-013", "AW-014", "AW-015"])
def component_is_held_by_a_foreign_finalizer(world: World) -> None:
    """While a foreign finalizer holds a component, the AppWrapper says so and keeps its quota."""
    aw = AppWrapper.submit(world, "mixed.yaml", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    hold = HoldObject("ConfigMap", "a-config")
    world.inject(hold)
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.wait(2 * world.durations.forceful_deletion_us)
    world.revert(hold)
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(
    arms=["AW-013", "AW-014", "AW-015", "INV-1"],
    alone=True,
)
def garbage_collector_is_paused(world: World) -> None:
    """Pods that the garbage collector has not yet removed still count."""
    aw = AppWrapper.submit(world, "job.yaml", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Pause("garbage-collector"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.is_in("Failed"))
    world.wait(world.durations.forceful_deletion_us // 2)
    world.revert(Pause("garbage-collector"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-007", "AW-012", "AW-054"], alone=True)
def garbage_collector_is_paused_past_the_grace_period(world: World) -> None:
    """A ReplicaSet that is not collected would create pods indefinitely: it has to be deleted by
    force, too."""
    aw = AppWrapper.submit(world, "deployment.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Pause("garbage-collector"))
    aw.suspend()
    world.until(aw.is_in("Suspended"))
    world.revert(Pause("garbage-collector"))


@scenario(arms=["AW-013", "AW-014", "INV-1"], alone=True)
def replica_set_makes_pods_after_all_were_gone(world: World) -> None:
    """No Deployment and no pod to be seen is not enough: a ReplicaSet that is still there makes
    new ones."""
    aw = AppWrapper.submit(world, "deployment.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(Pause("garbage-collector"))
    world.inject(Pause("replicaset-controller"))
    aw.suspend()
    world.wait(2 * SECOND)
    world.inject(DeletePod(ALL_PODS))
    world.wait(2 * SECOND)
    world.revert(Pause("replicaset-controller"))
    world.wait(2 * SECOND)
    world.revert(Pause("garbage-collector"))
    world.until(aw.is_in("Suspended"))


@scenario(arms=["AW-013", "AW-014", "AW-094"])
def replica_set_goes_last(world: World) -> None:
    """When nothing but a ReplicaSet is left, its end is the end of the deletion."""
    aw = AppWrapper.submit(world, "deployment.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    hold = HoldObject("ReplicaSet", ObjectChoice(of="AppWrapper/a"))
    world.inject(hold)
    aw.suspend()
    world.wait(2 * SECOND)
    world.inject(DeletePod(ALL_PODS))
    world.until(aw.has_pods(0))
    world.wait(2 * SECOND)
    world.revert(hold)
    world.until(aw.is_in("Suspended"))


@scenario(arms=["AW-007", "AW-012"], nodes=3, alone=True)
def node_is_lost_during_a_reset(world: World) -> None:
    """Pods on a lost node, which cannot be stopped, do not hold up a reset indefinitely."""
    aw = AppWrapper.submit(world, "pods.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod("a-0"))
    world.until(aw.shows("Unhealthy"))
    world.inject(NodeLost(NodeChoice(hosting=PodChoice(of="AppWrapper/a", which="last"))))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["AW-007", "AW-013", "AW-015", "INV-2", "INV-7"],
    cases={"background": "Background", "foreground": "Foreground"},
)
def appwrapper_is_deleted_while_running(world: World, propagation: str) -> None:
    """A deleted AppWrapper stays until everything it created is gone."""
    aw = AppWrapper.submit(world, "job.yaml", behaviour="run forever, stop 2s")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    aw.delete(propagation)  # type: ignore[arg-type]
    world.until(aw.is_gone())


@scenario(arms=["AW-007", "AW-013"])
def appwrapper_is_deleted_with_stuck_pods(world: World) -> None:
    """A deleted AppWrapper with pods that cannot be stopped goes after forceful deletion."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, never stop")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    aw.delete()
    world.until(aw.is_gone())


@scenario(arms=["INV-4"])
def foreign_objects_are_left_alone(world: World) -> None:
    """A user's object whose name a component wants is neither adopted nor deleted."""
    world.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "a-config"},
            "data": {"owner": "user"},
        }
    )
    aw = AppWrapper.submit(world, "mixed.yaml", retryLimit=1)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["INV-4"])
def foreign_pod_with_our_label_is_left_alone(world: World) -> None:
    """A user's pod that carries the AppWrapper's label is neither counted nor deleted."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, never stop", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": "intruder",
                "labels": {"workload.codeflare.dev/appwrapper": "a"},
            },
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "busybox"}],
            },
        }
    )
    world.wait(5 * SECOND)
    world.inject(KillPod("a-0"))
    world.until(aw.is_in("Failed"))
    world.wait(2 * world.durations.forceful_deletion_us)
    world.delete_if_there("Pod", "intruder")


@scenario(arms=["AW-012", "AW-007"])
def held_component_and_stuck_pods(world: World) -> None:
    """Force is used on every remaining pod and on every remaining component."""
    aw = AppWrapper.submit(world, "pods.yaml", behaviour="run forever, never stop", retryLimit=0)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    hold = HoldObject("Service", ObjectChoice(of="AppWrapper/a"))
    world.inject(hold)
    world.inject(KillPod("a-0"))
    world.until(aw.is_in("Failed"))
    world.wait(2 * world.durations.forceful_deletion_us)
