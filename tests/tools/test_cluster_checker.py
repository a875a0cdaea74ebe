"""cluster-checker on dumps: the guide's table, a change of its cluster for each finding, errors."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlbatch_tools.cluster_checker.finding import Condition
from mlbatch_tools.cluster_checker.report import ClusterReport, report
from mlbatch_tools.manifests import read
from mlbatch_tools.problems import ToolError
from tests.cli.command import assay

HERE = Path(__file__).parent
GUIDE_CLUSTER = HERE / "manifests" / "guide-cluster.yaml"
GUIDE_LINES = """\
CLUSTER QUEUE GPU QUOTA GPU USAGE ADMITTED WORKLOADS PENDING WORKLOADS
code-cluster-queue 8 16 1 0
platform-cluster-queue 8 4 4 0
Total GPU count in cluster: 24
Unschedulable GPU count: - 0
Schedulable GPU count: = 24
Nominal GPU quota: 16
Slack GPU quota: + 8
Total GPU quota: = 24
GPU usage by admitted workloads: 20
Borrowed GPU count: 8
""".splitlines()
"""As the guide has them, where columns are separated by one blank."""


_GUIDE_OBJECTS = [found.obj for found in read([GUIDE_CLUSTER])]


def guide_objects() -> list[dict[str, Any]]:
    return deepcopy([dict(each) for each in _GUIDE_OBJECTS])


def one(objects: list[dict[str, Any]], kind: str, name: str = "") -> dict[str, Any]:
    return next(
        each for each in objects if each["kind"] == kind and name in (each["metadata"]["name"], "")
    )


def reported(change: Callable[[list[dict[str, Any]]], object]) -> ClusterReport:
    """The report on the guide's cluster after a change."""
    objects = guide_objects()
    change(objects)
    return report(objects)


def conditions(found: ClusterReport) -> list[Condition]:
    return [each.condition for each in found.findings]


def container(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """The resources of the container of the two pods with 8 GPUs each."""
    workload = one(objects, "Workload", "appwrapper-train-5d3f1")
    first: dict[str, Any] = workload["spec"]["podSets"][0]["template"]["spec"]["containers"][0]
    requests: dict[str, Any] = first["resources"]["requests"]
    return requests


def with_condition(objects: list[dict[str, Any]], type_: str, status: str) -> None:
    workload = one(objects, "Workload")
    workload["status"]["conditions"].append({"type": type_, "status": status})


def pod(namespace: str, **spec: Any) -> dict[str, Any]:
    resources = {"limits": {"nvidia.com/gpu": 2}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": namespace},
        "spec": {"containers": [{"name": "main", "resources": resources}], **spec},
        "status": {"phase": "Running"},
    }


def test_the_guides_cluster_gives_the_guides_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = assay(monkeypatch, capsys, "tools", "cluster-checker", GUIDE_CLUSTER)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == (HERE / "expected" / "guide-cluster.txt").read_text()
    assert [" ".join(line.split()) for line in ended.out.splitlines() if line] == GUIDE_LINES


def test_later_versions_tell_how_far_the_slack_is_adjusted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = ("tools", "cluster-checker", "--format", "latest")
    ended = assay(monkeypatch, capsys, *command, GUIDE_CLUSTER)
    assert ended.out == (HERE / "expected" / "guide-cluster-latest.txt").read_text()
    objects = guide_objects()
    slack = one(objects, "ClusterQueue", "slack-cluster-queue")
    slack["spec"]["resourceGroups"][1]["flavors"][0]["resources"][0]["lendingLimit"] = "3"
    dump = tmp_path / "dump.json"
    dump.write_text("\n".join(map(json.dumps, objects)))
    adjusted = assay(monkeypatch, capsys, *command, dump).out
    assert "Maximum slack GPU quota:         +  8\n" in adjusted
    assert (
        "Slack GPU quota adjustment:      -  5\nCurrent GPU quota:               = 19\n" in adjusted
    )


CHANGES: dict[Condition, Callable[[list[dict[str, Any]]], object]] = {
    Condition.NO_CONFIGURATION: lambda it: it.remove(one(it, "ConfigMap")),
    Condition.NO_SLACK_QUEUE: lambda it: it.remove(one(it, "ClusterQueue", "slack-cluster-queue")),
    Condition.NOMINAL_ABOVE_SCHEDULABLE: lambda it: [
        node["spec"].update(taints=[{"key": "bad", "effect": effect}])
        for node, effect in zip(it[:2], ("NoSchedule", "NoExecute"), strict=True)
    ],
    Condition.QUOTA_ABOVE_CLUSTER: lambda it: it.pop(0),
    Condition.QUOTA_BELOW_CLUSTER: lambda it: it.append({**it[0], "metadata": {"name": "node-4"}}),
    Condition.NO_QUEUE_NAME: lambda it: one(it, "Workload")["spec"].pop("queueName"),
    Condition.UNKNOWN_QUEUE: lambda it: one(it, "Workload")["spec"].update(queueName="other"),
    Condition.OTHER_PRIORITY: lambda it: one(it, "Workload")["spec"].update(
        priorityClassName="high-priority"
    ),
    Condition.PODS_NOT_READY: lambda it: with_condition(it, "PodsReady", "False"),
    Condition.EVICTED: lambda it: with_condition(it, "Evicted", "True"),
    Condition.BEYOND_NODE: lambda it: container(it).update({"nvidia.com/gpu": 9}),
    Condition.OUT_OF_PROPORTION: lambda it: container(it).update({"nvidia.com/gpu": 4, "cpu": 41}),
    Condition.GDR_ON_SINGLE_POD: lambda it: [
        container(it).update({"nvidia.com/roce_gdr": 2}),
        one(it, "Workload")["spec"]["podSets"][0].update(count=1),
    ],
    Condition.DEFAULT_SCHEDULER: lambda it: it.append(pod("code")),
    Condition.GPUS_OUTSIDE_QUEUES: lambda it: it.append(
        pod("monitoring", nodeName="node-1", schedulerName="other")
    ),
}


@pytest.mark.parametrize("condition", Condition)
def test_a_finding_comes_with_its_condition_and_not_without(condition: Condition) -> None:
    assert report(guide_objects()).findings == ()
    found = reported(CHANGES[condition])
    assert condition in conditions(found)
    assert found.has_warnings == any(not each.is_note for each in conditions(found))


def test_findings_that_the_published_tool_never_gives() -> None:
    # Its name for this resource's number is not defined, so the comparison is never true.
    interfaces = reported(
        lambda it: container(it).update({"nvidia.com/gpu": 8, "nvidia.com/roce_gdr": "3"})
    )
    assert set(conditions(interfaces)) == {Condition.BEYOND_NODE, Condition.OUT_OF_PROPORTION}
    # It reads 1k as 1, and a workload of a namespace without a queue not at all.
    big = reported(lambda it: container(it).update({"nvidia.com/gpu": "1k"}))
    assert conditions(big) == [Condition.BEYOND_NODE]
    elsewhere = reported(lambda it: one(it, "Workload")["metadata"].update(namespace="empty"))
    assert conditions(elsewhere) == [Condition.UNKNOWN_QUEUE]
    # Its first place for the configuration has none for AppWrappers, and it gives up.
    other = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": "redhat-ods-applications", "name": "codeflare-operator-config"},
        "data": {"config.yaml": "kuberay: {}"},
    }
    assert reported(lambda it: it.insert(0, other)).slack is not None


def test_finished_workloads_and_openshifts_namespaces_are_left_alone() -> None:
    def finished(objects: list[dict[str, Any]]) -> None:
        for type_, status in (("Evicted", "True"), ("PodsReady", "False"), ("Finished", "True")):
            with_condition(objects, type_, status)

    assert reported(finished).findings == ()
    assert reported(lambda it: it.append(pod("openshift-gpu", nodeName="node-1"))).findings == ()
    ended = pod("monitoring", nodeName="node-1")
    ended["status"]["phase"] = "Succeeded"
    assert reported(lambda it: it.append(ended)).findings == ()


def test_autopilots_marks_count_once_with_taints() -> None:
    def marked(objects: list[dict[str, Any]]) -> None:
        node = one(objects, "Node")
        node["metadata"]["labels"] = {"autopilot.ibm.com/gpuhealth": "EVICT"}
        node["spec"]["taints"] = [
            {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
        ]

    assert (reported(marked).unschedulable, reported(marked).schedulable) == (8, 16)


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_both_versions_of_kueue_are_read(version: str) -> None:
    def converted(objects: list[dict[str, Any]]) -> None:
        for each in objects:
            if each["apiVersion"].startswith("kueue.x-k8s.io/"):
                each["apiVersion"] = f"kueue.x-k8s.io/{version}"
            if each["kind"] == "Workload" and version == "v1beta2":
                name = each["spec"].pop("priorityClassName")
                each["spec"]["priorityClassRef"] = {"kind": "PriorityClass", "name": name}

    found = reported(converted)
    assert (found.findings, found.used, found.borrowed) == ((), 20, 8)


def test_amounts_may_have_suffixes_and_be_fractions() -> None:
    def changed(objects: list[dict[str, Any]]) -> None:
        for row, nominal in (("code-cluster-queue", "8000m"), ("platform-cluster-queue", "7500m")):
            queue = one(objects, "ClusterQueue", row)
            queue["spec"]["resourceGroups"][1]["flavors"][0]["resources"][0]["nominalQuota"] = (
                nominal
            )

    assert reported(changed).nominal == Fraction(31, 2)


def refused(text: str, tmp_path: Path, suffix: str = "yaml") -> str:
    file = tmp_path / f"dump.{suffix}"
    file.write_text(text)
    with pytest.raises(ValueError, match=r".") as raised:
        read([file])
    return str(raised.value).replace(str(file), "FILE")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "FILE: has no object; name a file with Kubernetes manifests"),
        ("a", "FILE: is str, no object; write a mapping"),
        ("kind: Node", "FILE: apiVersion is None; write that of a Kubernetes object"),
        ("{apiVersion: v1, kind: Node, metadata: 1}", "FILE: metadata is 1; write a mapping"),
        ("{apiVersion: v1, kind: Node, metadata: []}", "FILE: metadata is []; write a mapping"),
        (
            "{apiVersion: v1, kind: List, items: a}",
            "FILE: items is 'a'; write a list of objects",
        ),
        ("{apiVersion: v1, kind: List, items: {}}", "FILE: items is {}; write a list of objects"),
        ("{apiVersion: v1, kind: List, items: 0}", "FILE: items is 0; write a list of objects"),
        ("{apiVersion: v1, kind: List, items: null}", "FILE: has no object; name a file"),
        ("a: \tb: c", "FILE:1:"),
        ('{"a": 1, "a": 2}', "FILE: key 'a' occurs twice in one object; keep one of them"),
        ('{"a": ' * 100_000, "FILE: is nested too deep; make it flatter"),
        ('{"a": NaN}', "FILE: NaN is not a number that JSON can hold; quote it"),
        (
            '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a\\u001b[2J"}}',
            "FILE: metadata.name is 'a\\x1b[2J'; write letters, digits, '-' and '.'",
        ),
    ],
)
def test_an_unusable_dump_is_refused(text: str, message: str, tmp_path: Path) -> None:
    assert refused(text, tmp_path).startswith(message)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("status.capacity", "x", "Node node-1: status.capacity is 'x'; write a mapping"),
        ("status.capacity.nvidia.com/gpu", "8 GPUs", "is not a resource quantity"),
        ("status", [], "Node node-1: status is []; write a mapping"),
        ("spec", "", "Node node-1: spec is ''; write a mapping"),
        ("spec.taints", {"a": 1}, "Node node-1: spec.taints is {'a': 1}; write a list of objects"),
    ],
)
def test_a_field_that_cannot_be_read_is_named_with_its_file(
    path: str,
    value: object,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    objects = guide_objects()
    inner = objects[0]
    first, _, rest = path.partition(".")
    second, _, key = rest.partition(".")
    changed = {**inner[first], second: {key: value} if key else value}
    inner[first] = changed if second else value
    file = tmp_path / "dump.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    ended = assay(monkeypatch, capsys, "tools", "cluster-checker", file)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"assay: {file}[0]: Node node-1: ")
    assert message in ended.err


def test_objects_of_overlapping_dumps_count_once(tmp_path: Path) -> None:
    from mlbatch_tools.cluster_checker.cluster import objects_of, require_complete

    copy = tmp_path / "copy.yaml"
    copy.write_text(GUIDE_CLUSTER.read_text())
    assert len(objects_of(read([GUIDE_CLUSTER, tmp_path]))) == len(guide_objects())
    copy.write_text(GUIDE_CLUSTER.read_text().replace('"8"', '"7"', 1))
    with pytest.raises(ToolError, match=r"Node node-1 is in .* too, in another state"):
        objects_of(read([GUIDE_CLUSTER, tmp_path]))
    copy.write_text("{apiVersion: v1, kind: Pod, metadata: {name: a}}")
    with pytest.raises(ToolError, match="have no Node and no ClusterQueue; dump them too: kubectl"):
        require_complete(objects_of(read([copy])))


def test_a_field_that_cannot_be_read_is_told_before_a_kind_that_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    queues = [each for each in guide_objects() if each["kind"] == "ClusterQueue"]
    resources = {"name": "nvidia.com/gpu", "nominalQuota": "lots"}
    queues[0]["spec"]["resourceGroups"] = [{"flavors": [{"name": "f", "resources": [resources]}]}]
    file = tmp_path / "dump.yaml"
    file.write_text(yaml.safe_dump_all(queues))
    ended = assay(monkeypatch, capsys, "tools", "cluster-checker", file)
    assert (ended.code, ended.out) == (2, "")
    assert "nominalQuota: 'lots' is not a" in ended.err
    file.write_text(yaml.safe_dump_all(queues[1:]))
    ended = assay(monkeypatch, capsys, "tools", "cluster-checker", file)
    assert (ended.code, ended.out) == (2, "")
    assert "the files have no Node; dump them too" in ended.err


def _numbers(found: dict[str, Any]) -> Iterator[tuple[str, object]]:
    yield from found["gpus"].items()
    yield from ((each["name"], each["usage"]) for each in found["clusterQueues"])


def test_json_has_the_numbers_and_a_warning_sets_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    objects = guide_objects()
    with_condition(objects, "Evicted", "True")
    file = tmp_path / "dump.yaml"
    file.write_text(yaml.safe_dump_all(objects))
    ended = assay(monkeypatch, capsys, "tools", "cluster-checker", file, "--json")
    found = json.loads(ended.out)
    assert ended.code == 1
    assert dict(_numbers(found)) == {
        "total": 24,
        "unschedulable": 0,
        "schedulable": 24,
        "nominalQuota": 16,
        "maximumSlackQuota": 8,
        "slackQuota": 8,
        "quota": 24,
        "usage": 20,
        "borrowed": 8,
        "code-cluster-queue": 16,
        "platform-cluster-queue": 4,
    }
    assert [(each["condition"], each["level"]) for each in found["findings"]] == [
        ("Evicted", "warning")
    ]


@pytest.mark.usefixtures("interruptible")
def test_watching_prints_again_when_something_changed_until_it_is_interrupted(
    tmp_path: Path,
) -> None:
    file = tmp_path / "dump.yaml"
    file.write_text(GUIDE_CLUSTER.read_text())
    command = [sys.executable, "-m", "conformance.cli", "tools", "cluster-checker", str(file)]
    with subprocess.Popen(
        [*command, "--json", "--watch", "--interval-seconds", "0.1"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["gpus"]["unschedulable"] == 0
        changed = tmp_path / "changed"
        tainted = "taints: [{key: a, effect: NoSchedule}]"
        changed.write_text(GUIDE_CLUSTER.read_text().replace("spec: {}", f"spec: {{{tainted}}}", 1))
        changed.replace(file)
        assert json.loads(process.stdout.readline())["gpus"]["unschedulable"] == 8
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
