"""The reference as a process beside `assay serve`: manifests of v1beta2, and what is counted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from reference_controller.kueue.names import WORKLOAD
from reference_controller.kueue.program import PROGRAM
from reference_controller.runtime.connection import Connection, connect
from reference_controller.runtime.options import OperatorOptions
from reference_controller.runtime.process import OperatorProcess
from tests.reference_runtime.child_process import eventually
from vocabulary.clock import SECOND
from vocabulary.kinds import Kind, kind_of
from vocabulary.objects import Object, condition, condition_status, name_of, namespace_of
from vocabulary.requests import Create, List, ObjectList, Patch

NEWER = Kind(WORKLOAD.group, "v1beta2", WORKLOAD.kind, WORKLOAD.plural)
MANIFESTS = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: any}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: team}
spec:
  cohortName: all
  namespaceSelector: {}
  flavorFungibility: {whenCanBorrow: MayStopSearch}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: any
      resources: [{name: cpu, nominalQuota: 1, borrowingLimit: 1}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team, namespace: default}
spec: {clusterQueue: team}
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "kubeconfig"
    serve = [sys.executable, "-m", "conformance.cli", "serve", "--plain", "--kubeconfig", str(path)]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("server: ")
        assert process.stdout.readline() == f"kubeconfig: {path}\n"
        yield path
        process.terminate()


@pytest.fixture
def operator(kubeconfig: Path) -> Iterator[OperatorProcess]:
    options = OperatorOptions(kubeconfig=kubeconfig, metrics_port=0)
    process = OperatorProcess(PROGRAM.program(options), options)
    process.start()
    yield process
    process.stop()


def job(name: str) -> Object:
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "default",
            "labels": {"kueue.x-k8s.io/queue-name": "team"},
        },
        "spec": {
            "suspend": True,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def apply(client: Connection, obj: Object) -> None:
    kind = kind_of(obj)
    served = Kind(kind.group, kind.version, kind.kind, kind.plural, bool(namespace_of(obj)))
    client.handle(Create(served, obj, namespace_of(obj), name_of(obj)))


def sampled(operator: OperatorProcess) -> dict[str, float]:
    """Kueue's own metrics: values by name and labels."""
    with urlopen(f"http://127.0.0.1:{operator.endpoints[0].port}/metrics", timeout=5) as page:
        families = text_string_to_metric_families(page.read().decode())
        return {
            " ".join((each.name, *each.labels.values())): each.value
            for family in families
            for each in family.samples
            if each.name.startswith("kueue_")
        }


def test_what_is_applied_as_v1beta2_is_admitted_and_counted(
    kubeconfig: Path, operator: OperatorProcess
) -> None:
    client = connect(kubeconfig, None, user_agent="test", timeout_us=15 * SECOND, pool_size=1)
    for each in (*yaml.safe_load_all(MANIFESTS), job("a"), job("b")):
        apply(client, each)

    def workloads() -> dict[str, Object]:
        found: ObjectList = client.handle(List(NEWER, "default", live=True))
        return {each["metadata"]["ownerReferences"][0]["name"]: each for each in found.items}

    def states(type_: str) -> set[str]:
        return {name for name, obj in workloads().items() if condition_status(obj, type_) == "True"}

    def is_told(**expected: float) -> bool:
        found = sampled(operator)
        return all(found.get(name) == value for name, value in expected.items())

    eventually(lambda: len(workloads()) == 2 and states("Admitted"), instead=workloads)
    (first,) = states("Admitted")
    (second,) = {"a", "b"} - {first}
    eventually(lambda: condition(workloads()[second], "QuotaReserved"), instead=workloads)
    held = {
        "kueue_admitted_workloads_total team": 1,
        "kueue_quota_reserved_workloads_total team": 1,
        "kueue_reserving_active_workloads team": 1,
        "kueue_pending_workloads team active": 0,
        "kueue_pending_workloads team inadmissible": 1,
        "kueue_cluster_queue_resource_usage team any cpu": 1,
    }
    eventually(lambda: is_told(**held), instead=lambda: sampled(operator))
    name = name_of(workloads()[first])
    client.handle(Patch(NEWER, "default", name, {"spec": {"active": False}}))
    passed_on = {
        "kueue_evicted_workloads_total team WorkloadInactive": 1,
        "kueue_admitted_workloads_total team": 2,
        "kueue_reserving_active_workloads team": 1,
        "kueue_pending_workloads team inadmissible": 0,
    }
    eventually(lambda: is_told(**passed_on), instead=lambda: sampled(operator))
    assert states("Admitted") == {second}
