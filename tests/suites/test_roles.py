"""Two operators under test in one run: each is judged by itself, whatever becomes of the other."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from chaos.exploration import crash_points
from conformance.report.conformance_report import ConformanceReport
from conformance.report.yaml_text import read_report_at
from tests.suites.conftest import Assay
from vocabulary.history import Process, StoredHistory, read_history, role_of

TOGETHER = "operators-die-in-turn"
MUTANTS = {
    "toy=mutant:counts-anew-for-ever": {"TOY-003"},
    # Each of these is wrong while the other's operator is down.
    "toy=mutant:lost-pods-stay-lost": {"TOY-001"},
    "appwrapper=mutant:ignores-failed-pods": {"AW-003", "AW-021", "AW-030", "AW-040"},
}


def report_of(folder: Path) -> ConformanceReport:
    return read_report_at(folder / ".assay" / "report.yaml")


def histories_of(folder: Path) -> list[StoredHistory]:
    return [read_history(path) for path in sorted((folder / ".assay" / "histories").iterdir())]


def test_the_claims_of_both_suites_are_judged_and_each_operator_is_in_the_header(
    assay: Assay, tmp_path: Path
) -> None:
    ran = assay("run", TOGETHER, "--rerun", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 claims: 5 passed; 1 run" in ran.stdout
    (history,) = histories_of(tmp_path)
    operators = history.header.operators
    assert {role: it.suite for role, it in operators.items()} == {
        "toy": "toy",
        "appwrapper": "appwrapper",
    }
    assert "userRBACAdmissionCheck" in operators["appwrapper"].parameters
    assert not operators["toy"].parameters
    started = [e.process for e in history.entries if isinstance(e, Process)][:2]
    assert started == ["toy", "appwrapper"]
    verified = assay("verify", ".assay")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "note:" not in verified.stdout.replace("note: not checked:", "")


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_wrong_operator_violates_claims_of_its_own_suite_alone_while_the_other_is_down(
    assay: Assay, tmp_path: Path, mutant: str
) -> None:
    ran = assay("run", TOGETHER, "--implementation", mutant, "--quiet")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    violated = {claim.id for claim in report_of(tmp_path).claims if claim.outcome == "failed"}
    assert violated == MUTANTS[mutant]
    plans = set((tmp_path / ".assay").glob("*.yaml")) - {tmp_path / ".assay" / "report.yaml"}
    assert {plan.stem.upper() for plan in plans} <= violated
    assert plans
    for plan in plans:
        assert yaml.safe_load(plan.read_text())["implementation"] == mutant
        replayed = assay("replay", str(plan))
        assert replayed.returncode == 1, replayed.stdout + replayed.stderr
        assert "the same history as recorded" in replayed.stdout
    verified = assay("verify", ".assay")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_both_operators_survive_each_of_their_crash_points(assay: Assay, tmp_path: Path) -> None:
    ran = assay("run", TOGETHER, "--crash-points", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (history,) = histories_of(tmp_path)
    of_role = [len(crash_points(history.entries, role)) for role in history.header.operators]
    assert len(of_role) == 2
    assert all(of_role)
    assert report_of(tmp_path).coverage.crash_points == f"{sum(of_role)}/{sum(of_role)}"


def test_random_plans_strike_one_operator_after_the_other_and_violate_nothing(
    assay: Assay,
) -> None:
    ran = assay("run", TOGETHER, "--random-plans", "40", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 claims: 5 passed; 41 runs" in ran.stdout


def test_a_name_that_one_operator_knows_is_its_own_and_another_role_is_refused(
    assay: Assay,
) -> None:
    ran = assay("run", "toy", "--implementation", "mutant:counts-pods-that-wait", "--quiet")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "TOY-002" in ran.stdout
    refused = assay("run", "toy", "--implementation", "kueue=reference")
    assert refused.returncode == 2
    assert "no scenario of the selection has an operator 'kueue'" in refused.stderr
    assert "there are toy, appwrapper" in refused.stderr


def test_a_scenario_without_a_role_runs_beside_those_that_have_it(assay: Assay) -> None:
    named = "toy=mutant:counts-pods-that-wait,appwrapper=reference"
    ran = assay("run", "toy", "--implementation", named, "--quiet")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "TOY-002" in ran.stdout


def test_each_operator_elects_a_leader_of_its_own(assay: Assay, tmp_path: Path) -> None:
    ran = assay("run", "a-leader-is-followed-by-its-own-replica", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (history,) = histories_of(tmp_path)
    changes = [
        (role_of(entry.process), entry.change)
        for entry in history.entries
        if isinstance(entry, Process) and entry.change in ("leading", "following")
    ]
    assert changes == [
        ("toy", "leading"),
        ("appwrapper", "leading"),
        ("toy", "following"),
        ("toy", "leading"),
    ]


def test_a_role_that_is_named_twice_is_refused(assay: Assay) -> None:
    twice = "toy=mutant:counts-pods-that-wait,toy=reference"
    refused = assay("run", "toy", "--implementation", twice)
    assert refused.returncode == 2
    assert "toy is named twice" in refused.stderr


def written_plan(folder: Path, scenario: str, implementation: str) -> str:
    path = folder / "plan.yaml"
    plan = {"seed": 1729, "scenario": scenario, "implementation": implementation}
    path.write_text(yaml.safe_dump(plan))
    return str(path)


def test_a_plan_of_an_operator_that_its_scenario_lacks_is_refused(
    assay: Assay, tmp_path: Path
) -> None:
    mutant = "appwrapper=mutant:ignores-failed-pods"
    refused = assay("replay", written_plan(tmp_path, "toy/lost-pods-come-back", mutant))
    assert refused.returncode == 2, refused.stdout
    assert "has an operator 'appwrapper'; there is toy" in refused.stderr


@pytest.mark.parametrize("asked", ["toy=reference", "toy=mutant:counts-pods-that-wait"])
def test_a_replay_with_one_other_operator_keeps_the_rest_of_the_plan(
    assay: Assay, tmp_path: Path, asked: str
) -> None:
    both = "toy=mutant:lost-pods-stay-lost,appwrapper=mutant:ignores-failed-pods"
    plan = written_plan(tmp_path, f"toy/{TOGETHER}", both)
    history = str(tmp_path / "history.jsonl.gz")
    replayed = assay("replay", plan, "--implementation", asked, "--history", history)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr
    operators = read_history(Path(history)).header.operators
    made = {role: it.implementation for role, it in operators.items()}
    assert made["appwrapper"] == "mutant:ignores-failed-pods"
    assert made["toy"] == asked.partition("=")[2]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("mutants", "tyo"), "did you mean toy or"),
        (("run", "toy", "--implementation", "TOY=reference"), "did you mean toy?"),
        (
            ("run", "toy", "--implementation", "toy=mutnt:lost-pods-stay-lots"),
            "did you mean mutant:lost-pods-stay-lost?",
        ),
    ],
)
def test_a_name_that_was_mistyped_is_told_with_the_one_that_was_meant(
    assay: Assay, words: tuple[str, ...], told: str
) -> None:
    refused = assay(*words)
    assert refused.returncode == 2
    assert told in refused.stderr
    assert "appwrapper-v1" not in refused.stderr
    listed = assay("mutants", "--list", "lost-pods-stay-lost")
    assert listed.stdout.endswith("\n1 mutant\n")


def test_a_mutant_of_another_operator_is_told_as_such(assay: Assay) -> None:
    ran = assay("run", "appwrapper", "--implementation", "mutant:lost-pods-stay-lost")
    assert ran.returncode == 2
    assert "is a mutant of toy, not of appwrapper" in ran.stderr
