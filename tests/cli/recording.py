"""Records the audit log of a cluster on which nothing of the suite acts.

A control plane, an operator that runs as `assay controller run`, and a user with the official
client: what the suite knows of it is the log alone. The logs in `logs/` are made by

    python -m tests.cli.recording
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kubernetes import client, config

from clusters.control_plane import ControlPlane, FakeNode, audit, nodes, wait_until
from clusters.control_plane.users import User
from conformance.implementations.ours import implementation
from vocabulary.objects import get_path

OPERATOR_USER = "system:serviceaccount:appwrapper-system:controller"
PERSON = "alice@example.org"
MUTANT = "quota-released-on-failed"
LOGS = Path(__file__).parent / "logs"
CONFIG = LOGS / "operator.yaml"
NAMESPACE = "team-a"
LIMIT_SECONDS = 90.0
_APPWRAPPERS = ("workload.codeflare.dev", "v1beta2", NAMESPACE, "appwrappers")


def record(folder: Path, mutant: str = "") -> list[dict[str, Any]]:
    """The events since a namespace was made in which one AppWrapper succeeded and one failed."""
    folder.mkdir(exist_ok=True)
    plane = ControlPlane(folder)
    plane.start(implementation("reference", "appwrapper").crds())
    try:
        nodes.create(plane.api(), [FakeNode("n0", "a"), FakeNode("n1", "a")])
        nodes.wait_ready(plane.api(), ["n0", "n1"])
        began = audit.end(plane.audit_log)
        config = ("--config", str(CONFIG))
        with operator(plane, folder, OPERATOR_USER, "appwrapper", *config, mutant=mutant):
            act(plane.mint_kubeconfig(User(PERSON, ("system:masters",))))
        return audit.read(plane.audit_log, began)[0]
    finally:
        plane.stop()


@contextmanager
def operator(
    plane: ControlPlane, folder: Path, user: str, program: str, *options: str, mutant: str = ""
) -> Iterator[None]:
    """Start an operator as a process, as its user would."""
    kubeconfig = plane.mint_kubeconfig(User(user, ("system:masters",)))
    command = [sys.executable, "-m", "conformance.cli", "controller", "run", program]
    command += ["--kubeconfig", str(kubeconfig), *options]
    command += ["--mutant", mutant] if mutant else []
    with (folder / "operator.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait()


def act(kubeconfig: Path) -> None:
    """Act as a user: submit two workloads, and see one of them fail."""
    connection = config.new_client_from_config(str(kubeconfig))
    core, custom = client.CoreV1Api(connection), client.CustomObjectsApi(connection)
    core.create_namespace({"metadata": {"name": NAMESPACE}})
    for name, pod in (
        ("good", {"assay.dev/exit": "0", "assay.dev/run-for": "1s"}),
        ("bad", {"assay.dev/term-for": "4s"}),
    ):
        custom.create_namespaced_custom_object(*_APPWRAPPERS, appwrapper(name, pod))
    wait_for(custom, "good", "Succeeded")
    wait_until(lambda: len(_running(core)) == 2, "the pods of bad run", limit_seconds=LIMIT_SECONDS)
    broken = {"metadata": {"annotations": {"assay.dev/exit": "3"}}}
    core.patch_namespaced_pod(_running(core)[0], NAMESPACE, broken)
    wait_for(custom, "bad", "Failed")
    wait_until(
        lambda: not _pods_of(core, "bad"), "the pods of bad are gone", limit_seconds=LIMIT_SECONDS
    )
    wait_until(
        lambda: (
            "True" not in [c["status"] for c in _conditions(custom) if c["type"] == "QuotaReserved"]
        ),
        "bad gives its quota back",
        limit_seconds=LIMIT_SECONDS,
    )


def appwrapper(name: str, annotations: dict[str, str]) -> dict[str, Any]:
    """A Job of two pods that behave as their annotations say."""
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "100m"}}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "parallelism": 2,
            "completions": 2,
            "backoffLimit": 0,
            "template": {
                "metadata": {"annotations": annotations},
                "spec": {"restartPolicy": "Never", "containers": [container]},
            },
        },
    }
    return {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {
            "name": name,
            "annotations": {"workload.codeflare.dev.appwrapper/retryLimit": "0"},
        },
        "spec": {"components": [{"template": job}]},
    }


def wait_for(custom: client.CustomObjectsApi, name: str, phase: str) -> None:
    wait_until(
        lambda: _phase(custom, name) == phase, f"{name} is {phase}", limit_seconds=LIMIT_SECONDS
    )


def _phase(custom: client.CustomObjectsApi, name: str) -> Any:
    return get_path(custom.get_namespaced_custom_object(*_APPWRAPPERS, name), "status.phase")


def _conditions(custom: client.CustomObjectsApi) -> list[dict[str, Any]]:
    return list(custom.get_namespaced_custom_object(*_APPWRAPPERS, "bad")["status"]["conditions"])


def _pods_of(core: client.CoreV1Api, job: str) -> list[Any]:
    return list(core.list_namespaced_pod(NAMESPACE, label_selector=f"job-name={job}").items)


def _running(core: client.CoreV1Api) -> list[str]:
    pods = _pods_of(core, "bad")
    return sorted(pod.metadata.name for pod in pods if pod.status.phase == "Running")


def main() -> None:
    """Record both logs anew."""
    LOGS.mkdir(exist_ok=True)
    for name, mutant in (("sound", ""), (MUTANT, MUTANT)):
        with tempfile.TemporaryDirectory() as folder:
            store(name, record(Path(folder), mutant))


def store(name: str, events: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events)
    (LOGS / f"{name}.log.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))


if __name__ == "__main__":
    main()
