"""An operator on the official client, run as a program: the example of docs/pytest.md."""

from __future__ import annotations

import sys

import pytest
from kubernetes.client import BatchV1Api, CustomObjectsApi

from conformance.as_tests import AssayCluster

OPERATOR = [sys.executable, "backup_operator.py"]
BACKUP = ("example.dev", "v1", "default", "backups", "nightly")

pytestmark = pytest.mark.assay_cluster(crds="backups.yaml")


def phase(cluster: AssayCluster) -> str:
    found = CustomObjectsApi(cluster.client).get_namespaced_custom_object(*BACKUP)
    return str(found["status"]["phase"])


def test_a_backup_expires_a_week_after_its_job_has_ended(assay_cluster: AssayCluster) -> None:
    assay_cluster.run(OPERATOR, service_account="default/backup-operator", cwd=".")
    assay_cluster.load("backup.yaml")
    assay_cluster.advance("10s")
    assert phase(assay_cluster) == "Running"
    assay_cluster.advance("2m")
    assert phase(assay_cluster) == "Done"
    assay_cluster.advance("7d")
    assert phase(assay_cluster) == "Expired"
    assert BatchV1Api(assay_cluster.client).list_namespaced_job("default").items == []
    assay_cluster.judge("operator", armed=["OP-001", "OP-013", "OP-014", "OP-022"])
