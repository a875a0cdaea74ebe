"""A fault's target is chosen when it strikes, deterministically, or the fault is rejected."""

from __future__ import annotations

from typing import Any

import pytest

from chaos.choice import NodeChoice, ObjectChoice, PodChoice
from chaos.fault import Fault
from chaos.faults import DeleteObject, HoldObject, KillPod, Lift, StaleReads, Suspend, Taint
from chaos.ground import FaultRefusedError
from chaos.injector import Injector
from chaos.subject_kind import _REGISTERED, SubjectKind, register, registered
from tests.chaos.fake_ground import NAMESPACE, FakeGround, owner, pod, small_cluster
from vocabulary import canonical
from vocabulary.kinds import JOB
from vocabulary.objects import get_path


def _id(fault: Fault) -> str:
    return canonical.encode(fault.to_data()).decode()


def _injector(ground: FakeGround) -> tuple[Injector, list[tuple[str, str]]]:
    log: list[tuple[str, str]] = []
    return Injector(ground, lambda action, _data, text, _effect: log.append((action, text))), log


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (PodChoice(), ["a-0"]),
        (PodChoice(which="last"), ["a-2"]),
        (PodChoice(which=1), ["a-1"]),
        (PodChoice(which="all"), ["a-0", "a-1", "a-2"]),
        (PodChoice(node="n1", which="all"), ["a-1", "a-2"]),
        (PodChoice(phase="Pending"), ["a-2"]),
        (PodChoice(owner="job-a", of="AppWrapper/a", which="last"), ["a-2"]),
        (PodChoice(labels="workload.codeflare.dev/appwrapper in (a,b)"), ["a-0"]),
    ],
)
def test_pods_are_chosen_by_name_order_whatever_order_the_server_lists_them_in(choice, names):
    resolved = KillPod(choice).resolve(small_cluster())
    assert [fault.pod for fault in resolved] == names


@pytest.mark.parametrize(
    "fault",
    [
        KillPod(PodChoice(of="AppWrapper/other")),
        KillPod(PodChoice(which=3)),
        Taint(NodeChoice(labels="zone=nowhere"), "k"),
        Taint(NodeChoice(hosting=PodChoice(phase="Failed")), "k"),
        DeleteObject("Service", ObjectChoice()),
        DeleteObject("Job", ObjectChoice(of="AppWrapper/b")),
    ],
    ids=_id,
)
def test_a_choice_that_nothing_fits_is_refused_and_breaks_nothing(fault):
    ground = small_cluster()
    before = ground.world()
    injector, log = _injector(ground)
    assert injector.inject(fault) == ()
    assert [action for action, _ in log] == ["refused"]
    assert ground.world() == before


def widget(name: str, *owners: dict[str, Any]) -> dict[str, Any]:
    metadata = {"name": name, "namespace": NAMESPACE, "ownerReferences": list(owners)}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": metadata}


def test_pods_are_chosen_by_any_owner_however_many_lie_between():
    pods = [PodChoice(of=of, which="all") for of in ("Job/job-a", "example.com/v1/Widget/w")]
    ground = small_cluster()
    ground.put(widget("w"))
    ground.put(widget("x", owner("example.com/v1", "Widget", "w")))
    ground.put(pod("b-0", appwrapper="b", by=owner("example.com/v1", "Widget", "x")))
    ground.put(pod("b-1", appwrapper="b", by=owner("example.com/v1", "Widget", "gone")))
    found = [[fault.pod for fault in KillPod(choice).resolve(ground)] for choice in pods]
    assert found == [["a-0", "a-1", "a-2"], ["b-0"]]


def test_owners_that_own_one_another_are_no_owner_of_others():
    ground = small_cluster()
    ground.put(widget("x", owner("example.com/v1", "Widget", "y")))
    ground.put(widget("y", owner("example.com/v1", "Widget", "x")))
    ground.put(pod("b-0", appwrapper="b", by=owner("example.com/v1", "Widget", "x")))
    with pytest.raises(FaultRefusedError, match="no pod fits"):
        KillPod(PodChoice(of="example.com/v1/Widget/w")).resolve(ground)


def test_pods_that_carry_the_label_of_a_registered_kind_are_its_own_without_an_owner():
    ground = small_cluster()
    ground.put(pod("b-0", appwrapper="b", by=owner("batch/v1", "Job", "gone")))
    assert [f.pod for f in KillPod(PodChoice(of="AppWrapper/b")).resolve(ground)] == ["b-0"]


def test_any_object_can_be_suspended_by_its_field():
    ground = small_cluster()
    injector, log = _injector(ground)
    (injected,) = injector.inject(Suspend("Job/job-a"))
    assert get_path(ground.get("Job.batch", "job-a"), "spec.suspend") is True
    assert log == [("injected", "suspend Job job-a")]
    injector.clean_up()
    assert injected.fault.to_data() == {"suspend": {"object": "Job/job-a"}}
    assert get_path(ground.get("Job.batch", "job-a"), "spec.suspend") is False


def test_a_kind_whose_suspend_field_is_elsewhere_says_so_and_one_without_cannot_be_suspended(
    monkeypatch,
):
    ground = small_cluster()
    monkeypatch.setitem(_REGISTERED, "Job.batch", SubjectKind(JOB, suspend="spec.paused.now"))
    Suspend("Job/job-a").inject(ground)
    assert get_path(ground.get("Job.batch", "job-a"), "spec.paused.now") is True
    monkeypatch.setitem(_REGISTERED, "Job.batch", SubjectKind(JOB, suspend=""))
    with pytest.raises(FaultRefusedError, match=r"Job\.batch cannot be suspended"):
        Suspend("Job/job-a").inject(ground)


def test_what_lifts_a_fault_of_the_operator_lifts_that_of_each_role():
    ground = small_cluster()
    injector, _ = _injector(ground)
    injector.inject(StaleReads())
    assert ground.connection.rules
    injector.inject(Lift(StaleReads()))
    assert not ground.connection.rules


def test_a_kind_is_registered_once_or_equally():
    (appwrapper,) = registered()
    register(appwrapper)
    with pytest.raises(ValueError, match="registered twice, differently"):
        register(SubjectKind(appwrapper.kind))


def test_pods_that_are_being_deleted_are_chosen_only_where_asked_for():
    ground = small_cluster()
    HoldObject("Pod", "a-0").inject(ground)
    DeleteObject("Pod", "a-0").inject(ground)
    assert [fault.pod for fault in KillPod(PodChoice()).resolve(ground)] == ["a-1"]
    assert [f.pod for f in KillPod(PodChoice(terminating=True)).resolve(ground)] == ["a-0"]


def test_a_random_choice_repeats_for_the_same_seed_and_varies_between_seeds():
    def picks(seed: int) -> list[object]:
        ground = small_cluster(seed)
        fault = KillPod(PodChoice(which="random"))
        return [fault.resolve(ground)[0].pod for _ in range(20)]  # type: ignore[attr-defined]

    assert picks(1) == picks(1)
    assert len({tuple(picks(seed)) for seed in range(5)}) == 5
