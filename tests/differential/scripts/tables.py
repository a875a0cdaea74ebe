"""Tables: what `kubectl get` prints."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.exchange import TABLE
from tests.differential.plane import GADGET, WIDGET
from tests.differential.predicates import condition, has, phase
from tests.differential.script import script
from tests.differential.scripts.manifests import (
    SUCCEEDS,
    config_map,
    fails,
    gadget,
    job,
    pod,
    widget,
)
from tests.differential.scripts.workloads import workload
from vocabulary.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    EVENT,
    JOB,
    NAMESPACE,
    NODE,
    POD,
    REPLICA_SET,
    RESOURCE_QUOTA,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
)

NAME = ["metadata.name"]


@script("Pods are printed with the state of their containers.", ["4.16"])
def pod_table(c: Dialogue) -> None:
    c.create(pod("bad", {"exit": "1"}, restartPolicy="Never"), show=NAME)
    c.create(pod("good", {"exit": "0"}, restartPolicy="Never"), show=NAME)
    c.create(pod("gated", schedulingGates=[{"name": "example.org/gate"}]), show=NAME)
    c.create(pod("image", {"hold": "image"}), show=NAME)
    c.create(pod("running"), show=NAME)
    c.create(pod("stuck", {"stuck_terminating": "true"}), show=NAME)
    c.create(pod("unscheduled", schedulerName="nobody"), show=NAME)
    c.until(POD, "bad", phase("Failed"), show=NAME)
    c.until(POD, "good", phase("Succeeded"), show=NAME)
    c.until(
        POD,
        "image",
        has("status.containerStatuses.0.state.waiting.reason", "ImagePullBackOff"),
        show=NAME,
    )
    c.until(POD, "running", condition("Ready"), show=NAME)
    c.until(POD, "stuck", condition("Ready"), show=NAME)
    c.until(POD, "gated", condition("PodScheduled", "False"), show=NAME)
    c.delete(POD, "stuck", show=NAME)
    c.table(POD)
    c.table(POD, "running")
    c.table(POD, "absent")


@script("Jobs are printed with their completions.", ["4.16"])
def job_table(c: Dialogue) -> None:
    c.create(job("done", SUCCEEDS), show=NAME)
    c.create(job("failed", fails(), backoffLimit=0), show=NAME)
    c.create(job("suspended", suspend=True, completions=3), show=NAME)
    c.create(job("external", managedBy="example.org/x", parallelism=2), show=NAME)
    c.until(JOB, "done", condition("Complete"), show=NAME)
    c.until(JOB, "failed", condition("Failed"), show=NAME)
    c.until(JOB, "suspended", condition("Suspended"), show=NAME)
    c.table(JOB)


@script("Workloads are printed with desired and actual numbers.", ["4.16"])
def workload_table(c: Dialogue) -> None:
    c.create(workload("Deployment", "d", replicas=1), show=NAME)
    c.create(workload("StatefulSet", "s", replicas=1, serviceName="s"), show=NAME)
    c.create(workload("ReplicaSet", "r", replicas=1), show=NAME)
    c.until(DEPLOYMENT, "d", has("status.readyReplicas", 1), show=NAME)
    c.until(STATEFUL_SET, "s", has("status.readyReplicas", 1), show=NAME)
    c.until(REPLICA_SET, "r", has("status.readyReplicas", 1), show=NAME)
    c.list(REPLICA_SET, show=NAME)
    for kind in (DEPLOYMENT, STATEFUL_SET, REPLICA_SET):
        c.table(kind)


@script("Other built-in kinds are printed with columns of their own.", ["4.16"])
def other_tables(c: Dialogue) -> None:
    c.create(config_map("a", {"x": "1", "y": "2"}), show=NAME)
    c.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "stringData": {"x": "1"}},
        show=NAME,
    )
    c.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "a"},
            "spec": {"clusterIP": "None", "ports": [{"port": 80}]},
        },
        show=NAME,
    )
    c.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}, show=NAME)
    c.create(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "a"},
            "spec": {"hard": {"pods": "5"}},
        },
        show=NAME,
    )
    c.until(RESOURCE_QUOTA, "a", has("status.used.pods", "0"), show=NAME)
    c.table(CONFIG_MAP, "a")
    c.table(SECRET, "a")
    c.table(SERVICE, "a")
    c.table(SERVICE_ACCOUNT, "a")
    c.table(RESOURCE_QUOTA, "a")
    c.table(NAMESPACE, c.namespace)
    c.table(NODE, "n0")


@script("Custom resources are printed with the columns in their CRD.", ["4.16"])
def custom_table(c: Dialogue) -> None:
    c.create(widget("a", "large", hidden=True), show=NAME)
    c.create(widget("b", replicas=3), show=NAME)
    conditions = [{"type": "Other", "status": "False"}, {"type": "Ready", "status": "True"}]
    c.patch(WIDGET, "b", {"status": {"conditions": conditions}}, subresource="status", show=NAME)
    c.table(WIDGET)
    c.create(gadget("g"), show=NAME)
    c.table(GADGET)


@script("Events are printed with the time that they were seen, and no name.", ["4.16"])
def event_table(c: Dialogue) -> None:
    at = "2026-01-01T00:00:00"
    times = {"firstTimestamp": f"{at}Z", "lastTimestamp": f"{at}Z"}
    for name, fields in {
        "counted": {**times, "count": 3, "source": {"component": "kubelet", "host": "n0"}},
        "other-source": {**times, "reportingComponent": "a", "reportingInstance": "a-0"},
        "series": {
            "series": {"count": 5, "lastObservedTime": f"{at}.000000Z"},
            "eventTime": f"{at}.000000Z",
            "reportingComponent": "example.org/a",
            "reportingInstance": "a-0",
            "action": "Ran",
        },
        "untimed": {},
    }.items():
        involved = {"kind": "Pod", "name": "p", "namespace": c.namespace}
        if name == "counted":
            involved["fieldPath"] = "spec.containers{main}"
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name},
            "involvedObject": involved,
            "type": "Normal",
            "reason": "Ran",
            "message": "it ran\n",
            **fields,
        }
        c.create(event, show=NAME)
        c.table(EVENT, name)


@script("A table can carry the objects, or their metadata.", ["4.16"])
def table_objects(c: Dialogue) -> None:
    c.create(config_map("a", {"x": "1"}), show=NAME)
    path = CONFIG_MAP.path(c.namespace, "a")
    for include in ("None", "Metadata", "Object"):
        c.raw("GET", f"{path}?includeObject={include}", accept=TABLE)
    c.raw("GET", path, accept=f"{TABLE},application/json")
