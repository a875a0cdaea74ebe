"""The suite as a Job of the cluster that it tests: the installed account is all that it has.

Fake kubelets only say that a container runs. So the Job's container is started here: with the
arguments that the API server stored in its pod, and the files that a kubelet mounts for its
service account, at another place.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from clusters.control_plane import ControlPlane, audit, wait_until
from clusters.control_plane.ports import LOOPBACK
from conformance.implementations.ours import implementation
from conformance.in_cluster.manifests import NAMESPACE, USERNAME
from conformance.norm.verdict import Outcome
from conformance.report.yaml_text import read_report
from conformance.scenarios import all_crds
from conformance.worlds.existing import rights
from conformance.worlds.existing.rights import Right
from conformance.worlds.existing.rights_used import refused, used

from .command import standing
from .installed import installed

pytestmark = pytest.mark.control_plane
SCENARIOS = (
    "appwrapper/retry/one-failure-is-retried",
    "appwrapper/autopilot/other-resources-are-monitored",
    "appwrapper/operator-faults/leader-is-killed",
)
REFERENCE = {"appwrapper": implementation("reference", "appwrapper")}
IN_OTHER_SCENARIOS = frozenset(
    (
        Right("", "pods/eviction", "create"),
        *rights.INSTALLING,
        *(
            Right(kind.group, kind.plural, verb)
            for kind, verbs in rights.written_in_runs(REFERENCE).items()
            for verb in verbs
        ),
    )
)
"""Here the definitions are there; what scenarios write `test_rights` holds against all of them."""
IN_A_POD = """
import sys
from pathlib import Path
from reference_controller.runtime import connection
connection.SERVICE_ACCOUNT = Path(sys.argv.pop(1))
from conformance.cli.app import main
main()
"""


@pytest.fixture(scope="module")
def documents(plane: ControlPlane) -> Iterator[list[dict[str, Any]]]:
    with installed(plane, *SCENARIOS, "--pod-image", "") as documents:
        yield documents


@pytest.fixture(scope="module")
def pod(plane: ControlPlane, documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The Job's pod; it is there, and does nothing."""
    assert documents
    api = plane.api()
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods"

    def of_job() -> list[dict[str, Any]]:
        return [each for each in api.get(pods)["items"] if each["spec"].get("nodeName")]

    wait_until(lambda: bool(of_job()), "the Job's pod is scheduled", limit_seconds=60)
    return of_job()[0]


def environment(plane: ControlPlane) -> dict[str, str]:
    """Environment variables that a kubelet sets in every container."""
    server = urlsplit(plane.server)
    return {
        **{name: value for name, value in os.environ.items() if name != "KUBECONFIG"},
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
    }


def mounted(plane: ControlPlane, pod: Mapping[str, Any], folder: Path) -> Path:
    """The directory that every container has at /var/run/secrets."""
    name = pod["spec"]["serviceAccountName"]
    account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{name}"
    bound = {"kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"]}
    request = {"spec": {"expirationSeconds": 3607, "boundObjectRef": bound}}
    folder.mkdir()
    (folder / "token").write_text(plane.api().post(f"{account}/token", request)["status"]["token"])
    (folder / "ca.crt").write_bytes(plane.ca.read_bytes())
    (folder / "namespace").write_text(NAMESPACE)
    return folder


@pytest.fixture(scope="module")
def audited(
    plane: ControlPlane, pod: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> list[dict[str, Any]]:
    """The requests to the API server while the Job's container ran."""
    folder = tmp_path_factory.mktemp("job")
    before, begin = standing(plane), audit.end(plane.audit_log)
    (container,) = pod["spec"]["containers"]
    results = container["volumeMounts"][1]["mountPath"]
    arguments = [
        argument.replace("$(POD_IP)", LOOPBACK).replace(results, str(folder))
        for argument in container["args"]
    ]
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            IN_A_POD,
            str(mounted(plane, pod, folder / "account")),
            *arguments,
        ],
        env=environment(plane),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"as {USERNAME}." in ended.stdout
    report = read_report(folder / "report" / "report.yaml")
    assert not report.errors
    assert {claim.outcome for claim in report.claims} == {Outcome.PASSED}
    assert standing(plane) == before
    return audit.read(plane.audit_log, begin)[0]


def test_a_job_with_the_printed_rights_lacks_none_and_its_operators_have_their_own(
    audited: list[dict[str, Any]],
) -> None:
    # Cleaning looks for finalizers wherever it may; the suite made nothing anywhere else.
    assert {right.verb for right in refused(audited, USERNAME)} <= {"list"}
    operators = {
        event["user"]["username"]
        for event in audited
        if event["user"]["username"].startswith("system:serviceaccount:assay-")
    }
    assert operators
    assert not any(refused(audited, operator) for operator in operators)


def test_every_right_that_is_granted_is_used_or_it_is_known_for_what_it_is_held(
    documents: list[dict[str, Any]], audited: list[dict[str, Any]]
) -> None:
    granted = {
        right
        for document in documents
        if document["kind"] == "ClusterRole"
        for right in rights.of_roles([document])
    }
    held = rights.held(REFERENCE, all_crds())
    unused = granted - used(audited, USERNAME).keys() - held - IN_OTHER_SCENARIOS
    # Finalizers are taken off whatever has them; what is read one by one `test_rights` holds
    # against all scenarios.
    assert not [right for right in unused if right.verb not in ("get", "patch")]
