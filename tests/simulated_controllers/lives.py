"""Lives of workloads that are drawn at random, and what all controllers did in them.

A line for each write: when, by whom, to what, and what it changed. They are recorded in
`recordings`; `python -m tests.simulated_controllers.lives` records them again. A line that
differs then is a change in what the simulation does, and must be reviewed as such.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from clusters.crds import load_crd
from clusters.simulated.cluster import NodeSpec
from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import DEFAULT, Lab, job, pod, requests
from vocabulary.canonical import digest
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.history import Write
from vocabulary.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    NAMESPACE,
    NODE,
    POD,
    PYTORCH_JOB,
    RAY_CLUSTER,
    RAY_JOB,
    REPLICA_SET,
    STATEFUL_SET,
    Kind,
)
from vocabulary.objects import Object, is_terminating, name_of
from vocabulary.requests import Create, Delete, Patch, PropagationPolicy

RECORDINGS: Final = Path(__file__).parent / "recordings"
_ENDS: Final = (
    *("run 5s, exit 0", "run 20s, exit 0", "run 3s, exit 1", "run 8s, exit 137", "exit 3"),
    *("run forever, stop 5s", "ready-after 6s", "stay pending", "run 4s, exit 1, 2 times"),
    "run forever, stop 20s, stop exit 0",
)
_SETTINGS: Final = Settings(
    node_monitor_grace_us=10 * SECOND, endpoint_slices=True, every_kind=True
)
_POLICIES: Final[tuple[PropagationPolicy | None, ...]] = (
    None,
    "Foreground",
    "Background",
    "Orphan",
)


def _template(rng: random.Random, name: str = "main", **spec: Any) -> dict[str, Any]:
    behaviour = {"assay.dev/behaviour": rng.choice(_ENDS)}
    containers = [{"name": name, "image": "x", "resources": {"requests": {"cpu": "1"}}}]
    metadata = {"labels": {"app": "a"}, "annotations": behaviour}
    return {"metadata": metadata, "spec": {"containers": containers, **spec}}


def _made(kind: Kind, spec: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {"name": "it", "namespace": DEFAULT}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": metadata,
        "spec": dict(spec),
    }


_BESIDE: Final = (
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s"},
        "spec": {"selector": {"app": "a"}, "clusterIP": "None", "ports": [{"port": 80}]},
    },
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"maxUnavailable": "40%", "selector": {"matchLabels": {"app": "a"}}},
    },
    {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q"},
        "spec": {"hard": {"pods": "4", "requests.cpu": "4"}},
    },
)


def _job(rng: random.Random) -> Object:
    spec: dict[str, Any] = {"backoffLimit": rng.randrange(4)}
    if rng.randrange(2):
        spec |= {"completionMode": "Indexed"}
        if rng.randrange(2):
            spec |= {"backoffLimitPerIndex": rng.randrange(2), "maxFailedIndexes": rng.randrange(2)}
            del spec["backoffLimit"]
        if rng.randrange(3) == 0:
            spec["successPolicy"] = {"rules": [{"succeededIndexes": "0", "succeededCount": 1}]}
    if rng.randrange(3) == 0:
        codes = {"operator": rng.choice(("In", "NotIn")), "values": [1, 3]}
        action = rng.choice(("FailJob", "Ignore", "Count"))
        spec["podFailurePolicy"] = {"rules": [{"action": action, "onExitCodes": codes}]}
    for name, values in (
        ("activeDeadlineSeconds", (15, 40)),
        ("ttlSecondsAfterFinished", (0, 20)),
        ("suspend", (True,)),
        ("podReplacementPolicy", ("Failed",)),
    ):
        if rng.randrange(4) == 0:
            spec[name] = rng.choice(values)
    never = "podFailurePolicy" in spec or "backoffLimitPerIndex" in spec
    restart = "Never" if never else rng.choice(("Never", "OnFailure"))
    template = {"restartPolicy": restart, **requests(cpu="500m")}
    made = job("it", rng.choice(_ENDS), rng.randint(1, 4), template, **spec)
    made["spec"]["parallelism"] = rng.randint(1, made["spec"]["completions"])
    return made


def _workload(kind: Kind) -> Callable[[random.Random], Object]:
    def make(rng: random.Random) -> Object:
        spec: dict[str, Any] = {
            "replicas": rng.randint(0, 4),
            "selector": {"matchLabels": {"app": "a"}},
            "template": _template(rng),
        }
        if kind == DEPLOYMENT:
            amounts = (0, 1, 2, "25%", "50%")
            surge, missing = rng.choice(amounts), rng.choice(amounts[1:])
            rolling = {"maxSurge": surge, "maxUnavailable": missing}
            spec["strategy"] = rng.choice(
                ({"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": rolling})
            )
            spec |= rng.choice(({}, {"minReadySeconds": 5}, {"progressDeadlineSeconds": 20}))
            spec["revisionHistoryLimit"] = rng.randrange(3)
        if kind == STATEFUL_SET:
            spec["serviceName"] = "s"
            spec["podManagementPolicy"] = rng.choice(("OrderedReady", "Parallel"))
            spec["updateStrategy"] = rng.choice(
                (
                    {"type": "OnDelete"},
                    {"type": "RollingUpdate", "rollingUpdate": {"partition": rng.randrange(3)}},
                )
            )
            if rng.randrange(2):
                claim = {
                    "metadata": {"name": "c"},
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                    },
                }
                spec["volumeClaimTemplates"] = [claim]
                policy = {
                    it: rng.choice(("Delete", "Retain")) for it in ("whenDeleted", "whenScaled")
                }
                spec["persistentVolumeClaimRetentionPolicy"] = policy
        return _made(kind, spec)

    return make


def _pytorch_job(rng: random.Random) -> Object:
    replicas = {
        type_: {
            "replicas": rng.randint(1, 2) if type_ == "Worker" else 1,
            "restartPolicy": rng.choice(("Never", "OnFailure", "Always", "ExitCode")),
            "template": _template(rng, "pytorch"),
        }
        for type_ in rng.choice((("Master", "Worker"), ("Master",), ("Worker",)))
    }
    policy: dict[str, Any] = {}
    for name, values in (
        ("backoffLimit", (0, 1, 2)),
        ("activeDeadlineSeconds", (12, 30)),
        ("cleanPodPolicy", ("All", "Running", "None")),
        ("ttlSecondsAfterFinished", (0, 15)),
        ("suspend", (True,)),
    ):
        if rng.randrange(3) == 0:
            policy[name] = rng.choice(values)
    return _made(PYTORCH_JOB, {"pytorchReplicaSpecs": replicas, "runPolicy": policy})


def _ray_cluster(rng: random.Random) -> Object:
    group = {
        "groupName": "g",
        "replicas": rng.randrange(3),
        "numOfHosts": rng.randint(1, 2),
        "template": _template(rng, "ray"),
    }
    suspended = {"suspend": True} if rng.randrange(3) == 0 else {}
    head = {"template": _template(rng, "ray")}
    return _made(RAY_CLUSTER, {"headGroupSpec": head, "workerGroupSpecs": [group], **suspended})


def _ray_job(rng: random.Random) -> Object:
    cluster = dict(_ray_cluster(rng)["spec"])
    cluster.pop("suspend", None)
    spec: dict[str, Any] = {
        "rayClusterSpec": cluster,
        "submitterPodTemplate": _template(rng, "submitter", restartPolicy="Never"),
        "submitterConfig": {"backoffLimit": rng.randrange(2)},
        "shutdownAfterJobFinishes": rng.choice((True, False)),
    }
    for name, values in (
        ("backoffLimit", (1, 2)),
        ("activeDeadlineSeconds", (15, 40)),
        ("ttlSecondsAfterFinished", (5,)),
        ("suspend", (True,)),
    ):
        if rng.randrange(3) == 0:
            spec[name] = rng.choice(values)
    return _made(RAY_JOB, spec)


def _pods(rng: random.Random) -> Object:
    tolerated = {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    return pod(
        "it",
        rng.choice(_ENDS),
        restartPolicy=rng.choice(("Never", "OnFailure", "Always")),
        tolerations=rng.choice(([], [tolerated])),
        **requests(cpu="1"),
        **rng.choice(({}, {"activeDeadlineSeconds": 9})),
    )


_KINDS: Final[Mapping[str, tuple[Kind, Callable[[random.Random], Object]]]] = {
    "job": (JOB, _job),
    "deployment": (DEPLOYMENT, _workload(DEPLOYMENT)),
    "statefulset": (STATEFUL_SET, _workload(STATEFUL_SET)),
    "replicaset": (REPLICA_SET, _workload(REPLICA_SET)),
    "pytorchjob": (PYTORCH_JOB, _pytorch_job),
    "raycluster": (RAY_CLUSTER, _ray_cluster),
    "rayjob": (RAY_JOB, _ray_job),
    "pod": (POD, _pods),
}
_COUNTS: Final[Mapping[str, int]] = {"job": 24, "pod": 16, "owners": 16, "pytorchjob": 12}
LIVES: Final = (*_KINDS, "owners")


def told(name: str) -> list[str]:
    """The lives of one kind."""
    seeds = range(_COUNTS.get(name, 6))
    return [line for seed in seeds for line in (f"{name} {seed}:", *_life(name, seed))]


def _life(name: str, seed: int) -> list[str]:
    """One life: its object is made, changed and at last deleted, and pods and nodes suffer."""
    rng = random.Random(f"{name}-{seed}")
    lab = Lab(
        seed,
        nodes=[NodeSpec("n0", cpu="3"), NodeSpec("n1", cpu="2")],
        crds=[load_crd(each) for each in ("pytorchjob", "raycluster", "rayjob")],
        settings=_SETTINGS,
    )
    began = len(lab.cluster.recorder.entries) if seed else 0
    if name == "owners":
        _own(lab, rng)
        return list(lines(lab, began))
    kind, make = _KINDS[name]
    if seed % 3 == 2:
        for beside in _BESIDE:
            lab.create(beside)
    lab.create(make(rng))
    for _ in range(3):
        lab.run(rng.choice((1, 4, 10, 25)))
        try:
            _befall(lab, rng, kind)
        except ApiError as refused:
            assert refused.code in (404, 409, 422), refused
    lab.run(60)
    if lab.get(kind, "it") is not None:
        lab.delete(kind, "it", propagation_policy=rng.choice(_POLICIES))
    lab.run(90)
    return list(lines(lab, began))


def _own(lab: Lab, rng: random.Random) -> None:
    """ConfigMaps that own each other are deleted one after the other, and their namespace."""
    lab.cluster.add_namespace(_OWN)
    made: list[Object] = []
    for name in "abcdefg":
        owners = [
            {
                **{"apiVersion": "v1", "kind": "ConfigMap", "name": name_of(it)},
                "uid": rng.choice((it["metadata"]["uid"],) * 7 + ("gone",)),
                **rng.choice(({}, {"blockOwnerDeletion": True})),
            }
            for it in rng.sample(made, min(len(made), rng.randrange(3)))
        ]
        held = ["a.b/held"] if rng.randrange(5) == 0 else []
        metadata = {"name": name, "ownerReferences": owners, "finalizers": held}
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
        made.append(lab.handle(Create(CONFIG_MAP, obj, _OWN, name)))
        lab.run(rng.choice((0, 1)))
    for _ in range(4):
        name = rng.choice("abcdefg")
        policy = rng.choice(_POLICIES)
        if lab.cluster.informers.get(CONFIG_MAP, _OWN, name) is not None:
            lab.handle(Delete(CONFIG_MAP, _OWN, name, propagation_policy=policy))
        lab.run(rng.choice((0, 0.01, 5)))
        name = rng.choice("abcdefg")
        if lab.cluster.informers.get(CONFIG_MAP, _OWN, name) is not None and rng.randrange(2):
            lab.handle(Patch(CONFIG_MAP, _OWN, name, {"metadata": {"finalizers": None}}))
    lab.delete(NAMESPACE, _OWN)
    lab.run(40)


def _befall(lab: Lab, rng: random.Random, kind: Kind) -> None:
    """Something happens to the object, to one of its pods, or to a node."""
    pods = sorted(name_of(each) for each in lab.pods if not is_terminating(each))
    chosen = rng.choice(pods) if pods else "it"
    changes: tuple[Mapping[str, Any], ...] = (
        {"suspend": rng.choice((True, False))},
        {"replicas": rng.randrange(5)},
        {"template": {"metadata": {"annotations": {"x": str(rng.randrange(9))}}}},
        {"paused": rng.choice((True, False))},
        {"runPolicy": {"suspend": rng.choice((True, False))}},
        {"parallelism": rng.randrange(3)},
    )
    happening = rng.randrange(12)
    if happening < 5:
        lab.patch(kind, "it", {"spec": rng.choice(changes)})
    elif happening == 5:
        lab.delete(POD, chosen, grace_period_seconds=rng.choice((None, 0)))
    elif happening == 6:
        lab.annotate(chosen, {"assay.dev/exit": str(rng.choice((0, 1, 137)))})
    elif happening == 7:
        lab.taint("n0", *rng.choice(((), ({"key": "k", "effect": "NoExecute"},))))
    elif happening == 8:
        lab.processes.kill("kubelet/n0")
    elif happening == 9:
        lab.delete(NODE, "n1")
    else:
        controller = lab.cluster.controllers[rng.choice(sorted(lab.cluster.controllers))]
        controller.pause()
        lab.patch(kind, "it", {"spec": rng.choice(changes)})
        lab.run(rng.choice((1, 15)))
        if happening == 10:
            controller.kill()
        controller.start()
        controller.resume()


_OWN: Final = "own"
_LONGEST: Final = 24
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d(?:\.\d+)?)Z")


def lines(lab: Lab, began: int) -> Iterator[str]:
    before: dict[str, Object] = {}
    for entry in lab.cluster.recorder.entries[began:]:
        if not isinstance(entry, Write) or not entry.event or entry.kind.startswith("Lease"):
            continue
        made: Object = entry.object or {}
        parts = [f"{entry.t / SECOND:.3f}", entry.actor, entry.event, entry.kind, entry.name]
        old, before[entry.uid] = before.get(entry.uid), made
        if old is None:
            shown = digest(made)[:6]
        else:
            shown = " ".join(each.replace("status.", ".") for each in _changes(old, made, ""))
        yield _TIME.sub(r"\1", " ".join(filter(None, (*parts, shown))))


def _changes(old: Any, new: Any, path: str) -> Iterator[str]:
    """The values that differ, each with its path."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            if name != "resourceVersion" and old.get(name) != new.get(name):
                yield from _changes(old.get(name), new.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for position, (one, other) in enumerate(zip(old, new, strict=True)):
            if one != other:
                yield from _changes(one, other, f"{path}[{position}]")
    elif isinstance(new, dict | list) or len(str(new)) > _LONGEST:
        yield f"{path}={digest(new)[:6]}"
    else:
        yield f"{path}={new}"


if __name__ == "__main__":
    RECORDINGS.mkdir(exist_ok=True)
    for each in LIVES:
        (RECORDINGS / f"{each}.txt").write_text("\n".join(told(each)) + "\n")
