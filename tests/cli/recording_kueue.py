"""Records the audit log of a cluster with a Kueue controller, see `recording`.

python -m tests.cli.recording_kueue
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from kubernetes import client, config

from clusters.control_plane import ControlPlane, FakeNode, audit, nodes, wait_until
from clusters.control_plane.users import User
from conformance.implementations.ours import implementation
from conformance.suites.kueue.api import CLUSTER_QUEUE, LOCAL_QUEUE, RESOURCE_FLAVOR, WORKLOAD
from conformance.suites.kueue.handle import job
from tests.cli.recording import LIMIT_SECONDS, LOGS, NAMESPACE, PERSON, operator, store
from vocabulary.kinds import Kind
from vocabulary.objects import Object, condition_status

OPERATOR_USER: Final = "system:serviceaccount:kueue-system:kueue-controller-manager"
MUTANT: Final = "strategy-is-ignored"
CONFIG: Final = LOGS / "kueue.yaml"
SOUND_LOG: Final = LOGS / "kueue.log.gz"
WRONG_LOG: Final = LOGS / f"kueue-{MUTANT}.log.gz"


def record(folder: Path, mutant: str = "") -> list[dict[str, Any]]:
    """The events of a Job that is deactivated, stops slowly, and makes room for another one."""
    plane = ControlPlane(folder)
    plane.start(implementation("reference", "kueue").crds())
    try:
        nodes.create(plane.api(), [FakeNode("n0", "a")])
        nodes.wait_ready(plane.api(), ["n0"])
        began = audit.end(plane.audit_log)
        options = ("--config", str(CONFIG))
        with operator(plane, folder, OPERATOR_USER, "kueue", *options, mutant=mutant):
            _act(plane.mint_kubeconfig(User(PERSON, ("system:masters",))))
        return audit.read(plane.audit_log, began)[0]
    finally:
        plane.stop()


def _act(kubeconfig: Path) -> None:
    connection = config.new_client_from_config(str(kubeconfig))
    core, batch = client.CoreV1Api(connection), client.BatchV1Api(connection)
    custom = client.CustomObjectsApi(connection)
    core.create_namespace({"metadata": {"name": NAMESPACE}})
    quota = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "1"}]}
    groups = [{"coveredResources": ["cpu"], "flavors": [quota]}]
    spec = {"namespaceSelector": {}, "resourceGroups": groups}
    _create(custom, RESOURCE_FLAVOR, "default", {})
    _create(custom, CLUSTER_QUEUE, "main", {"spec": spec})
    _create(custom, LOCAL_QUEUE, "main", {"spec": {"clusterQueue": "main"}})
    slow, next_one = (
        {"assay.dev/term-for": "4s"},
        {"assay.dev/exit": "0", "assay.dev/run-for": "2s"},
    )
    batch.create_namespaced_job(NAMESPACE, _job("a", slow))
    _until(custom, "a", "PodsReady")
    batch.create_namespaced_job(NAMESPACE, _job("b", next_one))
    found = _workload(custom, "a")["metadata"]["name"]
    of = (WORKLOAD.group, WORKLOAD.version, NAMESPACE, WORKLOAD.plural)
    custom.patch_namespaced_custom_object(*of, found, {"spec": {"active": False}})
    _until(custom, "b", "Finished")


def _create(custom: client.CustomObjectsApi, kind: Kind, name: str, rest: Object) -> None:
    body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, **rest}
    if kind.namespaced:
        custom.create_namespaced_custom_object(
            kind.group, kind.version, NAMESPACE, kind.plural, body
        )
    else:
        custom.create_cluster_custom_object(kind.group, kind.version, kind.plural, body)


def _job(name: str, annotations: Object) -> Object:
    made = job(name)
    template = made["spec"]["template"]
    spec = {**made["spec"], "template": {**template, "metadata": {"annotations": annotations}}}
    return {**made, "spec": spec}


def _workload(custom: client.CustomObjectsApi, job_name: str) -> Object:
    found = custom.list_namespaced_custom_object(
        WORKLOAD.group, WORKLOAD.version, NAMESPACE, WORKLOAD.plural
    )
    return next(
        (
            each
            for each in found["items"]
            if each["metadata"]["ownerReferences"][0]["name"] == job_name
        ),
        {},
    )


def _until(custom: client.CustomObjectsApi, job_name: str, condition: str) -> None:
    wait_until(
        lambda: condition_status(_workload(custom, job_name), condition) == "True",
        f"{job_name} is {condition}",
        limit_seconds=LIMIT_SECONDS,
    )


def main() -> None:
    """Record both logs anew."""
    for path, mutant in ((SOUND_LOG, ""), (WRONG_LOG, MUTANT)):
        with tempfile.TemporaryDirectory() as folder:
            store(path.name.removesuffix(".log.gz"), record(Path(folder), mutant))


if __name__ == "__main__":
    main()
