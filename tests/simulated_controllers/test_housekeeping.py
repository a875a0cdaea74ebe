"""Namespaces, time to live of Jobs, protection of claims."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated_controllers.lab import DEFAULT, Lab, job, pod
from vocabulary.clock import SECOND, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, JOB, NAMESPACE, PERSISTENT_VOLUME_CLAIM, POD
from vocabulary.objects import condition, finalizers_of, name_of
from vocabulary.requests import Create, Get, Patch


def in_namespace(lab: Lab, obj: dict[str, Any], kind: Any) -> None:
    metadata = {**obj["metadata"], "namespace": "team"}
    lab.handle(Create(kind, {**obj, "metadata": metadata}, "team", name_of(obj)))


def team(lab: Lab) -> None:
    in_namespace(lab, pod(), POD)
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    in_namespace(lab, config, CONFIG_MAP)
    lab.run(2)


def test_a_deleted_namespace_is_emptied_pods_first_and_then_goes() -> None:
    lab = Lab(namespaces=["team"])
    team(lab)
    lab.delete(NAMESPACE, "team")
    lab.run(60)
    assert lab.get(NAMESPACE, "team") is None
    order = [entry.kind for entry in lab.writes(event="DELETED")]
    assert order == ["Pod", "ConfigMap", "Namespace"]
    assert lab.cluster.is_quiet()


def test_nothing_new_is_let_into_a_terminating_namespace() -> None:
    lab = Lab(namespaces=["team"])
    lab.delete(NAMESPACE, "team")
    with pytest.raises(ApiError) as refusal:
        in_namespace(lab, pod(), POD)
    assert refusal.value.code == 403


def test_a_finalizer_in_a_namespace_holds_the_namespace() -> None:
    lab = Lab(namespaces=["team"])
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "finalizers": ["example.com/hold"]},
    }
    in_namespace(lab, config, CONFIG_MAP)
    lab.delete(NAMESPACE, "team")
    lab.run(300)
    entry = condition(lab.get(NAMESPACE, "team"), "NamespaceFinalizersRemaining")
    assert entry is not None
    assert entry["message"].endswith(": example.com/hold in 1 resource instances")
    lab.handle(Patch(CONFIG_MAP, "team", "c", {"metadata": {"finalizers": None}}))
    lab.run(60)
    assert lab.get(NAMESPACE, "team") is None


def test_a_namespace_deletion_goes_on_when_the_controller_is_back() -> None:
    lab = Lab(namespaces=["team"])
    team(lab)
    lab.processes.kill("namespace-controller")
    lab.delete(NAMESPACE, "team")
    lab.run(60)
    assert lab.get(NAMESPACE, "team") is not None
    lab.processes.start("namespace-controller")
    lab.run(60)
    assert lab.get(NAMESPACE, "team") is None


def test_a_finished_job_is_deleted_in_the_foreground_after_its_time_to_live() -> None:
    lab = Lab()
    lab.create(job(behaviour="run 5s, exit 0", ttlSecondsAfterFinished=100))
    lab.until(lambda: "Complete" in lab.conditions(lab.job()))
    complete = condition(lab.job(), "Complete")
    assert complete is not None
    done_us = parse_rfc3339(complete["lastTransitionTime"])
    lab.until(lambda: lab.job() is None)
    (deletion,) = lab.writes(JOB, verb="delete")
    late_us = lab.loop.began_us + deletion.t - done_us - 100 * SECOND
    assert 0 <= late_us < SECOND // 10
    assert deletion.actor == "ttl-after-finished"
    assert deletion.options["propagationPolicy"] == "Foreground"
    assert lab.pods == []


def test_a_time_to_live_that_is_taken_away_in_time_keeps_the_job() -> None:
    lab = Lab()
    lab.create(job(behaviour="exit 0", ttlSecondsAfterFinished=100))
    lab.run(50)
    lab.patch(JOB, "j", {"spec": {"ttlSecondsAfterFinished": None}})
    lab.run(3600)
    assert lab.job() is not None


def test_a_time_to_live_that_is_taken_away_before_the_live_look_keeps_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The controller's cache shows it still."""
    lab = Lab()
    lab.create(job(behaviour="exit 0", ttlSecondsAfterFinished=100))
    lab.run(50)
    handle = lab.cluster.api.handle

    def handle_behind_a_user(request: Any, actor: str) -> Any:
        if isinstance(request, Get) and actor == "ttl-after-finished":
            body = {"spec": {"ttlSecondsAfterFinished": None}}
            handle(Patch(JOB, request.namespace, request.name, body), "user")
        return handle(request, actor)

    monkeypatch.setattr(lab.cluster.api, "handle", handle_behind_a_user)
    lab.run(3600)
    assert "ttlSecondsAfterFinished" not in lab.job()["spec"]


def claim(lab: Lab) -> None:
    lab.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": DEFAULT},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    )
    lab.run(1)


def test_a_claim_in_use_outlives_its_deletion_until_the_pod_is_gone() -> None:
    lab = Lab()
    claim(lab)
    assert finalizers_of(lab.get(PERSISTENT_VOLUME_CLAIM, "data")) == (
        "kubernetes.io/pvc-protection",
    )
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    lab.create(pod(volumes=[volume]))
    lab.run(5)
    lab.delete(PERSISTENT_VOLUME_CLAIM, "data")
    lab.run(60)
    assert lab.get(PERSISTENT_VOLUME_CLAIM, "data") is not None
    lab.delete(POD, "p")
    lab.run(5)
    assert lab.get(PERSISTENT_VOLUME_CLAIM, "data") is None


def test_an_unused_claim_goes_at_once() -> None:
    lab = Lab()
    claim(lab)
    lab.delete(PERSISTENT_VOLUME_CLAIM, "data")
    lab.run(1)
    assert lab.get(PERSISTENT_VOLUME_CLAIM, "data") is None
