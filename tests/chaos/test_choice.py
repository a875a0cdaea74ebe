"""What a fault hits is chosen when it strikes, deterministically, or the fault is refused."""

from __future__ import annotations

import pytest

from chaos.choice import NodeChoice, ObjectChoice, PodChoice
from chaos.fault import Fault
from chaos.faults import DeleteObject, HoldObject, KillPod, Taint
from chaos.injector import Injector
from tests.chaos.fake_ground import FakeGround, small_cluster
from vocabulary import canonical


def _id(fault: Fault) -> str:
    return canonical.encode(fault.to_data()).decode()


def _injector(ground: FakeGround) -> tuple[Injector, list[tuple[str, str]]]:
    log: list[tuple[str, str]] = []
    return Injector(ground, lambda action, _data, text: log.append((action, text))), log


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        (PodChoice(), ["a-0"]),
        (PodChoice(which="last"), ["a-2"]),
        (PodChoice(which=1), ["a-1"]),
        (PodChoice(which="all"), ["a-0", "a-1", "a-2"]),
        (PodChoice(node="n1", which="all"), ["a-1", "a-2"]),
        (PodChoice(phase="Pending"), ["a-2"]),
        (PodChoice(owner="job-a", appwrapper="a", which="last"), ["a-2"]),
        (PodChoice(labels="workload.codeflare.dev/appwrapper in (a,b)"), ["a-0"]),
    ],
)
def test_pods_are_chosen_by_name_order_whatever_order_the_server_lists_them_in(choice, names):
    resolved = KillPod(choice).resolve(small_cluster())
    assert [fault.pod for fault in resolved] == names


@pytest.mark.parametrize(
    "fault",
    [
        KillPod(PodChoice(appwrapper="other")),
        KillPod(PodChoice(which=3)),
        Taint(NodeChoice(labels="zone=nowhere"), "k"),
        Taint(NodeChoice(hosting=PodChoice(phase="Failed")), "k"),
        DeleteObject("Service", ObjectChoice()),
        DeleteObject("Job", ObjectChoice(appwrapper="b")),
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
