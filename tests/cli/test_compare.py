"""`assay compare` as a shell sees it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.report.yaml_text import read_report_at
from tests.cli.conftest import MUTANT, Assay, Reports


def test_nothing_worse_ends_with_zero(assay: Assay, reports: Reports) -> None:
    ended = assay("compare", reports.good, reports.good / "report.yaml")
    assert ended.code == 0
    assert ended.out.splitlines()[-1].startswith("no change in ")


def test_a_promise_that_broke_ends_with_one_and_says_where(assay: Assay, reports: Reports) -> None:
    ended = assay("compare", reports.good, reports.bad)
    assert ended.code == 1
    assert "newly failing" in ended.out
    assert "AW-015 quota-released-after-last-pod" in ended.out
    assert "note: The implementation differs" in ended.out


def test_what_makes_reports_hard_to_compare_comes_first_and_what_was_not_run_comes_in_short(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    part = tmp_path / "part"
    assay("run", "no-retry-is-allowed", "-q", "--out", part)
    first, *others = assay("compare", reports.good, part).out.splitlines()
    assert first.startswith("note: The command differs: ")
    not_run = others.index(next(line for line in others if line.startswith("no longer tested (")))
    assert others[not_run + 1].startswith("  AW-0")
    assert sum("no longer tested" in line for line in others) == 2, "its heading, the last line"


def test_the_way_back_is_good_news(assay: Assay, reports: Reports) -> None:
    ended = assay("compare", reports.bad, reports.good)
    assert ended.code == 0
    assert "newly passing" in ended.out.splitlines()[-1]


def test_what_a_selection_found_besides_and_finds_no_more_is_good_news_too(
    assay: Assay, tmp_path: Path
) -> None:
    """A report with the selected claims only, and any other violation."""
    before, after, elsewhere = (tmp_path / name for name in ("before", "after", "elsewhere"))
    assay("run", "AW-015", "-q", "--implementation", MUTANT, "--out", before)
    assay("run", "AW-015", "-q", "--out", after)
    ended = assay("compare", before, after)
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "1 claim newly passing, 2 claims no longer failing"
    # Where something else was run, or what happened was not kept, nobody knows.
    alone = tmp_path / "alone.yaml"
    alone.write_bytes((after / "report.yaml").read_bytes())
    ended = assay("compare", before, alone)
    assert (ended.code, "2 claims no longer tested" in ended.out) == (3, True)
    assay("run", "AW-015", "-q", "--seed", "7", "--out", elsewhere)
    ended = assay("compare", before, elsewhere)
    assert ended.code == 3
    assert "2 claims no longer tested" in ended.out.splitlines()[-1]


def test_the_comment_goes_to_a_file_or_alone_to_standard_output(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    comment = tmp_path / "comment.md"
    ended = assay("compare", reports.good, reports.bad, "--markdown", comment)
    assert ended.code == 1
    assert f"markdown: {comment}" in ended.out
    ended = assay("compare", reports.good, reports.bad, "--markdown", "-")
    assert (ended.code, ended.out) == (1, comment.read_text())


def test_programs_get_the_comparison_as_json(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    path = tmp_path / "comparison.json"
    ended = assay("compare", reports.good, reports.bad, "--json", path)
    assert ended.out.splitlines()[-1] == f"json: {path}"
    told = json.loads(path.read_text())
    assert "AW-015" in [change["claim"] for change in told["newlyFailing"]]
    assert told["failingFurther"] == []


def test_what_is_quoted_is_what_the_page_of_the_failure_shows_and_it_says_that_it_was_shrunk(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    path = tmp_path / "comparison.json"
    told = assay("compare", reports.good, reports.bad, "--json", path).out
    comment = assay("compare", reports.good, reports.bad, "--markdown", "-").out
    report = read_report_at(reports.bad)
    shrunk = next(claim.shrunk for claim in report.claims if claim.id == "AW-015")
    assert shrunk is not None
    changes = json.loads(path.read_text())["newlyFailing"]
    change = next(change for change in changes if change["claim"] == "AW-015")
    assert change["shrunk"] == shrunk.shrunk == "2 nodes → 1, 2 replicas → 1"
    assert change["because"] in (reports.bad / "aw-015.html").read_text()
    place = f"{shrunk.scenario} ({shrunk.shrunk})"
    assert f"in {place}" in told
    assert f"`{place}: {change['because']}`" in comment


def test_a_claim_that_fails_in_further_scenarios_ends_with_one_unless_that_is_allowed(
    assay: Assay, reports: Reports, tmp_path: Path
) -> None:
    wider = tmp_path / "wider"
    scenarios = ("slow-pods-hold-their-quota", "no-retry-is-allowed")
    assay("run", *scenarios, "--implementation", MUTANT, "-q", "--out", wider)
    ended = assay("compare", reports.bad, wider)
    assert ended.code == 1
    assert "failing in further scenarios" in ended.out.splitlines()[-1]
    assert "newly failing" not in ended.out
    assert assay("compare", reports.bad, wider, "--allow-further-scenarios").code == 0


def test_no_report_is_bad_input(assay: Assay, reports: Reports, tmp_path: Path) -> None:
    for pair in ((reports.good, tmp_path), (tmp_path / "none", reports.good)):
        ended = assay("compare", *pair)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err.startswith("assay: ")


def test_the_help_says_what_the_exit_codes_mean(assay: Assay) -> None:
    ended = assay("compare", "--help")
    assert "newly failing" in ended.out
    assert "newly inconclusive" in ended.out
