"""Pods for real kubelets: changed and unchanged fields."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chaos.ground import FaultRefusedError
from clusters import behaviour
from clusters.behaviour import BehaviourError, expand
from clusters.containers.pods import (
    FOLDER,
    MISSING_IMAGE,
    NEVER_VOLUME,
    WISHES,
    RealContainers,
    script,
)
from conformance.manifests.pod_templates import map_pods, with_behaviour
from conformance.worlds.control_plane.manifest_for_run import ManifestForRun
from vocabulary.clock import SECOND
from vocabulary.kinds import JOB, POD
from vocabulary.requests import Patch

REAL = RealContainers("example.com/tools:1", stuck_us=50 * SECOND)


TAILOR = ManifestForRun("run-0", REAL)


def played(line: str = "", **spec: Any) -> dict[str, Any]:
    """The spec of a pod of two containers with the behaviour of the line."""
    containers = [{"name": "proxy", "image": "p"}, {"name": "main", "image": "m"}]
    pod = {"metadata": {"name": "a-0"}, "spec": {"containers": containers, **spec}}
    behaving = expand(with_behaviour(pod, line)) if line else pod
    found: dict[str, Any] = REAL.play(behaving)["spec"]
    return found


def test_every_container_keeps_its_name_and_runs_the_script() -> None:
    spec = played(restartPolicy="Never")
    assert [each["name"] for each in spec["containers"]] == ["proxy", "main"]
    for each in spec["containers"]:
        assert each["image"] == "example.com/tools:1"
        assert each["command"][-2:] == [each["name"], FOLDER]
    assert spec["restartPolicy"] == "Never"
    assert "terminationGracePeriodSeconds" not in spec
    assert "initContainers" not in spec


def test_a_cluster_that_enforces_the_restricted_level_takes_the_pods() -> None:
    """The Pod Security standard's requirements on every container."""
    spec = played("ready-after 3s", initContainers=[{"name": "i"}])
    for each in (*spec["containers"], *spec["initContainers"]):
        context = each["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        assert context["runAsNonRoot"] is True and context["runAsUser"] > 0


def test_what_a_pod_says_of_its_security_stays() -> None:
    root = {"privileged": True}
    containers = [{"name": "own", "securityContext": root}, {"name": "other"}]
    own, other = played(containers=containers, securityContext={"runAsUser": 0})["containers"]
    assert own["securityContext"] == root
    assert not {"runAsUser", "runAsNonRoot"} & other["securityContext"].keys()
    assert other["securityContext"]["allowPrivilegeEscalation"] is False


def test_the_script_reads_every_annotation_that_the_volume_brings() -> None:
    (volume, _) = played()["volumes"]
    paths = [item["path"] for item in volume["downwardAPI"]["items"]]
    assert len(paths) == len(WISHES)
    read = {*paths} - {"hold"} | {"wish hold"}
    assert all(path in script() for path in read)
    assert volume["downwardAPI"]["items"][0]["fieldRef"] == {
        "fieldPath": f"metadata.annotations['{behaviour.EXIT}']"
    }


def test_kubernetes_leaves_the_script_as_it_is() -> None:
    """It would make one dollar of two, and replaces $(NAME) where NAME is a variable."""
    assert "$$" not in script()
    assert "$(" not in script().replace("$((", "")


def test_pods_are_found_in_whatever_wraps_them() -> None:
    pod = {"spec": {"containers": [{"name": "c"}], "initContainers": [{"name": "i"}]}}
    job = {"kind": "Job", "spec": {"template": pod}}
    changed = map_pods({"spec": {"components": [{"template": job}]}}, REAL.play)
    spec = changed["spec"]["components"][0]["template"]["spec"]["template"]["spec"]
    assert spec["containers"][0]["command"][4] == "main"
    assert spec["initContainers"][0]["command"][4] == "init"


def test_what_nodes_are_asked_for_is_little_except_where_it_shall_be_too_much() -> None:
    gpu = {"nvidia.com/gpu": "1"}
    containers = [
        {"name": "a", "resources": {"requests": {"cpu": "500m", **gpu}, "limits": gpu}},
        {"name": "b", "resources": {"limits": {"cpu": "2", **gpu}}},
        {"name": "c", "resources": {"requests": {"cpu": "1000"}}},
    ]
    small, by_limit, huge = (
        each["resources"] for each in played(containers=containers)["containers"]
    )
    assert small["requests"]["cpu"] == "10m"
    assert small["requests"]["nvidia.com/gpu"] == small["limits"]["nvidia.com/gpu"] == "1"
    assert by_limit["requests"]["cpu"] == "10m"
    assert "nvidia.com/gpu" not in by_limit["requests"]
    assert "cpu" not in by_limit["limits"]
    assert huge["requests"]["cpu"] == "1000"
    assert small["limits"]["memory"]
    counted = replace(REAL, counts_requests=True).play({"spec": {"containers": containers}})
    assert [each.get("resources") for each in counted["spec"]["containers"]] == [
        each["resources"] for each in containers
    ]


@pytest.mark.parametrize(
    ("line", "own", "seconds"),
    [
        ("run forever, stop 20s", {}, 50),
        ("run forever, stop 1h", {}, 3630),
        ("run forever, never stop", {}, 80),
        ("run forever, never stop", {"terminationGracePeriodSeconds": 5}, 5),
    ],
)
def test_the_grace_period_leaves_the_time_that_stopping_takes(
    line: str, own: dict[str, Any], seconds: int
) -> None:
    assert played(line, **own)["terminationGracePeriodSeconds"] == seconds


def test_the_grace_period_is_the_same_where_no_kubelet_is_real() -> None:
    template = {"spec": {"containers": [{"name": "main", "image": "m"}]}}
    job = expand(with_behaviour({"kind": "Job", "spec": {"template": template}}, "stop 2m"))
    for containers in (None, REAL):
        tailored = ManifestForRun("run-0", containers).tailored(
            {"apiVersion": "batch/v1", **job}, JOB
        )
        assert tailored["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 150


def test_a_missing_image_is_nobodys() -> None:
    containers = played("image missing")["containers"]
    assert [each["image"] for each in containers] == [MISSING_IMAGE, "example.com/tools:1"]


@pytest.mark.parametrize("line", ["init stuck", "ready-after 3s"])
def test_a_gate_stands_before_the_other_init_containers(line: str) -> None:
    sidecar = {"name": "s", "restartPolicy": "Always"}
    found = played(line, initContainers=[{"name": "i"}, sidecar])["initContainers"]
    assert [each["command"][4] for each in found] == ["gate", "init", "sidecar"]
    assert found[2]["restartPolicy"] == "Always"


def test_a_pod_that_stays_pending_waits_for_a_volume_on_its_node() -> None:
    spec = played("stay pending")
    assert spec["volumes"][-1] == {"name": NEVER_VOLUME, "configMap": {"name": NEVER_VOLUME}}
    mounted = [mount["name"] for mount in spec["containers"][0]["volumeMounts"]]
    assert NEVER_VOLUME in mounted


def test_a_pod_that_is_never_ready_is_asked() -> None:
    assert all("readinessProbe" in each for each in played("never ready")["containers"])
    assert not any("readinessProbe" in each for each in played()["containers"])


def patch(**wishes: str | None) -> Patch:
    annotations = {f"assay.dev/{key}": value for key, value in wishes.items()}
    return Patch(POD, "run-0", "a-0", {"metadata": {"annotations": annotations}})


@pytest.mark.parametrize(
    ("wishes", "hint"),
    [
        ({"exit": "1", "reason": "Evicted"}, "own reason"),
        ({"exit": "1", "reason": "OOMKilled"}, "exit code 137"),
        ({"hold": "notready"}, "when it is created"),
    ],
)
def test_a_fault_that_no_kubelet_can_carry_out_is_refused(
    wishes: dict[str, str], hint: str
) -> None:
    with pytest.raises(FaultRefusedError, match=hint):
        TAILOR.require_possible(patch(**wishes))
    ManifestForRun("run-0", None).require_possible(patch(**wishes))


@pytest.mark.parametrize(
    "wishes",
    [
        {"exit": "1"},
        {"exit": "1", "reason": "Error"},
        {"exit": "137", "reason": "OOMKilled"},
        {"hold": None},
    ],
)
def test_faults_that_containers_obey_are_let_through(wishes: dict[str, str | None]) -> None:
    TAILOR.require_possible(patch(**wishes))


def test_a_behaviour_that_no_kubelet_can_carry_out_is_named() -> None:
    with pytest.raises(BehaviourError, match="back-off"):
        played("run 1s, exit 1, restart-after 1s")
