"""An operator on kopf, run as a program: the example of docs/pytest.md."""

from __future__ import annotations

import sys

import pytest
from kubernetes.client import CustomObjectsApi

from conformance.as_tests import AssayCluster

pytest.importorskip("kopf", reason="needs kopf: pip install kopf")

OPERATOR = [sys.executable, "-m", "kopf", "run", "--standalone", "-A", "backup_kopf.py"]
BACKUP = ("example.dev", "v1", "default", "backups", "nightly")


@pytest.mark.assay_cluster(crds="backups.yaml")
def test_a_backup_expires_a_week_after_its_job_has_ended(assay_cluster: AssayCluster) -> None:
    assay_cluster.run(OPERATOR, cwd=".")
    assay_cluster.load("backup.yaml")
    phases = []
    for span in ("10s", "2m", "7d"):
        assay_cluster.advance(span)
        found = CustomObjectsApi(assay_cluster.client).get_namespaced_custom_object(*BACKUP)
        phases.append(found["status"]["phase"])
    assert phases == ["Running", "Done", "Expired"]
    assay_cluster.judge("operator", armed=["OP-001", "OP-013", "OP-022"])
