"""Records the audit log of a cluster with a JobSet controller, see `recording`.

python -m tests.cli.recording_jobset
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from kubernetes import client, config

from clusters.control_plane import ControlPlane, FakeNode, audit, nodes, wait_until
from clusters.control_plane.users import User
from conformance.implementations.ours import implementation
from conformance.suites.jobset.api import JOB_SET, RESTART_JOB_SET
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from reference_controller.jobset.admission import mutate
from tests.cli.recording import LIMIT_SECONDS, LOGS, NAMESPACE, PERSON, operator, store
from vocabulary.objects import condition_status

OPERATOR_USER: Final = "system:serviceaccount:jobset-system:jobset-controller-manager"
MUTANT: Final = "one-more"
SOUND_LOG: Final = LOGS / "jobset.log.gz"
WRONG_LOG: Final = LOGS / f"jobset-{MUTANT}.log.gz"
_JOB_SETS: Final = (JOB_SET.group, JOB_SET.version, NAMESPACE, JOB_SET.plural)


def record(folder: Path, mutant: str = "") -> list[dict[str, Any]]:
    """The events of a JobSet of two Jobs that fail after two seconds, until it has failed."""
    plane = ControlPlane(folder)
    plane.start(implementation("reference", "jobset").crds())
    try:
        nodes.create(plane.api(), [FakeNode("n0", "a")])
        nodes.wait_ready(plane.api(), ["n0"])
        began = audit.end(plane.audit_log)
        with operator(plane, folder, OPERATOR_USER, "jobset", mutant=mutant):
            _act(plane.mint_kubeconfig(User(PERSON, ("system:masters",))))
        return audit.read(plane.audit_log, began)[0]
    finally:
        plane.stop()


def _act(kubeconfig: Path) -> None:
    connection = config.new_client_from_config(str(kubeconfig))
    core, custom = client.CoreV1Api(connection), client.CustomObjectsApi(connection)
    core.create_namespace({"metadata": {"name": NAMESPACE}})
    workers = replicated_job("w", 2)
    pods = workers["template"]["spec"]["template"]["metadata"]
    pods["annotations"] = {"assay.dev/exit": "1", "assay.dev/run-for": "2s"}
    asked = job_set([workers], [rule(RESTART_JOB_SET)], max_restarts=1)
    # No webhook of the controller fills in the defaults.
    filled = mutate("CREATE", asked, None, None)
    custom.create_namespaced_custom_object(*_JOB_SETS, filled)

    def has_failed() -> bool:
        found = custom.get_namespaced_custom_object(*_JOB_SETS, "a")
        running = core.list_namespaced_pod(NAMESPACE, field_selector="status.phase=Running")
        return condition_status(found, "Failed") == "True" and not running.items

    wait_until(has_failed, "the JobSet has failed", limit_seconds=LIMIT_SECONDS)


def main() -> None:
    """Record both logs anew."""
    for path, mutant in ((SOUND_LOG, ""), (WRONG_LOG, MUTANT)):
        with tempfile.TemporaryDirectory() as folder:
            store(path.name.removesuffix(".log.gz"), record(Path(folder), mutant))


if __name__ == "__main__":
    main()
