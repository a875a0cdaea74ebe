"""Odd values in any field of the tools' input are errors with a message, never tracebacks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlbatch_tools.appwrapper_packager import package
from mlbatch_tools.cluster_checker.printed import as_data, lines
from mlbatch_tools.cluster_checker.report import report
from mlbatch_tools.manifests import items_in, read
from mlbatch_tools.problems import ToolError
from mlbatch_tools.pytorch_generator.generate import app_wrapper
from mlbatch_tools.pytorch_generator.values import read_values
from tests.odd_values import changed
from vocabulary.safe_yaml import YamlError

MANIFESTS = Path(__file__).parent / "manifests"
CLUSTER = [dict(found.obj) for found in read([MANIFESTS / "guide-cluster.yaml"])]
FIRST = {obj["kind"]: obj for obj in reversed(CLUSTER)}
FIRST["Pod"] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "a", "namespace": "a"},
    "spec": {
        "nodeName": "node-1",
        "schedulerName": "other",
        "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 1}}}],
        "initContainers": [{"name": "i", "resources": {"requests": {"cpu": 1}}}],
    },
    "status": {"phase": "Running"},
}
FIRST["Node"] = {
    **FIRST["Node"],
    "metadata": {"name": "node-1", "labels": {"autopilot.ibm.com/gpuhealth": "EVICT"}},
    "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
}
CONFIGURATION = {
    "appwrapper": {
        "slackQueueName": "slack-cluster-queue",
        "autopilot": {"resourceTaints": {"nvidia.com/gpu": [{"key": "k", "value": "v"}]}},
    }
}


@pytest.mark.parametrize("kind", FIRST)
def test_the_report_on_an_odd_object_is_made_or_refused(kind: str) -> None:
    for odd in changed(FIRST[kind]):
        others = [obj for obj in CLUSTER if obj is not FIRST[kind]]
        try:
            found = report([*others, *(each.obj for each in items_in(odd, "dump.yaml"))])
        except (ToolError, YamlError) as error:
            assert "; " in str(error), "the next action is missing"
        else:
            assert list(lines(found, "guide"))
            assert json.dumps(as_data(found))


def test_the_report_with_an_odd_configuration_is_made_or_refused() -> None:
    for odd in changed(CONFIGURATION):
        config_map = {**FIRST["ConfigMap"], "data": {"config.yaml": yaml.safe_dump(odd)}}
        try:
            report([*(obj for obj in CLUSTER if obj["kind"] != "ConfigMap"), config_map])
        except ToolError as error:
            told = str(error)
            assert told.startswith("ConfigMap mlbatch-system/appwrapper-operator-config: ")
            assert "; write " in told


def test_an_odd_manifest_is_wrapped_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "given.json"
    template = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j", "labels": {"a": "b"}},
        "spec": {"parallelism": 2, "template": template},
    }
    for odd in changed(job):
        file.write_text(json.dumps(odd))
        try:
            wrapper: Any = yaml.safe_load(package([file], "a", "q").text)
        except (ToolError, YamlError) as error:
            assert "; " in str(error) or ": make" in str(error)
        else:
            assert wrapper["spec"]["components"][0]["template"] == odd


def test_odd_settings_are_used_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    settings = yaml.safe_load((MANIFESTS / "train-values.yaml").read_text())
    for odd in list(changed(settings))[::7]:  # all values of changed, spread over all settings
        file.write_text(json.dumps(odd))
        try:
            values, _ = read_values(file)
        except YamlError as error:
            assert str(error).startswith(f"{file}:")
        else:
            assert app_wrapper(values, "v")["kind"] == "AppWrapper"
