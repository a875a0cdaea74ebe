"""A suite of another distribution on a real control plane."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.conftest import Assay
from vocabulary.history import Process, read_history

pytestmark = pytest.mark.control_plane


def test_real_clusters_run_its_operator_and_restart_it_also_beside_another(
    assay: Assay, tmp_path: Path
) -> None:
    ran = assay("run", "toy", "--cluster", "control-plane", "-j", "3", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 claims: 5 passed; 4 runs" in ran.stdout
    told = {}
    for file in (tmp_path / ".assay" / "histories").iterdir():
        header, entries, _, _ = read_history(file)
        lives = [(e.process, e.change) for e in entries if isinstance(e, Process)]
        told[header.scenario] = (set(header.operators), lives)
    roles, lives = told["toy/lost-pods-come-back"]
    assert roles == {"toy"}
    assert lives == [("toy", "started"), ("toy", "killed"), ("toy", "started")]
    roles, lives = told["toy/operators-die-in-turn"]
    assert roles == {"toy", "appwrapper"}
    assert {("toy", "killed"), ("appwrapper", "killed")} <= set(lives)


def test_a_mutant_is_killed_on_a_real_cluster_and_its_plan_replays_there(assay: Assay) -> None:
    cluster = ("--cluster", "control-plane")
    ran = assay(
        *("run", "toy/a-crew-changes-its-size", "--quiet", *cluster),
        *("--implementation", "mutant:counts-pods-that-wait"),
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    replayed = assay("replay", ".assay/toy-002.yaml", *cluster)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr
    assert "TOY-002" in replayed.stdout
