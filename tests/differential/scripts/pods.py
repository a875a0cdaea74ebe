"""Pods: defaults and rules, binding, running, ending."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, has, phase, present
from tests.differential.script import script
from tests.differential.scripts.manifests import container, job, pod, unscheduled
from vocabulary.kinds import POD, PRIORITY_CLASS

HOLD = "tests.assay.dev/hold"


@script("A pod is bound, started and ready, and its status says so.", ["4.12"])
def pod_runs(c: Dialogue) -> None:
    first = c.create(pod("a"))
    c.until(POD, "a", condition("Ready"))
    c.watch(
        POD,
        condition("Ready"),
        name="a",
        since=first.revision,
        distinct=True,
        show=["spec.nodeName", "status.phase"],
    )


@script("Containers that end make a pod Succeeded or Failed, by their exit codes.", ["4.12", "5.5"])
def pod_ends(c: Dialogue) -> None:
    c.create(pod("good", {"exit": "0"}, restartPolicy="Never"), show=["spec.restartPolicy"])
    c.create(
        pod("bad", {"exit": "137", "reason": "OOMKilled"}, restartPolicy="Never"),
        show=["spec.restartPolicy"],
    )
    c.until(POD, "good", phase("Succeeded"), show=["status"])
    c.until(POD, "bad", phase("Failed"), show=["status"])


@script("Containers restart in place, and are counted.", ["5.4"])
def pod_restarts(c: Dialogue) -> None:
    crashing = {"exit": "1", "exit_times": "2", "restart_after": "20ms"}
    c.create(pod("a", crashing), show=["spec.restartPolicy"])
    c.until(
        POD,
        "a",
        condition("Ready") & has("status.containerStatuses.0.restartCount", 2),
        show=["status"],
    )


@script("The first restart is immediate, the second delayed.", ["5.4"])
def crash_loop(c: Dialogue) -> None:
    c.create(pod("a", {"exit": "1", "run_for": "10ms"}), show=["spec.restartPolicy"])
    waiting = has("status.containerStatuses.0.state.waiting.reason", "CrashLoopBackOff")
    c.until(
        POD,
        "a",
        has("status.containerStatuses.0.restartCount", 1) & waiting,
        within=8,
        show=["status"],
    )
    c.until(
        POD,
        "a",
        has("status.containerStatuses.0.restartCount", 2) & waiting,
        within=14,
        show=["status.phase"],
    )


@script("A pod that is held stays Pending with a reason: its image, its init containers.", ["4.12"])
def pod_held(c: Dialogue) -> None:
    c.create(pod("image", {"hold": "image"}), show=["status"])
    c.until(POD, "image", present("status.containerStatuses"), show=["status"])
    c.create(
        pod(
            "init",
            {"hold": "init"},
            initContainers=[{"name": "one", "image": "i"}, {"name": "two", "image": "i"}],
        ),
        show=["status"],
    )
    c.until(POD, "init", present("status.initContainerStatuses"), show=["status"])
    c.create(pod("pending", {"hold": "pending"}), show=["status"])
    c.until(POD, "pending", present("spec.nodeName"), show=["status", "spec.nodeName"])
    c.create(pod("notready", {"hold": "notready"}), show=["status"])
    c.until(POD, "notready", phase("Running"), show=["status"])


@script("An unschedulable pod reports it, and runs once it fits.", ["4.12"], exclusive=True)
def pod_unschedulable(c: Dialogue) -> None:
    c.create(pod("a", nodeSelector={"tests.assay.dev/there": "yes"}), show=["spec.nodeSelector"])
    c.until(POD, "a", condition("PodScheduled", "False"), show=["status"])
    big = container(
        resources={"requests": {"example.org/gpu": "1"}, "limits": {"example.org/gpu": "1"}}
    )
    c.create(pod("b", containers=[big]), show=["spec.containers"])
    c.until(POD, "b", condition("PodScheduled", "False"), show=["status"])
    c.create(
        pod("c", schedulingGates=[{"name": "example.org/gate"}]), show=["spec.schedulingGates"]
    )
    c.until(POD, "c", condition("PodScheduled", "False"), show=["status"])
    c.patch(POD, "c", {"spec": {"schedulingGates": None}}, show=["spec.schedulingGates"])
    c.until(POD, "c", condition("Ready"), show=["status.phase"])


@script("A pod is bound once, to the given node.", ["4.12"])
def binding(c: Dialogue) -> None:
    def bind(name: str, node: str, kind: str = "Node") -> None:
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name},
            "target": {"kind": kind, "name": node},
        }
        c.create_in_subresource(POD, name, "binding", body)

    c.create(unscheduled("a"), show=["spec.nodeName"])
    bind("a", "n0", "Pod")
    bind("a", "")
    bind("a", "n0")
    bind("a", "n0")
    bind("absent", "n0")
    c.until(POD, "a", condition("Ready"), show=["spec.nodeName", "status.conditions"])
    c.create(unscheduled("b", finalizers=[HOLD]), show=["spec.nodeName"])
    c.delete(POD, "b", show=["metadata.finalizers", "metadata.deletionTimestamp"])
    bind("b", "n0")


@script("Few fields of an existing pod can be changed.", ["4.12"])
def pod_mutability(c: Dialogue) -> None:
    c.create(unscheduled("a"), show=["metadata.name"])
    show = ["spec", "metadata.generation"]
    c.patch(
        POD,
        "a",
        {"spec": {"containers": [{"name": "main", "image": "example.org/other"}]}},
        "strategic",
        show=show,
    )
    c.patch(POD, "a", {"spec": {"activeDeadlineSeconds": 100}}, show=show)
    c.patch(POD, "a", {"spec": {"activeDeadlineSeconds": 200}}, show=show)
    c.patch(
        POD,
        "a",
        {"spec": {"tolerations": [{"key": "k", "operator": "Exists"}]}},
        "strategic",
        show=show,
    )
    c.patch(POD, "a", {"spec": {"terminationGracePeriodSeconds": 5}}, show=["metadata.name"])
    c.patch(POD, "a", {"spec": {"nodeName": "n0"}}, show=["metadata.name"])
    c.patch(POD, "a", {"spec": {"restartPolicy": "Never"}}, show=["metadata.name"])
    c.patch(
        POD,
        "a",
        {"spec": {"containers": [{"name": "two", "image": "x"}]}},
        "strategic",
        show=["metadata.name"],
    )


@script("An invalid pod is rejected, each error with its field.", ["4.12"])
def pod_validation(c: Dialogue) -> None:
    spec: dict[str, Any]
    for spec in (
        {"containers": []},
        {"containers": [{"name": "Bad_Name", "image": "x"}]},
        {"containers": [{"name": "main"}]},
        {"containers": [container(), container()]},
        {"restartPolicy": "Sometimes"},
        {"terminationGracePeriodSeconds": -1},
        {"activeDeadlineSeconds": 0},
        {"containers": [container(imagePullPolicy="Maybe")]},
        {"containers": [container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}})]},
        {"containers": [container(resources={"limits": {"cpu": "lots"}})]},
        {"containers": [container(volumeMounts=[{"name": "v", "mountPath": "/v"}])]},
        {"containers": [container(ports=[{"containerPort": 0}])]},
        {"containers": [container(env=[{"name": "", "value": "x"}])]},
        {"tolerations": [{"key": "k", "operator": "Maybe"}]},
        {"tolerations": [{"key": "k", "operator": "Exists", "value": "v"}]},
        {"tolerations": [{"key": "k", "effect": "NoSchedule", "tolerationSeconds": 5}]},
        {"nodeSelector": {"bad key!": "v"}},
        {"priorityClassName": "absent"},
        {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]},
        {"dnsPolicy": "Nope"},
    ):
        c.create(
            pod("a", None, schedulerName="nobody", **{"containers": [container()], **spec}),
            dry_run=True,
            show=["metadata.name"],
        )


@script("Each part of an invalid pod is rejected with its field.", ["4.12"])
def pod_parts_validation(c: Dialogue) -> None:
    volume = {"name": "v", "emptyDir": {}}
    spec: dict[str, Any]
    for spec in (
        {"containers": [{"image": "x"}]},
        {"containers": [container(name="")]},
        {"containers": [container(), container(name="b", image="")]},
        {"containers": [container(terminationMessagePolicy="Never")]},
        *(
            {"containers": [container(volumeMounts=[mount])], "volumes": [volume]}
            for mount in ({"mountPath": "/v"}, {"name": "v"}, {}, {"name": "w", "mountPath": ""})
        ),
        {
            "containers": [container(volumeMounts=[{"name": "v", "mountPath": "/v"}] * 2)],
            "volumes": [volume],
        },
        *(
            {"containers": [container(ports=[port])]}
            for port in (
                {},
                {"containerPort": -1},
                {"containerPort": 65535},
                {"containerPort": 65536, "protocol": "ICMP"},
                {"containerPort": 1, "protocol": "SCTP"},
            )
        ),
        {"containers": [container(env=[{"value": "x"}, {"name": "A", "value": "x"}])]},
        {"initContainers": [container(name="i"), container(name="i")]},
        {"initContainers": [container()]},
        {"initContainers": [{"image": "x"}, {"name": "Bad_Name"}]},
        {"tolerations": [{}]},
        {"tolerations": [{"operator": "Exists"}, {"operator": "Equal", "value": "v"}]},
        {"tolerations": [{"key": "k", "effect": "NoExecute", "tolerationSeconds": 5}]},
        {"tolerations": [{"key": "k", "tolerationSeconds": 5}]},
        {"volumes": [{"emptyDir": {}}]},
        {"volumes": [{"name": "Bad_Name", "emptyDir": {}}]},
        {"activeDeadlineSeconds": 2**31},
        {"activeDeadlineSeconds": 2**31 - 1},
        {"restartPolicy": "Always", "dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.1.1.1"]}},
        {"nodeName": "Bad_Name"},
        {"runtimeClassName": "Bad_Name"},
        {"nodeName": "n", "schedulingGates": [{"name": "a.b/c"}]},
    ):
        c.create(
            pod("a", None, schedulerName="nobody", **{"containers": [container()], **spec}),
            dry_run=True,
            show=["metadata.name"],
        )


@script("For resources that cannot be overcommitted, requests must equal limits.", ["4.12"])
def extended_resources(c: Dialogue) -> None:
    gpu = "nvidia.com/gpu"
    for name, resources in {
        "equal": {"requests": {gpu: "1"}, "limits": {gpu: "1"}},
        "limit": {"limits": {gpu: "1"}},
        "alike": {"requests": {gpu: "1"}, "limits": {gpu: 1}},
        "none": {"requests": {gpu: "0"}, "limits": {gpu: "0"}},
        "less": {"requests": {gpu: "1"}, "limits": {gpu: "2"}},
        "more": {"requests": {gpu: "2"}, "limits": {gpu: "1"}},
        "request": {"requests": {gpu: "1"}},
        "part": {"limits": {gpu: "500m"}},
        "negative": {"limits": {gpu: "-1"}},
        "parts": {"requests": {gpu: "1500m"}, "limits": {gpu: "2500m"}},
        "own-domain": {"requests": {"example.kubernetes.io/thing": "500m"}},
        "nameless": {"limits": {"example.org/": "1"}},
        "unknown": {"limits": {"gpu": "1"}},
        "requests": {"limits": {"requests.nvidia.com/gpu": "1"}},
        "negative-cpu": {"requests": {"cpu": "-1"}},
        "more-cpu": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
    }.items():
        only = [container(resources=resources)]
        c.create(pod(name, schedulerName="nobody", containers=only), show=["spec.containers"])
    request = container(resources={"requests": {gpu: "1"}})
    c.create(
        pod("init", schedulerName="nobody", initContainers=[{**request, "name": "first"}]),
        show=["spec.initContainers"],
    )
    c.create(job("job", pod={"containers": [request]}), show=["spec.template.spec.containers"])


@script("A priority class sets the priority of its pods.", ["4.12"])
def priorities(c: Dialogue) -> None:
    def a_class(name: str, value: int, **fields: Any) -> dict[str, Any]:
        return {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            **fields,
        }

    show = ["spec.priority", "spec.priorityClassName", "spec.preemptionPolicy"]
    c.create(a_class("differential-high", 1000))
    c.create(a_class("differential-never", 10, preemptionPolicy="Never"))
    c.create(unscheduled("a"), show=show)
    for name in ("differential-high", "differential-never", "system-node-critical"):
        obj = unscheduled(f"a-{name}")
        obj["spec"]["priorityClassName"] = name
        c.create(obj, show=show)
    wrong = unscheduled("wrong")
    wrong["spec"] |= {"priorityClassName": "differential-high", "priority": 7}
    c.create(wrong)
    c.create(a_class("differential-too-high", 2_000_000_000))
    c.create(a_class("system-mine", 1))
    c.patch(PRIORITY_CLASS, "differential-high", {"value": 5})
    for name in ("differential-high", "differential-never"):
        c.delete(PRIORITY_CLASS, name)


@script("The status of a pod is written only through its subresource.", ["4.12", "4.16"])
def pod_status(c: Dialogue) -> None:
    c.create(unscheduled("a"), show=["status"])
    c.patch(
        POD,
        "a",
        {"status": {"phase": "Failed", "reason": "Evicted", "message": "why"}},
        subresource="status",
        show=["status"],
    )
    c.patch(POD, "a", {"status": {"phase": "Sideways"}}, subresource="status", show=["status"])
    c.patch(
        POD,
        "a",
        {"status": {"conditions": [{"type": "X", "status": "Maybe"}]}},
        subresource="status",
        show=["status"],
    )
    c.patch(
        POD,
        "a",
        {
            "status": {
                "containerStatuses": [
                    {
                        "name": "main",
                        "ready": False,
                        "restartCount": 0,
                        "image": "i",
                        "imageID": "",
                        "state": {"terminated": {"exitCode": 3}},
                    }
                ]
            }
        },
        subresource="status",
        show=["status"],
    )
    c.patch(
        POD,
        "a",
        {
            "status": {
                "containerStatuses": [
                    {
                        "name": "main",
                        "ready": True,
                        "restartCount": 1,
                        "image": "i",
                        "imageID": "",
                        "state": {"running": {}},
                    }
                ]
            }
        },
        subresource="status",
        show=["status"],
    )


@script("A binding or an eviction is of the pod that it names, and says of which one.", ["4.12"])
def bindings_and_evictions(c: Dialogue) -> None:
    for name in ("a", "b", "gated"):
        gates = {"schedulingGates": [{"name": "example.org/gate"}]} if name == "gated" else {}
        c.create(pod(name, schedulerName="nobody", **gates), show=["metadata.name"])

    def bind(label: str, name: str, metadata: dict[str, Any], target: dict[str, Any]) -> None:
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target}
        path = POD.path(c.namespace, name, "binding")
        c.raw("POST", path, body, label=f"bind {label}")

    node = {"kind": "Node", "name": "n0"}
    other = "01234567-89ab-4def-8123-456789abcdef"
    bind("of another uid", "a", {"name": "a", "uid": other}, node)
    bind("named otherwise", "a", {"name": "b"}, node)
    bind("to a kind", "a", {"name": "a"}, {"kind": "Pod", "name": "n0"})
    bind("to nothing", "a", {"name": "a"}, {})
    bind("of one that is gated", "gated", {"name": "gated"}, node)
    bind("of none", "none", {"name": "none"}, node)
    more = {"annotations": {"a": "b"}, "labels": {"l": "m"}}
    bind("with labels", "a", {"name": "a", **more}, {"name": "n0"})
    c.get(POD, "a", show=["metadata.annotations", "metadata.labels", "spec.nodeName"])
    bind("again", "a", {"name": "a"}, node)

    def evict(label: str, name: str, metadata: dict[str, Any], **more: Any) -> None:
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata, **more}
        c.raw("POST", POD.path(c.namespace, name, "eviction"), body, label=f"evict {label}")

    evict("named otherwise", "b", {"name": "a"})
    evict("of none", "none", {"name": "none"})
    evict("of another uid", "b", {"name": "b"}, deleteOptions={"preconditions": {"uid": other}})
    held = {"metadata": {"finalizers": ["example.org/held"]}}
    c.patch(POD, "b", held, show=["metadata.finalizers"])
    evict("of a held one", "b", {"name": "b"})
    c.get(POD, "b", show=["status.conditions", "metadata.deletionGracePeriodSeconds"])
    evict("of a held one again", "b", {"name": "b"})
    bind("of one that ends", "b", {"name": "b"}, node)
    c.get(POD, "b", show=["status.conditions", "metadata.deletionGracePeriodSeconds"])
    c.patch(POD, "b", {"metadata": {"finalizers": None}}, show=["metadata.finalizers"])
    c.until_gone(POD, "b")
