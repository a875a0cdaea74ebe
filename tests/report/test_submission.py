"""A report is handed in as it was made, with all that it takes to verify it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conformance.report.build import build_report
from conformance.report.conformance_report import ReportError
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
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    smaller = run_of(tmp_path / "smaller", sample_suite(passing_run()))
    with pytest.raises(ReportError) as refused:
        write_submission(smaller, out)
    for told in (
        f"{folder / 'report.yaml'}: another report was handed in there: appwrapper v1.2.3 of ",
        "1 failed, 1 inconclusive; 2 scenarios; this one is ",
        "1 scenario. Give --replace",
    ):
        assert told in str(refused.value)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
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
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    first.readme.unlink()
    assert write_submission(first.folder, out).folder == first.folder
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_the_same_report_is_handed_in_again_without_asking(tmp_path: Path) -> None:
    source, out = run_of(tmp_path / "run"), tmp_path / "reports"
    folder = write_submission(source, out).folder
    (folder / "histories" / "stale.jsonl.gz").write_bytes(b"")
    (folder / "notes.md").write_text("mine")
    write_submission(source, out)
    assert not (folder / "histories" / "stale.jsonl.gz").exists()
    assert (folder / "notes.md").read_text() == "mine"


def test_an_implementation_without_a_name_cannot_be_filed(tmp_path: Path) -> None:
    nobody = Implementation(organization="", project="", url="", version="")
    source = run_of(tmp_path / "run", **msgspec.structs.asdict(nobody))
    with pytest.raises(ReportError, match="organization, project and version are empty"):
        write_submission(source, tmp_path / "reports")
