"""The bounds of what built-in kinds accept: the last value that is, and the first that is not."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.injection import idle_job
from tests.differential.scripts.manifests import (
    Manifest,
    config_map,
    job,
    metadata,
    unscheduled,
)
from vocabulary.kinds import JOB, POD, Kind

NAME: Final = ["metadata.name"]
_ADMISSION: Final = "admissionregistration.k8s.io/v1"
_MUTATING: Final = Kind(
    "admissionregistration.k8s.io",
    "v1",
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    namespaced=False,
)
_PAST: Final = "2024-01-01T00:00:00Z"
_LATER: Final = "2024-01-01T00:00:01Z"


def _dry(c: Dialogue, path: str, body: Manifest, label: str, show: list[str] | None = None) -> None:
    c.raw("POST", f"{path}?dryRun=All", body, label=label, show=show or ())


@script("The parts of a webhook's configuration have bounds and defaults.", ["7.3"])
def bounds_of_webhooks(c: Dialogue) -> None:
    sound = {
        "name": "w.assay.dev",
        "clientConfig": {"url": "https://127.0.0.1:1"},
        "rules": [
            {
                "operations": ["CREATE"],
                "apiGroups": [""],
                "apiVersions": ["v1"],
                "resources": ["configmaps"],
            }
        ],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": c.namespace}},
    }
    rule = sound["rules"][0]
    service = {"name": "a", "namespace": "b"}
    changes: dict[str, dict[str, Any]] = {
        "sound": {},
        "without a name": {"name": ""},
        "a bad name": {"name": "W.assay.dev"},
        "two segments": {"name": "assay.dev"},
        "no side effects on dry runs": {"sideEffects": "NoneOnDryRun"},
        "some side effects": {"sideEffects": "Some"},
        "unknown side effects": {"sideEffects": "Unknown"},
        "one second": {"timeoutSeconds": 1},
        "thirty seconds": {"timeoutSeconds": 30},
        "a negative time": {"timeoutSeconds": -1},
        "exact": {"matchPolicy": "Exact", "failurePolicy": "Ignore"},
        "again": {"reinvocationPolicy": "IfNeeded"},
        "again always": {"reinvocationPolicy": "Always"},
        "no address": {"clientConfig": {"url": "https://[::1"}},
        "an odd port": {"clientConfig": {"url": "https://a:b/"}},
        "no host": {"clientConfig": {"url": "https:///x"}},
        "no scheme": {"clientConfig": {"url": "a/x"}},
        "an empty address": {"clientConfig": {"url": ""}},
        "a user": {"clientConfig": {"url": "https://u@a/x"}},
        "a fragment": {"clientConfig": {"url": "https://a/x#z"}},
        "a query": {"clientConfig": {"url": "https://a/x?y"}},
        "both ways": {"clientConfig": {"url": "https://a", "service": service}},
        "a service": {"clientConfig": {"service": service}},
        "a service and a path": {"clientConfig": {"service": {**service, "path": "/a/b-c.d/"}}},
        "a root": {"clientConfig": {"service": {**service, "path": "/"}}},
        "two slashes": {"clientConfig": {"service": {**service, "path": "//"}}},
        "no slash": {"clientConfig": {"service": {**service, "path": "a/B"}}},
        "port 0": {"clientConfig": {"service": {**service, "port": 0}}},
        "port 1": {"clientConfig": {"service": {**service, "port": 1}}},
        "port 65535": {"clientConfig": {"service": {**service, "port": 65535}}},
        "port 65536": {"clientConfig": {"service": {**service, "port": 65536}}},
        "no namespace": {"clientConfig": {"service": {"name": "a"}}},
        "versions that repeat": {"admissionReviewVersions": ["v1", "v2", "v1", "v2"]},
        "a version that is no label": {"admissionReviewVersions": ["v1", "V1", ""]},
        "the older version": {"admissionReviewVersions": ["v1beta1"]},
        "other versions": {"admissionReviewVersions": ["v3", "v2"]},
        "no resources": {"rules": [{**rule, "resources": []}]},
        "all groups and one": {"rules": [{**rule, "apiGroups": ["*", "apps"]}]},
        "all versions and one": {"rules": [{**rule, "apiVersions": ["v1", "*"]}]},
        "all operations": {"rules": [{**rule, "operations": ["*"], "scope": "Namespaced"}]},
        "scope of clusters": {"rules": [{**rule, "scope": "Cluster"}, rule]},
        "resources and subresources": {"rules": [{**rule, "resources": ["*", "pods/status"]}]},
        "all and of any resource": {"rules": [{**rule, "resources": ["*", "*/status"]}]},
        "several of a subresource": {"rules": [{**rule, "resources": ["a/b", "c/b", "c/d"]}]},
        "any and its own": {"rules": [{**rule, "resources": ["*/b", "a/b", "a/*", "a/c"]}]},
        "no rules": {"rules": []},
        "an odd expression key": {
            "objectSelector": {"matchExpressions": [{"key": "-", "operator": "Exists"}]}
        },
        "64 conditions": {
            "matchConditions": [{"name": f"n{n}", "expression": "true"} for n in range(64)]
        },
        "65 conditions": {
            "matchConditions": [{"name": f"n{n}", "expression": "true"} for n in range(65)]
        },
        "conditions that repeat": {
            "matchConditions": [{"name": "a", "expression": "true"}] * 2,
        },
        "conditions of odd names": {
            "matchConditions": [
                {"name": "-", "expression": "true"},
                {"name": "a/b/c", "expression": "true"},
                {"name": "a" * 64, "expression": " "},
            ]
        },
    }
    path = _MUTATING.path("")
    name = f"differential-{c.namespace}"
    for label, change in changes.items():
        # As of a seed of controls, what is shown of a sound one is all of it.
        body = {
            "apiVersion": _ADMISSION,
            "kind": _MUTATING.kind,
            "metadata": {"name": name},
            "webhooks": [{**sound, **change}],
        }
        show = ["webhooks.0.name", "webhooks.0.matchConditions.0"] if "64" in label else []
        _dry(c, path, body, label, show)
    empty = {"apiVersion": _ADMISSION, "kind": _MUTATING.kind, "metadata": {"name": name}}
    _dry(c, path, empty, "none")
    _dry(c, path, {**empty, "webhooks": []}, "an empty list")
    _dry(c, path, {**empty, "webhooks": "x"}, "a text")
    _dry(c, path, {**empty, "webhooks": [{**sound, "timeoutSeconds": "x"}]}, "a text for a time")
    c.raw("POST", path, {**empty, "webhooks": [sound]}, label="stored")
    for label, webhooks in (
        ("the same", [sound]),
        ("another", [{**sound, "timeoutSeconds": 3}]),
        ("a wrong one", [{**sound, "timeoutSeconds": 0}]),
        ("none", []),
    ):
        merge = "application/merge-patch+json"
        target = f"{path}/{name}"
        c.raw("PATCH", target, {"webhooks": webhooks}, content_type=merge, label=f"update: {label}")
    c.raw("DELETE", f"{path}/{name}", label="delete it")


@script("A Job's status cannot contradict itself or go back.", ["5.9"])
def contradictions_of_statuses(c: Dialogue) -> None:
    def conditions(*types: str) -> dict[str, Any]:
        return {
            "conditions": [
                {"type": each.removeprefix("no "), "status": str(not each.startswith("no "))}
                for each in types
            ]
        }

    policy = {"successPolicy": {"rules": [{"succeededCount": 1}]}}
    indexed = {"completionMode": "Indexed", "completions": 2, "parallelism": 2}
    managed = {"managedBy": "example.org/other"}
    for name, spec in (
        ("plain", {"suspend": True}),
        ("with-policy", {**indexed, **policy}),
        ("elastic", indexed),
        ("fixed", {**indexed, "parallelism": 1}),
        ("by-index", {**indexed, "backoffLimitPerIndex": 1}),
    ):
        c.create(job(name, **{**spec, **managed}), show=NAME)
    ended = {"startTime": _PAST, "completionTime": _LATER}
    started = {"startTime": _PAST}
    met = "SuccessCriteriaMet"
    steps: tuple[tuple[str, str, dict[str, Any]], ...] = (
        (
            "with-policy",
            "met and failed",
            {**started, **conditions(met, "FailureTarget", "Failed")},
        ),
        ("with-policy", "met and to fail", {**started, **conditions(met, "FailureTarget")}),
        ("with-policy", "complete, not met", {**ended, **conditions("Complete")}),
        ("with-policy", "met", {**started, **conditions(met)}),
        ("with-policy", "met no more", {**started, **conditions(f"no {met}")}),
        ("with-policy", "without conditions", {"conditions": []}),
        ("with-policy", "complete", {**ended, **conditions(met, "Complete")}),
        ("with-policy", "another end", {"completionTime": _PAST}),
        ("with-policy", "no end", {"completionTime": None}),
        ("with-policy", "another start", {"startTime": _LATER}),
        ("with-policy", "terminating at the end", {"terminating": 1}),
        ("with-policy", "active at the end", {"active": 1}),
        ("plain", "end before start", {"startTime": _LATER, "completionTime": _PAST}),
        ("plain", "an end alone", {"completionTime": _PAST}),
        ("plain", "ready ones", {"active": 1, "ready": 2}),
        ("plain", "as many ready", {"active": 1, "ready": 1}),
        ("plain", "fewer ready", {"active": 2}),
        ("plain", "negative", {"active": -1, "succeeded": -1, "failed": -1, "terminating": -1}),
        ("plain", "none", {"active": 0, "ready": 0}),
        ("plain", "failed pods", {"failed": 2, "succeeded": 2}),
        ("plain", "fewer failed pods", {"failed": 1}),
        ("plain", "fewer succeeded pods", {"succeeded": 1}),
        ("plain", "indexes", {"completedIndexes": "0"}),
        ("plain", "failed indexes", {"failedIndexes": ""}),
        ("plain", "started", started),
        ("plain", "started again while suspended", {"startTime": _LATER}),
        ("plain", "uncounted twice", {"uncountedTerminatedPods": {"failed": ["a", "b", "a"]}}),
        (
            "plain",
            "uncounted in both",
            {"uncountedTerminatedPods": {"failed": ["a"], "succeeded": ["a", ""]}},
        ),
        ("plain", "uncounted", {"uncountedTerminatedPods": {"failed": ["a"], "succeeded": ["b"]}}),
        (
            "plain",
            "complete and failed",
            {**ended, **conditions("Complete", "Failed", met, "FailureTarget")},
        ),
        ("plain", "failed without target", {**started, **conditions("Failed")}),
        ("plain", "to fail", {**started, **conditions("FailureTarget")}),
        ("plain", "to fail no more", conditions("no FailureTarget")),
        (
            "plain",
            "failed with uncounted ones",
            conditions("FailureTarget", "Failed"),
        ),
        (
            "plain",
            "failed without a start",
            {
                **conditions("FailureTarget", "Failed"),
                "startTime": None,
                "uncountedTerminatedPods": None,
            },
        ),
        (
            "plain",
            "failed",
            {**conditions("FailureTarget", "Failed"), "uncountedTerminatedPods": None},
        ),
        ("plain", "not failed", conditions("FailureTarget", "no Failed")),
        ("plain", "no start", {"startTime": None}),
        ("elastic", "succeeded pods", {"succeeded": 2, "completedIndexes": "0,1"}),
        ("elastic", "fewer", {"succeeded": 1, "completedIndexes": "0"}),
        ("elastic", "beyond", {"completedIndexes": "0,2"}),
        ("elastic", "complete, not met", {**ended, **conditions("Complete")}),
        ("elastic", "met, too", {**ended, **conditions("Complete", met)}),
        ("fixed", "succeeded pods", {"succeeded": 2, "completedIndexes": "0-1"}),
        ("fixed", "fewer", {"succeeded": 1, "completedIndexes": "1"}),
        ("fixed", "out of order", {"completedIndexes": "1,0"}),
        ("fixed", "failed indexes", {"failedIndexes": "1"}),
        ("by-index", "overlapping", {"completedIndexes": "0", "failedIndexes": "0-1"}),
        ("by-index", "both malformed", {"completedIndexes": "x", "failedIndexes": "0-x"}),
        ("by-index", "apart", {"completedIndexes": "0", "failedIndexes": "1"}),
        ("by-index", "overlapping now", {"completedIndexes": "0,1"}),
    )
    for name, label, status in steps:
        c.raw(
            "PATCH",
            JOB.path(c.namespace, name, "status"),
            {"status": status},
            content_type="application/merge-patch+json",
            label=f"{name}: {label}",
            show=["status"],
        )


@script("The parts of a Job have bounds.", ["5.1"])
def bounds_of_jobs(c: Dialogue) -> None:
    indexed = {"completionMode": "Indexed", "completions": 5}
    for label, spec in {
        "negative numbers": {
            "parallelism": -1,
            "completions": -1,
            "backoffLimit": -1,
            "activeDeadlineSeconds": -1,
            "ttlSecondsAfterFinished": -1,
        },
        "zeros": {
            "parallelism": 0,
            "completions": 0,
            "backoffLimit": 0,
            "activeDeadlineSeconds": 0,
            "ttlSecondsAfterFinished": 0,
        },
        "an unknown mode": {"completionMode": "Sometimes"},
        "indexed without completions": {"completionMode": "Indexed"},
        "indexes without limits": {**indexed, "maxFailedIndexes": 1},
        "negative by index": {**indexed, "backoffLimitPerIndex": -1, "maxFailedIndexes": -1},
        "all may fail": {**indexed, "backoffLimitPerIndex": 1, "maxFailedIndexes": 5},
        "more may fail": {**indexed, "backoffLimitPerIndex": 1, "maxFailedIndexes": 6},
        "many may fail": {
            **indexed,
            "completions": 10**9,
            "backoffLimitPerIndex": 1,
            "maxFailedIndexes": 100_001,
        },
        "as many as may fail": {
            **indexed,
            "completions": 100_000,
            "backoffLimitPerIndex": 1,
            "maxFailedIndexes": 100_000,
        },
        "too many at once": {**indexed, "completions": 100_001, "parallelism": 100_001},
        "without a bound of failed ones": {
            **indexed,
            "completions": 100_001,
            "backoffLimitPerIndex": 1,
        },
        "too many at once by index": {
            **indexed,
            "completions": 100_001,
            "parallelism": 10_001,
            "backoffLimitPerIndex": 1,
            "maxFailedIndexes": 10_001,
        },
        "replaced at any time": {
            "podReplacementPolicy": "TerminatingOrFailed",
            "podFailurePolicy": {
                "rules": [{"action": "Ignore", "onPodConditions": [{"type": "A"}]}]
            },
        },
        "replaced never": {"podReplacementPolicy": "Never"},
        "replaced when failed": {"podReplacementPolicy": "Failed"},
        "a policy of 21 rules": {
            "podFailurePolicy": {
                "rules": [{"action": "Ignore", "onPodConditions": [{"type": "A"}]}] * 21
            }
        },
        "success by 21 rules": {
            **indexed,
            "successPolicy": {"rules": [{"succeededCount": 1}] * 21},
        },
        "success by 20 rules": {
            **indexed,
            "successPolicy": {"rules": [{"succeededCount": 1}] * 20},
        },
        "success of more": {**indexed, "successPolicy": {"rules": [{"succeededCount": 6}]}},
        "success of all": {**indexed, "successPolicy": {"rules": [{"succeededCount": 5}]}},
        "success of none": {**indexed, "successPolicy": {"rules": [{}]}},
        "success in any order": {"successPolicy": {"rules": [{"succeededCount": 1}]}},
    }.items():
        c.raw(
            "POST",
            f"{JOB.path(c.namespace)}?dryRun=All",
            idle_job("a", **spec),
            label=label,
            show=["spec.completions", "spec.parallelism", "spec.backoffLimit", "spec.suspend"],
        )


def _slice(family: str = "IPv4", **fields: Any) -> Manifest:
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "a"},
        "addressType": family,
        **fields,
    }


@script("A slice has room for so many endpoints, addresses and ports.", ["7.5"])
def bounds_of_endpoint_slices(c: Dialogue) -> None:
    path = f"/apis/discovery.k8s.io/v1/namespaces/{c.namespace}/endpointslices"
    for number in (1000, 1001):
        endpoints = [{"addresses": ["10.0.0.1"]}] * number
        _dry(c, path, _slice(endpoints=endpoints), f"{number} endpoints", NAME)
    for number in (100, 101):
        addresses = [f"10.0.1.{n}" for n in range(number)]
        _dry(c, path, _slice(endpoints=[{"addresses": addresses}]), f"{number} addresses", NAME)
    for number in (20_000, 20_001):
        ports = [{"name": f"p{n}", "port": 1} for n in range(number)]
        _dry(c, path, _slice(ports=ports), f"{number} ports", NAME)
    for label, fields in {
        "names of ports": {"ports": [{"name": "a" * 63}, {"name": "a" * 64}, {"name": "-"}]},
        "a port without a protocol": {"ports": [{"name": "a", "port": 1, "protocol": ""}]},
        "ports beyond": {"ports": [{"name": "a", "port": 0}, {"name": "b", "port": 65536}]},
        "an empty name": {"ports": [{"name": "", "port": 65535, "protocol": "SCTP"}]},
        "a host": {"endpoints": [{"addresses": ["10.0.0.1"], "hostname": "Upper"}]},
    }.items():
        _dry(c, path, _slice(**fields), label)


@script("The parts of pods have bounds.", ["4.16", "6.2"])
def bounds_of_pods(c: Dialogue) -> None:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
    node_term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    main = {"name": "main", "image": "example.org/main"}
    for label, spec in {
        **{
            f"{kind} {weight}": {
                "affinity": {kind: {preferred: [{"weight": weight, "podAffinityTerm": term}]}}
            }
            for kind in ("podAffinity", "podAntiAffinity")
            for weight in (0, 1, 100, 101)
        },
        "a preferred term without a key": {
            "affinity": {"podAffinity": {preferred: [{"weight": 1, "podAffinityTerm": {}}]}}
        },
        **{
            f"nodeAffinity {weight}": {
                "affinity": {"nodeAffinity": {preferred: [{"weight": weight, "preference": node}]}}
            }
            for weight, node in ((-1, node_term), (1, {}), (100, node_term), (101, node_term))
        },
        "a wrong preference": {
            "affinity": {
                "nodeAffinity": {
                    preferred: [
                        {
                            "weight": 1,
                            "preference": {
                                "matchExpressions": [{"key": "", "operator": "In"}],
                                "matchFields": [
                                    {"key": "metadata.name", "operator": "In", "values": []},
                                    {"key": "a", "operator": "Exists"},
                                    {"key": "metadata.name", "operator": "In", "values": ["A"]},
                                ],
                            },
                        }
                    ]
                }
            }
        },
        "a time without end": {"activeDeadlineSeconds": 2**31},
        "no time": {"activeDeadlineSeconds": 0},
        "time": {"activeDeadlineSeconds": 2**31 - 1},
        "negative grace": {"terminationGracePeriodSeconds": -1},
        "priority beyond": {"priority": 2**31 - 1},
        "ports": {
            "containers": [
                {
                    **main,
                    "ports": [
                        {"containerPort": 0},
                        {"containerPort": 65536},
                        {"containerPort": 1, "protocol": "ICMP"},
                        {"containerPort": 1, "name": "a"},
                    ],
                }
            ]
        },
        "a port without a protocol": {
            "containers": [{**main, "ports": [{"containerPort": 65535, "protocol": ""}]}]
        },
        "huge pages and memory": {
            "containers": [
                {**main, "resources": {"limits": {"hugepages-2Mi": "2Mi", "memory": "1Mi"}}}
            ]
        },
    }.items():
        body = unscheduled("a")
        body["spec"] |= spec
        _dry(c, POD.path(c.namespace), body, label, ["spec.affinity", *spec])
    impatient = unscheduled("grace")
    impatient["spec"]["terminationGracePeriodSeconds"] = -1
    c.create(impatient, show=["spec.terminationGracePeriodSeconds"])
    for seconds in (2, 1, 0):
        change = {"spec": {"terminationGracePeriodSeconds": seconds}}
        c.patch(POD, "grace", change, show=["spec.terminationGracePeriodSeconds"])
    found = c.get(POD, "grace", show=["status.qosClass"]).body
    without = {**found, "status": {"phase": "Pending"}}
    c.update(without, subresource="status", show=["status"])
    c.delete(POD, "grace", show=["metadata.deletionGracePeriodSeconds", *NAME])


@script("The metadata of objects have bounds.", ["4.5"])
def bounds_of_metadata(c: Dialogue) -> None:
    path = f"/api/v1/namespaces/{c.namespace}/configmaps"
    for label, fields in {
        "annotations of 256 KiB": {"annotations": {"a": "v" * (2**18 - 1)}},
        "larger annotations": {"annotations": {"a": "v" * 2**18}},
        "253 characters": {"name": "a" * 253},
        "254 characters": {"name": "a" * 254},
        "an odd name": {"name": "A_"},
        "neither": {"name": None},
        "a label of 63": {"labels": {"a" * 63: "b" * 63}},
        "a label of 64": {"labels": {"a" * 64: "b" * 64}},
        "an empty label": {"labels": {"": ""}},
        "an odd annotation": {"annotations": {"A.b/c": "", "UPPER": ""}},
        "owners": {
            "ownerReferences": [
                {"apiVersion": "", "kind": "", "name": "", "uid": ""},
                {"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "b"},
                {"apiVersion": "v1", "kind": "Pod", "name": "a", "uid": "b", "controller": True},
                {"apiVersion": "v1", "kind": "Pod", "name": "c", "uid": "d", "controller": True},
            ]
        },
        "odd finalizers": {"finalizers": ["a", "a/b/c", "A.b/c", "", "a.b/c"]},
        "another namespace": {"namespace": "other"},
        "a deletion": {"deletionTimestamp": _PAST, "deletionGracePeriodSeconds": 5},
        "a self link": {"selfLink": "/x", "uid": "u", "creationTimestamp": _PAST},
    }.items():
        body = config_map("a")
        body["metadata"] = {
            key: value for key, value in {**metadata("a"), **fields}.items() if value is not None
        }
        shown = [f"metadata.{key}" for key in (*fields, "uid") if key != "annotations"]
        show = NAME if label.startswith(("annotations", "a long")) else [*shown, *NAME]
        if "generateName" in fields:
            show = ["kind"]
        _dry(c, path, body, label, show)
    c.create(config_map("b"), show=NAME)
    for label, change in {
        "an annotation": {"annotations": {"a": "v" * (2**18 - 1)}},
        "a generation": {"generation": 3},
        "a deletion": {"deletionGracePeriodSeconds": 5},
        "a time": {"creationTimestamp": _PAST},
        "no uid": {"uid": None},
        "another uid": {"uid": "x"},
    }.items():
        c.raw(
            "PATCH",
            f"{path}/b",
            {"metadata": change},
            content_type="application/merge-patch+json",
            label=f"update: {label}",
            show=["metadata.generation", "metadata.uid", "metadata.labels"],
        )


@script("Services and roles name what they need.", ["7.3"])
def bounds_of_services_and_roles(c: Dialogue) -> None:
    path = f"/api/v1/namespaces/{c.namespace}/services"
    web = {"name": "web", "port": 80}
    for label, spec in {
        "no ports": {},
        "headless, no ports": {"clusterIP": "None"},
        "headless": {"clusterIP": "None", "ports": [web]},
        "an unknown type": {"type": "Odd", "ports": [web]},
        "port 0": {"ports": [{"port": 0}]},
        "port 65535": {"ports": [{"port": 65535, "targetPort": 1}]},
        "port 65536": {"ports": [{"port": 65536}]},
        "target 65536": {"ports": [{"port": 1, "targetPort": 65536}]},
        "a target by name": {"ports": [{"port": 1, "targetPort": "web"}]},
        "names of two": {"ports": [{"port": 1}, {"port": 2}]},
        "an unknown protocol": {"ports": [{"port": 1, "protocol": "ICMP"}]},
        "an application's protocol": {"ports": [{"port": 1, "appProtocol": "a.b/c"}]},
        "a session": {"ports": [web], "sessionAffinity": "None"},
    }.items():
        body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}, "spec": spec}
        _dry(c, path, body, label, ["spec"])
    stored = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    c.create({**stored, "spec": {"ports": [web]}}, show=["spec"])
    c.update({**stored, "spec": {"ports": [{**web, "port": 81}]}}, show=["spec"])
    c.update({**stored, "spec": {"ports": [web], "clusterIP": "10.0.0.0"}}, show=["spec.ports"])
    c.update({**stored, "spec": {"ports": []}}, show=["spec"])
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    name = f"differential-{c.namespace}"
    account = {"kind": "ServiceAccount", "name": "a"}
    of_cluster = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"kind": "ClusterRole", "name": "view"},
    }
    in_one = {**of_cluster, "kind": "RoleBinding"}
    for label, subject in {
        "without a namespace": account,
        "with one": {**account, "namespace": c.namespace},
        "with a group": {**account, "namespace": c.namespace, "apiGroup": "x"},
        "of a group": {"kind": "Group", "name": "g"},
        "of no kind": {"name": "g"},
        "of no name": {"kind": "User"},
        "of a user's namespace": {"kind": "User", "name": "u", "namespace": "n"},
    }.items():
        path = f"{rbac}/clusterrolebindings"
        _dry(c, path, {**of_cluster, "subjects": [subject]}, f"in all: {label}", ["subjects"])
        path = f"{rbac}/namespaces/{c.namespace}/rolebindings"
        _dry(c, path, {**in_one, "subjects": [subject]}, f"in one: {label}", ["subjects"])
