"""Mistakes in whole runs: their fates, and that runs with one are repeated byte by byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.explore.wire_mutants import explore_wire
from conformance.explore.workload import read_workload
from conformance.implementations.ours import UnknownImplementationError
from conformance.profiles.choosing import all_simulated, under_test
from conformance.running.mutant_trials import MutantFate, percent_decided
from conformance.running.run_options import RunOptions
from conformance.running.runner import run_one
from conformance.running.wire_mutants import of_role, run_wire
from conformance.scenarios import SCENARIOS
from vocabulary.history import history_digest

SCENARIO = "jobset/endings/no-policy"
JOBS = "create:Job.batch"
FEW = RunOptions(jobs=1)
WORKLOAD = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: a}
spec:
  replicatedJobs:
  - name: w
    template:
      spec:
        template:
          spec:
            restartPolicy: Never
            containers: [{name: c, image: busybox, command: [sleep, "30"]}]
"""


def fates(*texts: str) -> dict[str, MutantFate]:
    wanted = [of_role(f"jobset={text}") for text in texts]
    results = run_wire([SCENARIO], ["jobset"], FEW, lambda _: None, wanted=wanted)
    return {result.id.removeprefix("jobset="): result for result in results}


def test_each_mistake_has_a_fate() -> None:
    killed = f"off-by-one:{JOBS}:/spec/parallelism"
    unseen = f"too-late:{JOBS}"
    nowhere = "left-out:delete:Pod"
    found = fates(killed, unseen, nowhere)
    assert found[killed].fate == "killed"
    assert found[killed].killed_by == ("JS-104",)
    assert found[killed].scenario == SCENARIO
    assert found[unseen].fate == "survived"
    assert found[unseen].differs == (SCENARIO,)
    assert found[unseen].nearest
    assert found[nowhere].fate == "never applied"
    assert percent_decided(found.values()) == 50


def test_a_mistake_that_changes_nothing_of_what_is_stored_is_equivalent() -> None:
    # The API server fills in the default.
    text = f"field-left-out:{JOBS}:/spec/suspend"
    assert fates(text)[text].fate == "equivalent"


def test_a_drawn_sample_is_of_what_the_operator_writes() -> None:
    results = run_wire([SCENARIO], ["jobset"], FEW, lambda _: None, count=4, seed=1)
    again = run_wire([SCENARIO], ["jobset"], FEW, lambda _: None, count=4, seed=1)
    assert results == again
    assert len({each.operator for each in results}) == 4
    assert "never applied" not in {each.fate for each in results}


def test_a_run_with_a_mistake_is_that_of_its_name_each_time() -> None:
    name = f"reference+wire:too-late:{JOBS}"
    scenario = SCENARIOS[SCENARIO]
    runs = [
        run_one(scenario, all_simulated(spelled, scenario.roles), 1)
        for spelled in (name, name, "reference")
    ]
    digests = [history_digest(run.header, run.entries) for run in runs]
    assert digests[0] == digests[1] != digests[2]
    assert runs[0].plan["implementation"] == runs[0].header.implementation == name
    assert "implementation" not in runs[2].plan


def test_on_a_real_cluster_nothing_stands_between() -> None:
    with pytest.raises(UnknownImplementationError, match="leave out --cluster"):
        under_test(f"reference+wire:left-out:{JOBS}", "jobset")


def test_the_claims_about_any_operator_are_measured_on_one(tmp_path: Path) -> None:
    path = tmp_path / "workload.yaml"
    path.write_text(WORKLOAD)
    options = RunOptions(jobs=1, implementation="operator=jobset", manifests=read_workload(path))
    lost = f"operator=owner-lost:{JOBS}:/metadata/ownerReferences"
    key = "jobset.sigs.k8s.io~1job-key"
    more = f"operator=label-changed:{JOBS}:/spec/template/metadata/labels/{key}"
    found = explore_wire(options, lambda _: None, sample=2, wanted=[of_role(lost), of_role(more)])
    assert [each.fate for each in found] == ["killed", "survived"]
    assert "OP-009" in found[0].killed_by
    assert found[1].runs - 2 <= len(found[1].differs)
