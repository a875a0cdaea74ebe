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
import yaml
from kubernetes import config, utils

from conformance.in_cluster.manifests import ACCOUNT, JOB, NAMESPACE
from conformance.report.yaml_text import read_report
from conformance.verdict import Outcome
from fixtures.control_plane import ControlPlane, audit, wait_until
from fixtures.control_plane.ports import LOOPBACK

from .command import assay, standing

pytestmark = pytest.mark.control_plane
SCENARIOS = (
    "appwrapper/retry/one-failure-is-retried",
    "appwrapper/autopilot/other-resources-are-monitored",
    "appwrapper/operator-faults/leader-is-killed",
)
USER = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
IN_A_POD = """
import sys
from pathlib import Path
from reference_controller.runtime import connection
connection.SERVICE_ACCOUNT = Path(sys.argv.pop(1))
from conformance.cli.app import main
main()
"""


@pytest.fixture
def pod(plane: ControlPlane) -> Iterator[dict[str, Any]]:
    """The Job's pod, of manifests that an administrator has applied; it is there, and does
    nothing."""
    printed = assay("suite", "manifests", *SCENARIOS, "--pod-image", "")
    admin = config.new_client_from_config(str(plane.kubeconfig()))
    found = list(yaml.safe_load_all(printed))
    for document in found:
        utils.create_from_dict(admin, document, field_validation="Strict")
    api = plane.api()
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods"

    def of_job() -> list[dict[str, Any]]:
        return [each for each in api.get(pods)["items"] if each["spec"].get("nodeName")]

    wait_until(lambda: bool(of_job()), "the Job's pod is scheduled", limit_seconds=60)
    yield of_job()[0]
    options = {"propagationPolicy": "Background"}
    api.delete(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/{JOB}", options)
    for kind in ("clusterrolebindings", "clusterroles"):
        for document in found:
            if f"{document['kind'].lower()}s" == kind:
                name = document["metadata"]["name"]
                api.delete(f"/apis/rbac.authorization.k8s.io/v1/{kind}/{name}")
    api.delete(f"/api/v1/namespaces/{NAMESPACE}")
    wait_until(
        lambda: not api.exists(f"/api/v1/namespaces/{NAMESPACE}"),
        "the namespace of the suite is gone",
        limit_seconds=60,
    )


def environment(plane: ControlPlane) -> dict[str, str]:
    """What a kubelet sets in every container."""
    server = urlsplit(plane.server)
    return {
        **{name: value for name, value in os.environ.items() if name != "KUBECONFIG"},
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
    }


def mounted(plane: ControlPlane, pod: Mapping[str, Any], folder: Path) -> Path:
    """The folder that every container finds in /var/run/secrets."""
    name = pod["spec"]["serviceAccountName"]
    account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{name}"
    bound = {"kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"]}
    request = {"spec": {"expirationSeconds": 3607, "boundObjectRef": bound}}
    folder.mkdir()
    (folder / "token").write_text(plane.api().post(f"{account}/token", request)["status"]["token"])
    (folder / "ca.crt").write_bytes(plane.ca.read_bytes())
    (folder / "namespace").write_text(NAMESPACE)
    return folder


def test_a_job_with_the_printed_rights_comes_to_verdicts_and_leaves_nothing_else(
    plane: ControlPlane, pod: dict[str, Any], tmp_path: Path
) -> None:
    before, begin = standing(plane), audit.size(plane.audit_log)
    (container,) = pod["spec"]["containers"]
    results = container["volumeMounts"][1]["mountPath"]
    arguments = [
        argument.replace("$(POD_IP)", LOOPBACK).replace(results, str(tmp_path))
        for argument in container["args"]
    ]
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            IN_A_POD,
            str(mounted(plane, pod, tmp_path / "account")),
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
    assert f"as {USER}." in ended.stdout
    report = read_report(tmp_path / "report" / "report.yaml")
    assert not report.errors
    assert {claim.outcome for claim in report.claims} == {Outcome.PASSED}
    assert standing(plane) == before
    events, _ = audit.read(plane.audit_log, begin)
    ours = [event for event in events if event["user"]["username"].startswith(USER)]
    decisions = {event["annotations"]["authorization.k8s.io/decision"] for event in ours}
    assert decisions == {"allow"}
    operators = {
        event["user"]["username"]
        for event in events
        if event["user"]["username"].startswith("system:serviceaccount:assay-")
    }
    assert operators, "the operators under test have accounts of their own"
