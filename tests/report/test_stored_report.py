"""The file of a report: rows of claims that passed refer to runs, which it has once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from conformance.norm.verdict import Outcome
from conformance.report.build import build_report
from conformance.report.conformance_report import ConformanceReport
from conformance.report.yaml_text import dump, read_report, write_report
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import sample_suite
from vocabulary.safe_yaml import YamlError, load_yaml

REPORT = build_report(sample_suite(), CLAIMS, version="0.1.0", git_commit="", date="2026-01-01")


def stored() -> Any:
    return load_yaml(write_report(REPORT), "report.yaml")


def written(data: Any, folder: Path) -> Path:
    path = folder / "report.yaml"
    path.write_text(dump(data), encoding="utf-8")
    return path


def test_what_passed_refers_to_runs_and_all_else_is_written_out(tmp_path: Path) -> None:
    data = stored()
    outcomes = [test["outcome"] for claim in data["claims"] for test in claim["tests"]]
    passed = [row for claim in data["claims"] for row in claim.get("passed", ())]
    assert outcomes and "passed" not in outcomes
    rows = [test for claim in REPORT.claims for test in claim.tests]
    assert len(passed) == sum(row.outcome is Outcome.PASSED for row in rows) > 0
    assert len(data["runs"]) == len({(run["name"], run["seed"]) for run in data["runs"]})
    assert read_report(written(data, tmp_path)) == REPORT


def test_a_report_of_an_earlier_version_has_all_its_rows_in_tests(tmp_path: Path) -> None:
    earlier = msgspec.to_builtins(REPORT, str_keys=True)
    assert read_report(written(earlier, tmp_path)) == REPORT


def test_a_hundred_scenarios_more_take_less_than_a_hundred_bytes_for_each_row() -> None:
    def with_rows(count: int) -> ConformanceReport:
        claims = []
        for claim in REPORT.claims:
            row = next((row for row in claim.tests if row.outcome is Outcome.PASSED), None)
            more = [
                msgspec.structs.replace(row, name=f"toy/scenario-{n:03}")
                for n in range(count)
                if row is not None
            ]
            claims.append(msgspec.structs.replace(claim, tests=(*claim.tests, *more)))
        # Claims of one run share its place in the table.
        claims += [
            msgspec.structs.replace(claim, id=f"{claim.id}-{n}")
            for claim in claims
            for n in range(20)
        ]
        return msgspec.structs.replace(REPORT, claims=tuple(claims))

    few, many = with_rows(0), with_rows(100)
    rows = [sum(len(claim.tests) for claim in report.claims) for report in (few, many)]
    grown = len(write_report(many)) - len(write_report(few))
    assert rows[1] - rows[0] >= 2000
    assert grown / (rows[1] - rows[0]) < 100


def change_of_a_run(data: Any) -> None:
    data["claims"][[bool(claim.get("passed")) for claim in data["claims"]].index(True)]["passed"][
        0
    ]["run"] = 99


def one_run_more(data: Any) -> None:
    data["runs"].append(data["runs"][0])


def no_runs(data: Any) -> None:
    del data["runs"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (change_of_a_run, "is 99, and there are"),
        (one_run_more, "no row of a claim refers to it"),
        (no_runs, "and there are 0 runs"),
    ],
)
def test_rows_and_runs_that_do_not_fit_are_refused(
    change: Callable[[Any], None], complaint: str, tmp_path: Path
) -> None:
    data = stored()
    change(data)
    with pytest.raises(YamlError, match=complaint):
        read_report(written(data, tmp_path))
