"""Objects that are drawn at random from small vocabularies, in unforeseen combinations.

Each script draws from a generator with a seed of its own, so both sides get the same requests.
Of an answer only what is said is written down.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import Manifest, job, pod
from vocabulary.kinds import CONFIG_MAP, JOB, POD, SERVICE
from vocabulary.objects import get_path


def _say(c: Dialogue, label: str, method: str, path: str, body: Any, *parts: str) -> None:
    """Write down what is said of a write, or parts of what it makes."""
    how = "application/json" if method == "POST" else "application/merge-patch+json"
    answer = c.consult(method, path, body, content_type=how)
    if answer.code >= 300:
        c.note(label, [answer.code, answer.body["message"]])
    else:
        c.note(label, [answer.code, *(get_path(answer.body, part) for part in parts)])


Cases = Sequence[tuple[str, Sequence[Any]]]
"""Dotted paths, each with the values that may stand there."""


def _drawn(rng: random.Random, base: Mapping[str, Any], cases: Cases, most: int) -> Manifest:
    """The object with some other values."""
    whole: Manifest = json.loads(json.dumps(base))
    for path, values in rng.sample(cases, rng.randint(1, most)):
        part: Any = whole
        *steps, last = path.split(".")
        for step in steps:
            part = part[int(step)] if step.isdecimal() else part.setdefault(step, {})
        part[last] = rng.choice(values)
    return whole


_EARLY: Final = "2024-01-01T00:00:00Z"
_LATE: Final = "2024-01-01T00:00:01Z"
_CONDITIONS: Final = ("Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended")
_STATUS: Final[Mapping[str, Sequence[Any]]] = {
    "startTime": (None, _EARLY, _EARLY, _LATE),
    "completionTime": (None, None, _EARLY, _LATE),
    "active": (None, 0, 0, 1, 2, -1),
    "ready": (None, 0, 1),
    "terminating": (None, None, 0, 1, -1),
    "succeeded": (None, 0, 1, 2),
    "failed": (None, 0, 1, 2),
    "completedIndexes": (None, None, "", "0", "0,1", "1,0", "2", "0-x"),
    "failedIndexes": (None, None, "", "1", "0-1", "2", "x"),
    "uncountedTerminatedPods": (
        *(None, None, None, {}, {"succeeded": ["a"]}, {"failed": ["a", "b"]}),
        *({"succeeded": ["a", ""], "failed": ["b", "a", "b"]}, {"failed": [""]}),
    ),
}
_INDEXED: Final = {"completionMode": "Indexed", "completions": 2}
_JOBS: Final[Mapping[str, Mapping[str, Any]]] = {
    "plain": {"parallelism": 1},
    "suspended": {"suspend": True},
    "none": {"suspend": True, "completions": 0},
    "elastic": {**_INDEXED, "parallelism": 2},
    "by-index": {**_INDEXED, "parallelism": 1, "backoffLimitPerIndex": 1},
    "policy": {**_INDEXED, "parallelism": 2, "successPolicy": {"rules": [{"succeededCount": 1}]}},
}
_RAN: Final = {"startTime": _EARLY, "succeeded": 1, "failed": 1}
_ENDED: Final = {**_RAN, "completionTime": _LATE}
_BEFORE: Final[Mapping[str, tuple[Mapping[str, Any], Sequence[str]]]] = {
    "new": ({}, ()),
    "running": ({**_RAN, "active": 1, "ready": 1}, ()),
    "suspended": ({"startTime": _EARLY}, ("Suspended",)),
    "met": (_RAN, ("SuccessCriteriaMet",)),
    "failing": ({**_RAN, "terminating": 1}, ("FailureTarget",)),
    "complete": (_ENDED, ("SuccessCriteriaMet", "Complete")),
    "failed": (_RAN, ("FailureTarget", "Failed")),
}


def _as_status(fields: Mapping[str, Any], conditions: Sequence[str]) -> dict[str, Any]:
    return {
        **dict.fromkeys(_STATUS),
        **fields,
        "conditions": [
            {"type": each.removeprefix("no "), "status": str(not each.startswith("no "))}
            for each in conditions
        ],
    }


def _drawn_status(rng: random.Random, before: tuple[Mapping[str, Any], Sequence[str]]) -> Any:
    """A status that differs from another in some fields."""
    fields, conditions = before
    changed = [name for name in _STATUS if rng.randrange(4) == 0]
    told = [each for each in conditions if rng.randrange(3)]
    told += [each for each in _CONDITIONS if each not in conditions and rng.randrange(4) == 0]
    told = [each if rng.randrange(5) else f"no {each}" for each in told]
    drawn = {name: rng.choice(_STATUS[name]) for name in changed}
    return _as_status({**fields, **drawn}, told)


@script("A Job's status changes only in the ways that contradict nothing.", ["5.9"])
def drawn_statuses(c: Dialogue) -> None:
    rng = c.random("statuses")
    for name, spec in _JOBS.items():
        for state, before in _BEFORE.items():
            made = job(f"{name}-{state}", **spec, managedBy="example.org/other")
            c.consult("POST", JOB.path(c.namespace), made)
            path = JOB.path(c.namespace, f"{name}-{state}", "status")
            _say(c, f"{name} {state}", "PATCH", path, {"status": _as_status(*before)})
            for number in range(5):
                status = {"status": _drawn_status(rng, before)}
                _say(c, f"{name} {state} {number}", "PATCH", f"{path}?dryRun=All", status)


_PLAIN_RULE: Final[Manifest] = {
    "action": "Ignore",
    "onPodConditions": [{"type": "A", "status": "True"}],
}
_CODES: Final = {"operator": "In", "values": [1, 2]}


def _failure(*rules: Mapping[str, Any]) -> dict[str, Any]:
    return {"rules": list(rules)}


def _on(action: str | None, **codes: Any) -> dict[str, Any]:
    told = {} if action is None else {"action": action}
    return {**told, "onExitCodes": {**_CODES, **codes}}


_JOB_CASES: Final[Cases] = (
    ("spec.parallelism", (0, 1, 2, -1, 10_000, 10_001, 100_000, 100_001)),
    ("spec.completions", (0, 1, 2, 3, -1, 100_000, 100_001)),
    ("spec.completionMode", ("Indexed", "Indexed", "NonIndexed")),
    ("spec.completionMode", ("Indexed",)),
    ("spec.backoffLimit", (0, -1, 3)),
    ("spec.backoffLimitPerIndex", (0, 1, -1)),
    ("spec.maxFailedIndexes", (0, 1, 3, -1, 10_000, 10_001, 100_000, 100_001)),
    ("spec.ttlSecondsAfterFinished", (0, -1)),
    ("spec.activeDeadlineSeconds", (0, 1, -1)),
    ("spec.suspend", (True, False)),
    ("spec.podReplacementPolicy", ("Failed", "TerminatingOrFailed")),
    ("spec.managedBy", ("a.b/c", "a", "/a", "a/", "A/b", "a/" + "b" * 61, "a/" + "b" * 62, "")),
    ("spec.template.spec.restartPolicy", ("OnFailure", "Never", "Always")),
    ("spec.template.spec.activeDeadlineSeconds", (0, 1, 2**31 - 1, 2**31)),
    (
        "spec.podFailurePolicy",
        (
            _failure(_PLAIN_RULE),
            _failure(_on("FailJob"), _on("FailIndex"), _on("Count"), _on("Ignore")),
            _failure(_on("FailIndex", containerName="main"), _on("Count", containerName="x")),
            _failure(_on(None, operator="NotIn", values=[0]), _on("FailJob", values=[0, 1])),
            _failure(_on("FailJob", values=[]), _on("FailJob", values=[2, 1, 2])),
            _failure(_on("FailJob", values=list(range(1, 256)))),
            _failure(_on("FailJob", values=list(range(1, 257)))),
            _failure({"action": "Ignore"}, {**_PLAIN_RULE, **_on("Ignore")}),
            _failure({"action": "Ignore", "onPodConditions": [{"type": "a b", "status": "True"}]}),
            _failure({"action": "Ignore", "onPodConditions": [{"type": "A", "status": "False"}]}),
            _failure(*[_PLAIN_RULE] * 20),
            _failure(*[_PLAIN_RULE] * 21),
            _failure({**_PLAIN_RULE, "onPodConditions": _PLAIN_RULE["onPodConditions"] * 20}),
            _failure({**_PLAIN_RULE, "onPodConditions": _PLAIN_RULE["onPodConditions"] * 21}),
            _failure(),
        ),
    ),
    (
        "spec.successPolicy",
        (
            {"rules": []},
            {"rules": [{"succeededCount": count} for count in (0, 1, 2, 3, -1)]},
            {"rules": [{"succeededIndexes": it} for it in ("0", "0-1", "1,0", "2", "", "0,0")]},
            {
                "rules": [
                    {"succeededIndexes": "0-1", "succeededCount": count} for count in (1, 2, 3)
                ]
            },
            {"rules": [{}]},
            {"rules": [{"succeededCount": 1}] * 20},
            {"rules": [{"succeededCount": 1}] * 21},
        ),
    ),
)


@script("A Job's spec is validated whatever it combines.", ["5.8"])
def drawn_jobs(c: Dialogue) -> None:
    rng = c.random("jobs")
    path = f"{JOB.path(c.namespace)}?dryRun=All"
    for number in range(150):
        base = job("a", completions=2, completionMode=rng.choice(("Indexed", "NonIndexed")))
        drawn = _drawn(rng, base, _JOB_CASES, 4)
        _say(c, f"create {number}", "POST", path, drawn, "spec")
    for name, spec in (
        ("running", {"completions": 2}),
        ("suspended", {"completions": 2, "completionMode": "Indexed", "suspend": True}),
        ("by-index", {"completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 1}),
    ):
        base = job(name, **spec, managedBy="example.org/other")
        c.consult("POST", JOB.path(c.namespace), base)
        path = f"{JOB.path(c.namespace, name)}?dryRun=All"
        for number in range(25):
            drawn = _drawn(rng, {}, [it for it in _JOB_CASES if "template" not in it[0]], 3)
            _say(c, f"update {name} {number}", "PATCH", path, drawn, "spec.completions")


_EXPRESSIONS: Final = (
    *([{"key": "a", "operator": it}] for it in ("Exists", "DoesNotExist", "In", "Gt", "Odd")),
    [{"key": "a", "operator": "In", "values": ["b", "c"]}, {"key": "a", "operator": "Exists"}],
    [{"key": "a", "operator": "Exists", "values": ["b"]}, {"key": "", "operator": "Exists"}],
    [{"key": "a", "operator": "Gt", "values": ["1"]}, {"key": "a", "operator": "Lt"}],
    [{"key": "a b", "operator": "NotIn", "values": ["b c"]}],
)
_FIELDS: Final = (
    *([{"key": "metadata.name", "operator": it, "values": ["n"]}] for it in ("In", "NotIn", "Gt")),
    [{"key": "metadata.name", "operator": "In", "values": ["n", "m"]}],
    [{"key": "metadata.name", "operator": "In", "values": ["N"]}],
    [{"key": "metadata.uid", "operator": "In", "values": ["n"]}],
)
_NODE_TERMS: Final = (
    *({"matchExpressions": each} for each in _EXPRESSIONS),
    *({"matchFields": each} for each in _FIELDS),
    {},
)
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_KEYS: Final = {"topologyKey": "zone"}
_POD_TERMS: Final = (
    _KEYS,
    {},
    {"topologyKey": "a b"},
    *({**_KEYS, "labelSelector": {"matchExpressions": each}} for each in _EXPRESSIONS),
    {**_KEYS, "namespaceSelector": {"matchLabels": {"a": "b c"}}, "namespaces": ["a", "B"]},
    {**_KEYS, "matchLabelKeys": ["a"], "mismatchLabelKeys": ["b"]},
    {
        **_KEYS,
        "labelSelector": {"matchLabels": {"x": "y"}},
        "matchLabelKeys": ["a", "b c"],
        "mismatchLabelKeys": ["c"],
    },
    {
        **_KEYS,
        "labelSelector": {},
        "matchLabelKeys": ["a"],
        "mismatchLabelKeys": ["a", "b c"],
    },
)
_AMOUNTS: Final = (
    *({"cpu": it} for it in ("1", "1500m", "-1", "0")),
    *({"example.org/gpu": it} for it in ("1", "2", "1500m", "-1")),
    *({it: "1"} for it in ("memory", "pods", "odd", "a b", "x/", "storage")),
    *({it: "1"} for it in ("requests.cpu", "kubernetes.io/x", "requests.example.org/gpu")),
    {"ephemeral-storage": "1Gi", "memory": "1Ki"},
)
_MOUNT: Final = {"name": "v", "mountPath": "/v"}
_POD_CASES: Final[Cases] = (
    ("spec.containers.0.name", ("", "A", "a" * 63, "a" * 64, "side")),
    ("spec.containers.0.image", ("", "x")),
    ("spec.containers.0.imagePullPolicy", ("Always", "Never", "Odd", "")),
    ("spec.containers.0.terminationMessagePolicy", ("File", "FallbackToLogsOnError", "Odd")),
    (
        "spec.containers.0.ports",
        (
            *([{"containerPort": it}] for it in (0, 1, 65535, 65536, -1)),
            [{"containerPort": 80, "protocol": it} for it in ("TCP", "UDP", "SCTP", "Odd")],
        ),
    ),
    ("spec.containers.0.env", ([{"name": "a", "value": "b"}, {"value": "c"}], [{"name": "-"}])),
    (
        "spec.containers.0.volumeMounts",
        (
            [_MOUNT],
            [_MOUNT, _MOUNT],
            [{"name": "v"}],
            [{"mountPath": "/x"}],
            [{**_MOUNT, "name": "w"}],
        ),
    ),
    ("spec.volumes", ([{"name": "v"}], [{"name": "v"}] * 2, [{"name": ""}], [{"name": "V"}])),
    ("spec.containers.0.resources.limits", _AMOUNTS),
    ("spec.containers.0.resources.requests", _AMOUNTS),
    ("spec.containers.0.resources.requests", _AMOUNTS[:8]),
    ("spec.initContainers", ([{"name": "side", "image": "x"}], [{"name": "main"}], [{}])),
    ("spec.restartPolicy", ("Always", "OnFailure", "Never", "Odd")),
    ("spec.dnsPolicy", ("ClusterFirst", "Default", "Odd")),
    ("spec.activeDeadlineSeconds", (0, 1, -1, 2**31 - 1, 2**31)),
    ("spec.terminationGracePeriodSeconds", (0, 1, -1)),
    ("spec.nodeSelector", ({"a": "b"}, {"a b": "c"}, {"a": "b c"})),
    ("spec.nodeName", ("n", "N", "a.b")),
    ("spec.schedulingGates", ([{"name": "a"}], [{"name": "a"}, {"name": "b"}])),
    ("spec.serviceAccountName", ("a", "A")),
    (
        "spec.tolerations",
        (
            [{"operator": "Exists"}, {"key": "a", "operator": "Exists", "value": "b"}],
            [{"operator": "Equal"}, {"key": "a"}, {"key": "a", "operator": "Equal", "value": "b"}],
            [{"key": "a", "operator": "Odd"}, {"operator": "Odd", "value": "x"}],
            [
                {"key": "a", "effect": it, "tolerationSeconds": 1}
                for it in ("NoExecute", "NoSchedule")
            ],
            [{"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": -1}],
        ),
    ),
    (
        f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms",
        ([], *([it] for it in _NODE_TERMS)),
    ),
    (
        f"spec.affinity.nodeAffinity.{_PREFERRED}",
        [[{"weight": 1, "preference": it}] for it in _NODE_TERMS]
        + [[{"weight": it, "preference": _NODE_TERMS[0]}] for it in (0, 100, 101)],
    ),
    (f"spec.affinity.podAffinity.{_REQUIRED}", [[it] for it in _POD_TERMS]),
    (
        f"spec.affinity.podAntiAffinity.{_PREFERRED}",
        [[{"weight": 1, "podAffinityTerm": it}] for it in _POD_TERMS]
        + [[{"weight": it, "podAffinityTerm": _KEYS}] for it in (0, 100, 101)],
    ),
)


@script("A pod's spec is validated whatever it combines.", ["4.16"])
def drawn_pods(c: Dialogue) -> None:
    rng = c.random("pods")
    path = f"{POD.path(c.namespace)}?dryRun=All"
    for number in range(220):
        drawn = _drawn(rng, pod("a"), _POD_CASES, 3)
        _say(c, f"create {number}", "POST", path, drawn, "spec.containers.0.resources")
    for name, spec in (
        ("plain", {"activeDeadlineSeconds": 5, "tolerations": [_TOLERATION]}),
        ("gated", {"schedulingGates": [{"name": "a"}, {"name": "b"}], "nodeSelector": {"a": "b"}}),
        ("patient", {"initContainers": [{"name": "side", "image": "x"}]}),
    ):
        created = c.consult("POST", POD.path(c.namespace), pod(name, schedulerName="x", **spec))
        path = f"{POD.path(c.namespace, name)}?dryRun=All"
        tolerations = created.body["spec"]["tolerations"]
        for number in range(25):
            drawn = _drawn(rng, {}, _pod_changes(tolerations), 2)
            _say(c, f"update {name} {number}", "PATCH", path, drawn, "metadata.generation")


_TOLERATION: Final = {"key": "a", "operator": "Exists", "effect": "NoExecute"}
_CONTAINER: Final = {"name": "main", "image": "x"}


def _pod_changes(tolerations: Sequence[Manifest]) -> Cases:
    return (
        ("metadata.labels", ({"a": "b"}, {"a": "b c"})),
        ("spec.activeDeadlineSeconds", (None, 1, 5, 6, 0)),
        ("spec.terminationGracePeriodSeconds", (1, 2, 30)),
        (
            "spec.tolerations",
            (
                *([*tolerations, {"key": "b"}], tolerations[1:], [*tolerations[::-1]]),
                [{**it, "tolerationSeconds": 7} for it in tolerations],
                [{**it, "key": "z"} for it in tolerations],
            ),
        ),
        ("spec.schedulingGates", ([], [{"name": "b"}], [{"name": "c"}], None)),
        ("spec.nodeSelector", ({"c": "d"}, {"a": "c"}, {"a": None})),
        ("spec.restartPolicy", ("Never", "Always")),
        ("spec.containers", ([{**_CONTAINER, "image": ""}], [{"name": "x", "image": "x"}], [])),
        ("spec.initContainers", (None, [{"name": "side", "image": "y"}])),
        ("spec.affinity.podAffinity", ({_REQUIRED: [_KEYS]},)),
        ("spec.hostNetwork", (True, False)),
    )


_OWNER: Final[Manifest] = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
_KEYS_OF_MAPS: Final = (
    *("a", "A.b_c-d", "-a", "a-", "a b", "", "a" * 63, "a" * 64, "x/y", "x.y/z", "X/y", "x/", "/y"),
    *("a/b/c", "x" * 253 + "/y", "x" * 254 + "/y", "x_y/z", "x/" + "y" * 64, "kubernetes.io/a"),
)
_VALUES_OF_LABELS: Final = ("", "b", "-b", "b-", "b c", "b" * 63, "b" * 64, "B.c_d", "é", "b/c")
_OWNERS: Final[Sequence[Any]] = (
    [_OWNER],
    [_OWNER, {**_OWNER, "uid": "v"}],
    [{**_OWNER, "controller": True}],
    [{**_OWNER, "controller": True}, {**_OWNER, "uid": "v", "controller": True}],
    [{**_OWNER, "controller": True}, {**_OWNER, "uid": "v", "controller": False}],
    *([{**_OWNER, name: ""}] for name in _OWNER),
    [{**_OWNER, "kind": "Event"}],
    [{**_OWNER, "apiVersion": "a/b/c"}],
    [{**_OWNER, "apiVersion": "v1", "blockOwnerDeletion": True}],
)
_FINALIZERS: Final[Sequence[Any]] = (
    *(["a.b/c"], ["a"], ["A/b"], ["a.b/"], ["orphan"], ["foregroundDeletion"], ["a.b/c", "a.b/c"]),
    *(["orphan", "foregroundDeletion"], [""], ["a.b/c d"], ["kubernetes"], []),
)
_NAMES: Final = (
    *("a", "a.b", "a-b", "-a", "a-", "A", "a..b", "a.-b", "a_b", "", "a" * 253, "a" * 254, "0"),
    *("a/b", "..", ".", "%", "1.2", "a" * 63 + ".b", "a" * 64 + ".b", "é"),
)


def _metadata_cases(rng: random.Random) -> Cases:
    # Of several keys a real server takes any first.
    labels = {rng.choice(_KEYS_OF_MAPS): rng.choice(_VALUES_OF_LABELS)}
    annotations = {rng.choice(_KEYS_OF_MAPS): "x"}
    return (
        ("metadata.labels", (labels,)),
        ("metadata.annotations", (annotations,)),
        ("metadata.ownerReferences", _OWNERS),
        ("metadata.finalizers", _FINALIZERS),
        ("metadata.name", _NAMES),
        ("metadata.name", _NAMES),
        ("metadata.generateName", _NAMES),
        ("metadata.generation", (0, 5, -1)),
        ("metadata.deletionGracePeriodSeconds", (5, -1)),
        ("metadata.uid", ("x",)),
        ("metadata.resourceVersion", ("", "0", "1")),
        ("metadata.selfLink", ("/x",)),
    )


@script("Metadata is validated whatever it combines.", ["4.5"])
def drawn_metadata(c: Dialogue) -> None:
    rng = c.random("metadata")
    shown = [f"metadata.{it}" for it in ("labels", "finalizers", "ownerReferences", "generation")]
    for number in range(130):
        kind = rng.choice((CONFIG_MAP, CONFIG_MAP, SERVICE))
        base = {"apiVersion": "v1", "kind": kind.kind, "metadata": {"name": "a"}}
        if kind == SERVICE:
            base["spec"] = {"clusterIP": "None"}
        drawn = _drawn(rng, base, _metadata_cases(rng), 3)
        if drawn["metadata"].get("generateName") and not drawn["metadata"]["name"]:
            drawn["metadata"]["name"] = "b"
        path = f"{kind.path(c.namespace)}?dryRun=All"
        _say(c, f"create {number} {drawn['metadata']}", "POST", path, drawn, *shown)
    path = CONFIG_MAP.path(c.namespace, "held")
    held = {"name": "held", "finalizers": ["a.b/c"], "labels": {"a": "b"}, "generateName": "h"}
    c.consult("POST", CONFIG_MAP.path(c.namespace), {**_HELD, "metadata": held})
    for state in ("standing", "terminating"):
        for number in range(30):
            cases = [it for it in _metadata_cases(rng) if "name" not in it[0].lower()]
            cases.append(("metadata.generateName", ("h", "i", "-")))
            cases.append(("metadata.creationTimestamp", (None, _EARLY)))
            drawn = _drawn(rng, {}, cases, 3)
            told = f"{state} {number} {drawn['metadata']}"
            _say(c, told, "PATCH", f"{path}?dryRun=All", drawn, *shown)
        c.consult("DELETE", path)


_HELD: Final = {"apiVersion": "v1", "kind": "ConfigMap"}
