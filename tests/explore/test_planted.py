"""One planted bug for each claim about any operator: all are found, and the sound twin is right."""

from __future__ import annotations

import sys
from pathlib import Path
from weakref import WeakSet

import pytest

from reference_controller.runtime.leader_election import LeaderElection
from tests.explore.planted import FOLDER, explored, planted, violated
from vocabulary.clock import Micros
from vocabulary.objects import Object

__all__ = ["planted"]

EVERY = {
    "counts-its-looks": "seeds",
    "counts-its-starts": "seeds",
    "dates-its-looks": "seeds",
    "enters-once": "kills",
    "believes-its-cache": "stale-lists",
    "waits-for-the-change": "late-watches",
    "drops-refused-reports": "refusals",
    "trusts-its-status": "deletions",
    "reports-for-a-moment": "deletions",
    "never-forgives": "edits",
    "leaves-entries": "seeds",
    "holds-sites": "seeds",
    "holds-pages": "seeds",
    "takes-namesakes": "namesakes",
    "sweeps-by-prefix": "neighbours",
    "finishes-one-first": "neighbours",
    "remembers-names": "seeds",
    "divides-by-ready": "seeds",
    "may-not-list": "seeds",
    "may-not-patch": "edits",
    "resets-annotations": "touches",
    "replaces-finalizers": "touches",
    "trusts-its-status-of-setup": "seeds",
    "owns-by-name": "upgrades",
    "reports-the-order": "stale-lists",
    "moves-its-times": "seeds",
    "gives-no-reason": "seeds",
    "makes-uids-up": "seeds",
    "tidies-the-text": "seeds",
    "looks-at-all": "growth",
    "adds-to-titles": "drawn",
    "divides-by-wanted": "drawn",
    "reads-the-first-letter": "drawn",
    "has-no-patience": "slow",
    "sets-up-for-annotations": "touches",
}
"""The planted bugs, each with the sort of disturbance that shows it; `seeds`: none is needed."""
SAMPLE = 130
"""Disturbed runs, of each sort about as many."""
FEW = 30
"""The same of one sort."""


@pytest.mark.usefixtures("planted")
def test_the_sound_operator_is_convicted_of_nothing() -> None:
    suite, _ = explored("planted", sample=SAMPLE, upgrade_from="planted")
    assert not violated(suite)
    assert {v.claim for run in suite.runs for v in run.verdicts if v.armed} == {
        verdict.claim for verdict in suite.runs[0].verdicts
    }, "each claim is put to the test"
    assert not [run.error for run in suite.runs if run.error]


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
def test_nothing_at_all_convicts_the_sound_operator() -> None:
    suite, _ = explored("planted", sample=0, upgrade_from="planted")
    assert not violated(suite)


@pytest.mark.parametrize("bug", EVERY)
@pytest.mark.usefixtures("planted")
def test_a_planted_bug_is_found_by_its_claim(bug: str) -> None:
    from assay_planted.bugs import BUGS

    operator = f"planted/mutant:{bug}"
    suite, _ = explored(operator, EVERY[bug], sample=FEW, upgrade_from="planted")
    assert BUGS[bug].killed_by[0] in violated(suite)


@pytest.mark.usefixtures("planted")
def test_a_leader_that_believes_to_lead_for_good_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = LeaderElection.leads
    led: WeakSet[LeaderElection] = WeakSet()

    def leads(self: LeaderElection, now_us: Micros) -> bool:
        if right(self, now_us):
            led.add(self)
        return self in led

    monkeypatch.setattr(LeaderElection, "leads", leads)
    suite, _ = explored("planted", "elections", sample=8)
    assert "OP-015" in violated(suite)


@pytest.mark.usefixtures("planted")
def test_every_planted_bug_is_tried() -> None:
    from assay_planted.bugs import BUGS

    assert sorted(BUGS) == sorted(EVERY)
    assert Path(sys.modules["assay_planted"].__file__ or "").is_relative_to(FOLDER)


@pytest.mark.usefixtures("planted")
def test_the_undisturbed_run_is_described_in_ten_lines() -> None:
    _, said = explored("planted", sample=1)
    assert said[0] == "planted, undisturbed, seed 1729:"
    assert said[1].startswith("  1. ConfigMap: a-entry and a-page, from ")
    assert "8 writes (4 patch and 4 create" in said[4]
    assert said[4].endswith("; then 0 requests in 600s")
    assert said[5] == "  with another seed it ends the same"
    assert "342 refusals" in said[6]
    assert said[7].startswith("  = 1 of 657 runs, about ")


def test_it_is_asked_when_a_container_ends_of_which_nobody_knows_it() -> None:
    pod = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "example.com/work:2"}]}
    job = {"name": "w", "template": {"spec": {"template": {"spec": pod}}}}
    job_set: Object = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "a"},
        "spec": {"replicatedJobs": [job]},
    }
    _, said = explored("jobset", sample=1, workload=job_set)
    (asked,) = (line for line in said if line.startswith("  ? "))
    assert asked == (
        "  ? the command of container 'c' is not understood, so pods of it run for good; in the "
        'profile: behaviours: [{"image": "example.com/work:2", "behaviour": "run 30s"}]'
    )


@pytest.mark.usefixtures("planted")
def test_a_difference_between_seeds_is_said_first() -> None:
    suite, said = explored("planted/mutant:trusts-its-status-of-setup", sample=1, seed=1)
    assert "OP-019" in violated(suite)
    assert any(line.startswith("  DIFFERS WITH THE SEED: Job.batch") for line in said)
    (compared,) = {v.because for v in suite.runs[-1].verdicts if v.claim == "OP-017"}
    assert compared.startswith(("Undecided: two undisturbed runs", "Never armed"))
