"""Requests of controllers that are answered otherwise than expected: what they are about has gone
or changed in between, or the server fails once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from clusters.crds import load_crd
from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import Lab, job, pod, requests
from tests.simulated_controllers.test_garbage_collector import config_map, names
from tests.simulated_controllers.test_pytorchjob import pytorch_job
from tests.simulated_controllers.test_ray import ray_job
from tests.simulated_controllers.test_workloads import workload
from vocabulary.errors import ApiError
from vocabulary.kinds import (
    CONFIG_MAP,
    EVENT,
    JOB,
    NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    PYTORCH_JOB,
    RAY_CLUSTER,
    REPLICA_SET,
    SERVICE,
    STATEFUL_SET,
    Kind,
)
from vocabulary.objects import annotations_of, finalizers_of, name_of, owner_references
from vocabulary.requests import Create, Delete, Get, Patch, Update

ADMIN = "admin"


@dataclass
class Intercepted:
    """Requests of one actor; something happens just before the first of them is answered."""

    lab: Lab
    actor: str
    verb: type[Any]
    kind: Kind
    act: Callable[[Any], None]
    times: int = 1
    seen: list[Any] = field(default_factory=list)

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> Intercepted:
        handle = self.lab.cluster.api.handle

        def intercept(request: Any, actor: str, *more: Any) -> Any:
            meant = isinstance(request, self.verb) and request.kind == self.kind
            if actor == self.actor and meant:
                self.seen.append(request)
                if len(self.seen) <= self.times:
                    self.act(request)
            return handle(request, actor, *more)

        monkeypatch.setattr(self.lab.cluster.api, "handle", intercept)
        return self

    @property
    def of_first(self) -> int:
        """The number of those about the same object as the first."""
        return sum(_name(each) == _name(self.seen[0]) for each in self.seen)


def _name(request: Any) -> str:
    return request.name or name_of(request.object)


def fails(request: Any) -> None:
    raise ApiError(500, "InternalError", "once")


def removes(lab: Lab) -> Callable[[Any], None]:
    """The object is gone, with whatever held it."""

    def remove(request: Any) -> None:
        kind, name = request.kind, _name(request)
        lab.patch(kind, name, {"metadata": {"finalizers": None}})
        if lab.get(kind, name) is not None:
            lab.delete(kind, name, grace_period_seconds=0, propagation_policy="Background")
        if lab.get(kind, name) is not None:
            lab.patch(kind, name, {"metadata": {"finalizers": None}})
        assert lab.get(kind, name) is None

    return remove


def touches(lab: Lab) -> Callable[[Any], None]:
    """The object has another version."""

    def touch(request: Any) -> None:
        count = str(len(annotations_of(lab.get(request.kind, _name(request)))))
        body = {"metadata": {"annotations": {f"touched-{count}": count}}}
        lab.patch(request.kind, _name(request), body)

    return touch


def suspended_job(lab: Lab) -> None:
    lab.create(job(behaviour="run forever", pods=2))
    lab.run(5)
    lab.patch(JOB, "j", {"spec": {"suspend": True}})


def ended_job(lab: Lab) -> None:
    lab.create(job(behaviour="run 3s, exit 0", pods=2))


def failed_job(lab: Lab) -> None:
    """One pod fails the Job, so that the other one is deleted."""
    lab.create(job(behaviour="run forever", pods=2, backoffLimit=0))
    lab.run(5)
    lab.annotate(name_of(lab.pods[0]), {"assay.dev/exit": "1"})


def expired_job(lab: Lab) -> None:
    lab.create(job(behaviour="exit 0", ttlSecondsAfterFinished=20))


def smaller_set(lab: Lab) -> None:
    lab.create(workload("ReplicaSet", "a", replicas=2))
    lab.run(5)
    lab.patch(REPLICA_SET, "a", {"spec": {"replicas": 1}})


def stray_pod(lab: Lab) -> None:
    stray = pod("stray", restartPolicy="Always")
    stray["metadata"]["labels"] = {"app": "a"}
    lab.create(stray)
    lab.run(3)
    lab.create(workload("ReplicaSet", "a", replicas=1))


def released_pod(lab: Lab) -> None:
    lab.create(workload("ReplicaSet", "a", replicas=1))
    lab.run(5)
    lab.patch(POD, name_of(lab.pods[0]), {"metadata": {"labels": {"app": "b"}}})


def lost_node(lab: Lab) -> None:
    lab.create(pod(behaviour="run forever"))
    lab.run(5)
    lab.processes.kill(f"kubelet/{lab.pod()['spec']['nodeName']}")
    lab.delete(NODE, lab.pod()["spec"]["nodeName"])


def preemption(lab: Lab) -> None:
    for name, value in (("low", 1), ("high", 100)):
        lab.create(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
            }
        )
    for name in ("a", "b"):
        lab.create(pod(name, priorityClassName="low", **requests(cpu="5")))
    lab.run(5)
    lab.create(pod("urgent", priorityClassName="high", **requests(cpu="5")))


def orphaned(lab: Lab) -> None:
    owner = lab.create(config_map("owner"))
    lab.create(config_map("child", owner))
    lab.run(1)
    lab.delete(CONFIG_MAP, "owner", propagation_policy="Orphan")


def abandoned(lab: Lab) -> None:
    owner = lab.create(config_map("owner"))
    lab.create(config_map("child", owner))
    lab.run(1)
    lab.delete(CONFIG_MAP, "owner", propagation_policy="Background")


def awaited(lab: Lab) -> None:
    owner = lab.create(config_map("owner"))
    lab.create(config_map("child", owner))
    lab.run(1)
    lab.delete(CONFIG_MAP, "owner", propagation_policy="Foreground")


def claiming_set(lab: Lab) -> None:
    amount = {"requests": {"storage": "1Gi"}}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": amount}
    templates = [{"metadata": {"name": "data"}, "spec": claim}]
    lab.create(workload("StatefulSet", "a", replicas=1, volumeClaimTemplates=templates))


def training(lab: Lab) -> None:
    lab.create(pytorch_job())


def ray(lab: Lab) -> None:
    lab.create(ray_job("exit 0"))


def uncontrolled(lab: Lab) -> None:
    lab.create(
        {
            "apiVersion": "v1",
            "kind": "ReplicationController",
            "metadata": {"name": "a"},
            "spec": {"replicas": 0, "template": pod("t")},
        }
    )


Situation = tuple[Callable[[Lab], None], str, type[Any], Kind]
SITUATIONS: dict[str, Situation] = {
    "a pod of a suspended Job": (suspended_job, "job-controller", Delete, POD),
    "a pod of a suspended Job, released": (suspended_job, "job-controller", Patch, POD),
    "an ended pod of a Job": (ended_job, "job-controller", Patch, POD),
    "a pod of a failed Job": (failed_job, "job-controller", Delete, POD),
    "a Job whose time is over": (expired_job, "ttl-after-finished", Delete, JOB),
    "a pod too many": (smaller_set, "replicaset-controller", Delete, POD),
    "a pod to adopt": (stray_pod, "replicaset-controller", Patch, POD),
    "a pod to release": (released_pod, "replicaset-controller", Patch, POD),
    "a pod of a lost node": (lost_node, "pod-gc", Delete, POD),
    "a victim": (preemption, "scheduler", Delete, POD),
    "a dependent to orphan": (orphaned, "garbage-collector", Patch, CONFIG_MAP),
    "a dependent to delete": (abandoned, "garbage-collector", Delete, CONFIG_MAP),
    "a dependent in the foreground": (awaited, "garbage-collector", Delete, CONFIG_MAP),
    "an owner to let go": (awaited, "garbage-collector", Patch, CONFIG_MAP),
}
CREATIONS: dict[str, Situation] = {
    "a claim": (claiming_set, "statefulset-controller", Create, PERSISTENT_VOLUME_CLAIM),
    "a Service": (training, "pytorchjob-controller", Create, SERVICE),
    "a cluster": (ray, "rayjob-controller", Create, RAY_CLUSTER),
    "an Event": (uncontrolled, "uncontrolled-teller", Create, EVENT),
}


@pytest.fixture
def lab() -> Lab:
    crds = [load_crd(name) for name in ("pytorchjob", "raycluster", "rayjob")]
    settings = Settings(every_kind=True, tells_uncontrolled=True)
    return Lab(crds=crds, settings=settings)


def intercepted(
    lab: Lab, situation: Situation, act: Callable[[Any], None], patch: pytest.MonkeyPatch
) -> Intercepted:
    prepare, actor, verb, kind = situation
    prepare(lab)
    found = Intercepted(lab, actor, verb, kind, act).watch(patch)
    lab.run(400)
    assert found.seen
    return found


def outcome(lab: Lab) -> dict[str, Any]:
    """The final state, but for names that are drawn."""
    pods = sorted(
        (
            "" if "generateName" in each["metadata"] else name_of(each),
            each["status"].get("phase"),
            finalizers_of(each),
            len(owner_references(each)),
        )
        for each in lab.pods
    )
    told: dict[str, Any] = {"pods": pods}
    for kind in (CONFIG_MAP, JOB, SERVICE, PERSISTENT_VOLUME_CLAIM, EVENT):
        told[str(kind)] = sorted(name_of(each).partition(".")[0] for each in lab.all(kind))
    for kind, path in ((JOB, "active"), (REPLICA_SET, "readyReplicas"), (STATEFUL_SET, "replicas")):
        told[path] = [(each.get("status") or {}).get(path) for each in lab.all(kind)]
    told["jobs"] = [lab.conditions(each) for each in lab.all(JOB)]
    told["training"] = [lab.conditions(each) for each in lab.all(PYTORCH_JOB)]
    return told


EVERY = {**SITUATIONS, **CREATIONS}


@pytest.mark.parametrize("name", EVERY)
def test_a_request_that_the_server_fails_once_is_repeated(
    name: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = intercepted(lab, EVERY[name], fails, monkeypatch)
    assert found.of_first >= 2
    undisturbed = Lab(crds=lab_crds(), settings=Settings(every_kind=True, tells_uncontrolled=True))
    EVERY[name][0](undisturbed)
    undisturbed.run(400)
    assert outcome(lab) == outcome(undisturbed)


def lab_crds() -> list[Any]:
    return [load_crd(name) for name in ("pytorchjob", "raycluster", "rayjob")]


@pytest.mark.parametrize("name", SITUATIONS)
def test_what_has_gone_meanwhile_is_asked_for_once(
    name: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = intercepted(lab, SITUATIONS[name], removes(lab), monkeypatch)
    assert found.of_first == 1
    assert lab.cluster.is_quiet()


@pytest.mark.parametrize("name", CREATIONS)
def test_what_is_there_already_is_created_once(
    name: str, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def create_before(request: Any) -> None:
        lab.handle(Create(request.kind, request.object, request.namespace, request.name), ADMIN)

    found = intercepted(lab, CREATIONS[name], create_before, monkeypatch)
    assert found.of_first == 1


def test_a_dependent_that_has_changed_otherwise_is_deleted_in_its_new_version(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    situation = SITUATIONS["a dependent to delete"]
    found = intercepted(lab, situation, touches(lab), monkeypatch)
    assert names(lab) == set()
    assert [each.resource_version is None for each in found.seen] == [False, True]


def test_a_dependent_whose_owners_have_changed_is_judged_again(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = lab.create(config_map("other"))

    def give(request: Any) -> None:
        references = config_map("x", other)["metadata"]["ownerReferences"]
        lab.patch(CONFIG_MAP, "child", {"metadata": {"ownerReferences": references}})

    found = intercepted(lab, SITUATIONS["a dependent to delete"], give, monkeypatch)
    assert names(lab) == {"child", "other"}
    assert found.of_first == 1


@pytest.mark.parametrize(("times", "requests_"), [(1, 2), (4, 5), (5, 6)])
def test_an_owner_that_changes_is_let_go_in_its_new_version(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, times: int, requests_: int
) -> None:
    """Five attempts belong together; the sixth comes later."""
    awaited(lab)
    found = Intercepted(lab, "garbage-collector", Patch, CONFIG_MAP, touches(lab), times)
    found.watch(monkeypatch)
    lab.run(60)
    assert names(lab) == set()
    assert len(found.seen) == requests_


def test_a_node_that_cannot_be_looked_at_is_looked_at_again(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    situation = (lost_node, "pod-gc", Get, NODE)
    found = intercepted(lab, situation, fails, monkeypatch)
    assert found.of_first >= 2
    assert lab.pods == []


def test_a_node_that_is_back_keeps_its_pods(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    node = lab.get(NODE, "node-0") or lab.all(NODE)[0]

    def bring_back(request: Any) -> None:
        metadata = {"name": request.name, "labels": node["metadata"].get("labels") or {}}
        lab.create({**node, "metadata": metadata})

    situation = (lost_node, "pod-gc", Get, NODE)
    found = intercepted(lab, situation, bring_back, monkeypatch)
    assert found.of_first == 1
    assert [name_of(each) for each in lab.pods] == ["p"]


@pytest.mark.parametrize("verb", [Get, Patch])
def test_an_owner_that_cannot_be_read_is_looked_at_again(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, verb: type[Any]
) -> None:
    situation = (awaited, "garbage-collector", verb, CONFIG_MAP)
    found = intercepted(lab, situation, fails, monkeypatch)
    assert found.of_first >= 2
    assert names(lab) == set()


def test_an_owner_that_goes_meanwhile_adopts_no_pod(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete(request: Any) -> None:
        lab.patch(REPLICA_SET, "a", {"metadata": {"finalizers": ["example.org/hold"]}})
        lab.delete(REPLICA_SET, "a", propagation_policy="Orphan")

    situation = (stray_pod, "replicaset-controller", Get, REPLICA_SET)
    intercepted(lab, situation, delete, monkeypatch)
    assert owner_references(lab.pod("stray")) == ()


def test_a_status_that_has_a_new_version_is_written_again(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(request: Any) -> None:
        lab.patch(JOB, "j", {"metadata": {"labels": {"touched": "yes"}}})

    situation = (ended_job, "job-controller", Update, JOB)
    found = intercepted(lab, situation, change, monkeypatch)
    assert found.of_first >= 2
    assert lab.conditions(lab.job())["Complete"][0] == "True"
    assert lab.job()["metadata"]["labels"]["touched"] == "yes"
    assert lab.job_status()["succeeded"] == 2


def several(lab: Lab) -> None:
    lab.create(workload("ReplicaSet", "a", replicas=3))


def silent_node(lab: Lab) -> None:
    for name in ("a", "b", "c"):
        lab.create(pod(name, behaviour="run forever", nodeName=name_of(lab.all(NODE)[0])))
    lab.run(5)
    lab.processes.pause(f"kubelet/{name_of(lab.all(NODE)[0])}")


def preemption_of_several(lab: Lab) -> None:
    preemption(lab)
    lab.delete(POD, "urgent")
    for name in ("c", "d", "e", "f"):
        lab.create(pod(name, priorityClassName="low", **requests(cpu="1")))
    lab.run(5)
    lab.create(pod("urgent", priorityClassName="high", **requests(cpu="8")))


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    ("prepare", "actor", "verb", "kind", "going"),
    [
        (several, "replicaset-controller", Create, POD, REPLICA_SET),
        (silent_node, "node-lifecycle", Update, POD, POD),
        (preemption_of_several, "scheduler", Update, POD, POD),
        (preemption_of_several, "scheduler", Delete, POD, POD),
    ],
)
def test_what_goes_beside_a_request_is_not_written_to(
    lab: Lab,
    monkeypatch: pytest.MonkeyPatch,
    prepare: Callable[[Lab], None],
    actor: str,
    verb: type[Any],
    kind: Kind,
    going: Kind,
    *,
    again: bool,
) -> None:
    gone: set[str] = set()

    def remove_others(request: Any) -> None:
        for obj in lab.all(going):
            name = name_of(obj)
            if (kind, _name(request)) == (going, name) or name == "urgent":
                continue
            gone.add(obj["metadata"]["uid"])
            lab.delete(going, name, grace_period_seconds=0, propagation_policy="Orphan")
            if lab.get(going, name) is not None:
                lab.patch(going, name, {"metadata": {"finalizers": None}})
            if again:
                kept = {it: obj["metadata"].get(it) for it in ("name", "namespace", "labels")}
                lab.create(
                    {**{it: obj[it] for it in ("apiVersion", "kind", "spec")}, "metadata": kept}
                )

    prepare(lab)
    found = Intercepted(lab, actor, verb, kind, remove_others).watch(monkeypatch)
    lab.run(60)
    assert found.seen
    assert gone
    own = lab.writes(actor=actor)
    missed = [it.name for it in own if it.code in (404, 409) and it.kind == str(going)]
    assert missed == []
    stored = {it["metadata"]["uid"]: it for it in lab.all(going)}
    assert not gone & stored.keys()
