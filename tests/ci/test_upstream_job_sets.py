"""`ci/bench/upstream_job_sets.py`: JobSet's own tests, and the scenarios that cover the same."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from conformance.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).with_name("ginkgo_report.json")
"""Of JobSet v0.12.0: three of its cases and one that was left out, without what is not read."""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import a module of ci/bench."""
    monkeypatch.syspath_prepend(str(ROOT / "ci" / "bench"))
    return importlib.import_module


def edited(tmp_path: Path, edit: Callable[[list[Any]], object]) -> Path:
    report = json.loads(RECORDED.read_text())
    edit(report)
    path = tmp_path / "ginkgo.json"
    path.write_text(json.dumps(report))
    return path


def test_specs_that_ran_are_read_from_a_report_of_ginkgo(bench: Any) -> None:
    found = bench("ginkgo_report").specs(RECORDED)
    assert [(spec.name, round(spec.seconds, 1), spec.has_passed) for spec in found] == [
        (
            "[failure policy] jobset with no failure policy should fail if any jobs fail",
            2.7,
            True,
        ),
        (
            "[failure policy] jobset does not fail immediately with FailJobSet failure policy "
            "action as the failure reason is not matched.",
            10.3,
            True,
        ),
        ("[failure policy] failure policy rules order verification test 3", 30.9, True),
    ]


@pytest.mark.parametrize("state", ["failed", "panicked", "timedout", "interrupted"])
def test_a_spec_that_did_not_pass_is_told_from_one_that_did(
    bench: Any, tmp_path: Path, state: str
) -> None:
    def fail_the_last_spec(report: list[Any]) -> None:
        specs = [each for each in report[0]["SpecReports"] if each["State"] == "passed"]
        [*_, last] = [each for each in specs if each["LeafNodeType"] == "It"]
        last["State"] = state

    found = bench("ginkgo_report").specs(edited(tmp_path, fail_the_last_spec))
    assert [spec.has_passed for spec in found] == [True, True, False]


def test_a_report_without_specs_that_ran_is_refused(bench: Any, tmp_path: Path) -> None:
    module = bench("ginkgo_report")
    nothing_ran = edited(tmp_path, lambda report: report[0].update(SpecReports=None))
    with pytest.raises(module.GinkgoError, match="no spec ran"):
        module.specs(nothing_ran)
    nothing_ran.write_text("[{}]")
    with pytest.raises(module.GinkgoError, match="no JSON report of Ginkgo"):
        module.specs(nothing_ran)
    with pytest.raises(module.GinkgoError, match="did not come to its end"):
        module.specs(tmp_path / "missing.json")


def test_the_scenarios_that_cover_the_cases_exist(bench: Any) -> None:
    known = bench("upstream_cases").scenarios_of_cases()
    assert len(known) == 22, "16 of v0.10.1, two of which v0.12.0 renamed, and four that it added"
    for case, scenarios in known.items():
        assert scenarios, case
        assert set(scenarios) <= SCENARIOS.keys(), case


def test_a_case_that_nothing_is_said_of_is_named(bench: Any) -> None:
    script = bench("upstream_job_sets")
    names = [spec.name for spec in bench("ginkgo_report").specs(RECORDED)]
    assert list(script.covering(names)) == [
        name.removeprefix("[failure policy] ") for name in names
    ]
    with pytest.raises(bench("ginkgo_report").GinkgoError, match="'new one' is no case"):
        script.covering([*names, "[failure policy] new one"])


def test_a_suite_is_a_line_with_its_seconds_and_counts_per_case(
    bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, run = bench("upstream_job_sets"), bench("our_runs").Run
    runs = [
        run("a", 1.0, 1, 10, (), has_ended=True),
        run("b", 3.0, 2, 20, ("JS-001",), has_ended=True),
        run("c", 2.0, 0, 15, (), has_ended=False),
    ]
    ours = script.of_runs("ours", "a program", runs, 7.5)
    assert script.line(ours) == "| ours | a program | 3 | 1 | 7.5 | 2.00 | 3.00 | 1.0 | 15.0 |\n"
    theirs = script.of_specs(bench("ginkgo_report").specs(RECORDED), 50)
    assert script.line(theirs).endswith("| 3 | 3 | 50.0 | 10.34 | 30.87 |  |  |\n")
    monkeypatch.setattr(script, "version_told", lambda name: f"{name} v1")
    began = datetime(2026, 11, 25, tzinfo=UTC)
    text = script.section("jobset-v0.12.0", [theirs, ours], {"case": ("x", "y")}, began, 0.5)
    assert "- ours: JS-001\n" in text
    assert "| case | `x`, `y` |\n" in text
    assert "on 2026-11-25, in one run, on" in text
    assert "JobSet v0.12.0, etcd v1, kube-apiserver v1, kwok v1" in text


def test_measurements_write_their_own_part_of_the_page(bench: Any, tmp_path: Path) -> None:
    module = bench("benchmarks_page")
    page = tmp_path / "benchmarks.md"
    page.write_text("# Benchmarks\n\nold\n")
    module.write_section("One", "1\n", page)
    module.write_section("Two", "2\n", page)
    module.write_opening("# Benchmarks\n\nnew\n", page)
    module.write_section("One", "one\n", page)
    assert page.read_text() == "# Benchmarks\n\nnew\n\n## One\n\none\n\n## Two\n\n2\n"
