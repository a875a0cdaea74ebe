"""The Chaos Toolkit finds, validates and runs the extension as it does any other."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from chaoslib.exceptions import ActivityFailed, InvalidExperiment

from chaos.faults import ApiErrors, KillPod
from chaos.injector import Injector
from chaos.toolkit import actions, node_actions, pod_actions, probes
from chaos.toolkit.stage import Stage, acting_on
from chaos.toolkit.virtual import in_virtual_time, load_experiment, run_experiment
from conformance.implementations.ours import implementation
from conformance.suites.appwrapper import activities
from tests.chaos.fake_ground import FakeGround, job, pod, small_cluster
from tests.headers import header_of
from vocabulary.clock import SECOND
from vocabulary.objects import annotations_of, get_path, is_terminating, labels_of

ROOT = Path(__file__).parents[2]
EXPERIMENTS = sorted((ROOT / "chaos" / "experiments").glob("*.yaml"))
ACTIONS = (actions, pod_actions, node_actions)
PROBES = (probes, activities)
ACTIVITIES = [(module, name) for module in (*ACTIONS, *PROBES) for name in module.__all__]


def chaos(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the `chaos` command with Assay installed as pip would, and no settings of anybody."""
    info = tmp_path / "site" / "assay-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: assay\nVersion: 0.1.0\n")
    (info / "top_level.txt").write_text((ROOT / "chaos/toolkit/top_level.txt").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    suites = project["entry-points"]["assay.suites"].items()
    lines = ["[assay.suites]", *(f"{name} = {value}" for name, value in suites)]
    (info / "entry_points.txt").write_text("\n".join(lines))
    command = [str(Path(sys.executable).with_name("chaos")), "--no-version-check", "--no-log-file"]
    command += ["--settings", str(tmp_path / "settings.yaml"), *words]
    paths = f"{info.parent}{os.pathsep}{ROOT}"
    return subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_chaos_discover_lists_every_activity_with_its_description_and_parameter_types(tmp_path):
    ended = chaos(tmp_path, "discover", "--no-install", "assay", "--discovery-path", "found.json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["extension"]["name"] == "assay"
    listed = {(activity["type"], activity["name"]): activity for activity in found["activities"]}
    assert listed.keys() == {
        *(("action", name) for module in ACTIONS for name in module.__all__),
        *(("probe", name) for module in PROBES for name in module.__all__),
    }
    kill = listed["action", "kill_pods"]
    assert kill["doc"].startswith("End the containers of pods with an exit code")
    types = {argument["name"]: argument.get("type") for argument in kill["arguments"]}
    assert (types["exit_code"], types["reason"], types["rand"]) == ("integer", "string", "boolean")
    assert list(types)[-2:] == ["configuration", "secrets"]


def test_the_list_of_packages_that_discovery_needs_has_the_names_that_a_wheel_installs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = (ROOT / "chaos/toolkit/top_level.txt").read_text().split()
    assert packages[0] == "chaos"
    assert {*packages} == {*project["tool"]["mypy"]["packages"]}


def test_chaos_validate_accepts_a_shipped_experiment(tmp_path):
    ended = chaos(tmp_path, "validate", str(EXPERIMENTS[0]))
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_at_least_five_experiments_are_shipped_and_all_are_valid():
    assert len([load_experiment(path) for path in EXPERIMENTS]) >= 5


@pytest.mark.parametrize(("module", "name"), ACTIVITIES, ids=[name for _, name in ACTIVITIES])
def test_every_activity_follows_the_conventions_of_extensions(module, name):
    function = getattr(module, name)
    parameters = inspect.signature(function).parameters
    assert list(parameters)[-2:] == ["configuration", "secrets"]
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())
    assert all(not isinstance(p.annotation, str) for p in parameters.values())
    assert inspect.getdoc(function)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda path: path.stem)
def test_every_shipped_experiment_holds_in_virtual_time_and_puts_its_claims_to_the_test(experiment):
    run = run_experiment(load_experiment(experiment), implementation("reference", "appwrapper"))
    failed = [each for each in run.journal["run"] if each["status"] != "succeeded"]
    assert failed == [] and run.is_steady
    outputs = [each["output"] for each in run.journal["run"] if isinstance(each["output"], dict)]
    assert [output["outcome"] for output in outputs if "outcome" in output] == ["passed"]
    assert [each["status"] for each in run.journal["rollbacks"]] == ["succeeded"] * 2


def test_an_experiment_runs_the_same_twice_and_waits_only_in_virtual_time():
    experiment = load_experiment(EXPERIMENTS[0])
    first = run_experiment(experiment, implementation("reference", "appwrapper"))
    second = run_experiment(experiment, implementation("reference", "appwrapper"))
    assert (first.header, first.entries) == (second.header, second.entries)
    assert first.entries[-1].t > 20 * SECOND
    assert first.journal["duration"] < 10


def test_a_wrong_controller_makes_the_steady_state_deviate():
    experiment = load_experiment(ROOT / "chaos/experiments/external-deletion.yaml")
    run = run_experiment(
        experiment, implementation("mutant:external-deletion-is-retried", "appwrapper")
    )
    assert run.journal["deviated"] and not run.is_steady


def test_pauses_become_activities_of_their_own_and_nothing_runs_in_the_background():
    pause = {"before": 1, "after": "${span}"}
    activity = {"type": "action", "name": "x", "background": True, "pauses": pause, "provider": {}}
    changed = in_virtual_time({"title": "t", "method": [activity], "rollbacks": [activity]})
    for part in ("method", "rollbacks"):
        before, kept, after = changed[part]
        assert kept == {"type": "action", "name": "x", "provider": {}}
        assert before["provider"]["arguments"] == {"seconds": 1}
        assert after["provider"]["arguments"] == {"seconds": "${span}"}
        assert before["type"] == "action"


def test_pauses_of_a_hypothesis_are_probes_that_always_hold():
    probe = {"type": "probe", "name": "x", "tolerance": True, "pauses": {"after": 3}}
    changed = in_virtual_time(
        {"title": "t", "steady-state-hypothesis": {"title": "h", "probes": [probe]}, "method": []}
    )
    kept, after = changed["steady-state-hypothesis"]["probes"]
    assert "pauses" not in kept
    assert (after["type"], after["tolerance"]) == ("probe", True)


def test_what_is_not_an_experiment_is_refused_with_its_file(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("[]")
    with pytest.raises(InvalidExperiment, match=r"x\.yaml: is not an experiment"):
        load_experiment(path)
    path.write_text("title: x\n")
    with pytest.raises(InvalidExperiment, match=r"x\.yaml: "):
        load_experiment(path)


class FakeStage(Stage):
    """A stage on the fake ground; its time passes by waiting."""

    def __init__(self, ground: FakeGround) -> None:
        super().__init__(ground)
        self.waited_us = 0
        self._injector = Injector(ground, self.note)

    @property
    def injector(self) -> Injector:
        return self._injector

    def wait(self, span_us: int) -> None:
        self.waited_us += span_us

    def prepare(self, obj: Any) -> dict[str, Any]:
        return dict(obj)

    def history(self) -> Any:
        header = header_of(scenario="s", cluster="fake", implementation="none")
        return header, ()


@pytest.fixture
def stage():
    made = FakeStage(small_cluster())
    with acting_on(made):
        yield made


def ground(stage: FakeStage) -> FakeGround:
    assert isinstance(stage.ground, FakeGround)
    return stage.ground


SELECTOR = "workload.codeflare.dev/appwrapper=a"


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        ({}, ["a-0"]),
        ({"qty": 2}, ["a-0", "a-1"]),
        ({"qty": 99}, ["a-0", "a-1", "a-2"]),
        ({"all": True}, ["a-0", "a-1", "a-2"]),
        ({"mode": "percentage", "qty": 50}, ["a-0", "a-1"]),
        ({"name_pattern": "-[12]$", "all": True}, ["a-1", "a-2"]),
        ({"label_selector": SELECTOR}, ["a-0"]),
        ({"qty": 0}, []),
    ],
)
def test_pods_are_selected_as_chaostoolkit_kubernetes_selects_them(stage, selection, names):
    done = pod_actions.terminate_pods(**selection)
    assert done == [f"delete pod {name}" for name in names]


def test_the_oldest_pods_come_first_where_asked_for(stage):
    old = pod("z-9")
    old["metadata"]["creationTimestamp"] = "2020-01-01T00:00:00Z"
    ground(stage).put(old)
    for name in ("a-0", "a-1", "a-2"):
        young = pod(name)
        young["metadata"]["creationTimestamp"] = "2021-01-01T00:00:00Z"
        ground(stage).put(young)
    assert pod_actions.terminate_pods(order="oldest") == ["delete pod z-9"]


def test_a_random_selection_repeats_for_the_same_seed():
    def pick() -> list[str]:
        with acting_on(FakeStage(small_cluster(7))):
            return pod_actions.kill_pods(rand=True, qty=2)

    assert pick() == pick()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pod_actions.terminate_pods(mode="most"), "mode is 'most', expected fixed or"),
        (
            lambda: pod_actions.terminate_pods(order="random"),
            "order is 'random', expected alphabetic",
        ),
        (lambda: pod_actions.terminate_pods(qty=-1), "qty is -1, expected a number from 0"),
        (
            lambda: pod_actions.kill_pods(label_selector="x=y"),
            "no pod in test matches label selector",
        ),
        (lambda: node_actions.cordon_node(name="n9"), "no node matches name 'n9'"),
        (lambda: actions.inject_fault({"kil": {}}), "fault.kil: is not a fault"),
        (lambda: actions.inject_fault({"pause": {"actor": "x"}}), "there is no process x"),
        (lambda: actions.delete_object("Nothing", "x"), "'Nothing' is not a known kind"),
        (lambda: actions.delete_object("Job", "x"), "NotFound"),
        (lambda: actions.submit(job()), "AlreadyExists"),
        (lambda: probes.claim_holds("AW-999"), "'AW-999' is not a known claim; did you mean AW-"),
        (
            lambda: actions.wait_for_phase("AppWrapper/a", "Failed", timeout=3),
            "AppWrapper/a is in phase 'Running' after 3s, expected Failed",
        ),
    ],
)
def test_what_cannot_be_done_fails_the_activity_and_says_why(stage, call, message):
    with pytest.raises(ActivityFailed) as caught:
        call()
    assert message in str(caught.value)


def test_actions_break_what_they_say_and_revert_faults_puts_it_right(stage):
    before = ground(stage).world()
    pod_actions.kill_pods(exit_code=137, reason="OOMKilled", name_pattern="a-0")
    pod_actions.stick_pods("init", name_pattern="a-1")
    node_actions.taint_node("k", "v", "NoExecute", pod_label_selector=SELECTOR, count=1)
    node_actions.label_node("autopilot.ibm.com/gpuhealth", "EVICT", name="n0")
    node_actions.cordon_node("n1")
    actions.edit_object("Job", "job-a", {"spec": {"parallelism": 9}})
    actions.suspend("AppWrapper/a")
    actions.kill_operator(restart_after=-1)
    actions.inject_fault({"stale_reads": {"kind": "Pod"}})
    after = ground(stage)
    a_0 = after.get("Pod", "a-0") or {}
    assert annotations_of(a_0)["assay.dev/exit"] == "137"
    assert labels_of(after.get("Node", "n0") or {})["autopilot.ibm.com/gpuhealth"] == "EVICT"
    assert get_path(after.get("Job.batch", "job-a"), "spec.parallelism") == 9
    assert after.processes.states["operator"] == "down"
    assert len(actions.revert_faults()) == 9
    assert ground(stage).world() == before


def test_actions_that_undo_one_another(stage):
    before = ground(stage).world()
    node_actions.taint_node("k", name="n0")
    node_actions.untaint_node("k", name="n0")
    node_actions.cordon_node("n0")
    node_actions.uncordon_node("n0")
    actions.pause_operator()
    actions.resume_operator()
    actions.suspend("AppWrapper/a")
    actions.resume("AppWrapper/a")
    assert ground(stage).world() == before


def test_draining_cordons_evicts_and_waits_until_the_pods_are_gone(stage):
    done = node_actions.drain_nodes("n1")
    assert done == ["cordon node n1", "evict pod a-1", "evict pod a-2"]
    assert get_path(ground(stage).get("Node", "n1"), "spec.unschedulable") is True


def test_draining_fails_when_a_pod_does_not_go(stage):
    actions.inject_fault({"hold_object": {"kind": "Pod", "name": "a-1"}})
    with pytest.raises(ActivityFailed, match="after 5s not gone: a-1"):
        node_actions.drain_nodes("n1", timeout=5)
    assert stage.waited_us == 5 * SECOND


def test_a_deleted_object_is_held_by_its_finalizer_until_the_faults_are_reverted(stage):
    actions.delete_object("Job", "job-a", "Foreground", finalizer="example.com/held")
    assert is_terminating(ground(stage).get("Job.batch", "job-a") or {})
    actions.revert_faults()
    assert ground(stage).get("Job.batch", "job-a") is None


def test_waiting_passes_time_on_the_stage(stage):
    actions.wait(2.5)
    assert stage.waited_us == 2_500_000
    assert actions.wait_for_phase("AppWrapper/a", "Failed|Running") == "Running"


def test_probes_read_the_state_of_an_appwrapper_and_its_pods(stage):
    wrapper = {**(ground(stage).get("AppWrapper.workload.codeflare.dev", "a") or {})}
    wrapper["status"] = {
        "phase": "Running",
        "resettingCount": 2,
        "conditions": [{"type": "QuotaReserved", "status": "True"}],
    }
    ground(stage).put(wrapper)
    assert probes.phase("AppWrapper/a") == "Running"
    assert probes.phase("AppWrapper/gone") == ""
    assert activities.retry_count("a") == 2
    assert activities.quota_reserved("a") and not activities.quota_reserved("gone")
    assert not activities.resources_deployed("a")
    assert probes.condition("AppWrapper/a", "QuotaReserved") == "True"
    assert probes.count_pods() == 3
    assert probes.count_pods(SELECTOR, "Running") == 2
    assert not probes.pods_in_phase(SELECTOR)
    assert probes.pods_in_phase("x=y") is False


def test_a_claim_that_nothing_contradicts_holds_but_not_where_it_must_have_been_armed(stage):
    assert probes.claim_holds("AW-015")
    assert not probes.claim_holds("AW-015", armed=True)
    assert probes.claim_verdict("AW-015")["outcome"] == "inconclusive"
    assert probes.no_claim_violated() and probes.no_claim_violated("appwrapper")
    with pytest.raises(ActivityFailed, match="'x' is not a profile of any claim"):
        probes.no_claim_violated("x")


def test_a_stage_is_the_innermost_one_and_ends_with_its_block(stage):
    inner = FakeStage(small_cluster())
    with acting_on(inner):
        actions.wait(1)
    actions.wait(2)
    assert (inner.waited_us, stage.waited_us) == (SECOND, 2 * SECOND)


def test_faults_as_objects_and_as_data_are_the_same_to_a_stage(stage):
    assert stage.inject(KillPod("a-0")) == ["kill pod a-0 with exit code 1"]
    assert stage.inject_data(ApiErrors(code=409).to_data()) == [
        "refuse the next request by operator with 409 Conflict"
    ]
