"""A report is handed in as it was made, with all that it takes to verify it."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import msgspec
import pytest

from conformance.report.build import build_report
from conformance.report.conformance_report import ReportError
from conformance.report.export import write_export
from conformance.report.folder import write_folder
from conformance.report.run_result import Implementation, SuiteResult
from conformance.report.submission import reports_below, write_submission
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import passing_run, sample_suite


def run_of(folder: Path, suite: SuiteResult | None = None, **implementation: object) -> Path:
    """The folder of a run of an implementation."""
    suite = suite or sample_suite()
    made_by = msgspec.structs.replace(suite.implementation, **implementation)
    suite = msgspec.structs.replace(suite, implementation=made_by)
    report = build_report(suite, CLAIMS, version="0.1.0", git_commit="c0ffee", date="")
    write_folder(folder, suite, report, CLAIMS)
    return folder


def files_below(folder: Path) -> dict[Path, bytes]:
    """Their content by their place in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


def test_the_report_is_handed_in_byte_for_byte_with_its_histories(tmp_path: Path) -> None:
    source = run_of(tmp_path / "run")
    found = write_submission(source, tmp_path / "reports")
    assert found.folder == tmp_path / "reports" / "example-appwrapper" / "v1-2-3-simulated"
    for file in ("report.yaml", *(f"histories/{p.name}" for p in (source / "histories").iterdir())):
        assert (found.folder / file).read_bytes() == (source / file).read_bytes()


def test_the_readme_has_a_row_for_each_report_and_how_to_reproduce_it(tmp_path: Path) -> None:
    out = tmp_path / "reports"
    write_submission(run_of(tmp_path / "old"), out)
    found = write_submission(run_of(tmp_path / "new", version="v1.3.0"), out)
    text = found.readme.read_text()
    assert text.startswith("# appwrapper\n\nBy Example: https://example.com/appwrapper.")
    for version in ("v1.2.3", "v1.3.0"):
        name = f"{version.replace('.', '-')}-simulated"
        assert f"| {version} | 0.1.0 | simulated | failure | [link](./{name}/report.yaml) |" in text
        assert f"### {name}\n\n    {sample_suite().command}\n" in text
    assert reports_below(out) == [
        out / "example-appwrapper" / name for name in ("v1-2-3-simulated", "v1-3-0-simulated")
    ]
    assert reports_below(found.folder) == []


def test_reports_are_looked_for_a_few_levels_deep_and_not_in_each_other(tmp_path: Path) -> None:
    def put(*below: str) -> Path:
        folder = tmp_path.joinpath("disk", *below)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.yaml").touch()
        return folder

    too_deep = put(*"12345")
    with pytest.raises(ReportError, match="down to 4 levels below it has"):
        reports_below(tmp_path / "disk")
    assert reports_below(tmp_path / "disk" / "1") == [too_deep]
    deep = put(*"1234")
    assert reports_below(tmp_path / "disk") == [deep]
    other = put("reports", "example", "v1")
    assert reports_below(tmp_path / "disk") == [deep, other]


def test_what_its_owner_wrote_above_the_table_is_kept(tmp_path: Path) -> None:
    source, out = run_of(tmp_path / "run"), tmp_path / "reports"
    readme = write_submission(source, out).readme
    readme.write_text(readme.read_text().replace("# appwrapper", "# Ours\n\nAll about it."))
    assert write_submission(source, out).readme.read_text().startswith("# Ours\n\nAll about it.")
    readme.write_text("# Only this\n")
    text = write_submission(source, out).readme.read_text()
    assert text.startswith("# Only this\n\n## Table of contents\n")
    assert text.count("## Table of contents") == 1


def test_what_a_reviewer_will_ask_for_is_said(tmp_path: Path) -> None:
    source = run_of(tmp_path / "run", url="", contact=())
    told = " ".join(write_submission(source, tmp_path / "reports").wanting)
    assert "implementation.url is empty" in told
    assert "implementation.contact is empty" in told
    assert "The result is failure" in told


def test_a_report_without_its_histories_cannot_be_handed_in(tmp_path: Path) -> None:
    source = run_of(tmp_path / "run")
    next((source / "histories").iterdir()).unlink()
    with pytest.raises(ReportError, match="is not in its folder"):
        write_submission(source, tmp_path / "reports")
    assert not (tmp_path / "reports").exists()


def test_a_history_outside_of_the_folder_is_not_copied(tmp_path: Path) -> None:
    source = run_of(tmp_path / "run")
    history = next((source / "histories").iterdir())
    (tmp_path / "secret").write_text("secret")
    path = source / "report.yaml"
    path.write_text(path.read_text().replace(f"histories/{history.name}", "../secret"))
    with pytest.raises(ReportError, match="is not in its folder"):
        write_submission(source, tmp_path / "reports")


def test_names_of_a_stranger_are_neither_paths_nor_markdown(tmp_path: Path) -> None:
    source = run_of(tmp_path / "run", organization="../../up", project="<b>|x|</b>")
    found = write_submission(source, tmp_path / "reports")
    assert found.folder.is_relative_to(tmp_path / "reports")
    assert "<b>" not in found.readme.read_text().replace("\\<b\\>", "")


def test_another_report_of_the_same_version_is_replaced_only_where_that_is_asked_for(
    tmp_path: Path,
) -> None:
    out = tmp_path / "reports"
    folder = write_submission(run_of(tmp_path / "run"), out).folder
    before = files_below(out)
    smaller = run_of(tmp_path / "smaller", sample_suite(passing_run()))
    with pytest.raises(ReportError) as refused:
        write_submission(smaller, out)
    for told in (
        f"{folder / 'report.yaml'}: another report was handed in there: appwrapper v1.2.3 of ",
        "1 failed, 1 inconclusive; 2 scenarios; this one is ",
        "1 scenario. Give --replace",
    ):
        assert told in str(refused.value)
    assert files_below(out) == before
    write_submission(smaller, out, replace=True)
    assert (folder / "report.yaml").read_bytes() == (smaller / "report.yaml").read_bytes()
    assert len(list((folder / "histories").iterdir())) == 1


def test_what_stands_there_and_cannot_be_read_is_not_replaced_either(tmp_path: Path) -> None:
    source, out = run_of(tmp_path / "run"), tmp_path / "reports"
    standing = write_submission(source, out).folder / "report.yaml"
    standing.write_text("of another time")
    with pytest.raises(ReportError, match="one that this Assay cannot read"):
        write_submission(source, out)
    assert standing.read_text() == "of another time"


def test_a_report_handed_in_from_where_it_was_handed_in_stays_whole(tmp_path: Path) -> None:
    out = tmp_path / "reports"
    first = write_submission(run_of(tmp_path / "run"), out)
    before = files_below(out)
    first.readme.unlink()
    assert write_submission(first.folder, out).folder == first.folder
    assert files_below(out) == before


def test_the_same_report_is_handed_in_again_without_asking(tmp_path: Path) -> None:
    source, out = run_of(tmp_path / "run"), tmp_path / "reports"
    folder = write_submission(source, out).folder
    next((folder / "histories").iterdir()).unlink()
    before = files_below(source)
    write_submission(source, out)
    assert files_below(folder).items() <= before.items()
    assert files_below(folder).keys() >= {
        path for path in before if path == Path("report.yaml") or path.parts[0] == "histories"
    }


def test_a_report_in_the_target_folder_under_another_name_is_handed_in_whole(
    tmp_path: Path,
) -> None:
    out = tmp_path / "reports"
    folder = write_submission(run_of(tmp_path / "run"), out).folder
    before = files_below(folder)
    candidate = (folder / "report.yaml").rename(folder / "candidate.yaml")
    write_submission(candidate, out)
    assert files_below(folder) == before | {Path("candidate.yaml"): before[Path("report.yaml")]}


def test_histories_of_which_the_report_says_nothing_are_removed_only_with_replace(
    tmp_path: Path,
) -> None:
    out, smaller = tmp_path / "reports", run_of(tmp_path / "small", sample_suite(passing_run()))
    folder = write_submission(run_of(tmp_path / "run"), out).folder
    # Its owner put it aside; its histories are where they were.
    (folder / "report.yaml").rename(folder / "earlier.yaml")
    before = files_below(folder)
    with pytest.raises(ReportError, match="is no part of the report that is handed in"):
        write_submission(smaller, out)
    assert files_below(folder) == before
    write_submission(smaller, out, replace=True)
    assert len(list((folder / "histories").iterdir())) == 1


@pytest.mark.parametrize("to", ["run", "elsewhere"])
def test_what_a_link_in_the_place_of_the_histories_leads_to_is_left_alone(
    tmp_path: Path, to: str
) -> None:
    source, out = run_of(tmp_path / "run"), tmp_path / "reports"
    led_to = run_of(tmp_path / to, sample_suite(passing_run())) if to != "run" else source
    folder = write_submission(source, out).folder
    for path in (folder / "histories").iterdir():
        path.unlink()
    (folder / "histories").rmdir()
    (folder / "histories").symlink_to(led_to / "histories")
    before = files_below(led_to)
    with pytest.raises(ReportError, match="histories: is no part of the report"):
        write_submission(source, out)
    write_submission(source, out, replace=True)
    assert files_below(led_to) == before
    assert not (folder / "histories").is_symlink()
    assert len(list((folder / "histories").iterdir())) == 2


@pytest.mark.parametrize("fails_at", [1, 2])
def test_a_full_disk_loses_nothing_of_what_was_to_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    out = tmp_path / "reports"
    write_submission(run_of(tmp_path / "run"), out)
    smaller = run_of(tmp_path / "smaller", sample_suite(passing_run()))
    before, copied = files_below(out), 0

    def copyfile(source: Path, to: Path) -> None:
        nonlocal copied
        copied += 1
        if copied == fails_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(to))
        to.write_bytes(source.read_bytes())

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    with pytest.raises(OSError, match="No space left"):
        write_submission(smaller, out, replace=True)
    assert copied == fails_at
    assert files_below(out) == before


def test_what_its_owner_keeps_beside_the_report_outlives_a_replacement(tmp_path: Path) -> None:
    out = tmp_path / "reports"
    folder = write_submission(run_of(tmp_path / "run"), out).folder
    mine = (
        *("index.html", "junit.xml", "aw-015.html", "aw-015.yaml", "further/aw-015-2.html"),
        *("allure-results/1-result.json", "histories/notes.md", "notes.md", "ai-conformance.yaml"),
    )
    for name in mine:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("mine")
    write_export(folder / "sonobuoy_results.yaml", "status: passed\n")
    write_submission(run_of(tmp_path / "smaller", sample_suite(passing_run())), out, replace=True)
    assert {(folder / name).read_text() for name in mine} == {"mine"}
    assert not (folder / "sonobuoy_results.yaml").exists(), "it told of the report that went"


def test_an_implementation_without_a_name_cannot_be_filed(tmp_path: Path) -> None:
    nobody = Implementation(organization="", project="", url="", version="")
    source = run_of(tmp_path / "run", **msgspec.structs.asdict(nobody))
    with pytest.raises(ReportError, match="organization, project and version are empty"):
        write_submission(source, tmp_path / "reports")
