"""The table of bugs: which it has, what it says of each, and the command that shows it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conformance.cli.exit_code import ExitCode
from conformance.profiles.differences import violated
from conformance.profiles.profile import Difference, ImplementationProfile
from conformance.profiles.track_record import bugs_shown, track_record_page
from conformance.report.conformance_report import ConformanceReport, Environment
from conformance.report.yaml_text import write_report
from tests.cli.command import assay
from tests.profiles.test_details import profile, report

__all__ = ["report"]


def bug(claim: str, because: str = "Its cache | is\nbehind.", issue: str = "") -> Difference:
    return Difference(
        claims=(claim,),
        fault="implementation",
        because=because,
        link="https://source",
        issue=issue or None,
    )


def elsewhere(report: ConformanceReport, cluster: str) -> ConformanceReport:
    environment = Environment(cluster=cluster, kubernetes_version="v1.36", clock="wall")
    return msgspec.structs.replace(report, environment=environment)


def renamed(known: ImplementationProfile, name: str) -> ImplementationProfile:
    return msgspec.structs.replace(known, name=name)


def test_releases_with_the_same_bug_share_its_row(report: ConformanceReport) -> None:
    (claim,) = violated(report)
    known = bug(claim.id, issue="https://x/issues/12")
    first, second = renamed(profile(known), "op-v1"), renamed(profile(known), "op-v2")
    page = track_record_page(
        bugs_shown([(elsewhere(report, "control-plane"), first), (report, second)])
    )
    (row,) = [line for line in page.splitlines() if line.startswith("| 1 ")]
    assert "1 bug; the authors speak of 1." in page
    assert "| Its cache \\| is behind. ([source](https://source)) |" in row
    assert f"| {claim.id} | op-v1, op-v2 | virtual time, control plane |" in row
    # It is shown soonest in virtual time.
    assert "--implementation op-v2`" in row
    assert "--cluster" not in row
    assert row.endswith("| [12](https://x/issues/12) |")


def test_other_readings_of_the_text_are_no_bugs(report: ConformanceReport) -> None:
    (claim,) = violated(report)
    reading = msgspec.structs.replace(bug(claim.id), fault="text")
    assert bugs_shown([(report, profile(reading))]) == []


def test_a_bug_that_no_report_shows_stands_below_the_table(report: ConformanceReport) -> None:
    page = track_record_page(bugs_shown([(report, profile(bug("AW-999")))]))
    assert "0 bugs; " in page
    assert page.endswith(
        "shown by none of these reports:\n\n- appwrapper-v1.1.2: Its cache | is behind.\n"
    )


def test_the_edition_of_the_report_is_a_part_of_the_command(report: ConformanceReport) -> None:
    (claim,) = violated(report)
    reproduce = msgspec.structs.replace(
        report.reproduce, command="assay run --edition old --seed 3"
    )
    judged = msgspec.structs.replace(report, reproduce=reproduce)
    (found,) = bugs_shown([(judged, profile(bug(claim.id)))])
    assert found.sightings[0].command.endswith(" --edition old")


def test_the_command_refuses_a_report_of_which_there_is_no_profile(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    report: ConformanceReport,
) -> None:
    (tmp_path / "report.yaml").write_text(write_report(report), encoding="utf-8")
    ended = assay(monkeypatch, capsys, "profile", "track-record", tmp_path)
    assert ended.code == ExitCode.BAD_INPUT
    assert f"{tmp_path}: is a report of " in ended.err
    assert "list them: assay profile list" in ended.err
