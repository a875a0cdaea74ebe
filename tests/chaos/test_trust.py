"""An experiment that would act outside of the simulation is refused before anything is run."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from chaoslib.exceptions import InvalidExperiment

from chaos.toolkit.trust import outside_of_simulation
from chaos.toolkit.virtual import load_experiment, run_experiment
from conformance.implementations.ours import implementation
from tests.cli.command import assay

EXPERIMENT: dict[str, Any] = {
    "title": "a stranger's",
    "description": "waits",
    "method": [
        {
            "type": "action",
            "name": "wait a moment",
            "provider": {
                "type": "python",
                "module": "chaos.toolkit.actions",
                "func": "wait",
                "arguments": {"seconds": 1},
            },
        }
    ],
}


def python(module: str, func: str) -> dict[str, Any]:
    return {"type": "python", "module": module, "func": func, "arguments": {}}


PROCESS = {"type": "process", "path": "/bin/sh", "arguments": "-c id"}
PROBE = {"type": "probe", "name": "look", "tolerance": 0, "provider": PROCESS}


def _action(provider: Any) -> Callable[[dict[str, Any]], None]:
    return lambda experiment: experiment["method"][0].update(provider=provider)


OUTSIDE: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "a process": (_action(PROCESS), "the action 'wait a moment' starts the process '/bin/sh'"),
    "a request": (
        _action({"type": "http", "url": "http://169.254.169.254/"}),
        "the action 'wait a moment' sends a request to 'http://169.254.169.254/'",
    ),
    "a foreign function": (
        _action(python("os", "getcwd")),
        "the action 'wait a moment' calls the Python function os.getcwd",
    ),
    "what a module of the simulation imports": (
        _action(python("chaos.toolkit.probes", "History")),
        "calls the Python function chaos.toolkit.probes.History",
    ),
    "a provider that is none": (_action("os.system"), "has an unknown provider 'os.system'"),
    "a provider of another type": (_action({"type": "exec"}), "has a provider of type 'exec'"),
    "a rollback": (
        lambda experiment: experiment.update(rollbacks=[{**PROBE, "type": "action"}]),
        "the action 'look' starts the process '/bin/sh'",
    ),
    "a hypothesis": (
        lambda experiment: experiment.update(
            {"steady-state-hypothesis": {"title": "steady", "probes": [PROBE]}}
        ),
        "the probe 'look' starts the process '/bin/sh'",
    ),
    "a tolerance": (
        lambda experiment: experiment["method"][0].update(tolerance=PROBE),
        "the probe 'look' starts the process '/bin/sh'",
    ),
    "configuration": (
        lambda experiment: experiment.update(
            configuration={"who": {"type": "probe", "provider": PROCESS}}
        ),
        "the experiment, configuration starts the process '/bin/sh'",
    ),
    "controls": (
        lambda experiment: experiment.update(controls=[{"name": "c", "provider": python("x", "")}]),
        "the experiment has controls, which are Python modules",
    ),
    "controls of an activity": (
        lambda experiment: experiment["method"][0].update(controls=[{"name": "c"}]),
        "the action 'wait a moment' has controls",
    ),
    "a vault": (
        lambda experiment: experiment.update(secrets={"a": {"b": {"type": "vault"}}}),
        "reads secrets from a vault",
    ),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_acts_outside_of_the_simulation_is_refused_and_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change, told = OUTSIDE[name]
    experiment = copy.deepcopy(EXPERIMENT)
    change(experiment)
    path = tmp_path / "experiment.yaml"
    path.write_text(yaml.safe_dump(experiment))
    ended = assay(monkeypatch, capsys, "chaos", path)
    assert (ended.code, ended.out) == (2, "")
    assert told in ended.err
    assert "--trust" in ended.err


def test_activities_of_the_simulation_need_no_trust_whatever_their_arguments_are_called() -> None:
    experiment = copy.deepcopy(EXPERIMENT)
    experiment["method"][0]["provider"]["arguments"] = {"manifest": {"provider": PROCESS}}
    assert list(outside_of_simulation(experiment)) == []


def test_a_module_that_is_not_trusted_is_not_even_imported(tmp_path: Path) -> None:
    experiment = copy.deepcopy(EXPERIMENT)
    _action(python("this", "d"))(experiment)
    path = tmp_path / "experiment.json"
    path.write_text(json.dumps(experiment))
    with pytest.raises(InvalidExperiment, match=r"this\.d"):
        load_experiment(path)
    assert "this" not in sys.modules


def test_an_experiment_that_is_trusted_runs_its_processes(tmp_path: Path) -> None:
    experiment = copy.deepcopy(EXPERIMENT)
    _action({"type": "process", "path": "touch", "arguments": [str(tmp_path / "made")]})(experiment)
    path = tmp_path / "experiment.yaml"
    path.write_text(yaml.safe_dump(experiment))
    run = run_experiment(
        load_experiment(path, trusted=True), implementation("reference", "appwrapper")
    )
    assert run.journal["status"] == "completed"
    assert (tmp_path / "made").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"configuration": [1]},
        {"secrets": [1]},
        {"method": 7},
        {"method": [7]},
        {"rollbacks": {"a": 1}},
        {"steady-state-hypothesis": [1]},
        {"tags": 7},
        {"configuration": {"nodes": "many"}},
        {"configuration": {"nodes": -1}},
        {"configuration": {"nodes": 10**9}},
        {"configuration": {"gpus": [1]}},
        {"configuration": {"operators": 0}},
        {"configuration": {"operator_config": "x"}},
        {"configuration": {"operator_config": {"faultTolerance": {"retryLimit": "x"}}}},
        {"method": [{"ref": "nobody"}]},
    ],
    ids=str,
)
def test_an_experiment_of_the_wrong_shape_is_bad_input(
    wrong: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "experiment.yaml"
    path.write_text(yaml.safe_dump({**EXPERIMENT, **wrong}))
    ended = assay(monkeypatch, capsys, "chaos", path)
    assert ended.code == 2, ended
    assert ended.err.startswith("assay: ")
