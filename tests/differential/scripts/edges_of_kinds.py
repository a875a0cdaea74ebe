"""Fields of built-in kinds at their bounds, in new objects, changes, statuses and patches."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.every_kind import JSON, KINDS, MERGE
from tests.differential.scripts.manifests import Manifest, container, job, metadata, pod_spec
from tests.differential.scripts.parts import outcome

_STRATEGIC: Final = "application/strategic-merge-patch+json"
_TEMPLATE: Final = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container()]}}
_IMAGES: Final = (
    *("a", "a:latest", "a:1", "a:", "h:5000/a", "h:5000/a:latest", "a@sha256:" + "0" * 64),
    "a:latest@sha256:" + "0" * 64,
)
_TIMES: Final = (
    *("2020-01-01T00:00:00Z", "2020-01-01T00:00:00+23:59", "2020-01-01T00:00:00+24:00"),
    *("2020-01-01T00:00:00+00:60", "2020-01-01T00:00:00+25:00", "2020-01-01T00:00:00-24:61"),
    *("2020-01-01T00:00:00Zx", "2020-01-01T00:00:00+01:00x", "2020-01-01T00:00:00", ""),
    *(
        "2020-01-01T24:00:00Z",
        "2020-01-01T00:60:00Z",
        "2020-01-01T00:00:60Z",
        "2020-13-01T00:00:00Z",
    ),
)
_INDEXES: Final = (
    *(
        "0",
        "0-2",
        "1-1",
        "2-1",
        "0,0",
        "0-",
        "-1",
        "a",
        "0,a",
        "0-a",
        "٣",
        "0-2,2",
        "0,2",
        "2,0",
        "",
    ),
    *("3", "0-3", "0,1-2", "0 ", " 0", "0,", "0--1", "00", "01-2"),
)
_MANAGERS: Final = (
    *(
        "a/",
        "/b",
        "a/b/c",
        "x.y/z",
        "a",
        "",
        "kubernetes.io/job-controller",
        "a/b?",
        "A/b",
        "a_b/c",
    ),
    *("a/" + "b" * 61, "a/" + "b" * 62),
)


def _of(kind: str, name: str = "a", **fields: Any) -> Manifest:
    return {
        "apiVersion": KINDS[kind].api_version,
        "kind": kind,
        "metadata": metadata(name),
        **fields,
    }


def _workload(kind: str, **spec: Any) -> Manifest:
    selector = {"matchLabels": {"app": "a"}}
    return _of(kind, spec={"replicas": 0, "selector": selector, "template": _TEMPLATE, **spec})


def _pod(name: str = "a", **spec: Any) -> Manifest:
    return _of("Pod", name, spec=pod_spec(schedulerName="nobody", **spec))


def _new_objects() -> list[Manifest]:
    hook = {
        "name": "w.assay.dev",
        "clientConfig": {"url": "https://127.0.0.1:1"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
    claim = {"resources": {"requests": {"storage": "1Gi"}}}
    huge = "hugepages-2Mi"
    indexed = {"completionMode": "Indexed", "completions": 3}
    return [
        *(_pod(containers=[container(image=it)]) for it in _IMAGES),
        *(_pod(containers=[container(image=it, imagePullPolicy="")]) for it in ("a", "a:1")),
        *(
            _pod(**each)
            for each in (
                {"serviceAccountName": "default"},
                {"serviceAccount": "default"},
                {"serviceAccount": "other", "serviceAccountName": "default"},
                {"terminationGracePeriodSeconds": -1},
                {"dnsPolicy": ""},
                {"dnsPolicy": "ClusterFirstWithHostNet"},
                {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.1.1.1"]}},
                {"priority": 0},
                {"priority": 1},
                {"preemptionPolicy": "Never"},
                {"preemptionPolicy": "PreemptLowerPriority"},
                {"priorityClassName": "system-cluster-critical"},
                {"priorityClassName": "system-node-critical"},
                {"tolerations": [{"key": "", "operator": "Exists", "effect": ""}]},
                {"tolerations": [{"operator": "Exists", "tolerationSeconds": 1}]},
                {
                    "tolerations": [
                        {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
                    ]
                },
                {
                    "tolerations": [
                        {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": ""}
                    ]
                },
                {
                    "tolerations": [
                        {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute", "value": "x"}
                    ]
                },
                {"overhead": {"cpu": "1"}},
                {"schedulingGates": [{"name": "a"}, {"name": "a"}]},
                {"nodeName": "n", "schedulingGates": [{"name": "a"}]},
            )
        ),
        *(
            _pod(containers=[container(terminationMessagePolicy=it)])
            for it in ("", "File", "FallbackToLogsOnError", "x")
        ),
        *(
            _pod(containers=[container(resources={"requests": requests, "limits": limits})])
            for requests, limits in (
                ({huge: "2Mi"}, {huge: "2Mi"}),
                ({huge: "2Mi"}, {huge: "4Mi"}),
                ({}, {huge: "4Mi"}),
                ({huge: "2Mi"}, {}),
                ({"cpu": "2"}, {"cpu": "1"}),
                ({"cpu": "1"}, {"cpu": "1"}),
                ({"example.org/x": "1"}, {"example.org/x": "2"}),
                ({"example.org/x": "1500m"}, {"example.org/x": "1500m"}),
            )
        ),
        *(job("a", managedBy=it, suspend=True) for it in _MANAGERS),
        *(
            job("a", suspend=True, **indexed, successPolicy={"rules": [{"succeededIndexes": it}]})
            for it in _INDEXES
        ),
        *(
            job("a", suspend=True, **indexed, successPolicy={"rules": [{"succeededCount": it}]})
            for it in (0, 1, 3, 4, -1)
        ),
        *(
            job(
                "a",
                suspend=True,
                podFailurePolicy={
                    "rules": [
                        {"action": "Ignore", "onPodConditions": [{"type": "X", "status": status}]}
                    ]
                },
            )
            for status in ("True", "False", "Unknown", "", "x")
        ),
        *(
            _workload("Deployment", strategy={"rollingUpdate": rolling})
            for rolling in (
                *({"maxUnavailable": it} for it in ("100%", "101%", "%", "1%%", "0%", -1, 0, "5")),
                *({"maxSurge": it} for it in ("100%", "101%", "200%", "-1%", "0%", -1)),
                {"maxSurge": 0, "maxUnavailable": 0},
                {"maxSurge": "0%", "maxUnavailable": 1},
            )
        ),
        *(
            _workload("Deployment", minReadySeconds=ready, progressDeadlineSeconds=progress)
            for ready, progress in ((5, 5), (5, 6), (0, 0), (0, 1), (None, 1), (600, None))
        ),
        *(
            _workload("StatefulSet", serviceName="s", volumeClaimTemplates=[claims])
            for claims in (
                {"metadata": {"name": "c"}, "spec": {**claim, "accessModes": []}},
                {"metadata": {"name": "c"}},
            )
        ),
        *(
            _of("PersistentVolumeClaim", spec={**claim, "accessModes": modes, **more})
            for modes, more in (
                *(([it], {}) for it in ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod", "x")),
                (["ReadWriteOncePod", "ReadWriteOnce"], {}),
                ([], {}),
                (["ReadWriteOnce"], {"volumeMode": "Block"}),
                (["ReadWriteOnce"], {"volumeMode": "x"}),
            )
        ),
        *(
            _of("ResourceQuota", spec={"hard": {name: "1"}, "scopes": scopes})
            for scopes, name in (
                (["BestEffort"], "pods"),
                (["BestEffort"], "cpu"),
                (["NotBestEffort"], "memory"),
                (["Terminating"], "limits.memory"),
                (["CrossNamespacePodAffinity"], "pods"),
                (["PriorityClass"], "requests.memory"),
                (["VolumeAttributesClass"], "persistentvolumeclaims"),
                (["BestEffort", "NotBestEffort"], "pods"),
                (["Terminating", "NotTerminating"], "pods"),
                (["Terminating", "BestEffort"], "pods"),
                (["Terminating"], "services"),
                (["x"], "pods"),
            )
        ),
        *(
            _of("LimitRange", spec={"limits": [{"type": "Container", **limit}]})
            for limit in (
                {"default": {huge: "4Mi"}, "defaultRequest": {huge: "2Mi"}},
                {"default": {huge: "4Mi"}, "defaultRequest": {huge: "4Mi"}},
                {"default": {huge: "4Mi"}},
                {"max": {"cpu": "1"}, "min": {"cpu": "1"}},
                {"max": {"cpu": "1"}, "min": {"cpu": "2"}},
                {"maxLimitRequestRatio": {"cpu": "1"}},
                {"maxLimitRequestRatio": {"cpu": "900m"}},
                {"maxLimitRequestRatio": {"cpu": "2"}, "max": {"cpu": "2"}, "min": {"cpu": "1"}},
                {"maxLimitRequestRatio": {"cpu": "3"}, "max": {"cpu": "2"}, "min": {"cpu": "1"}},
            )
        ),
        *(_of("LimitRange", spec={"limits": [{"type": it}, {"type": it}]}) for it in ("Pod", "")),
        *(
            _of("ConfigMap", data={key: "x"})
            for key in (".", "..", "..a", "...", "a/b", "", "a" * 253, "a" * 254, ".a", "-", "_")
        ),
        *(
            _of("Role", name, rules=[])
            for name in (".", "..", "a:b", "A", "a/b", "a%b", "..a", "a b")
        ),
        *(
            _of("Role", rules=[each])
            for each in (
                {"verbs": ["get"]},
                {"verbs": ["get"], "apiGroups": [""]},
                {"verbs": ["get"], "resources": ["pods"]},
                {"verbs": ["get"], "nonResourceURLs": ["/x"]},
                {"verbs": [], "apiGroups": [""], "resources": ["pods"]},
            )
        ),
        *(
            _of("ClusterRole", rules=[{"verbs": ["get"], "nonResourceURLs": ["/x"], **each}])
            for each in (
                {},
                {"apiGroups": [""]},
                {"resources": ["pods"]},
                {"resourceNames": ["a"]},
                {"apiGroups": [""], "resources": ["pods"]},
            )
        ),
        *(_of("Lease", spec={"renewTime": it}) for it in _TIMES),
        *(
            _of("Lease", spec=each)
            for each in (
                {"leaseDurationSeconds": 0},
                {"leaseDurationSeconds": 1},
                {"leaseTransitions": -1},
                {"leaseTransitions": 0},
            )
        ),
        *(_of("ControllerRevision", data={"a": 1}, revision=it) for it in (-1, 0, 1)),
        *(_of("PriorityClass", value=it) for it in (10**9, 10**9 + 1, -(2**31), 2**31 - 1)),
        *(_of("PriorityClass", it, value=1) for it in ("system-a", "A")),
        *(
            _of("Service", spec={"ports": [{"port": 80, **port}], "clusterIP": "None"})
            for port in (
                {},
                {"port": 0},
                {"port": 65535},
                {"port": 65536},
                {"targetPort": 0},
                {"targetPort": 65536},
                {"targetPort": "http"},
                {"protocol": "SCTP"},
                {"protocol": "x"},
            )
        ),
        *(
            _of("Service", spec={"ports": ports, "clusterIP": "None"})
            for ports in (
                [],
                [{"port": 1}, {"port": 2}],
                [{"port": 1, "name": "a"}, {"port": 1, "name": "b", "protocol": "UDP"}],
            )
        ),
        *(
            _of("Service", spec={"type": kind, **more})
            for kind, more in (
                ("ExternalName", {"externalName": "a.b"}),
                ("x", {"ports": [{"port": 1}], "clusterIP": "None"}),
            )
        ),
        *(
            _of("PodDisruptionBudget", spec=each)
            for each in (
                {"minAvailable": 1, "maxUnavailable": 1},
                {"minAvailable": -1},
                {"minAvailable": "101%"},
                {"minAvailable": "100%"},
                {"minAvailable": "x"},
                {"maxUnavailable": 0, "unhealthyPodEvictionPolicy": "IfHealthyBudget"},
                {"maxUnavailable": 0, "unhealthyPodEvictionPolicy": "x"},
                {},
            )
        ),
        *(
            _of("ValidatingWebhookConfiguration", webhooks=[{**hook, "rules": [{**rule, **each}]}])
            for each in (
                *({"operations": [it]} for it in ("CONNECT", "DELETE", "UPDATE", "*", "x", "")),
                {"operations": []},
                {"operations": ["*", "CREATE"]},
                {"operations": ["CREATE"], "scope": "x"},
                {"operations": ["CREATE"], "resources": ["*/*", "a"]},
                {"operations": ["CREATE"], "resources": ["pods", "pods/*"]},
                {"operations": ["CREATE"], "resources": ["", "*"]},
            )
        ),
        *(
            _of("ValidatingWebhookConfiguration", webhooks=[{**hook, "clientConfig": {"url": it}}])
            for it in (
                *("https://a", "https://", "http://a", "https://a:0", "https://[a"),
                *("https://a/?", "https://a/#", "https://@a"),
            )
        ),
        *(
            _of("RuntimeClass", handler=handler)
            for handler in ("a", "A", "a.b", "", "a" * 63, "a" * 64)
        ),
    ]


@script("Fields of new objects are completed, or refused, at their bounds.", ["4.16"])
def edges_of_new_objects(c: Dialogue) -> None:
    for obj in _new_objects():
        kind = KINDS[obj["kind"]]
        path = f"{kind.path(c.namespace if kind.namespaced else '')}?dryRun=All"
        told = {name: it for name, it in obj.items() if name not in ("apiVersion", "kind")}
        label = f"{kind.kind} {told}".replace("'", "")
        c.note(label[:400], outcome(c.consult("POST", path, obj)))


_NO_EXECUTE: Final = {"key": "a", "operator": "Exists", "effect": "NoExecute"}
_STORED: Final[tuple[tuple[Manifest, tuple[Any, ...]], ...]] = (
    (
        _pod(
            "gated",
            nodeSelector={"a": "b"},
            schedulingGates=[{"name": "x"}, {"name": "y"}],
            tolerations=[_NO_EXECUTE],
        ),
        (
            *({"nodeSelector": it} for it in ({"c": "d"}, {"a": "c"}, {"a": None})),
            *({"schedulingGates": it} for it in ([], [{"name": "y"}], [{"name": "z"}], None)),
            {"schedulingGates": [{"name": "y"}], "nodeSelector": {"e": "f"}},
        ),
    ),
    (
        _pod("bound", tolerations=[_NO_EXECUTE], activeDeadlineSeconds=9),
        (
            *(
                {"tolerations": it}
                for it in (
                    None,
                    [],
                    [{**_NO_EXECUTE, "tolerationSeconds": 3}],
                    [_NO_EXECUTE, {**_NO_EXECUTE, "key": "b"}],
                    [{**_NO_EXECUTE, "key": "b"}],
                )
            ),
            *({"activeDeadlineSeconds": it} for it in (8, 10, None, 0)),
            *({"terminationGracePeriodSeconds": it} for it in (1, 30, 31, None)),
            {"nodeSelector": {"a": "b"}},
            {"containers": [container(image="b")]},
            {"containers": [container(image="")]},
            {"containers": [container(command=["a"])]},
            {"initContainers": [container()]},
        ),
    ),
    (
        _of("Service", "s", spec={"ports": [{"port": 80}], "clusterIP": "None"}),
        (
            {"clusterIP": None},
            {"clusterIP": ""},
            {"ports": None},
        ),
    ),
    (
        _workload("StatefulSet", serviceName="s"),
        (
            {"minReadySeconds": 3},
            {"revisionHistoryLimit": 3},
            {"podManagementPolicy": "Parallel"},
            {"serviceName": "t"},
            {"ordinals": {"start": 1}},
            {"selector": {"matchLabels": {"app": "b"}}},
            {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Delete"}},
            {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None}},
        ),
    ),
    (
        job("j", managedBy="a.b/c", suspend=True),
        (
            {"template": {"spec": {"nodeSelector": {"a": "b"}}}},
            {"template": {"spec": {"restartPolicy": "OnFailure"}}},
            {"template": {"metadata": {"labels": {"a": "b"}}}},
            {"template": {"metadata": {"annotations": {"a": "b"}}}},
            {"suspend": False, "template": {"spec": {"nodeSelector": {"a": "b"}}}},
            {"template": {"spec": {"affinity": {}}}},
            {"template": {"spec": {"affinity": {"podAffinity": {}}}}},
            {"template": {"spec": {"affinity": {"nodeAffinity": {}}}}},
            {"parallelism": 0},
            {"completions": 3},
            {"managedBy": "d.e/f"},
            {"backoffLimit": 0},
        ),
    ),
)


@script("Changes of stored objects are accepted, or refused, at their bounds.", ["4.16"])
def edges_of_changes(c: Dialogue) -> None:
    for obj, changes in _STORED:
        kind, name = KINDS[obj["kind"]], obj["metadata"]["name"]
        c.note(f"create {name}", outcome(c.consult("POST", kind.path(c.namespace), obj)))
        path = f"{kind.path(c.namespace, name)}?dryRun=All"
        for change in changes:
            for how in (MERGE, _STRATEGIC):
                answer = c.consult("PATCH", path, {"spec": change}, content_type=how)
                c.note(f"{name} {change} ({how[12:17]})", outcome(answer))


_NOW: Final = "2024-01-01T00:00:00Z"
_LATER: Final = "2024-01-01T00:00:01Z"


def _conditions(*types: str) -> list[dict[str, str]]:
    return [{"type": type_, "status": "True"} for type_ in types]


_DONE: Final = {
    "startTime": _NOW,
    "completionTime": _LATER,
    "conditions": _conditions("SuccessCriteriaMet", "Complete"),
}
_LOST: Final = {"startTime": _NOW, "conditions": _conditions("FailureTarget", "Failed")}


@script("Statuses of Jobs contradict themselves, or follow one another, or do not.", ["5.1"])
def edges_of_job_statuses(c: Dialogue) -> None:
    statuses: tuple[dict[str, Any], ...] = (
        {},
        {"active": 1, "ready": 1, "startTime": _NOW},
        {"active": 0, "ready": 1},
        {"active": -1},
        {"ready": None, "active": 1},
        _DONE,
        {**_DONE, "startTime": None},
        {**_DONE, "completionTime": None},
        {**_DONE, "completionTime": _NOW},
        {**_DONE, "startTime": _LATER, "completionTime": _NOW},
        {**_DONE, "conditions": _conditions("Complete")},
        {**_DONE, "conditions": _conditions("SuccessCriteriaMet", "Complete", "Failed")},
        {**_DONE, "conditions": _conditions("SuccessCriteriaMet", "Complete", "FailureTarget")},
        {**_DONE, "conditions": _conditions("SuccessCriteriaMet")},
        {**_DONE, "active": 1},
        {**_DONE, "terminating": 1},
        {**_DONE, "succeeded": 1, "completedIndexes": "0"},
        {**_DONE, "uncountedTerminatedPods": {"succeeded": ["a"]}},
        _LOST,
        {**_LOST, "conditions": _conditions("Failed")},
        {**_LOST, "conditions": _conditions("FailureTarget")},
        {**_LOST, "conditions": _conditions("FailureTarget", "Failed", "SuccessCriteriaMet")},
        {**_LOST, "completionTime": _LATER},
        {**_LOST, "startTime": None},
        {**_LOST, "failedIndexes": "0"},
        {"uncountedTerminatedPods": {"succeeded": ["a", "a"]}},
        {"uncountedTerminatedPods": {"succeeded": ["a"], "failed": ["a", ""]}},
        {"completedIndexes": "0-1", "failedIndexes": "1-2"},
        {"completedIndexes": "0-1", "failedIndexes": "2"},
        {"completedIndexes": "x"},
        {"completedIndexes": "0-9"},
        {"failedIndexes": ""},
    )
    per_index = {"completionMode": "Indexed", "completions": 3, "backoffLimitPerIndex": 1}
    for name, spec in (
        ("plain", {}),
        ("indexed", {"completionMode": "Indexed", "completions": 3, "parallelism": 3}),
        ("per-index", per_index),
        ("none", {"completions": 0}),
    ):
        obj = job(name, managedBy="a.b/c", suspend=True, **spec)
        path = KINDS["Job"].path(c.namespace)
        made = c.consult("POST", path, obj).body
        at = f"{path}/{name}/status"
        for number, stored in enumerate((None, {"active": 1, "startTime": _NOW}, _DONE, _LOST)):
            for place, status in enumerate(statuses):
                new = {**made, "status": status}
                answer = c.consult("PUT", f"{at}?dryRun=All", new)
                c.note(f"{name} {number} {place}", outcome(answer))
            if stored is None:
                continue
            if number == 3 and name != "plain":
                break
            answer = c.consult("PUT", at, {**made, "status": stored})
            c.note(f"{name} is {stored}", outcome(answer))
            made = c.consult("GET", f"{path}/{name}").body


@script("Patches at the edges of their languages are carried out, or refused.", ["4.16"])
def edges_of_patches(c: Dialogue) -> None:
    obj = _pod(
        "p",
        containers=[container(env=[{"name": "A", "value": "a"}, {"name": "B", "value": "b"}])],
        tolerations=[_NO_EXECUTE],
    )
    obj["metadata"] |= {"labels": {"a/b": "c", "d~e": "f"}, "finalizers": ["a.b/c", "a.b/d"]}
    c.consult("POST", KINDS["Pod"].path(c.namespace), obj)
    path = f"{KINDS['Pod'].path(c.namespace, 'p')}?dryRun=All"
    main: dict[str, Any] = {"name": "main"}
    strategic: tuple[dict[str, Any], ...] = (
        *({"spec": {"containers": [{"$patch": it, **main}]}} for it in ("merge", "delete", "x")),
        {"spec": {"containers": [{"$patch": "replace"}, {**main, "image": "b"}]}},
        {"spec": {"containers": [{"image": "b"}]}},
        {"spec": {"containers": {"name": "main"}}},
        {"spec": {"containers": ["main"]}},
        *({"metadata": {"labels": {"$patch": it, "x": "y"}}} for it in ("merge", "replace", "x")),
        {"metadata": {"labels": {"$patch": "delete"}}},
        {"metadata": {"labels": {"$retainKeys": ["x"], "x": "y"}}},
        {"metadata": {"labels": {"$retainKeys": ["a/b"], "x": "y"}}},
        {"metadata": {"labels": {"$retainKeys": "x"}}},
        *(
            {"metadata": {"$deleteFromPrimitiveList/finalizers": it}}
            for it in (["a.b/c"], ["x"], "a.b/c", [], None)
        ),
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a.b/c"], "finalizers": ["a.b/e"]}},
        {"metadata": {"$setElementOrder/finalizers": ["a.b/d", "a.b/c"]}},
        {
            "metadata": {
                "$setElementOrder/finalizers": ["a.b/d", "a.b/e", "a.b/c"],
                "finalizers": ["a.b/e"],
            }
        },
        {"spec": {"$setElementOrder/containers": [main]}},
        {
            "spec": {
                "$setElementOrder/containers": [main],
                "containers": [{**main, "image": "b"}],
            }
        },
        {"spec": {"$setElementOrder/containers": [{}], "containers": [main]}},
        {"spec": {"$setElementOrder/containers": "x", "containers": [main]}},
        {"$patch": "x"},
        {"$patch": "merge"},
        {"metadata": None},
        {"metadata": []},
        {"metadata": "x"},
        {"metadata": 1},
        {"spec": {"$other/containers": [1]}},
        {"spec": {"$other/containers": "x"}},
    )
    for body in strategic:
        answer = c.consult("PATCH", path, body, content_type=_STRATEGIC)
        told = [answer.body["metadata"].get(it) for it in ("labels", "finalizers")]
        c.note(f"strategic {body}", told if answer.code < 300 else outcome(answer))
    for body in strategic[-8:]:
        c.note(f"merge {body}", outcome(c.consult("PATCH", path, body, content_type=MERGE)))
    label = "/metadata/labels/"
    operations: tuple[dict[str, Any], ...] = (
        *(
            {"op": "replace", "path": f"{label}{it}", "value": "x"}
            for it in ("a~1b", "d~0e", "z", "")
        ),
        *({"op": "remove", "path": f"{label}{it}"} for it in ("a~1b", "z", "a/b", "a~2b")),
        *(
            {"op": "add", "path": f"/metadata/finalizers/{it}", "value": "a.b/e"}
            for it in (
                "0",
                "1",
                "2",
                "3",
                "-",
                "-1",
                "01",
                "²",
                "x",
                "",
                "1e0",
                " 1",
                "99999999999",
            )
        ),
        *(
            {"op": "remove", "path": f"/metadata/finalizers/{it}"}
            for it in ("0", "-", "-1", "2", "-2")
        ),
        *(
            {"op": "test", "path": "/metadata/finalizers", "value": it}
            for it in (["a.b/c", "a.b/d"], ["a.b/d", "a.b/c"], ["a.b/c"], None, "x")
        ),
        *(
            {"op": "test", "path": "/metadata/labels", "value": it}
            for it in ({"a/b": "c", "d~e": "f"}, {"a/b": "c"}, {"a/b": "c", "d~e": "x"}, {})
        ),
        {"op": "test", "path": "/metadata/none", "value": None},
        {"op": "move", "from": f"{label}a~1b", "path": f"{label}x"},
        {"op": "move", "from": f"{label}z", "path": f"{label}x"},
        {"op": "move", "from": "/metadata", "path": "/metadata/labels"},
        {"op": "copy", "from": f"{label}a~1b", "path": f"{label}x"},
        {"op": "copy", "from": "/metadata/finalizers/0", "path": "/metadata/finalizers/-"},
        {"op": "x", "path": label},
        {"op": "add", "path": "metadata", "value": {}},
        {"op": "add", "path": f"{label}x"},
        {"op": "add", "path": "", "value": 1},
        {"path": label},
    )
    for operation in operations:
        answer = c.consult("PATCH", path, [operation], content_type=JSON)
        told = [answer.body.get("metadata", {}).get(it) for it in ("labels", "finalizers")]
        c.note(f"json {operation}", told if answer.code < 300 else outcome(answer))
    release = {"metadata": {"finalizers": None}}
    c.consult("PATCH", path.partition("?")[0], release, content_type=MERGE)


_ABOUT: Final = {"kind": "Pod", "name": "p", "apiVersion": "v1"}
_NEW: Final = {
    "eventTime": "2024-01-01T00:00:00.000000Z",
    "reportingController": "a.b/c",
    "reportingInstance": "i",
    "action": "A",
    "reason": "R",
    "type": "Normal",
    "note": "n",
}


@script("Events of both groups agree with their namespace, and say all, or are refused.", ["4.16"])
def edges_of_events(c: Dialogue) -> None:
    own = c.namespace
    core: tuple[tuple[str, dict[str, Any]], ...] = tuple(
        (namespace, {"involvedObject": {**_ABOUT, "namespace": about}, **more})
        for namespace in (own, "default", "kube-system")
        for about in ("", own, "default", "kube-system")
        for more in ({}, {"eventTime": _NEW["eventTime"]})
    )
    for namespace, fields in core:
        obj = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, **fields}
        path = f"/api/v1/namespaces/{namespace}/events?dryRun=All"
        c.note(f"core in {namespace}: {fields}", outcome(c.consult("POST", path, obj)))
    changes: tuple[dict[str, Any], ...] = (
        {},
        *({"type": it} for it in ("Warning", "Other", "")),
        *({"reportingController": it} for it in ("", "-", "a" * 129)),
        *({"reportingInstance": it} for it in ("", "a" * 128, "a" * 129)),
        *({"action": it} for it in ("", "a" * 128, "a" * 129)),
        *({"reason": it} for it in ("", "a" * 128, "a" * 129)),
        *({"note": it} for it in ("", "a" * 1024, "a" * 1025)),
        {"eventTime": None},
        {"deprecatedSource": {"component": "a"}},
        {"deprecatedSource": {"host": "a"}},
        {"deprecatedSource": {}},
        {"deprecatedCount": 1},
        {"deprecatedFirstTimestamp": "2024-01-01T00:00:00Z"},
        {"deprecatedLastTimestamp": "2024-01-01T00:00:00Z"},
        {"series": {"count": 2, "lastObservedTime": _NEW["eventTime"]}},
        {"series": {"count": 1, "lastObservedTime": _NEW["eventTime"]}},
        {"series": {"count": 2}},
        {"series": {}},
        {"regarding": {}},
        {"regarding": {**_ABOUT, "namespace": "other"}},
    )
    path = f"/apis/events.k8s.io/v1/namespaces/{own}/events"
    base = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "regarding": {**_ABOUT, "namespace": own},
        **_NEW,
    }
    for change in changes:
        label = str(change)[:60]
        answer = c.consult("POST", f"{path}?dryRun=All", {**base, **change})
        c.note(f"new: {label}", outcome(answer))
    c.consult("POST", path, base)
    for change in changes:
        answer = c.consult("PATCH", f"{path}/e?dryRun=All", change, content_type=MERGE)
        c.note(f"changed: {str(change)[:60]}", outcome(answer))


@script("A quota counts what its scopes say, until it is spent.", ["4.16"])
def edges_of_quotas(c: Dialogue) -> None:
    asked = {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}
    for number, (spec, pods) in enumerate(
        (
            ({"hard": {"pods": "0"}, "scopes": ["BestEffort"]}, ({}, asked)),
            ({"hard": {"pods": "0"}, "scopes": ["NotBestEffort"]}, ({}, asked)),
            ({"hard": {"pods": "0"}, "scopes": ["PriorityClass"]}, ({}, {"class": True})),
            ({"hard": {"pods": "0"}, "scopes": ["Terminating"]}, ({}, {"deadline": 9})),
            ({"hard": {"pods": "0"}, "scopes": ["NotTerminating"]}, ({}, {"deadline": 9})),
            (
                {"hard": {"pods": "0"}, "scopes": ["Terminating", "BestEffort"]},
                ({}, {"deadline": 9}),
            ),
            ({"hard": {"requests.cpu": "1"}}, (asked, {})),
            ({"hard": {"limits.cpu": "500m"}}, (asked, {})),
            ({"hard": {"cpu": "1"}}, (asked, {})),
            ({"hard": {"count/pods": "0"}}, ({},)),
            ({"hard": {"count/configmaps": "0", "configmaps": "0"}}, ({},)),
            ({"hard": {"memory": "1"}}, ({}, asked)),
            ({"hard": {}}, ({},)),
        )
    ):
        quota = _of("ResourceQuota", f"q{number}", spec=spec)
        path = KINDS["ResourceQuota"].path(c.namespace)
        c.consult("POST", path, quota)
        c.settle(0.7)
        for place, told in enumerate(pods):
            more: dict[str, Any] = {}
            if "class" in told:
                more["priorityClassName"] = "system-node-critical"
            if "deadline" in told:
                more["activeDeadlineSeconds"] = told["deadline"]
            resources = {"resources": told["resources"]} if "resources" in told else {}
            obj = _pod("p", containers=[container(**resources)], **more)
            answer = c.consult("POST", f"{KINDS['Pod'].path(c.namespace)}?dryRun=All", obj)
            c.note(f"{number} {place}", outcome(answer))
        made = _of("ConfigMap", "c")
        answer = c.consult("POST", f"{KINDS['ConfigMap'].path(c.namespace)}?dryRun=All", made)
        c.note(f"{number} of a ConfigMap", outcome(answer))
        c.consult("DELETE", f"{path}/q{number}")
        c.settle(0.7)
