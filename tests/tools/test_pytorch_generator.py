"""pytorch-generator: the manifest of a file with most settings, limits, and what is refused."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlbatch_tools.pytorch_generator.generate import app_wrapper
from mlbatch_tools.pytorch_generator.values import DURATIONS, LEGACY, read_values
from tests.cli.command import assay
from vocabulary.durations import parse_duration

HERE = Path(__file__).parent
TRAIN = HERE / "manifests" / "train-values.yaml"
LEAST = "jobName: a\ncontainerImage: i\n"


def generated(text: str, folder: Path) -> dict[str, Any]:
    file = folder / "values.yaml"
    file.write_text(text)
    return app_wrapper(read_values(file)[0], "v")


def pod_of(wrapper: dict[str, Any], role: str = "Master") -> dict[str, Any]:
    job = wrapper["spec"]["components"][0]["template"]
    pod: dict[str, Any] = job["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]
    return pod


def test_the_manifest_is_the_one_that_was_written_by_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = assay(monkeypatch, capsys, "tools", "pytorch-generator", "-f", TRAIN)
    expected = (HERE / "expected" / "train.yaml").read_text()
    assert yaml.safe_load(ended.out) == yaml.safe_load(
        expected.replace("VERSION", version("assay"))
    )
    assert ended.code == 0
    assert ended.err == (
        f"warning: {TRAIN}: maxNumRequeuings is a fault-tolerance setting of the earlier tool; it "
        "is ignored, and the cluster's default is used\n"
    )


def test_defaults_are_those_of_the_chart(tmp_path: Path) -> None:
    wrapper = generated(LEAST, tmp_path)
    assert "namespace" not in wrapper["metadata"]
    assert wrapper["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "default-queue"}
    job = wrapper["spec"]["components"][0]["template"]
    assert list(job["spec"]["pytorchReplicaSpecs"]) == ["Master"]
    pod = pod_of(wrapper)
    (main,) = pod["containers"]
    assert (pod["priorityClassName"], main["imagePullPolicy"]) == (
        "default-priority",
        "IfNotPresent",
    )
    amounts = {"cpu": 1, "nvidia.com/gpu": 0, "memory": "1Gi", "nvidia.com/roce_gdr": 0}
    assert main["resources"] == {"requests": amounts, "limits": amounts}
    assert pod["volumes"] == [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]
    assert not {"securityContext", "env", "envFrom"} & main.keys()
    assert not {"schedulerName", "serviceAccountName", "imagePullSecrets"} & pod.keys()


@pytest.mark.parametrize(
    ("setting", "path", "value"),
    [
        ("schedulerName: sakkara", "containers.0.env.0.name", "SAKKARA_RANK"),
        ("schedulerName: sakkara", "schedulerName", "sakkara"),
        ("mountNVMe: {storage: 8Gi}", "containers.0.env.0.value", "/workspace/scratch-nvme"),
        ("mountNVMe: {storage: 8Gi}", "volumes.0.name", "ephemeral-odf-lvm-vg1"),
        ("serviceAccountName: gdr", "containers.0.securityContext.capabilities.add.0", "IPC_LOCK"),
        ("envFrom: [{secretRef: {name: s}}]", "containers.0.envFrom.0.secretRef.name", "s"),
        ("imagePullPolicy: Always", "containers.0.imagePullPolicy", "Always"),
        ("limitGpusPerPod: 2", "containers.0.resources.limits.nvidia/gpu", 2),
        (
            "environmentVariables: [{name: A, value: 1000000}]",
            "containers.0.env.0.value",
            "1000000",
        ),
        ("environmentVariables: [{name: A, value: true}]", "containers.0.env.0.value", "true"),
        (
            "initContainers: [{name: i, image: j, command: [a, b]}]",
            "initContainers.0.command.1",
            "b",
        ),
        (
            "sshGitCloneConfig: {secretName: s, configMapName: c, secretMountPath: /k}",
            "containers.0.env.0.value",
            "ssh -i /k/id_rsa -o UserKnownHostsFile=/tmp/.ssh/hosts/known_hosts -vv",
        ),
        ("sshGitCloneConfig: {secretName: s, configMapName: c}", "volumes.1.configMap.name", "c"),
        ("topologyFileConfigMap: t\ndisableSharedMemory: true", "volumes.0.configMap.name", "t"),
    ],
)
def test_a_setting_has_its_place(setting: str, path: str, value: Any, tmp_path: Path) -> None:
    found: Any = pod_of(generated(f"{LEAST}{setting}\n", tmp_path))
    for step in path.split("."):
        found = found[int(step) if step.isdigit() else step.replace("nvidia/", "nvidia.com/")]
    assert found == value


def test_no_queue_name_is_a_choice_and_any_other_null_the_default(tmp_path: Path) -> None:
    metadata = generated(f"{LEAST}queueName:\nnumPods:\nvolumes:\n", tmp_path)["metadata"]
    assert "labels" not in metadata


@pytest.mark.parametrize("setting", DURATIONS)
@pytest.mark.parametrize("duration", ["3d", "5", "", "1 m", "-1s", "1m30"])
def test_a_duration_that_the_controller_would_not_take_is_refused(
    setting: str, duration: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=rf"values.yaml:3:\d+: {setting}: "):
        generated(f"{LEAST}{setting}: '{duration}'\n", tmp_path)


@pytest.mark.parametrize("duration", ["1m30s", "500ms", "1.5h", "168h", "0s"])
def test_every_duration_that_the_controller_takes_is_kept(duration: str, tmp_path: Path) -> None:
    metadata = generated(f"{LEAST}successTTLDuration: {duration}\n", tmp_path)["metadata"]
    kept = metadata["annotations"]["workload.codeflare.dev.appwrapper/successTTLDuration"]
    assert parse_duration(kept) == parse_duration(duration)


@pytest.mark.parametrize("setting", LEGACY)
def test_settings_of_the_earlier_tool_change_nothing(setting: str, tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(f"{LEAST}{setting}: 7\n")
    values, ignored = read_values(file)
    assert ignored == (setting,)
    assert app_wrapper(values, "v") == generated(LEAST, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "values.yaml: has no settings; write jobName and containerImage at least"),
        ("jobName: a", "values.yaml:1:1: object missing required field `containerImage`"),
        (f"{LEAST}numPod: 2", "values.yaml:3:9: object contains unknown field `numPod`; did you"),
        (
            f"{LEAST}mountNVMe: {{storage: 1Gi, path: x}}",
            "values.yaml:3:33: mountNVMe: object contains unknown field `path`",
        ),
        (
            f"{LEAST}volumes: [{{name: a, claimName: b}}]",
            "values.yaml:3:11: volumes[0]: object missing required field `mountPath`",
        ),
        (f"{LEAST}numPods: 0", "values.yaml:3:10: numPods: expected `int` >= 1; write a whole"),
        (
            f"{LEAST}numGpusPerPod: -1",
            "values.yaml:3:16: numGpusPerPod: expected `int` >= 0; write a whole number, 0 or more",
        ),
        (f"{LEAST}retryLimit: 101", "values.yaml:3:13: retryLimit: expected `int` <= 100"),
        (f"{LEAST}priority: urgent", "values.yaml:3:11: priority: invalid enum value 'urgent'"),
        (f"{LEAST}numCpusPerPod: 0", "values.yaml:3:16: numCpusPerPod: is 0; write more than 0"),
        (f"{LEAST}totalMemoryPerPod: 1GB", "values.yaml:3:20: totalMemoryPerPod: '1GB' is not a"),
        (f"{LEAST}numRoceGdr: 2", "values.yaml:3:13: numRoceGdr: one pod alone has no use for it"),
        (
            f"{LEAST}environmentVariables: [{{name: A}}]",
            "values.yaml:3:24: environmentVariables[0]: has not exactly one of value, secret",
        ),
        (
            f"{LEAST}customLabels: [{{key: a/b/c, value: d}}]",
            "values.yaml:3:22: customLabels[0].key: expected `str` matching regex",
        ),
        ("jobName: A\ncontainerImage: i", "values.yaml:1:10: jobName: expected `str` matching"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_with_its_line(
    text: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        generated(text, tmp_path)
    assert str(raised.value).removeprefix(f"{tmp_path}/").startswith(message)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("successTTLDuration: 3d\nnumPod: 2", ["successTTLDuration", "object contains"]),
        ("successTTLDuration: 3d\nnumPods: x", ["successTTLDuration", "numPods"]),
        ("numGpusPerPod: -1\nnumCpusPerPod: 0", ["numGpusPerPod", "numCpusPerPod"]),
        ("numPod: 2\nnumRoceGdr: 2", ["object contains"]),
        (
            "environmentVariables: [{name: A}, {name: B, valu: 1}, 3]",
            [f"environmentVariables[{index}]" for index in range(3)],
        ),
        (
            "environmentVariables: [{name: NCCL_TOPO_FILE, value: a}, 3]\ntopologyFileConfigMap: t",
            ["environmentVariables[1]", "topologyFileConfigMap"],
        ),
    ],
)
def test_all_mistakes_are_reported_at_once(text: str, fields: list[str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        generated(f"{LEAST}{text}\n", tmp_path)
    lines = [str(raised.value), *getattr(raised.value, "__notes__", ())]
    for line, field in zip(lines, fields, strict=True):
        assert re.fullmatch(rf".*values.yaml:\d+:\d+: {re.escape(field)}.*[;?].*", line), line
