"""Failures in the terminal, and that text from a cluster cannot control it."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from conformance.report.build import build_report
from conformance.report.text import claims_table, counts_line, failure_block
from conformance.report.untrusted import printable
from tests.report.hostile import HOSTILE, hostile_run
from tests.report.sample_claims import CLAIMS, QUOTA
from tests.report.sample_run import failing_run, sample_suite

BLOCK = """\
AW-015 quota-released-after-last-pod  FAILED   (seed 1729, plan shrunk 14 → 2 faults, 3 nodes → 1)
    t=238.217s    rv143    pod/a-job-zt1           status.ready absent → true          by kubelet/n1
    t=298.233s    rv146    appwrapper/a            Running → Failed                    by appwrapper
    t=303.056s    rv151    appwrapper/a            QuotaReserved True → False          by appwrapper
    AW-015: Quota MUST NOT be released before every pod and resource of the failed attempt is \
gone. (appwrapper-fault-tolerance, Progress Guarantees, sentence 5)
    QuotaReserved of appwrapper/a became False at rv151, while pod a-job-zt1 was Running and had \
59.2 s left: it used quota that was not reserved.
    faults: kill pod a-job-xq0 with exit code 1; \
taint n0 with autopilot.ibm.com/gpuhealth=EVICT:NoExecute; \
kill operator after its write of status.phase=Failed to appwrapper/a
    scenario: appwrapper/quota-release/slow-pods-hold-their-quota
    replay: assay replay .assay/aw-015.yaml      report: .assay/aw-015.html"""


def test_a_failure_says_what_happened_why_it_contradicts_and_how_to_replay_it() -> None:
    run = failing_run()
    block = failure_block(
        [(QUOTA, run.verdicts[0])],
        run,
        replay="assay replay .assay/aw-015.yaml",
        page=Path(".assay/aw-015.html"),
    )
    assert block == BLOCK


@pytest.mark.parametrize("text", HOSTILE)
def test_a_failure_block_holds_no_control_characters(text: str) -> None:
    run = hostile_run(text)
    block = failure_block([(QUOTA, run.verdicts[0])], run)
    assert "\x1b" not in block
    assert "\u202e" not in block
    assert "\x00" not in block


def test_the_table_counts_passes_and_shows_the_rest_unless_asked_for_all() -> None:
    report = build_report(sample_suite(), CLAIMS, version="0", git_commit="", date="")
    assert counts_line(report) == "4 claims: 2 passed, 1 failed, 1 inconclusive"
    assert claims_table(report, show_all=False).row_count == 2
    console = Console(width=80, file=io.StringIO(), record=True, color_system=None)
    console.print(claims_table(report, show_all=True))
    shown = console.export_text()
    assert shown.index("AW-015") < shown.index("AW-012") < shown.index("AW-049")
    assert "Never armed" in shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain → text", "plain → text"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("a\u202eb", "a\\u202eb"),
        ("two\nlines", "two\\u000alines"),
        ("\ud800", "\\ud800"),
        ("x" * 5000, "x" * 4095 + "…"),
    ],
)
def test_printable_text_is_one_line_without_surprises(text: str, shown: str) -> None:
    assert printable(text) == shown
