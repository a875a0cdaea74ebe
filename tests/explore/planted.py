"""The planted operator, installed as pip would leave it behind, and explorations of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.explore.campaign import SUITE, Exploration
from conformance.norm.verdict import Outcome
from conformance.report.run_result import SuiteResult
from conformance.running.run_options import DEFAULT_SEED, RunOptions
from conformance.running.suite import run_suite
from vocabulary.objects import Object

FOLDER = Path(__file__).parents[1] / "planted"
SITE: Object = {
    "apiVersion": "planted.example.dev/v1",
    "kind": "Site",
    "metadata": {"name": "a"},
    "spec": {"text": " hello ", "replicas": 2},
}


def install(site: Path) -> None:
    """Write the metadata of the distribution into a folder of packages."""
    info = site / "assay_planted-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-planted\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(
        "[assay.programs]\nplanted = assay_planted.program:PROGRAM\n"
    )


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the planted operator installed."""
    install(tmp_path / "site")
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))


def explored(
    operator: str,
    *only: str,
    sample: int,
    seed: int = DEFAULT_SEED,
    upgrade_from: str = "",
    workload: Object = SITE,
) -> tuple[SuiteResult, list[str]]:
    """The result of an exploration in this process, and the lines that it prints; `only` are the
    sorts of disturbances."""
    said: list[str] = []
    options = RunOptions(
        implementation=f"{SUITE}={operator}",
        seed=seed,
        jobs=1,
        shrink=False,
        manifests=(workload,),
        further=(Exploration(said.append, sample=sample, only=only, upgrade_from=upgrade_from),),
    )
    return run_suite((SUITE,), options, lambda _progress: None), said


def violated(suite: SuiteResult) -> set[str]:
    """The claims that any run violates."""
    return {
        verdict.claim
        for run in suite.runs
        for verdict in run.verdicts
        if verdict.outcome is Outcome.FAILED
    }
