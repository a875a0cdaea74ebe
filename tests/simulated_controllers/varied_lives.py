"""Clusters on which anything may happen, drawn at random, and a digest of all that is done in each.

Workloads, Services, budgets, quotas, claims and owners stand side by side; people, kubelets and
controllers come in their way. `lives` has fewer of them, line by line. The digests are recorded in
`recordings/varied.txt`; `python -m tests.simulated_controllers.varied_lives` records them again. A
digest that differs then is a change in what the simulation does, and must be reviewed as such:
`python -m tests.simulated_controllers.varied_lives NUMBER` prints what is done in one.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from clusters.crds import load_crd
from clusters.simulated.cluster import NodeSpec
from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import DEFAULT, Lab
from tests.simulated_controllers.lives import lines
from vocabulary.canonical import digest
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    ENDPOINT_SLICE,
    JOB,
    NAMESPACE,
    NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    PYTORCH_JOB,
    RAY_CLUSTER,
    RAY_JOB,
    REPLICA_SET,
    SERVICE,
    STATEFUL_SET,
    Kind,
)
from vocabulary.objects import Object, labels_of, name_of
from vocabulary.requests import Create, Delete, Patch

RECORDING: Final = Path(__file__).parent / "recordings" / "varied.txt"
LIVES: Final = 1000
_DIGITS: Final = 10
_SETTINGS: Final = (
    Settings(node_monitor_grace_us=10 * SECOND, endpoint_slices=True, every_kind=True),
    Settings(reads_commands=True, tells_uncontrolled=True, every_kind=True),
    Settings(pod_gc_quarantine_us=5 * SECOND, gc_resource_version_precondition=False),
    Settings(node_monitor_grace_us=5 * SECOND, crash_loop_backoff_limit_us=15 * SECOND),
)
_ENDS: Final = (
    *(
        "run 5s, exit 0",
        "run 20s, exit 0",
        "run 3s, exit 1",
        "run 8s, exit 137",
        "exit 3",
        "exit 0",
    ),
    *("run forever, stop 5s", "ready-after 6s", "stay pending", "run 4s, exit 1, 2 times"),
    *("run forever, stop 20s, stop exit 0", "never ready", "init stuck", "image missing"),
    *("run forever, never stop", "run 2s, exit 2, reason OOMKilled", "ready-after 3s, run 9s"),
    *("exit 1, restart-after 1s, 3 times", "run 15s, exit 0"),
)
_POLICIES: Final = (None, "Foreground", "Background", "Orphan")
_ZONE: Final = "topology.kubernetes.io/zone"
_HOST: Final = "kubernetes.io/hostname"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
Draw = random.Random


def _maybe(rng: Draw, one_of: int, **fields: Sequence[Any]) -> dict[str, Any]:
    """Some of these fields, each with one of its values."""
    return {name: rng.choice(it) for name, it in fields.items() if rng.randrange(one_of) == 0}


def _toleration(rng: Draw) -> dict[str, Any]:
    operator = rng.choice(("Exists", "Equal"))
    value = {"value": rng.choice("vw")} if operator == "Equal" else {}
    effect = rng.choice(({}, {"effect": "NoSchedule"}, {"effect": "NoExecute"}))
    seconds = {"tolerationSeconds": rng.choice((0, 5, 20))} if "NoExecute" in str(effect) else {}
    return {"key": rng.choice("kl"), "operator": operator, **value, **effect, **seconds}


def _term(rng: Draw) -> dict[str, Any]:
    label = rng.choice(
        (
            {"matchLabels": {"app": rng.choice("abc")}},
            {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
            {
                "matchExpressions": [
                    {"key": "app", "operator": rng.choice(("Exists", "DoesNotExist"))}
                ]
            },
        )
    )
    where: dict[str, Any] = _maybe(
        rng,
        4,
        namespaces=([DEFAULT], ["other"]),
        namespaceSelector=({}, {"matchLabels": {"a": "b"}}),
    )
    return {"topologyKey": rng.choice((_ZONE, _HOST)), "labelSelector": label, **where}


def _affinity(rng: Draw) -> dict[str, Any]:
    if rng.randrange(3) == 0:
        operator = rng.choice(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
        values = {"Gt": ["1"], "Lt": ["2"]}.get(operator, ["z0", "1"])
        key = rng.choice((_ZONE, "size"))
        told = {"key": key, "operator": operator}
        if "Exist" not in operator:
            told["values"] = values
        terms: list[dict[str, Any]] = [{"matchExpressions": [told]}]
        if rng.randrange(3) == 0:
            named = {"key": "metadata.name", "operator": rng.choice(("In", "NotIn"))}
            terms[0] |= {"matchFields": [{**named, "values": ["n0"]}]}
            terms += [{"matchExpressions": [told]}] * rng.randrange(2)
        return {"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": terms}}}
    name = rng.choice(("podAffinity", "podAntiAffinity"))
    return {name: {_REQUIRED: [_term(rng) for _ in range(rng.randint(1, 2))]}}


def _pod_spec(rng: Draw, container: str, restarts: Sequence[str]) -> dict[str, Any]:
    requests = _maybe(rng, 2, cpu=("500m", "1", "2"), memory=("1Gi",), **{"nvidia.com/gpu": ("1",)})
    limits = {name: it for name, it in requests.items() if name == "nvidia.com/gpu"}
    told = {"name": container, "image": "x", "resources": {"requests": requests, "limits": limits}}
    told |= _maybe(rng, 6, command=(["sh", "-c", "exit 4"], ["sleep", "6"], ["false"]))
    told |= _maybe(rng, 8, env=([{"name": "A", "value": "b"}],))
    told |= _maybe(rng, 6, ports=([{"containerPort": 80, "name": "http"}],))
    containers = [told, *([{"name": "side", "image": "y"}] if rng.randrange(6) == 0 else [])]
    spec: dict[str, Any] = {"containers": containers, "restartPolicy": rng.choice(restarts)}
    spec |= _maybe(
        rng,
        7,
        nodeSelector=({_ZONE: "z0"}, {"size": "1"}),
        priorityClassName=("high", "low"),
        terminationGracePeriodSeconds=(0, 3, 40),
        activeDeadlineSeconds=(9, 25),
        initContainers=([{"name": "init", "image": "x"}],),
        schedulingGates=([{"name": "a.b/gate"}],),
        nodeName=("n0", "n9"),
        volumes=([{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}],),
        subdomain=("s",),
    )
    if rng.randrange(3) == 0:
        spec["tolerations"] = [_toleration(rng)]
    if rng.randrange(4) == 0:
        spec["affinity"] = _affinity(rng)
    return spec


def _template(
    rng: Draw, container: str = "main", restarts: Sequence[str] = ("Always",), app: str = "a"
) -> dict[str, Any]:
    annotations = {"assay.dev/behaviour": rng.choice(_ENDS)} if rng.randrange(8) else {}
    metadata: dict[str, Any] = {"labels": {"app": app}, "annotations": annotations}
    return {"metadata": metadata, "spec": _pod_spec(rng, container, restarts)}


def _made(kind: Kind, name: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **({"namespace": DEFAULT} if kind.namespaced else {})}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **fields}


def _failure_policy(rng: Draw, *, per_index: bool) -> dict[str, Any]:
    rules = []
    for _ in range(rng.randint(1, 3)):
        action = rng.choice(("FailJob", "Ignore", "Count", *(("FailIndex",) if per_index else ())))
        if rng.randrange(2):
            codes: dict[str, Any] = {"operator": rng.choice(("In", "NotIn"))}
            codes["values"] = rng.choice(([1], [1, 3], [137, 143], [2]))
            codes |= _maybe(rng, 3, containerName=("main", "side"))
            rules.append({"action": action, "onExitCodes": codes})
        else:
            pattern = {"type": "DisruptionTarget", "status": rng.choice(("True", "False"))}
            rules.append({"action": action, "onPodConditions": [pattern]})
    return {"rules": rules}


def _job(rng: Draw, name: str) -> Object:
    count = rng.randint(1, 4)
    spec: dict[str, Any] = {"parallelism": rng.randint(0, 4)}
    indexed = rng.randrange(2)
    if indexed or rng.randrange(3):
        spec["completions"] = count
    if indexed:
        spec["completionMode"] = "Indexed"
        if rng.randrange(2):
            spec |= _maybe(rng, 1, backoffLimitPerIndex=(0, 1, 2))
            spec |= _maybe(rng, 2, maxFailedIndexes=(0, 1, count))
        if rng.randrange(3) == 0:
            indexes, number = (
                {"succeededIndexes": rng.choice(("0", f"0-{count - 1}"))},
                {"succeededCount": rng.randint(1, count)},
            )
            spec["successPolicy"] = {"rules": [rng.choice((indexes, number, {**indexes}))]}
    per_index = "backoffLimitPerIndex" in spec
    if rng.randrange(3) == 0:
        spec["podFailurePolicy"] = _failure_policy(rng, per_index=per_index)
    spec |= _maybe(
        rng,
        4,
        backoffLimit=(0, 1, 3),
        activeDeadlineSeconds=(5, 15, 40),
        ttlSecondsAfterFinished=(0, 7, 20),
        suspend=(True, False),
        podReplacementPolicy=("Failed", "TerminatingOrFailed"),
    )
    if rng.randrange(12) == 0:
        spec["managedBy"] = "example.org/other"
    if spec.get("podFailurePolicy"):
        spec.pop("podReplacementPolicy", None)
    never = "podFailurePolicy" in spec or per_index
    template = _template(rng, restarts=("Never",) if never else ("Never", "OnFailure"))
    template["metadata"].pop("labels")
    return _made(JOB, name, spec={**spec, "template": template})


def _replicated(rng: Draw, kind: Kind, name: str) -> Object:
    app = rng.choice("abc")
    template = _template(rng, app=app)
    spec: dict[str, Any] = {
        "replicas": rng.randint(0, 4),
        "selector": rng.choice(
            (
                {"matchLabels": {"app": app}},
                {"matchLabels": {"app": app}},
                {"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "z"]}]},
            )
        ),
        "template": template,
    }
    if kind != STATEFUL_SET:
        spec |= _maybe(rng, 3, minReadySeconds=(1, 5))
    if kind == DEPLOYMENT:
        amounts = (0, 1, 2, "25%", "50%", "100%")
        rolling = {"maxSurge": rng.choice(amounts), "maxUnavailable": rng.choice(amounts[1:])}
        spec |= _maybe(
            rng,
            2,
            strategy=({"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": rolling}),
            revisionHistoryLimit=(0, 1, 2),
        )
        spec |= _maybe(rng, 4, progressDeadlineSeconds=(10, 20), paused=(True,))
    if kind == STATEFUL_SET:
        spec["serviceName"] = "s"
        rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": rng.randrange(4)}}
        spec |= _maybe(
            rng,
            2,
            podManagementPolicy=("OrderedReady", "Parallel"),
            updateStrategy=({"type": "OnDelete"}, rolling),
            minReadySeconds=(3,),
            ordinals=({"start": 2},),
        )
        if rng.randrange(2):
            storage = {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            }
            spec["volumeClaimTemplates"] = [{"metadata": {"name": "c"}, "spec": storage}]
            policy = {it: rng.choice(("Delete", "Retain")) for it in ("whenDeleted", "whenScaled")}
            spec |= _maybe(rng, 2, persistentVolumeClaimRetentionPolicy=(policy,))
    return _made(kind, name, spec=spec)


def _pytorch_job(rng: Draw, name: str) -> Object:
    replicas = {
        type_: {
            "replicas": rng.randint(1, 3) if type_ == "Worker" else 1,
            **_maybe(rng, 2, restartPolicy=("Never", "OnFailure", "Always", "ExitCode")),
            "template": _template(rng, "pytorch"),
        }
        for type_ in rng.choice((("Master", "Worker"), ("Master",), ("Worker",)))
    }
    policy = _maybe(
        rng,
        3,
        backoffLimit=(0, 1, 2),
        activeDeadlineSeconds=(5, 12, 30),
        cleanPodPolicy=("All", "Running", "None"),
        ttlSecondsAfterFinished=(0, 15),
        suspend=(True, False),
    )
    return _made(PYTORCH_JOB, name, spec={"pytorchReplicaSpecs": replicas, "runPolicy": policy})


def _ray_cluster_spec(rng: Draw) -> dict[str, Any]:
    groups = [
        {
            "groupName": f"g{number}",
            **_maybe(rng, 2, replicas=(0, 1, 3), numOfHosts=(1, 2)),
            **_maybe(rng, 4, minReplicas=(1,), maxReplicas=(2,), suspend=(True,)),
            "template": _template(rng, "ray"),
        }
        for number in range(rng.randrange(3))
    ]
    return {"headGroupSpec": {"template": _template(rng, "ray")}, "workerGroupSpecs": groups}


def _ray_cluster(rng: Draw, name: str) -> Object:
    spec = {**_ray_cluster_spec(rng), **_maybe(rng, 4, suspend=(True, False))}
    return _made(RAY_CLUSTER, name, spec=spec)


def _ray_job(rng: Draw, name: str) -> Object:
    submitter = _template(rng, "submitter", ("Never",))
    spec = _maybe(
        rng,
        3,
        submitterPodTemplate=(submitter,),
        submitterConfig=({"backoffLimit": 0}, {"backoffLimit": 1}),
        shutdownAfterJobFinishes=(True, False),
        backoffLimit=(1, 2),
        activeDeadlineSeconds=(15, 40),
        ttlSecondsAfterFinished=(0, 5),
        suspend=(True, False),
        entrypoint=("x",),
    )
    return _made(RAY_JOB, name, spec={"rayClusterSpec": _ray_cluster_spec(rng), **spec})


def _pod(rng: Draw, name: str) -> Object:
    template = _template(rng, restarts=("Never", "OnFailure", "Always"), app=rng.choice("abc"))
    made = _made(POD, name, spec=template["spec"])
    made["metadata"] |= template["metadata"]
    return made


_KINDS: Final[Sequence[tuple[Kind, Callable[[Draw, str], Object]]]] = (
    *((JOB, _job),) * 4,
    *(
        (kind, lambda rng, name, kind=kind: _replicated(rng, kind, name))
        for kind in (DEPLOYMENT,) * 2
    ),
    *(
        (kind, lambda rng, name, kind=kind: _replicated(rng, kind, name))
        for kind in (REPLICA_SET, STATEFUL_SET, STATEFUL_SET)
    ),
    (PYTORCH_JOB, _pytorch_job),
    (PYTORCH_JOB, _pytorch_job),
    (RAY_CLUSTER, _ray_cluster),
    (RAY_JOB, _ray_job),
    (POD, _pod),
    (POD, _pod),
)


def _beside(rng: Draw, *, every_kind: bool) -> list[Object]:
    """Objects that stand beside the workloads."""
    selector = {"app": rng.choice("abc")}
    port = {"port": 80, **_maybe(rng, 2, targetPort=("http", 8080), name=("p",), protocol=("UDP",))}
    service = {
        "selector": selector,
        "ports": [port],
        **_maybe(rng, 2, clusterIP=("None",), publishNotReadyAddresses=(True,)),
    }
    hard = _maybe(
        rng,
        2,
        **{"pods": ("2", "5"), "requests.cpu": ("2", "4"), "count/jobs.batch": ("1",)},
        **{"requests.nvidia.com/gpu": ("1",)},
    )
    limit = {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "500m"}}
    wish = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    found: list[Object] = [
        _made(SERVICE, "s", spec=service),
        _made(PERSISTENT_VOLUME_CLAIM, "c", spec=wish),
        *(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                **policy,
            }
            for name, value, policy in (
                ("high", 100, {}),
                ("low", 1, _maybe(rng, 2, preemptionPolicy=("Never",))),
            )
        ),
        *([_of("v1", "ResourceQuota", {"hard": hard})] if hard and rng.randrange(3) == 0 else []),
        *([_of("v1", "LimitRange", {"limits": [limit]})] if rng.randrange(5) == 0 else []),
    ]
    if every_kind and rng.randrange(2):
        amount = {rng.choice(("minAvailable", "maxUnavailable")): rng.choice((0, 1, 2, "40%"))}
        budget = {**amount, "selector": {"matchLabels": {"app": rng.choice("abc")}}}
        budget |= _maybe(rng, 3, unhealthyPodEvictionPolicy=("AlwaysAllow",))
        found.append(_of("policy/v1", "PodDisruptionBudget", budget))
    return found


def _of(api_version: str, kind: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {"name": "b", "namespace": DEFAULT}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": dict(spec)}


_CHANGES: Final[Mapping[Kind, Sequence[Mapping[str, Sequence[Any]]]]] = {
    JOB: (
        {"suspend": (True, False)},
        {"parallelism": (0, 1, 3)},
        {"completions": (1, 2, 5)},
        {"activeDeadlineSeconds": (3, 30, None)},
        {"ttlSecondsAfterFinished": (0, 9, None)},
        {"backoffLimit": (0, 5)},
    ),
    PYTORCH_JOB: ({"runPolicy": ({"suspend": True}, {"suspend": False})},),
    RAY_CLUSTER: ({"suspend": (True, False)},),
    RAY_JOB: ({"suspend": (True, False)},),
    POD: ({"activeDeadlineSeconds": (2,)}, {"schedulingGates": ([],)}),
}
_OF_REPLICATED: Final[Sequence[Mapping[str, Sequence[Any]]]] = (
    {"replicas": (0, 1, 2, 5)},
    {"replicas": (1, 3)},
    {"template": tuple({"metadata": {"annotations": {"x": it}}} for it in "123")},
    {"template": tuple({"spec": {"terminationGracePeriodSeconds": it}} for it in (0, 4))},
    {"paused": (True, False)},
    {"minReadySeconds": (0, 2)},
    {"updateStrategy": ({"rollingUpdate": {"partition": 0}}, {"rollingUpdate": {"partition": 2}})},
    {
        "strategy": (
            {"rollingUpdate": {"maxSurge": 2}},
            {"rollingUpdate": {"maxUnavailable": "60%"}},
        )
    },
)


class Life:
    """One cluster, and what happens in it."""

    def __init__(self, number: int) -> None:
        self.rng = rng = Draw(f"life {number}")
        self.settings = settings = rng.choice(_SETTINGS)
        nodes = [
            NodeSpec(
                f"n{place}",
                cpu=rng.choice(("1", "2", "4")),
                pods=rng.choice((3, 110)),
                gpus=rng.choice((0, 1)),
                labels={_ZONE: f"z{place % 2}", "size": str(place)},
                taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]
                * (rng.randrange(6) == 0),
            )
            for place in range(rng.randint(1, 3))
        ]
        crds = [load_crd(each) for each in ("pytorchjob", "raycluster", "rayjob")]
        self.lab = Lab(number, nodes=nodes, crds=crds, settings=settings)
        self.nodes = [each.name for each in nodes]
        self.began = len(self.lab.cluster.recorder.entries)
        for obj in _beside(rng, every_kind=settings.every_kind):
            self.lab.create(obj)
        self.made: list[tuple[Kind, str]] = []

    def told(self) -> list[str]:
        """All that is done, line by line."""
        rng, lab = self.rng, self.lab
        for place in range(rng.randint(1, 3)):
            kind, make = rng.choice(_KINDS)
            self.tried(lambda kind=kind, make=make, place=place: self.create(kind, make, place))
        for _ in range(rng.randint(5, 12)):
            # Things happen at rest, and amid what controllers do, which takes some milliseconds.
            lab.run(rng.choice((0, 0.002, 0.005, 0.01, 0.02, 0.04, 1, 4, 10, 25)))
            self.tried(rng.choice(self._happenings()))
        lab.run(60)
        for kind, name in self.made:
            if rng.randrange(3):
                policy = rng.choice(_POLICIES)
                options = {} if policy is None else {"propagation_policy": policy}
                self.tried(lambda k=kind, n=name, o=options: lab.delete(k, n, **o))
                lab.run(rng.choice((0, 5)))
        lab.run(60)
        return list(lines(lab, self.began))

    def tried(self, act: Callable[[], Any]) -> None:
        try:
            act()
        except ApiError as refused:
            assert refused.code in (403, 404, 409, 422, 429), refused

    def create(self, kind: Kind, make: Callable[[Draw, str], Object], place: int) -> None:
        name = f"w{place}"
        obj = make(self.rng, name)
        if self.rng.randrange(8) == 0:
            obj["metadata"]["finalizers"] = ["a.b/held"]
        if self.settings.reads_commands:
            self.lab.handle(Create(kind, obj, DEFAULT, name))
        else:
            self.lab.create(obj)
        self.made.append((kind, name))

    def _happenings(self) -> Sequence[Callable[[], Any]]:
        people = (self.change, self.change, self.change, self.scale, self.delete, self.release)
        pods = (self.delete_pod, self.end_pod, self.relabel, self.evict, self.set_status, self.hold)
        nodes = (self.taint, self.cordon, self.delete_node, self.add_node, self.lose_kubelet)
        others = (self.pause, self.kill, self.own, self.namespace, self.disown, self.claim)
        beside = (self.serve, self.edit_slices, self.edit_claim, self.recreate, self.recreate_pod)
        return (*people, *pods, *nodes, *others, *beside, self.node_fails, self.edit_status)

    def _pod(self) -> str:
        names = sorted(name_of(each) for each in self.lab.pods)
        return self.rng.choice(names) if names else "none"

    def _work(self) -> tuple[Kind, str]:
        return self.rng.choice(self.made) if self.made else (JOB, "none")

    def change(self) -> None:
        kind, name = self._work()
        cases = self.rng.choice(_CHANGES.get(kind, _OF_REPLICATED))
        spec = {field: self.rng.choice(values) for field, values in cases.items()}
        self.lab.patch(kind, name, {"spec": spec})

    def scale(self) -> None:
        kind, name = self._work()
        body = {"spec": {"replicas": self.rng.randrange(5)}}
        self.lab.patch(kind, name, body, subresource="scale")

    def delete(self) -> None:
        kind, name = self._work()
        policy = self.rng.choice(_POLICIES)
        self.lab.delete(kind, name, **({} if policy is None else {"propagation_policy": policy}))

    def release(self) -> None:
        kind, name = self._work()
        self.lab.patch(kind, name, {"metadata": {"finalizers": None}})

    def delete_pod(self) -> None:
        self.lab.delete(POD, self._pod(), grace_period_seconds=self.rng.choice((None, 0, 1, 60)))

    def end_pod(self) -> None:
        code = str(self.rng.choice((0, 1, 3, 137)))
        told = self.rng.choice(({"assay.dev/exit": code}, {"assay.dev/hold": "notready"}))
        self.lab.annotate(self._pod(), told)

    def relabel(self) -> None:
        labels = self.rng.choice(({"app": "b"}, {"app": None}, {"app": "a"}, {"x": "y"}))
        self.lab.patch(POD, self._pod(), {"metadata": {"labels": labels}})

    def evict(self) -> None:
        name = self._pod()
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        self.lab.handle(Create(POD, body, DEFAULT, name, "eviction"))

    def set_status(self) -> None:
        """A pod gets a status, though not from its kubelet."""
        name = self._pod()
        condition = {"type": "DisruptionTarget", "status": "True", "reason": "x", "message": "y"}
        status = self.rng.choice(
            ({"phase": "Failed"}, {"phase": "Succeeded"}, {"conditions": [condition]})
        )
        self.lab.patch(POD, name, {"status": status}, subresource="status")

    def hold(self) -> None:
        held = self.rng.choice((["a.b/held"], []))
        self.lab.patch(POD, self._pod(), {"metadata": {"finalizers": held or None}})

    def taint(self) -> None:
        taint: dict[str, Any] = {"key": self.rng.choice("kl"), **_maybe(self.rng, 2, value=("v",))}
        taint["effect"] = self.rng.choice(("NoExecute", "NoExecute", "NoSchedule"))
        self.lab.taint(self.rng.choice(self.nodes), *([taint] if self.rng.randrange(3) else []))

    def cordon(self) -> None:
        body = {"spec": {"unschedulable": self.rng.choice((True, True, None))}}
        self.lab.patch(NODE, self.rng.choice(self.nodes), body)

    def delete_node(self) -> None:
        self.lab.delete(NODE, self.rng.choice(self.nodes))

    def add_node(self) -> None:
        name = f"n{len(self.nodes)}"
        self.lab.cluster.add_node(NodeSpec(name, labels={_ZONE: "z1"}))
        self.nodes.append(name)

    def lose_kubelet(self) -> None:
        name = f"kubelet/{self.rng.choice(self.nodes)}"
        if self.rng.randrange(2):
            self.lab.processes.kill(name)
            return
        self.lab.processes.pause(name)
        self.lab.run(self.rng.choice((3, 20, 70)))
        self.tried(self.change)
        self.lab.processes.resume(name)

    def _controller(self) -> Any:
        controllers = self.lab.cluster.controllers
        return controllers[self.rng.choice(sorted(controllers))]

    def pause(self) -> None:
        controller = self._controller()
        controller.pause()
        self.tried(self.change)
        self.lab.run(self.rng.choice((1, 15)))
        self.tried(self.delete_pod)
        controller.resume()

    def kill(self) -> None:
        controller = self._controller()
        controller.kill()
        self.tried(self.change)
        self.lab.run(self.rng.choice((1, 15)))
        controller.start()

    def own(self) -> None:
        """A ConfigMap that belongs to a workload, or claims to."""
        kind, name = self._work()
        owner = self.lab.get(kind, name)
        reference = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "name": self.rng.choice((name, name, "other")),
            "uid": "gone"
            if owner is None or not self.rng.randrange(5)
            else owner["metadata"]["uid"],
            **_maybe(self.rng, 2, blockOwnerDeletion=(True, False)),
        }
        body = _made(CONFIG_MAP, f"o{len(self.lab.all(CONFIG_MAP))}")
        body["metadata"]["ownerReferences"] = [reference]
        self.lab.create(body)

    def disown(self) -> None:
        """A pod loses its owner, or its owner no longer waits for it."""
        name = self._pod()
        pod = self.lab.get(POD, name)
        references = [] if pod is None else pod["metadata"].get("ownerReferences") or []
        changed = [{**it, "blockOwnerDeletion": False} for it in references]
        body = {"metadata": {"ownerReferences": self.rng.choice((None, changed))}}
        self.lab.patch(POD, name, body)

    def claim(self) -> None:
        """A pod without an owner that a workload may adopt."""
        kind, name = self._work()
        owner = self.lab.get(kind, name)
        labels = labels_of(owner["spec"]["template"]) if kind == JOB and owner else {"app": "a"}
        made = _pod(self.rng, f"stray{len(self.lab.pods)}")
        made["metadata"]["labels"] = dict(labels)
        self.lab.create(made)

    def serve(self) -> None:
        """A Service comes, goes, or chooses other pods."""
        if self.rng.randrange(3) == 0:
            self.lab.delete(SERVICE, "s")
            return
        ports = self.rng.choice(
            (
                [],
                [{"port": 80}, {"port": 81, "name": "q", "targetPort": "http"}],
                [{"port": 80, "targetPort": "none"}],
                [{"port": 80, "protocol": "UDP", "targetPort": "http"}],
            )
        )
        for place, port in enumerate(ports):
            port.setdefault("name", f"p{place}")
        selector = self.rng.choice(({"app": "a"}, {"app": "b"}, {"app": "a", "x": "y"}, None))
        spec = {"ports": ports or None, "selector": selector}
        if self.lab.get(SERVICE, "s") is None:
            self.lab.create(_made(SERVICE, "s", spec={"clusterIP": "None", **spec}))
        else:
            self.lab.patch(SERVICE, "s", {"spec": spec})

    def edit_slices(self) -> None:
        """An EndpointSlice is changed, or another one is made for the same Service."""
        slices = sorted(name_of(each) for each in self.lab.all(ENDPOINT_SLICE))
        if slices and self.rng.randrange(3):
            labels = {"endpointslice.kubernetes.io/managed-by": self.rng.choice(("me", None))}
            body = self.rng.choice(({"endpoints": []}, {"metadata": {"labels": labels}}))
            self.lab.patch(ENDPOINT_SLICE, self.rng.choice(slices), body)
        elif slices and self.rng.randrange(2):
            self.lab.delete(ENDPOINT_SLICE, self.rng.choice(slices))
        else:
            body = _made(ENDPOINT_SLICE, f"own{len(slices)}", addressType="IPv4", endpoints=[])
            body["metadata"]["labels"] = {"kubernetes.io/service-name": "s"}
            self.lab.create(body)

    def edit_claim(self) -> None:
        """A claim is deleted, or gets another finalizer or owner."""
        claims = sorted(name_of(each) for each in self.lab.all(PERSISTENT_VOLUME_CLAIM))
        if not claims:
            return
        name = self.rng.choice(claims)
        if self.rng.randrange(2):
            self.lab.delete(PERSISTENT_VOLUME_CLAIM, name)
            return
        finalizers = self.lab.get(PERSISTENT_VOLUME_CLAIM, name)["metadata"].get("finalizers") or []
        owner = {"apiVersion": "v1", "kind": "Service", "name": "s", "uid": "gone"}
        metadata = self.rng.choice(
            ({"finalizers": [*finalizers, "a.b/held"]}, {"ownerReferences": [owner]})
        )
        self.lab.patch(PERSISTENT_VOLUME_CLAIM, name, {"metadata": metadata})

    def recreate(self) -> None:
        """A workload is deleted, and another of its name comes at once."""
        kind, name = self._work()
        make = next(it for known, it in _KINDS if known == kind)
        self.lab.patch(kind, name, {"metadata": {"finalizers": None}})
        self.lab.delete(kind, name, propagation_policy=self.rng.choice(("Background", "Orphan")))
        self.lab.run(self.rng.choice((0, 0.003, 0.05)))
        self.lab.create(make(self.rng, name))

    def recreate_pod(self) -> None:
        """A pod is gone at once, and another has its name."""
        name = self._pod()
        body = {"metadata": {"finalizers": None}}
        self.lab.patch(POD, name, body)
        self.lab.delete(POD, name, grace_period_seconds=0)
        self.lab.run(self.rng.choice((0, 0.003, 0.02)))
        self.lab.create(_pod(self.rng, name))

    def node_fails(self) -> None:
        """A node says that it is not ready, or is once more."""
        labels = {"assay.dev/not-ready": self.rng.choice(("true", "true", None))}
        self.lab.patch(NODE, self.rng.choice(self.nodes), {"metadata": {"labels": labels}})

    def edit_status(self) -> None:
        """A workload gets a status, though not from its controller."""
        kind, name = self._work()
        condition = {"type": "Odd", "status": "True", "reason": "x", "message": "y"}
        found = self.lab.get(kind, name) or {}
        conditions = (found.get("status") or {}).get("conditions") or []
        status = self.rng.choice(
            ({"conditions": [*conditions, condition]}, {"observedGeneration": 1}, {"replicas": 9})
        )
        self.lab.patch(kind, name, {"status": status}, subresource="status")

    def namespace(self) -> None:
        """A namespace with an object that may hold it."""
        cluster = self.lab.cluster
        name = f"other{len(self.lab.all(NAMESPACE))}"
        cluster.add_namespace(name)
        body = _made(CONFIG_MAP, "x")
        body["metadata"] |= {"namespace": name, **_maybe(self.rng, 2, finalizers=(["a.b/held"],))}
        self.lab.handle(Create(CONFIG_MAP, body, name, "x"))
        self.lab.handle(Delete(NAMESPACE, "", name))
        self.lab.run(self.rng.choice((1, 10)))
        self.lab.handle(Patch(CONFIG_MAP, name, "x", {"metadata": {"finalizers": None}}))


def life(number: int) -> list[str]:
    return Life(number).told()


def told(numbers: Sequence[int]) -> list[str]:
    """The digest of each life."""
    return [f"{number} {digest(life(number))[:_DIGITS]}" for number in numbers]


def main() -> None:
    if sys.argv[1:]:
        sys.stdout.write("\n".join(life(int(sys.argv[1]))) + "\n")
        return
    RECORDING.write_text("\n".join(told(range(LIVES))) + "\n")


if __name__ == "__main__":
    main()
