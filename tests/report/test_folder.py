"""The output directory: written, replaced and preserved files; JUnit and Allure in it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from conformance.cli.cluster import DEFAULT_FOLDER
from conformance.cli.run_arguments import DEFAULT_OUT
from conformance.report.build import build_report
from conformance.report.conformance_report import ReportError
from conformance.report.export import write_export
from conformance.report.folder import SuiteFiles, check_folder, write_folder
from conformance.report.junit import junit_xml
from conformance.report.yaml_text import read_report
from tests.report.hostile import HOSTILE, hostile_run
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import failing_run, passing_run, sample_suite
from vocabulary.history import read_history
from vocabulary.safe_yaml import load_yaml_file


def _write(folder: Path, *, allure: bool = False) -> SuiteFiles:
    suite = sample_suite()
    report = build_report(suite, CLAIMS, version="0.1.0", git_commit="", date="")
    return write_folder(folder, suite, report, CLAIMS, allure=allure)


def test_everything_the_report_refers_to_is_in_the_folder(tmp_path: Path) -> None:
    files = _write(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "aw-015.html",
        "aw-015.yaml",
        "histories",
        "index.html",
        "junit.xml",
        "report.yaml",
    ]
    report = read_report(files.report)
    histories = {test.history for claim in report.claims for test in claim.tests}
    assert len(histories) == 2
    for name in histories:
        assert read_history(tmp_path / "out" / name)[2]


def test_the_plan_beside_a_page_names_the_implementation(tmp_path: Path) -> None:
    plan = load_yaml_file(_write(tmp_path / "out").failures[0].plan)
    assert plan["implementation"] == "mutant:quota-released-when-failed"
    assert plan["seed"] == 1729


def test_two_writes_give_equal_bytes(tmp_path: Path) -> None:
    _write(tmp_path / "a", allure=True)
    _write(tmp_path / "b", allure=True)
    files = sorted(p.relative_to(tmp_path / "a") for p in (tmp_path / "a").rglob("*.*"))
    assert len(files) > 8
    for name in files:
        if name.suffix == ".html":  # names its own plan's path
            continue
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_an_earlier_report_is_replaced_and_nothing_else_is_touched(tmp_path: Path) -> None:
    out = tmp_path / "out"
    _write(out)
    earlier = out / f"{sorted(CLAIMS)[0].lower()}.html"
    earlier.write_text("of an earlier run")
    mine = [out / name for name in ("notes.txt", "values-1.yaml", "aw-015-shrunk.yaml")]
    for path in mine:
        path.write_text("mine")
    _write(out)
    assert "of an earlier run" not in (earlier.read_text() if earlier.exists() else "")
    assert [path.read_text() for path in mine] == ["mine"] * 3


@pytest.mark.parametrize("name", ["sonobuoy_results.yaml", "ai-conformance.yaml"])
def test_an_export_of_the_earlier_report_goes_unless_somebody_changed_it(
    tmp_path: Path, name: str
) -> None:
    out = tmp_path / "out"
    _write(out)
    export = out / name
    write_export(export, "status: passed\n")
    assert _write(out).not_of_this == ()
    assert not export.exists()
    write_export(export, "status: passed\n")
    text = export.read_text() + "vendorName: Example\n"
    for mine in (text, "vendorName: Example\n", ""):
        export.write_text(mine)
        assert _write(out).not_of_this == (export,)
        assert export.read_text() == mine


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("…")
    with pytest.raises(ReportError, match="holds files but no report"):
        check_folder(tmp_path)


def test_a_folder_with_nothing_but_histories_is_what_a_killed_run_left(tmp_path: Path) -> None:
    for name in ("histories", "unfinished"):
        (tmp_path / name).mkdir()
    check_folder(tmp_path)


def test_a_cluster_that_was_started_first_keeps_no_report_from_going_beside_it(
    tmp_path: Path,
) -> None:
    assert DEFAULT_FOLDER.parent == DEFAULT_OUT
    kubeconfig = tmp_path / DEFAULT_FOLDER / "kubeconfig"
    kubeconfig.parent.mkdir(parents=True)
    kubeconfig.write_text("{}")
    for _ in range(2):
        _write(tmp_path / DEFAULT_OUT)
        assert kubeconfig.read_text() == "{}"


def test_a_folder_with_a_report_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "report.yaml").write_text("sales: 12\n")
    with pytest.raises(ReportError, match="holds files but no report"):
        check_folder(tmp_path)
    assert (tmp_path / "report.yaml").read_text() == "sales: 12\n"


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("")
    with pytest.raises(ReportError, match="is a file"):
        check_folder(path)


def test_junit_tells_failures_as_failures_and_inconclusive_as_errors() -> None:
    report = build_report(sample_suite(), CLAIMS, version="0", git_commit="", date="")
    root = ElementTree.fromstring(junit_xml(report).split("\n", 1)[1])
    (suite,) = root.findall("testsuite")
    assert suite.attrib["tests"] == "5"
    assert suite.attrib["failures"] == "1"
    assert suite.attrib["errors"] == "1"
    error = suite.find("testcase/error")
    assert error is not None
    assert error.attrib["message"].startswith("Never armed")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "reproduce: assay run" in (failure.text or "")
    names = {item.attrib["name"] for item in suite.findall("testcase/properties/property")}
    assert names == {"claim", "level", "seed", "cluster"}


def test_the_times_of_junits_cases_sum_to_those_of_the_runs() -> None:
    report = build_report(sample_suite(), CLAIMS, version="0", git_commit="", date="")
    root = ElementTree.fromstring(junit_xml(report).split("\n", 1)[1])
    judged = sum(len(claim.tests) for claim in report.claims)
    assert judged > len(sample_suite().runs)
    seconds = sum(float(case.attrib["time"]) for case in root.iter("testcase"))
    assert seconds == pytest.approx(sum(run.wall_seconds for run in sample_suite().runs))
    assert [float(suite.attrib["time"]) for suite in root] == [pytest.approx(seconds)]


def test_a_run_that_broke_off_is_an_error_of_its_own_in_junit() -> None:
    run = msgspec.structs.replace(passing_run(), error="the node went away")
    report = build_report(sample_suite(run), CLAIMS, version="0", git_commit="", date="")
    root = ElementTree.fromstring(junit_xml(report).split("\n", 1)[1])
    _, broken_off = root.findall("testsuite")
    assert (broken_off.attrib["tests"], broken_off.attrib["errors"]) == ("1", "1")
    (case,) = broken_off.findall("testcase")
    error = case.find("error")
    assert error is not None
    assert (case.attrib["name"], error.attrib["message"]) == (run.scenario, "the node went away")


@pytest.mark.parametrize("text", HOSTILE)
def test_junit_stays_well_formed_whatever_a_cluster_wrote(text: str) -> None:
    report = build_report(
        sample_suite(hostile_run(text)), CLAIMS, version="0", git_commit="", date=""
    )
    ElementTree.fromstring(junit_xml(report).split("\n", 1)[1])


def test_allure_results_name_epic_feature_story_and_keep_their_history_over_seeds(
    tmp_path: Path,
) -> None:
    _write(tmp_path / "out", allure=True)
    results = [
        json.loads(path.read_text())
        for path in (tmp_path / "out" / "allure-results").glob("*-result.json")
    ]
    assert len(results) == 4
    failed = next(result for result in results if result["status"] == "failed")
    labels = {label["name"]: label["value"] for label in failed["labels"]}
    assert labels["epic"] == "appwrapper"
    assert labels["feature"] == "appwrapper"
    assert labels["story"] == "AW-015 quota-released-after-last-pod"
    assert labels["severity"] == "critical"
    assert {"name": "seed", "value": "1729", "excluded": True} in failed["parameters"]
    assert [a["name"] for a in failed["attachments"]] == ["What happened", "Plan", "History"]
    for attachment in failed["attachments"]:
        assert (tmp_path / "out" / "allure-results" / attachment["source"]).is_file()


def test_at_most_three_pages_are_made_per_claim(tmp_path: Path) -> None:
    import msgspec

    runs = tuple(
        msgspec.structs.replace(failing_run(), scenario=f"appwrapper/made/up-{k}") for k in range(5)
    )
    suite = sample_suite(*runs)
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    files = write_folder(tmp_path / "out", suite, report, CLAIMS)
    assert [failure.page is not None for failure in files.failures] == [True] * 3 + [False] * 2
    assert all(failure.plan.is_file() for failure in files.failures)
    page = files.failures[1].page
    assert page == tmp_path / "out" / "further" / "aw-015-2.html"
    assert 'href="../index.html"' in page.read_text(encoding="utf-8")
    assert 'href="further/aw-015-2.html"' in files.index.read_text(encoding="utf-8")
