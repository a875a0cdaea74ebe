"""Every fault is data that reads back, and leaves nothing behind once it is undone."""

from __future__ import annotations

import pytest

import chaos.faults
from chaos.choice import NodeChoice, PodChoice
from chaos.fault import FAULTS, Fault, fault_from_data
from chaos.faults import (
    ApiErrors,
    CreateObject,
    DeleteObject,
    DoubleOperator,
    EditObject,
    EvictPod,
    HoldObject,
    Kill,
    KillPod,
    NodeDeleted,
    NodeLost,
    Start,
    StickPod,
    Suspend,
    Taint,
    TakeLease,
    Tamper,
    WebhookOutage,
)
from chaos.faults.lease import SOMEBODY_ELSE
from chaos.ground import FaultRefusedError, Refuse, RequestRule
from chaos.injector import Injector
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from tests.chaos.examples import EXAMPLES
from tests.chaos.fake_ground import FakeGround, small_cluster
from vocabulary import canonical
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.objects import annotations_of, finalizers_of, get_path, is_terminating, labels_of
from vocabulary.requests import Create, Delete


def _id(fault: Fault) -> str:
    return canonical.encode(fault.to_data()).decode()


def _object(ground: FakeGround, kind: str, name: str):
    found = ground.get(kind, name)
    assert found is not None
    return found


def _injector(ground: FakeGround) -> tuple[Injector, list[tuple[str, str]]]:
    log: list[tuple[str, str]] = []
    return Injector(ground, lambda action, _data, text, _effect: log.append((action, text))), log


def test_every_registered_fault_has_an_example_and_is_exported():
    assert {example.plan_key for example in EXAMPLES} == set(FAULTS)
    exported = {value for value in vars(chaos.faults).values() if isinstance(value, type)}
    general = {cls for cls in FAULTS.values() if cls.__module__.startswith("chaos.faults.")}
    assert general <= exported and general | {AutopilotLabel} == set(FAULTS.values())


@pytest.mark.parametrize("example", EXAMPLES, ids=_id)
def test_a_fault_reads_back_from_its_own_data_through_json(example: Fault):
    import json

    data = json.loads(canonical.encode(example.to_data()))
    assert fault_from_data(data) == example


@pytest.mark.parametrize("example", EXAMPLES, ids=_id)
def test_a_fault_describes_itself_in_one_line_without_a_full_stop(example: Fault):
    text = example.describe()
    assert text and "\n" not in text and not text.endswith(".")


@pytest.mark.parametrize("example", EXAMPLES, ids=_id)
def test_after_inject_and_clean_up_the_cluster_is_as_it_was(example: Fault):
    ground = small_cluster()
    before = ground.world()
    injector, log = _injector(ground)
    injector.inject(example)
    assert [action for action, _ in log if action == "refused"] == []
    injector.clean_up()
    ground.processes.tick()
    after = ground.world()
    if example.leaves_nothing:
        gone = before["objects"].keys() - after["objects"].keys()
        assert len(gone) <= 1
        for key in gone:
            del before["objects"][key]
        for obj in after["objects"].values():
            obj["metadata"].pop("deletionTimestamp", None)
    assert after == before
    assert injector.standing == ()


@pytest.mark.parametrize("example", EXAMPLES, ids=_id)
def test_undoing_a_fault_whose_objects_are_gone_by_then_does_no_harm(example: Fault):
    ground = small_cluster()
    injector, log = _injector(ground)
    injector.inject(example)
    for key in list(ground._objects):
        del ground._objects[key]
    log.clear()
    injector.clean_up()
    assert [text for action, text in log if action == "refused"] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=_id)
def test_an_inverse_is_itself_a_fault_that_reads_back(example: Fault):
    ground = small_cluster()
    for resolved in example.resolve(ground):
        for inverse in resolved.inverse(ground):
            assert fault_from_data(inverse.to_data()) == inverse


def test_reading_the_inverse_changes_nothing():
    ground = small_cluster()
    before = ground.world()
    for example in EXAMPLES:
        for resolved in example.resolve(ground):
            resolved.inverse(ground)
    assert ground.world() == before


def test_a_taint_replaces_one_of_the_same_key_and_effect_and_its_inverse_brings_that_back():
    ground = small_cluster()
    Taint("n0", "k", "old").inject(ground)
    Taint("n0", "k", "other", "NoExecute").inject(ground)
    before = ground.world()
    fault = Taint("n0", "k", "new")
    inverses = fault.inverse(ground)
    fault.inject(ground)
    taints = get_path(_object(ground, "Node", "n0"), "spec.taints")
    assert {"key": "k", "value": "new", "effect": "NoSchedule"} in taints and len(taints) == 2
    for inverse in inverses:
        inverse.inject(ground)
    assert sorted(map(str, get_path(ground.get("Node", "n0"), "spec.taints"))) == sorted(
        map(str, before["objects"]["Node/n0"]["spec"]["taints"])
    )


def test_killing_a_pod_annotates_it_as_chaos_with_exit_code_and_reason():
    ground = small_cluster()
    KillPod("a-0", 137, "OOMKilled").inject(ground)
    annotations = annotations_of(_object(ground, "Pod", "a-0"))
    assert annotations == {"assay.dev/exit": "137", "assay.dev/reason": "OOMKilled"}
    assert ground.calls[-1][0] == "chaos"


@pytest.mark.parametrize(
    ("state", "annotation"),
    [
        ("terminating", ("assay.dev/stuck-terminating", "true")),
        ("pending", ("assay.dev/hold", "pending")),
        ("init", ("assay.dev/hold", "init")),
        ("image", ("assay.dev/hold", "image")),
        ("not_ready", ("assay.dev/hold", "notready")),
    ],
)
def test_a_stuck_pod_carries_the_annotation_its_kubelet_follows(state, annotation):
    ground = small_cluster()
    StickPod("a-0", state).inject(ground)
    assert annotation in annotations_of(_object(ground, "Pod", "a-0")).items()


def test_an_eviction_goes_through_the_eviction_subresource():
    ground = small_cluster()
    EvictPod("a-0", 7).inject(ground)
    _, request = ground.calls[-1]
    assert isinstance(request, Create) and request.subresource == "eviction"
    assert request.object["kind"] == "Eviction"
    assert request.object["deleteOptions"] == {"gracePeriodSeconds": 7}


@pytest.mark.parametrize("propagation", ["Foreground", "Background", "Orphan"])
def test_a_component_is_deleted_with_the_propagation_asked_for_and_held_by_a_finalizer(propagation):
    ground = small_cluster()
    injector, _ = _injector(ground)
    injector.inject(DeleteObject("Job", "job-a", propagation, finalizer="example.com/held"))
    held = _object(ground, "Job.batch", "job-a")
    assert is_terminating(held) and finalizers_of(held) == ("example.com/held",)
    deletes = [request for _, request in ground.calls if isinstance(request, Delete)]
    assert [request.propagation_policy for request in deletes] == [propagation]
    injector.stop()
    assert ground.get("Job.batch", "job-a") is None


def test_a_finalizer_is_taken_off_again_when_the_deletion_itself_is_refused():
    ground = small_cluster()
    sent = []

    def refuse_after_the_hold(request, actor):
        sent.append(request)
        ground.failing = ApiError(403, "Forbidden", "no") if len(sent) == 1 else None

    ground.on_write = refuse_after_the_hold
    real_call = ground.call

    def call(request, actor="chaos"):
        try:
            return real_call(request, actor)
        finally:
            if isinstance(request, Delete):
                ground.failing = None

    ground.call = call
    with pytest.raises(ApiError):
        DeleteObject("Job", "job-a", finalizer="example.com/held").inject(ground)
    assert finalizers_of(_object(ground, "Job.batch", "job-a")) == ()


def test_a_node_that_comes_back_is_a_new_object_with_its_old_labels_and_status():
    ground = small_cluster()
    injector, _ = _injector(ground)
    old = _object(ground, "Node", "n0")
    injector.inject(NodeDeleted("n0"))
    assert ground.get("Node", "n0") is None
    injector.stop()
    new = _object(ground, "Node", "n0")
    assert new["metadata"]["uid"] != old["metadata"]["uid"]
    assert labels_of(new) == labels_of(old) and new["status"] == old["status"]


def test_a_created_object_lands_in_the_namespace_of_the_run_whatever_it_says():
    ground = small_cluster()
    manifest = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "x", "namespace": "kube-system"},
    }
    CreateObject(manifest).inject(ground)
    assert _object(ground, "Service", "x")["metadata"]["namespace"] == ground.namespace


def test_a_creation_that_collides_never_deletes_the_object_that_stood_there():
    ground = small_cluster()
    injector, log = _injector(ground)
    injector.inject(CreateObject({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a-0"}}))
    assert [action for action, _ in log] == ["refused"]
    injector.clean_up()
    assert ground.get("Pod", "a-0") is not None


@pytest.mark.parametrize("start", [Start("operator"), DoubleOperator("operator")])
def test_a_start_before_a_restart_that_is_due_leaves_the_process_running(start: Fault):
    ground = FakeGround()
    Kill("operator", restart_after=10 * SECOND).inject(ground)
    inverses = start.inverse(ground)
    start.inject(ground)
    for inverse in inverses:
        inverse.inject(ground)
    assert ground.processes.state("operator") == "running"


def test_an_edit_is_not_undone_on_another_object_of_the_same_name():
    ground = small_cluster()
    injector, _ = _injector(ground)
    injector.inject(KillPod("a-0", 1))
    replacement = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a-0"}}
    replacement["metadata"] |= {
        "namespace": ground.namespace,
        "uid": "another",
        "annotations": {"assay.dev/exit": "5"},
    }
    ground.put(replacement)
    injector.stop()
    assert annotations_of(_object(ground, "Pod", "a-0")) == {"assay.dev/exit": "5"}


def test_an_edit_touches_only_its_fields_when_undone():
    ground = small_cluster()
    injector, _ = _injector(ground)
    injector.inject(AutopilotLabel("n0", "EVICT"))
    node = _object(ground, "Node", "n0")
    ground.put({**node, "metadata": {**node["metadata"], "labels": {**labels_of(node), "b": "c"}}})
    injector.stop()
    assert labels_of(_object(ground, "Node", "n0")) == {"zone": "x", "b": "c"}


def test_an_edit_is_derived_again_when_somebody_else_was_faster():
    ground = small_cluster()
    real_call = ground.call
    interfered = []

    def call(request, actor="chaos"):
        if type(request).__name__ == "Patch" and not interfered:
            interfered.append(request)
            node = _object(ground, "Node", "n0")
            theirs = {"key": "theirs", "effect": "NoExecute"}
            ground.put({**node, "spec": {"taints": [theirs]}})
        return real_call(request, actor)

    ground.call = call
    Taint("n0", "ours").inject(ground)
    keys = [taint["key"] for taint in get_path(ground.get("Node", "n0"), "spec.taints")]
    assert keys == ["theirs", "ours"]


def test_an_edit_gives_up_with_advice_when_every_attempt_conflicts():
    ground = small_cluster()
    ground.failing = ApiError(409, "Conflict", "again")
    with pytest.raises(FaultRefusedError, match="changed 10 times in a row"):
        Suspend("AppWrapper/a").inject(ground)


def test_a_suspend_stands_when_the_faults_stop_and_is_taken_back_by_cleaning_up():
    ground = small_cluster()
    injector, _ = _injector(ground)
    injector.inject(Suspend("AppWrapper/a"))
    injector.stop()
    assert get_path(ground.get(str(APPWRAPPER), "a"), "spec.suspend") is True
    injector.clean_up()
    assert get_path(ground.get(str(APPWRAPPER), "a"), "spec.suspend") is False


@pytest.mark.parametrize(
    ("fault", "actor"),
    [
        (Suspend("AppWrapper/a"), "user"),
        (EditObject("AppWrapper", "a", {"metadata": {"labels": {"x": "y"}}}), "user"),
        (EditObject("AppWrapper", "a", {"spec": {}}, actor="chaos"), "chaos"),
        (DeleteObject("Job", "job-a"), "user"),
        (Tamper("Job", "job-a"), "user"),
        (HoldObject("Job", "job-a"), "chaos"),
    ],
    ids=lambda value: value if isinstance(value, str) else _id(value),
)
def test_what_users_do_carries_the_users_name(fault, actor):
    ground = small_cluster()
    fault.inject(ground)
    assert ground.calls[-1][0] == actor


def test_a_status_edit_goes_to_the_status_subresource():
    ground = small_cluster()
    EditObject("Job", "job-a", {"status": {"failed": 1}}, "status").inject(ground)
    assert _object(ground, "Job.batch", "job-a")["status"] == {"active": 2, "failed": 1}
    assert _object(ground, "Job.batch", "job-a")["spec"] == {"parallelism": 2}


def test_a_lost_node_is_a_silent_kubelet_until_the_faults_stop():
    ground = small_cluster()
    injector, _ = _injector(ground)
    injector.inject(NodeLost(NodeChoice(hosting=PodChoice(node="n1"))))
    assert ground.processes.states["kubelet/n1"] == "paused"
    injector.stop()
    assert ground.processes.states["kubelet/n1"] == "running"


def test_a_killed_operator_comes_back_by_itself_or_when_the_faults_stop():
    ground = small_cluster()
    injector, _ = _injector(ground)
    injector.inject(Kill("operator"))
    injector.stop()
    assert ground.processes.states["operator"] == "restarting"
    ground.processes.tick()
    assert ground.processes.states["operator"] == "running"
    injector, _ = _injector(ground)
    injector.inject(Kill("operator", restart_after=None))
    injector.stop()
    assert ground.processes.states["operator"] == "running"


def test_an_unknown_process_is_refused_and_said_so_in_the_record():
    ground = small_cluster()
    injector, log = _injector(ground)
    injector.inject(Kill("nobody", restart_after=None))
    assert log == [
        ("refused", "kill nobody (SIGKILL) and do not restart it: there is no process nobody")
    ]


def test_an_api_error_names_kinds_in_full_and_answers_as_an_api_server_does():
    rule = ApiErrors(verb=("update",), kind="Job", code=409).rule()
    assert rule.kind == "Job.batch"
    assert isinstance(rule.effect, Refuse)
    assert (rule.effect.code, rule.effect.reason) == (409, "Conflict")


def test_a_webhook_outage_hits_everybodys_writes_of_the_object_and_not_of_its_status():
    rule = WebhookOutage("AppWrapper").rule()
    assert isinstance(rule, RequestRule)
    create = Create(APPWRAPPER, {}, "test", "a")
    assert rule.matches("user", create) and rule.matches("operator", create)
    assert not rule.matches("user", Create(APPWRAPPER, {}, "test", "a", subresource="status"))
    assert not rule.matches("user", Delete(APPWRAPPER, "test", "a"))


def test_a_lease_is_taken_for_a_while_as_its_next_holder_would_write_it():
    ground = small_cluster()
    TakeLease("leader", 2_500_000).inject(ground)
    spec = _object(ground, "Lease.coordination.k8s.io", "leader")["spec"]
    assert spec == {
        "holderIdentity": SOMEBODY_ELSE,
        "leaseDurationSeconds": 3,
        "leaseTransitions": 1,
    }


def test_a_lease_that_somebody_has_acquired_since_is_not_given_back():
    ground = small_cluster()
    injector, _ = _injector(ground)
    injector.inject(TakeLease("leader"))
    acquired = {"spec": {"holderIdentity": "operator/1", "leaseTransitions": 2}}
    EditObject("Lease.coordination.k8s.io", "leader", acquired).inject(ground)
    injector.stop()
    lease = _object(ground, "Lease.coordination.k8s.io", "leader")
    assert get_path(lease, "spec.holderIdentity") == "operator/1"
