"""The events that wake the controller, and for which AppWrapper."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.appwrapper.api import APPWRAPPER
from reference_controller.appwrapper import OperatorConfig, controller
from reference_controller.runtime.caches import Caches
from reference_controller.runtime.controller import Key
from vocabulary.kinds import JOB, NODE, POD, Kind
from vocabulary.objects import Object, with_path

LABEL = "workload.codeflare.dev/appwrapper"
KEY = Key("team", "a")


class Fed:
    """A controller with its caches, given one change at a time as by the runtime."""

    def __init__(self) -> None:
        self.controller = controller(OperatorConfig())
        self.caches = Caches(self.controller.watches)

    def hear(self, kind: Kind, obj: Object, event: str = "MODIFIED") -> list[Key]:
        change = self.caches[kind].apply(event, obj)
        return list(self.controller.keys_for(kind, change.object, change.old, self.caches))


def pod(phase: str = "Running", **meta: Any) -> Object:
    return {
        "metadata": {"name": "p", "namespace": "team", "labels": {LABEL: "a"}, **meta},
        "spec": {"nodeName": "n0"},
        "status": {"phase": phase},
    }


def job(owner: str = "AppWrapper", failed: str = "False") -> Object:
    reference = {"kind": owner, "name": "a", "uid": "u", "controller": True}
    return {
        "metadata": {"name": "j", "namespace": "team", "ownerReferences": [reference]},
        "status": {"conditions": [{"type": "Failed", "status": failed}]},
    }


def node(health: str = "PASS") -> Object:
    labels = {"autopilot.ibm.com/gpuhealth": health}
    return {"metadata": {"name": "n0", "labels": labels}, "status": {}}


def test_a_labelled_pod_wakes_its_appwrapper_when_it_comes_changes_and_goes() -> None:
    fed = Fed()
    assert fed.hear(POD, pod("Pending"), "ADDED") == [KEY]
    assert fed.hear(POD, pod("Running")) == [KEY]
    assert fed.hear(POD, pod("Running", deletionTimestamp="2026-01-01T00:00:00Z")) == [KEY]
    assert fed.hear(POD, pod("Running", deletionTimestamp="2026-01-01T00:00:00Z"), "DELETED") == [
        KEY
    ]


def test_a_change_of_a_pod_on_which_nothing_hangs_wakes_nobody() -> None:
    fed = Fed()
    fed.hear(POD, pod(), "ADDED")
    assert fed.hear(POD, pod(annotations={"x": "y"})) == []


def test_a_pod_that_loses_its_label_wakes_the_appwrapper_that_it_belonged_to() -> None:
    fed = Fed()
    fed.hear(POD, pod(), "ADDED")
    assert fed.hear(POD, pod(labels={})) == [KEY]


def test_a_component_wakes_the_appwrapper_that_controls_it_and_others_wake_nobody() -> None:
    fed = Fed()
    assert fed.hear(JOB, job(), "ADDED") == [KEY]
    assert fed.hear(JOB, job(failed="True")) == [KEY]
    assert Fed().hear(JOB, job(owner="CronJob"), "ADDED") == []


def test_a_node_wakes_those_who_have_pods_on_it_only_when_its_marks_change() -> None:
    fed = Fed()
    fed.hear(POD, pod(), "ADDED")
    fed.hear(NODE, node(), "ADDED")
    assert fed.hear(NODE, with_path(node(), "status.images", [])) == []
    assert fed.hear(NODE, node("ERR")) == []
    assert fed.hear(NODE, node("EVICT")) == [KEY]
    assert fed.hear(NODE, node("PASS")) == [KEY]


@pytest.mark.parametrize("event", ["ADDED", "MODIFIED", "DELETED"])
def test_an_appwrapper_wakes_itself(event: str) -> None:
    aw = {"metadata": {"name": "a", "namespace": "team", "resourceVersion": "7"}}
    assert Fed().hear(APPWRAPPER, aw, event) == [KEY]


def test_binding_a_pod_wakes_nobody_until_it_runs() -> None:
    fed = Fed()
    unbound = with_path(pod("Pending"), "spec", {})
    fed.hear(POD, unbound, "ADDED")
    assert fed.hear(POD, pod("Pending")) == []
    assert fed.hear(POD, pod("Running")) == [KEY]
