"""An operator in Go, on controller-runtime, run as a program: the example of docs/pytest.md."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from kubernetes.client import CustomObjectsApi

from conformance.as_tests import AssayCluster

MODULE = Path(__file__).parent / "backup_go"
BACKUP = ("example.dev", "v1", "default", "backups", "nightly")


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, built with the installed Go; its modules come from the Go module proxy."""
    if shutil.which("go") is None:
        pytest.skip("needs Go 1.26 in PATH")
    program = tmp_path_factory.mktemp("go") / "operator"
    environment = {**os.environ, "CGO_ENABLED": "0"}
    subprocess.run(["go", "build", "-o", program, "."], cwd=MODULE, env=environment, check=True)
    return program


@pytest.mark.slow
@pytest.mark.assay_cluster(crds="backups.yaml")
def test_a_backup_expires_a_week_after_its_job_has_ended(
    assay_cluster: AssayCluster, operator: Path
) -> None:
    assay_cluster.run([str(operator)], service_account="default/backup-operator")
    assay_cluster.load("backup.yaml")
    phases = []
    for span in ("10s", "2m", "7d"):
        assay_cluster.advance(span)
        found = CustomObjectsApi(assay_cluster.client).get_namespaced_custom_object(*BACKUP)
        phases.append(found["status"]["phase"])
    assert phases == ["Running", "Done", "Expired"]
    assay_cluster.judge("operator", armed=["OP-001", "OP-013", "OP-014", "OP-022"])
