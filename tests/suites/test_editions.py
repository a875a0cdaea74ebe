"""Editions: a run is judged by one reading of each norm, and everything that it leaves names it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
import yaml

from conformance.editions import UnknownEditionError, require_known
from vocabulary.history import read_history

from .conftest import Assay

MUTANT = "toy=mutant:counts-pods-that-wait"
"""It breaks TOY-002, which is a claim of the edition `strict` alone."""
SCENARIO = "toy/a-crew-changes-its-size"


def test_claims_of_other_editions_are_neither_judged_nor_gaps(assay: Assay, tmp_path: Path) -> None:
    ran = assay("run", SCENARIO, "--edition", "lenient", "--implementation", MUTANT, "--rerun")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "toy, edition lenient:" in ran.stdout
    report = yaml.safe_load((tmp_path / ".assay" / "report.yaml").read_text())
    assert report["suite"]["editions"] == {"toy": "lenient"}
    assert "--edition lenient" in report["reproduce"]["command"]
    assert "TOY-002" not in str(report)
    assert "toy lenient" in (tmp_path / ".assay" / "index.html").read_text()
    verified = assay("verify", ".assay")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_plan_names_the_edition_that_it_was_judged_by(assay: Assay, tmp_path: Path) -> None:
    """The mutant breaks another claim as well; its plan replays in the same edition."""
    other = "toy=mutant:lost-pods-stay-lost"
    ran = assay("run", "toy", "--edition", "lenient", "--implementation", other, "--quiet")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    (line, *_) = [part for part in ran.stdout.splitlines() if "replay: assay" in part]
    replay = shlex.split(line.partition("replay: ")[2].partition("      ")[0])
    plan = tmp_path / replay[-1]
    assert yaml.safe_load(plan.read_text())["edition"] == "lenient"
    again = assay(*replay[1:], "--history", "again.jsonl.gz")
    assert again.returncode == 1, again.stdout + again.stderr
    assert read_history(tmp_path / "again.jsonl.gz").header.editions == {"toy": "lenient"}
    plan.write_text(plan.read_text().replace("lenient", "loose"))
    refused = assay(*replay[1:])
    assert refused.returncode == 2
    assert "edition: there is no edition 'loose' of toy; write strict or lenient" in refused.stderr


def test_the_default_is_named_too_and_reports_of_two_editions_are_compared(assay: Assay) -> None:
    for edition in ("strict", "lenient"):
        ran = assay("run", SCENARIO, "--edition", edition, "--quiet", "--out", edition)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    assert assay("run", SCENARIO, "--quiet", "--out", "default").returncode == 0
    same = assay("compare", "strict", "default")
    assert "The edition differs" not in same.stdout
    compared = assay("compare", "strict", "lenient")
    assert "The edition differs: toy strict, now toy lenient." in compared.stdout


def test_verify_notices_another_edition_than_that_of_the_histories(
    assay: Assay, tmp_path: Path
) -> None:
    assert assay("run", SCENARIO, "--edition", "lenient", "--quiet").returncode == 0
    report = tmp_path / ".assay" / "report.yaml"
    report.write_text(report.read_text().replace("lenient", "strict"))
    verified = assay("verify", ".assay")
    assert verified.returncode == 1
    assert "suite.editions" in verified.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("toy", "--edition", "loose"), "there is no edition 'loose' of toy"),
        (("toy", "--edition", "loose"), "write strict or lenient"),
        (("AW-015", "--edition", "strict"), "there are no editions of appwrapper, mlbatch"),
        (("TOY-002", "--edition", "lenient"), "TOY-002 does not hold in edition lenient"),
    ],
)
def test_an_edition_that_is_not_there_is_refused(
    assay: Assay, words: tuple[str, ...], told: str
) -> None:
    ran = assay("run", *words)
    assert ran.returncode == 2
    assert told in ran.stderr


def test_claims_tell_their_editions(assay: Assay) -> None:
    assert "holds in edition strict" in assay("claims", "show", "TOY-002").stdout
    assert "edition" not in assay("claims", "show", "TOY-001").stdout


def test_every_suite_that_judges_a_run_may_have_the_edition() -> None:
    require_known("released", [("jobset/stories/any", ("jobset", "appwrapper"))])
    with pytest.raises(UnknownEditionError, match="there are no editions of appwrapper, mlbatch"):
        require_known("released", [("appwrapper/retry/any", ("appwrapper",))])
