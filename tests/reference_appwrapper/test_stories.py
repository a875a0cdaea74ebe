"""The controller on the simulated cluster: each promise of the seed, once, end to end."""

from __future__ import annotations

import pytest

from clusters.simulated.cluster import NodeSpec
from conformance.suites.appwrapper.api import APPWRAPPER
from tests.reference_appwrapper.driver import (
    NAMESPACE,
    World,
    config_map,
    job,
    pod,
    service,
)
from vocabulary import requests as rq
from vocabulary.clock import MINUTE, SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, JOB, NODE, POD, SERVICE
from vocabulary.objects import get_path, labels_of, name_of, uid_of

GPU = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}
EVICT = {"metadata": {"labels": {"autopilot.ibm.com/gpuhealth": "EVICT"}}}


def test_a_workload_runs_succeeds_gives_its_quota_back_and_keeps_its_pods_for_a_while() -> None:
    world = World()
    world.submit(
        pod("p", "run 5s, exit 0"), config_map(), annotations={"successTTLDuration": "10m"}
    )
    succeeded_us = world.until_phase("Succeeded")
    assert world.condition("QuotaReserved") == "False"
    assert world.condition("ResourcesDeployed") == "True"
    world.run_for(9 * MINUTE)
    assert world.pods()
    assert world.until(lambda: world.condition("ResourcesDeployed") == "False")
    assert world.pods() == []
    assert world.get(CONFIG_MAP, "c") is None
    assert 10 * MINUTE <= world.loop.elapsed_us - succeeded_us < 10 * MINUTE + SECOND


def test_a_failed_pod_is_borne_for_the_failure_grace_period_and_then_all_is_replaced() -> None:
    world = World()
    world.submit(pod("p", "run 5s, exit 3"), config_map())
    world.until_phase("Running")
    first = uid_of(world.get(CONFIG_MAP, "c") or {})
    world.until(lambda: world.condition("Unhealthy") == "True")
    unhealthy_us = world.loop.elapsed_us
    resetting_us = world.until_phase("Resetting")
    assert MINUTE <= resetting_us - unhealthy_us < MINUTE + SECOND
    assert world.status("resettingCount") == 1
    resuming_us = world.until_phase("Resuming")
    assert resuming_us - resetting_us >= 90 * SECOND
    assert world.condition("QuotaReserved") == "True"
    world.until_phase("Running")
    assert uid_of(world.get(CONFIG_MAP, "c") or {}) not in ("", first)
    assert world.condition("Unhealthy") == "False"


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_a_limit_of_n_allows_exactly_n_resets(limit: int) -> None:
    world = World()
    world.submit(job("j", "run 1s, exit 1", backoffLimit=0), annotations={"retryLimit": str(limit)})
    world.until_phase("Failed")
    assert world.phases().count("Resetting") == limit
    assert (world.status("resettingCount") or 0) == limit
    assert world.until(lambda: world.condition("QuotaReserved") == "False")


def test_a_job_that_retries_by_itself_within_the_grace_period_is_left_alone() -> None:
    world = World()
    world.submit(job("j", "run 2s, exit 1", backoffLimit=5))
    world.until(lambda: world.condition("Unhealthy") == "True")
    assert world.until(lambda: world.condition("Unhealthy") == "False", 20 * SECOND)
    assert world.status("resettingCount") is None


def test_a_component_that_somebody_deletes_fails_the_workload_at_once() -> None:
    for kind, name in ((JOB, "j"), (CONFIG_MAP, "c"), (SERVICE, "s")):
        world = World()
        world.submit(job("j"), config_map(), service())
        world.until(lambda world=world: world.condition("PodsReady") == "True")
        world.user(rq.Delete(kind, NAMESPACE, name, propagation_policy="Background"))
        deleted_us = world.loop.elapsed_us
        assert world.until_phase("Failed") - deleted_us < SECOND
        assert "Resetting" not in world.phases()
        assert world.until(lambda world=world: world.condition("QuotaReserved") == "False")
        assert world.pods() == []


@pytest.mark.parametrize("answered", [True, False], ids=["answered", "lost"])
def test_a_component_that_is_deleted_before_its_status_says_so_was_deleted(answered: bool) -> None:
    """The status cannot be written at first; the creation's answer may have been lost as well."""
    world = World()

    def spoil(request: rq.Request, number: int) -> ApiError | None:
        if isinstance(request, rq.Create) and request.kind == CONFIG_MAP and not answered:
            world.lose_reply_of |= set() if world.lose_reply_of else {number}
        if isinstance(request, rq.Update) and world.get(CONFIG_MAP, "c") is not None:
            world.user(rq.Delete(CONFIG_MAP, NAMESPACE, "c"))
            return ApiError(500, "InternalError", "etcdserver: request timed out")
        return None

    world.spoil = spoil
    world.submit(config_map(), pod("p"))
    world.until_phase("Failed")
    assert world.phases().count("Resuming") == 1
    created = [change.event for change in world.snapshots(CONFIG_MAP, "c")].count("ADDED")
    assert created == 1


def test_a_component_that_somebody_orphans_leaves_pods_that_are_forced_away_in_the_end() -> None:
    world = World()
    world.submit(job("j"))
    world.until(lambda: world.condition("PodsReady") == "True")
    world.user(rq.Delete(JOB, NAMESPACE, "j", propagation_policy="Orphan"))
    failed_us = world.until_phase("Failed")
    assert world.until(lambda: world.condition("QuotaReserved") == "False")
    assert world.loop.elapsed_us - failed_us >= 10 * MINUTE
    assert world.pods() == []


def test_an_appwrapper_that_is_deleted_with_orphans_removes_them_all_the_same() -> None:
    world = World()
    world.submit(job("j"))
    world.until(lambda: world.condition("PodsReady") == "True")
    world.kill(restart_after_us=10 * SECOND)
    world.user(rq.Delete(APPWRAPPER, NAMESPACE, "a", propagation_policy="Orphan"))
    world.run_for(5 * SECOND)
    orphan = world.user(rq.Get(JOB, NAMESPACE, "j"))
    assert "ownerReferences" not in orphan["metadata"]
    assert world.until(lambda: not world.user(rq.List(APPWRAPPER, NAMESPACE)).items)
    assert not world.user(rq.List(JOB, NAMESPACE)).items
    assert world.pods() == []


def test_quota_and_resources_are_held_until_a_slow_pod_is_gone() -> None:
    world = World()
    world.submit(pod("p", "run forever, stop 25s"))
    world.until(lambda: world.condition("PodsReady") == "True")
    world.suspend()
    world.until_phase("Suspending")
    world.run_for(20 * SECOND)
    assert world.condition("QuotaReserved") == "True"
    assert world.condition("ResourcesDeployed") == "True"
    assert world.until_phase("Suspended") >= 25 * SECOND
    assert world.pods() == []


def test_what_does_not_stop_is_forced_after_the_grace_period_and_not_before() -> None:
    world = World()
    world.submit(pod("p", "never stop"))
    world.until(lambda: world.condition("PodsReady") == "True")
    world.suspend()
    began_us = world.until_phase("Suspending")
    ended_us = world.until_phase("Suspended")
    assert 10 * MINUTE <= ended_us - began_us < 10 * MINUTE + 2 * SECOND
    forced = [
        request
        for request in world.requests
        if isinstance(request, rq.Delete) and request.grace_period_seconds == 0
    ]
    assert [request.kind for request in forced] == [POD]


@pytest.mark.parametrize("phase", ["Resuming", "Running", "Resetting"])
def test_a_suspension_is_honoured_in_every_phase_of_the_retry_loop(phase: str) -> None:
    world = World()
    world.submit(job("j", "run 3s, exit 1", backoffLimit=0), config_map())
    world.until_phase(phase)
    world.suspend()
    asked_us = world.loop.elapsed_us
    assert world.until_phase("Suspended") - asked_us < 40 * SECOND
    assert world.pods() == []
    count = world.status("resettingCount")
    world.suspend(False)
    world.until_phase("Running")
    assert world.status("resettingCount") == count


def test_a_running_workload_is_moved_off_an_unhealthy_node_without_being_counted() -> None:
    nodes = [NodeSpec("n0", gpus=1), NodeSpec("n1", gpus=1)]
    world = World(nodes=nodes, config={"faultTolerance": {"failureGracePeriod": "1h"}})
    world.submit(pod("p", resources=GPU))
    world.until(lambda: world.condition("PodsReady") == "True")
    before = str(get_path(world.pods()[0], "spec.nodeName"))
    world.patch(EVICT, before, NODE)
    marked_us = world.loop.elapsed_us
    assert world.until_phase("Resetting") - marked_us < SECOND
    assert world.until(
        lambda: world.status() == "Running" and world.condition("PodsReady") == "True"
    )
    assert get_path(world.pods()[0], "spec.nodeName") not in ("", before)
    assert world.status("resettingCount") is None


def test_a_migration_is_subject_to_the_retry_limit() -> None:
    world = World(nodes=[NodeSpec("n0", gpus=1)])
    world.submit(pod("p", resources=GPU), annotations={"retryLimit": "0"})
    world.until(lambda: world.condition("PodsReady") == "True")
    world.patch(EVICT, "n0", NODE)
    world.until_phase("Failed")


def test_a_pod_that_does_not_use_the_tagged_resource_stays() -> None:
    world = World(nodes=[NodeSpec("n0", gpus=1)])
    world.submit(pod("p"))
    world.until(lambda: world.condition("PodsReady") == "True")
    world.patch(EVICT, "n0", NODE)
    world.run_for(10 * MINUTE)
    assert world.phases()[-1] == "Running"


def test_the_debug_delay_keeps_everything_and_then_lets_go() -> None:
    world = World()
    world.submit(
        job("j", "run 1s, exit 1", backoffLimit=0),
        config_map(),
        annotations={"retryLimit": "0", "deletionOnFailureGracePeriodDuration": "1h"},
    )
    failed_us = world.until_phase("Failed")
    world.run_for(59 * MINUTE)
    assert world.get(CONFIG_MAP, "c") is not None
    assert world.condition("QuotaReserved") == "True"
    assert world.until(lambda: world.condition("QuotaReserved") == "False")
    assert 60 * MINUTE <= world.loop.elapsed_us - failed_us < 61 * MINUTE


def test_suspending_a_failed_workload_ends_the_debug_delay_and_stays_failed() -> None:
    world = World()
    world.submit(
        job("j", "run 1s, exit 1", backoffLimit=0),
        annotations={"retryLimit": "0", "deletionOnFailureGracePeriodDuration": "1h"},
    )
    failed_us = world.until_phase("Failed")
    world.suspend()
    assert world.until(lambda: world.condition("QuotaReserved") == "False")
    assert world.loop.elapsed_us - failed_us < 2 * SECOND
    assert world.status() == "Failed"


@pytest.mark.parametrize("taken", ["c", "s"])
def test_a_name_that_another_holds_fails_the_workload_and_the_other_is_left_alone(
    taken: str,
) -> None:
    world = World()
    theirs = config_map("c") if taken == "c" else service("s")
    world.user(rq.create({**theirs, "metadata": {"name": taken, "namespace": NAMESPACE}}))
    kind = CONFIG_MAP if taken == "c" else SERVICE
    before = world.get(kind, taken)
    world.submit(pod("p"), config_map("c"), service("s"))
    world.until_phase("Failed")
    assert world.until(lambda: world.condition("QuotaReserved") == "False")
    assert world.get(kind, taken) == before


def test_a_pod_of_another_that_carries_our_label_is_neither_counted_nor_deleted() -> None:
    world = World()
    label = {"workload.codeflare.dev/appwrapper": "a"}
    theirs = pod("theirs", "run 1s, exit 1")
    theirs["metadata"] |= {"namespace": NAMESPACE, "labels": label}
    world.user(rq.create(theirs))
    world.submit(pod("p"), annotations={"forcefulDeletionGracePeriodDuration": "5s"})
    world.run_for(10 * MINUTE)
    assert world.status() == "Running"
    world.suspend()
    world.until_phase("Suspended")
    assert world.get(POD, "theirs") is not None


def test_a_refused_creation_is_tried_again_for_admission_and_failure_grace_then_reset() -> None:
    world = World(config={"faultTolerance": {"retryLimit": 0}})
    refused = ApiError(403, "Forbidden", "exceeded quota")
    world.spoil = lambda request, number: (
        refused if isinstance(request, rq.Create) and request.kind == JOB else None
    )
    world.submit(config_map(), job("j"))
    began_us = world.until_phase("Resuming")
    failed_us = world.until_phase("Failed")
    assert 2 * MINUTE <= failed_us - began_us < 2 * MINUTE + 2 * SECOND
    assert world.until(lambda: world.condition("QuotaReserved") == "False")
    assert world.get(CONFIG_MAP, "c") is None


@pytest.mark.parametrize("kind", ["Widget", "Pod"])
def test_what_can_never_be_created_fails_the_workload_at_once(kind: str) -> None:
    world = World()
    hopeless = {
        "Widget": {"apiVersion": "x.dev/v1", "kind": "Widget", "metadata": {"name": "w"}},
        "Pod": {**pod("p"), "metadata": {}},
    }
    world.submit(pod("q"), hopeless[kind])
    assert world.until_phase("Failed") < SECOND
    assert world.until(lambda: world.condition("QuotaReserved") == "False")
    assert world.pods() == []


def test_a_deleted_appwrapper_stays_until_its_pods_are_gone() -> None:
    world = World()
    world.submit(pod("p", "stop 20s"), config_map())
    world.until(lambda: world.condition("PodsReady") == "True")
    world.user(rq.Delete(APPWRAPPER, NAMESPACE, "a"))
    world.run_for(15 * SECOND)
    assert world.status() == "Terminating"
    assert world.condition("QuotaReserved") == "True"
    assert world.until(lambda: world.aw() is None)
    assert world.pods() == []


def test_an_appwrapper_that_another_controller_manages_is_left_alone() -> None:
    world = World()
    world.submit(pod("p"), managedBy="x.dev/other")
    world.run_for(MINUTE)
    assert "status" not in (world.aw() or {})


def test_an_unhealthy_workload_is_told_of_once_and_not_over_and_over() -> None:
    world = World(config={"faultTolerance": {"retryLimit": 0, "failureGracePeriod": "10m"}})
    world.submit(pod("p", "run 1s, exit 1"))
    world.until(lambda: world.condition("Unhealthy") == "True")
    for _ in range(5):
        world.kill(restart_after_us=SECOND)
        world.run_for(30 * SECOND)
    world.until_phase("Failed")
    world.run_for(SECOND)
    assert sum("FoundFailedPods" in message for message in world.events()) == 1


def test_components_with_generated_names_get_new_ones_in_each_attempt_and_no_duplicates() -> None:
    world = World(config={"faultTolerance": {"retryLimit": 1}})
    nameless = {**config_map(), "metadata": {"generateName": "c-"}}
    world.submit(nameless, job("j", "run 1s, exit 1", backoffLimit=0))
    world.until_phase("Failed")
    world.until(lambda: world.condition("QuotaReserved") == "False")
    names = [
        change.key.name
        for change in world.cluster.store.changes
        if change.key.kind == "ConfigMap" and change.event == "ADDED"
    ]
    assert len(names) == len(set(names)) == 2


def test_every_pod_of_a_job_also_a_replaced_one_carries_the_label() -> None:
    world = World()
    world.submit(job("j", "run 2s, exit 1", backoffLimit=5))
    world.until(lambda: len(world.user(rq.List(POD, NAMESPACE)).items) == 2)
    for found in world.user(rq.List(POD, NAMESPACE)).items:
        assert labels_of(found)["workload.codeflare.dev/appwrapper"] == "a", name_of(found)
