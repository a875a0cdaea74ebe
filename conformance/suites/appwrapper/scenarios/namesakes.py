"""Names: at the limits of what labels hold, used twice over time, and in two namespaces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chaos.choice import PodChoice
from chaos.fault import Fault
from chaos.faults import (
    ApiErrors,
    BreakWatch,
    DelayWatch,
    DeleteObject,
    HoldObject,
    Kill,
    KillPod,
    LoseReply,
    Pause,
    StaleReads,
    Tamper,
    TimeOut,
)
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.common import FIRST_POD, USERS_CONFIG
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, bare_pod, job, pod_spec
from conformance.world import World
from vocabulary.clock import MILLISECOND, MINUTE, SECOND
from vocabulary.kinds import CONFIG_MAP, Kind
from vocabulary.objects import Object, labels_of, uid_of

LONGEST_LABEL = 63
_LATE = 20 * MILLISECOND


@scenario(
    arms=["AW-006", "AW-020", "AW-021", "AW-048", "INV-3"],
    cases={
        "as-long-as-a-label": "n" * LONGEST_LABEL,
        "with-dots": "1.a-b.c" + ".d" * 28,
    },
)
def name_is_at_its_limits(world: World, name: str) -> None:
    """A workload with a name that a label just holds is monitored, reset and deleted."""
    longest = "a-" + "b" * (LONGEST_LABEL - 2)
    pods = bare_pod(generateName="p" * 200)
    aw = AppWrapper.submit(world, appwrapper(job({}, name=longest), pods, name=name), retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(PodChoice(of=f"AppWrapper/{name}", which="last")))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    aw.delete()
    world.until(aw.is_gone())


@scenario(arms=["AW-006", "AW-020", "INV-3"])
def two_have_one_generated_name(world: World) -> None:
    """Two components whose names are generated from one prefix both exist, in each attempt."""
    pods = [bare_pod(generateName="p-", labels={"number": each}) for each in ("one", "two")]
    aw = AppWrapper.submit(world, appwrapper(*pods), retryLimit=1)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["AW-096"])
def two_of_one_generated_name_complete(world: World) -> None:
    """An AppWrapper of two components whose names are generated from one prefix succeeds."""
    AppWrapper.submit(world, appwrapper(*[bare_pod(generateName="p-")] * 2), "run 5s, exit 0")
    world.wait(MINUTE)


@scenario(arms=["AW-051", "INV-5", "MLB-051"])
def appwrapper_is_created_again(world: World) -> None:
    """An AppWrapper that has the name of one before it begins anew, with its own counter."""
    first = AppWrapper.submit(world, "pods.yaml", retryLimit=1)
    world.until(first.is_in("Running") & first.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(first.has_reset(1))
    world.until(first.is_in("Running") & first.shows("PodsReady"))
    first.delete()
    world.until(first.is_gone())
    again = AppWrapper.submit(world, "pods.yaml", retryLimit=1)
    world.until(again.is_in("Running") & again.shows("PodsReady"))
    world.inject(KillPod(FIRST_POD))
    world.until(again.has_reset(1))
    world.until(again.is_in("Running") & again.shows("PodsReady"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", which="all"), exit_code=0))
    world.until(again.is_in("Succeeded"))


@scenario(
    arms=["AW-040", "AW-052", "AW-070"],
    cases={
        "none-before": ({}, {"retryLimit": 0, "failureGracePeriodDuration": "2s"}),
        "none-after": ({"retryLimit": 0, "failureGracePeriodDuration": "2s"}, {}),
        "others-after": (
            {"retryLimit": 0, "failureGracePeriodDuration": "20s"},
            {"retryLimit": 1, "failureGracePeriodDuration": "2s"},
        ),
    },
)
def appwrapper_is_submitted_again_with_other_parameters(
    world: World, case: tuple[Mapping[str, Any], Mapping[str, Any]]
) -> None:
    """The annotations of an AppWrapper mean nothing to the next one of its name."""
    for parameters in case:
        aw = AppWrapper.submit(world, "pods.yaml", **parameters)
        world.until(aw.is_in("Running") & aw.shows("PodsReady"))
        world.inject(KillPod(FIRST_POD))
        world.until(aw.has_reset(1) | aw.is_in("Failed"))
        aw.delete()
        world.until(aw.is_gone())


@scenario(arms=["INV-4", "MLB-051"])
def pod_of_a_namesake_is_restored(world: World) -> None:
    """A pod which a user restores from a deleted AppWrapper of the same name is not the new one's.

    It has every label that the former operator gave it, and no owner.
    """
    manifest = appwrapper(job({"parallelism": 2, "completions": 2, "backoffLimit": 0}))
    first = AppWrapper.submit(world, manifest)
    world.until(first.is_in("Running") & first.shows("PodsReady"))
    saved = first.pods[0]
    first.delete()
    world.until(first.is_gone())
    world.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "restored", "labels": dict(labels_of(saved))},
            "spec": pod_spec(),
        }
    )
    again = AppWrapper.submit(world, manifest)
    world.until(again.is_in("Running") & again.shows("PodsReady"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", owner="a-job")))
    world.until(again.has_reset(1))
    world.until(again.is_in("Running") & again.shows("PodsReady"))
    world.inject(KillPod(PodChoice(of="AppWrapper/a", owner="a-job", which="all"), exit_code=0))
    world.until(again.is_in("Succeeded"))
    again.wait_for_its_ttl()
    world.delete_if_there("Pod", "restored")


@scenario(
    arms=["INV-4", "AW-013"],
    alone=True,
    cases={
        "collected": (),
        "not-collected": (Pause("garbage-collector"),),
        "pods-seen-late": (Pause("garbage-collector"), DelayWatch(kind="Pod", by=_LATE)),
        "writes-seen-late": (DelayWatch(kind="AppWrapper", by=5 * _LATE),),
        "writes-seen-late-and-not-collected": (
            Pause("garbage-collector"),
            DelayWatch(kind="AppWrapper", by=_LATE),
        ),
    },
)
def pods_of_a_namesake_stand(world: World, faults: tuple[Fault, ...]) -> None:
    """An AppWrapper whose namesake was deleted unguarded has nothing to do with that one's pods."""
    former, current = (
        appwrapper(bare_pod(generateName="p-", labels={"of": one})) for one in ("former", "current")
    )
    first = AppWrapper.submit(world, former, behaviour="run forever, stop 2m")
    world.until(first.is_in("Running") & first.shows("PodsReady"))
    for fault in faults:
        world.inject(fault)
    world.inject(Kill(restart_after=20 * SECOND))
    world.inject(Tamper("AppWrapper", "a", "finalizers"))
    world.inject(DeleteObject("AppWrapper", "a"))
    again = AppWrapper.submit(world, current, retryLimit=1)
    world.until(again.is_in("Running") & again.shows("PodsReady"))
    world.inject(KillPod(PodChoice(labels="of=former", terminating=True)))
    world.wait(10 * SECOND)
    world.inject(KillPod(PodChoice(labels="of=current")))
    world.until(again.has_reset(1))
    world.until(again.is_in("Running") & again.shows("PodsReady"))
    again.delete()
    world.until(again.is_gone())
    for fault in faults:
        world.revert(fault)


@scenario(arms=["INV-4", "INV-9", "MLB-048"])
def name_is_still_being_given_up(world: World) -> None:
    """A user's object that is going when an attempt begins is waited for."""
    world.create(USERS_CONFIG)
    hold = HoldObject("ConfigMap", "a-config")
    world.inject(hold)
    world.inject(DeleteObject("ConfigMap", "a-config"))
    aw = AppWrapper.submit(world, "mixed.yaml")
    world.until(aw.is_in("Resuming"))
    world.wait(2 * SECOND)
    world.revert(hold)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(arms=["INV-4"])
def name_belongs_to_another_owner(world: World) -> None:
    """An object that another client owns is not taken for a component of the same name."""
    owner = world.create({**USERS_CONFIG, "metadata": {"name": "owner"}})
    world.create(_owned(USERS_CONFIG, CONFIG_MAP, "owner", uid_of(owner)))
    aw = AppWrapper.submit(world, "mixed.yaml", retryLimit=1)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["INV-4"], alone=True)
def name_belongs_to_a_namesake(world: World) -> None:
    """Objects of a former AppWrapper of the same name that were not collected are not ours."""
    world.inject(Pause("garbage-collector"))
    former = "00000000-0000-4000-8000-000000000000"
    world.create(_owned(USERS_CONFIG, APPWRAPPER, "a", former))
    aw = AppWrapper.submit(world, "mixed.yaml", retryLimit=1)
    world.until(aw.is_in("Failed"))
    world.wait(2 * world.durations.forceful_deletion_us)
    world.revert(Pause("garbage-collector"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["INV-9", "MLB-050"])
def two_appwrappers_want_one_name(world: World) -> None:
    """A component whose name another AppWrapper's component has is neither shared nor deleted."""
    shared = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared"}}
    first = AppWrapper.submit(world, appwrapper(shared, bare_pod(name="a-0")))
    world.until(first.is_in("Running") & first.shows("PodsReady"))
    second = AppWrapper.submit(
        world, appwrapper(shared, bare_pod(name="b-0"), name="b"), retryLimit=1
    )
    world.until(second.is_in("Failed"))
    world.until(second.shows("QuotaReserved", "False"))
    world.wait(2 * world.durations.failure_grace_us)
    second.delete()
    world.until(second.is_gone())


@scenario(
    arms=["AW-021", "AW-020", "INV-4", "INV-9"],
    namespaces=("elsewhere",),
)
def same_name_in_two_namespaces(world: World) -> None:
    """AppWrappers of one name in two namespaces have nothing to do with each other."""
    here = AppWrapper.submit(world, "job.yaml")
    there = AppWrapper.submit(
        world,
        _in_namespace(AppWrapper.manifest(world, "job.yaml"), "elsewhere"),
        behaviour="run 20s, exit 1",
        retryLimit=1,
    )
    world.until(here.is_in("Running") & here.shows("PodsReady"))
    world.until(there.is_in("Running") & there.shows("PodsReady"))
    world.until(there.is_in("Failed"))
    world.until(there.shows("QuotaReserved", "False"))
    there.delete()
    world.until(there.is_gone())
    world.wait(world.durations.warmup_grace_us + 2 * world.durations.failure_grace_us)


@scenario(
    arms=["INV-3", "AW-048"],
    cases={
        "lost-replies": LoseReply(verb=("create",)),
        "time-outs": TimeOut(verb=("create",), after=5 * SECOND),
        "conflicts": ApiErrors(verb=("create",), code=409, times=2),
        "a-broken-watch": BreakWatch(kind="Pod", gap=20 * SECOND),
        "stale-reads": StaleReads(kind="Pod"),
    },
)
def generated_names_under_faults(world: World, fault: Fault) -> None:
    """A component with a generated name exists once per attempt, whatever became of a reply."""
    world.inject(fault)
    aw = AppWrapper.submit(world, "generated_names.yaml", behaviour="run 20s, exit 1", retryLimit=1)
    world.wait(30 * SECOND)
    world.revert(fault)
    world.until(aw.has_reset(1))
    world.until(aw.is_in("Running"))
    world.inject(fault)
    world.wait(10 * SECOND)
    world.revert(fault)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


def _owned(obj: Object, kind: Kind, name: str, uid: str) -> dict[str, Any]:
    """The object with another one as its controller."""
    reference = {"apiVersion": kind.api_version, "kind": kind.kind, "name": name, "uid": uid}
    owners = [{**reference, "controller": True}]
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": owners}}


def _in_namespace(manifest: Mapping[str, Any], namespace: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}
