"""`assay explain`: the argument of a norm, from recorded runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conformance import explanation
from conformance.explanation import Design, histories_of
from conformance.implementations.ours import implementations
from conformance.norm.verdict import Outcome
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.streams import SUITE
from conformance.suites.streams.argument import ARGUMENT
from reference_controller import programs
from tests.cli.conftest import Assay
from vocabulary.history import Write, history_digest, read_history

DESIGNS = {
    "only-what-is-missing",
    "pods-deleted-without-label",
    "pods-deleted-without-mark",
    "approach1",
    "background-and-abort",
    "background-and-adopt",
    "background-and-replace",
    "background-and-retry",
    "orphans",
    "recreates-early",
    "trusts-the-deletion",
}
"""The designs that the norm rejects."""


def test_each_design_has_a_section_with_its_claim_a_picture_and_a_replay(
    assay: Assay, tmp_path: Path
) -> None:
    ran = assay("explain", "streams", "--out", tmp_path)
    assert ran.code == 0, ran.out + ran.err
    page = (tmp_path / "index.html").read_text()
    told = {each.implementation.removeprefix("mutant:") for each in ARGUMENT.designs}
    assert told >= DESIGNS
    assert told - {"reference"} <= programs.load("streams").mutants.keys()
    for design in ARGUMENT.designs:
        section = page.partition(f'<section class="design" id="{design.name}">')[2]
        section = section.partition("</section>")[0]
        assert f"<strong>{design.claim}</strong>" in section
        assert 'class="canvas"' in section
        assert f"assay replay {tmp_path / design.name}.yaml" in section
        assert f'href="{design.name}.html"' in section
        assert (tmp_path / f"{design.name}.html").is_file()


@pytest.mark.parametrize("design", ARGUMENT.designs, ids=lambda design: design.name)
def test_a_design_does_today_what_its_history_shows(design: Design) -> None:
    """And it fails for its reason: it is refused nothing for lack of rights. Where the histories
    differ: python -m tests.suites.record_designs."""
    scenario = SCENARIOS[design.scenario]
    under_test = implementations(design.implementation, scenario.roles)
    run = run_one(scenario, under_test, DEFAULT_SEED)
    (found,) = (each for each in run.verdicts if each.claim == design.claim)
    assert found.outcome is (Outcome.PASSED if design.is_sound else Outcome.FAILED)
    refused = [each for each in run.entries if isinstance(each, Write) and each.code == 403]
    assert not refused, f"lacks the right to {refused[0].verb} {refused[0].kind}"
    stored = read_history(histories_of(SUITE) / f"{design.name}.jsonl.gz")
    assert history_digest(run.header, run.entries) == history_digest(stored.header, stored.entries)


def test_a_replay_of_a_plan_convicts_the_design(assay: Assay, tmp_path: Path) -> None:
    assert assay("explain", "streams", "--out", tmp_path).code == 0
    ran = assay("replay", tmp_path / "background-retry.yaml")
    assert (ran.code, "ST-035" in (ran.out + ran.err)) == (1, True), ran.out
    assert "not the history that was recorded" not in ran.out + ran.err


@pytest.mark.parametrize("harm", ["missing", "another", "cut"])
def test_a_history_that_does_not_show_its_design_is_named(
    harm: str, assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "designs"
    shutil.copytree(explanation.histories_of(SUITE), folder)
    monkeypatch.setattr(explanation, "histories_of", lambda _: folder)
    harmed = folder / "orphan.jsonl.gz"
    if harm == "missing":
        harmed.unlink()
    elif harm == "another":
        shutil.copy(folder / "sound.jsonl.gz", harmed)
    else:
        harmed.write_bytes(harmed.read_bytes()[:2000])
    ran = assay("explain", "streams", "--out", tmp_path / "out")
    assert ran.code == 2
    assert str(harmed) in (ran.out + ran.err)
    assert not (tmp_path / "out").exists()


def test_a_suite_without_an_argument_is_told(assay: Assay) -> None:
    for name, problem in (
        ("mlbatch", "has no argument of a norm to explain"),
        ("x", "is no suite"),
    ):
        ran = assay("explain", name)
        assert ran.code == 2
        assert ran.err == f"assay: {name!r} {problem}; run assay explain streams\n"
