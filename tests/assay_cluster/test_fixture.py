"""The fixture's options, files and errors, and time without programs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from kubernetes.client import BatchV1Api, CoreV1Api

from conformance.as_tests import AssayCluster
from conformance.cli.problems import BadInputError
from conformance.worlds.served.programs import ProgramEndedError

StartCluster = Callable[..., AssayCluster]

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  ttlSecondsAfterFinished: 604800
  template:
    metadata: {annotations: {assay.dev/behaviour: "run 5s, exit 0"}}
    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(JOB)
    return path


def test_a_job_runs_and_is_gone_a_week_later(assay_cluster: AssayCluster, job: Path) -> None:
    assay_cluster.load(job)
    jobs = BatchV1Api(assay_cluster.client)
    assay_cluster.advance("30s")
    assert jobs.read_namespaced_job("a", "default").status.succeeded == 1
    assay_cluster.advance(timedelta(days=6, hours=23))
    assert assay_cluster.get("Job", "a") is not None
    assay_cluster.advance("2h")
    assert assay_cluster.get("Job", "a") is None


@pytest.mark.assay_cluster(nodes=3, gpus=8, controllers=())
def test_without_controllers_nothing_acts_as_with_envtest(
    assay_cluster: AssayCluster, job: Path
) -> None:
    assay_cluster.load(job)
    assay_cluster.advance("1h")
    core = CoreV1Api(assay_cluster.client)
    nodes = core.list_node().items
    assert [each.status.capacity["nvidia.com/gpu"] for each in nodes] == ["8"] * 3
    assert core.list_namespaced_pod("default").items == []


@pytest.mark.assay_cluster(nodes=1)
def test_further_clusters_have_the_options_of_the_marker_and_their_own_objects(
    assay_clusters: StartCluster, job: Path
) -> None:
    first, second = assay_clusters(load=job), assay_clusters(nodes=0)
    assert first.get("Node", "n0") is not None
    assert first.get("Job", "a") is not None
    assert second.get("Node", "n0") is None
    assert second.get("Job", "a") is None


def test_rest_is_reached_while_a_pod_runs_on_for_days(
    assay_cluster: AssayCluster, tmp_path: Path
) -> None:
    path = tmp_path / "pod.yaml"
    spec = "{containers: [{name: c, image: i}]}"
    path.write_text(f"{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {spec}}}")
    assay_cluster.load(path)
    assert assay_cluster.rest()
    pod = assay_cluster.get("Pod", "p")
    assert pod is not None
    assert pod["status"]["phase"] == "Running"
    assert [each.text for each in assay_cluster.history.marks] == ["at rest"]


def test_a_history_is_written_that_assay_check_evaluates(
    assay_cluster: AssayCluster, job: Path, tmp_path: Path
) -> None:
    assay_cluster.load(job)
    assay_cluster.judge()
    path = tmp_path / "run.jsonl.gz"
    assay_cluster.write_history(path)
    check = [sys.executable, "-m", "conformance.cli", "check", str(path), "--all"]
    ended = subprocess.run(check, capture_output=True, text=True, check=False)
    assert "passed       OP-001" in ended.stdout, ended.stderr


def test_a_list_is_loaded_by_its_items_and_definitions_go_first(
    assay_cluster: AssayCluster, tmp_path: Path
) -> None:
    here = Path(__file__).parent
    (tmp_path / "a-backup.yaml").write_text((here / "backup.yaml").read_text())
    (tmp_path / "b-crd.yaml").write_text((here / "backups.yaml").read_text())
    (tmp_path / "c-list.json").write_text(
        '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", '
        '"metadata": {"name": "m"}}]}'
    )
    (tmp_path / "kustomization.yaml").write_text("{kind: Kustomization, resources: [b-crd.yaml]}")
    loaded = [each["kind"] for each in assay_cluster.load(tmp_path)]
    assert loaded[0] == "CustomResourceDefinition"
    assert loaded[-1] == "ConfigMap"
    assert "Backup" in loaded


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "has no objects"),
        ("- a", "is no object; give it apiVersion, kind and metadata"),
        ("{apiVersion: v1, kind: Pod}", "metadata.name: is missing; add it"),
        ("{kind: Pod, metadata: {name: a}}", "apiVersion: is missing; add it"),
        ("{apiVersion: x.dev/v1, kind: X, metadata: {name: a}}", "load its CustomResource"),
        ("{apiVersion: v1, kind: Service, metadata: {name: A}}", "metadata.name: Invalid value"),
        ("---\na: b\n---\nc: d", "document 1: is no object"),
    ],
)
def test_files_that_cannot_be_loaded_are_named_with_what_to_do(
    text: str, because: str, assay_cluster: AssayCluster, tmp_path: Path
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(BadInputError, match=because) as refused:
        assay_cluster.load(path)
    assert str(path) in str(refused.value)


def test_other_input_is_refused_with_what_to_do(assay_cluster: AssayCluster) -> None:
    with pytest.raises(BadInputError, match="is neither a file nor a directory"):
        assay_cluster.load("nowhere")
    with pytest.raises(ValueError, match="'soon' is not a span"):
        assay_cluster.advance("soon")
    with pytest.raises(ValueError, match="no such program"):
        assay_cluster.run("no-such-program --at-all")
    with pytest.raises(ValueError, match="there is none; load its manifest first"):
        assay_cluster.run([sys.executable], service_account="default/nobody")
    with pytest.raises(ValueError, match="there is no such suite; name "):
        assay_cluster.judge("no-such-suite")
    with pytest.raises(ValueError, match="has to name one kind that is served"):
        assay_cluster.get("Backup", "a")
    with pytest.raises(ProgramEndedError, match=r"operator ended with 3 .*: good bye"):
        assay_cluster.run([sys.executable, "-c", "print('good bye'); exit(3)"])


def test_options_that_do_not_exist_and_unknown_controllers_are_refused(
    assay_clusters: StartCluster,
) -> None:
    with pytest.raises(TypeError, match="node"):
        assay_clusters(node=3)
    with pytest.raises(ValueError, match="'jobs' is not a controller; there are "):
        assay_clusters(controllers=["jobs"])


def test_the_output_of_programs_is_in_the_report_of_a_failed_test(tmp_path: Path) -> None:
    (tmp_path / "test_failing.py").write_text(
        "import sys\n"
        "CODE = '''\n"
        "from kubernetes import client, config\n"
        "import time\n"
        "config.load_kube_config()\n"
        "client.CoreV1Api().list_node()\n"
        "print('my last words', flush=True)\n"
        "time.sleep(600)\n"
        "'''\n"
        "def test_failing(assay_cluster):\n"
        "    assay_cluster.run([sys.executable, '-c', CODE])\n"
        "    assert 0\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "/dev/null"]
    ended = subprocess.run(
        [*command, "test_failing.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == pytest.ExitCode.TESTS_FAILED
    assert "output of operator" in ended.stdout
    assert "my last words" in ended.stdout
