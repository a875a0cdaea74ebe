"""A suite of another distribution: found, run, broken, replayed and verified by name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.suites.conftest import TOY, Assay, install


def test_its_claims_alone_are_judged_on_its_runs_and_the_report_verifies(
    assay: Assay, tmp_path: Path
) -> None:
    ran = assay("run", "toy", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 claims: 5 passed; 4 runs" in ran.stdout
    assert "AppWrapper reference" not in (tmp_path / ".assay" / "index.html").read_text()
    verified = assay("verify", ".assay")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "note:" not in verified.stdout.replace("note: not checked:", "")


def test_every_mutant_of_its_reference_is_killed(assay: Assay) -> None:
    ran = assay("mutants", "toy", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3/3 mutants killed" in ran.stdout


def test_its_operator_survives_every_crash_point_and_runs_repeat_byte_for_byte(
    assay: Assay,
) -> None:
    ran = assay("run", "toy", "--crash-points", "--rerun", "--quiet")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 claims: 5 passed; 166 runs" in ran.stdout


def test_a_failure_has_a_plan_that_replays_it_and_a_page(assay: Assay, tmp_path: Path) -> None:
    ran = assay("run", "toy", "--implementation", "toy=mutant:lost-pods-stay-lost", "--quiet")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    (line,) = [part for part in ran.stdout.splitlines() if "assay replay" in part]
    command = line.partition("assay ")[2].split()[:2]
    replayed = assay(*command)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr
    assert "TOY-001" in replayed.stdout
    page = (tmp_path / ".assay" / "toy-001.html").read_text()
    assert "<h3>crew/a</h3>" in page
    assert "2 of 3 ready" in page


def test_a_suite_that_cannot_be_imported_is_named_with_the_next_action(
    assay: Assay, tmp_path: Path
) -> None:
    (info,) = (tmp_path / "site").iterdir()
    (info / "entry_points.txt").write_text("[assay.suites]\ntoy = assay_toys:SUITE\n")
    ran = assay("run", "toy")
    assert ran.returncode == 2
    assert "suite 'toy' cannot be imported: No module named 'assay_toys'; reinstall" in ran.stderr


def test_a_selection_of_claims_verifies_without_a_note(assay: Assay) -> None:
    assert assay("run", "TOY-001", "--quiet").returncode == 0
    verified = assay("verify", ".assay")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "note:" not in verified.stdout.replace("note: not checked:", "")


def test_a_suite_without_scenarios_names_the_runs_that_judge_its_claims(
    assay: Assay, tmp_path: Path
) -> None:
    (info,) = (tmp_path / "site").glob("*.dist-info")
    entry_points = info / "entry_points.txt"
    entry_points.write_text(f"{entry_points.read_text()}\n[assay.suites]\nguide = guide:SUITE\n")
    package = tmp_path / "site" / "guide"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from conformance.suite import Suite\n"
        "SUITE = Suite(name='guide', title='Guide', prefixes=('GD',), package='guide',"
        " judged_with=('toy',))\n"
    )
    ran = assay("run", "guide")
    assert ran.returncode == 2
    assert "its claims are judged on runs of toy: assay run toy" in ran.stderr


def test_a_claim_that_a_history_is_not_judged_by_is_named(assay: Assay, tmp_path: Path) -> None:
    assert assay("run", "toy", "--quiet").returncode == 0
    (history,) = (tmp_path / ".assay" / "histories").glob("toy-lost-pods-*")
    checked = assay("check", str(history), "--claim", "AW-015")
    assert checked.returncode == 2
    assert "AW-015: not judged on runs of toy" in checked.stderr


PROFILE = """\
apiVersion: assay.dev/v1
kind: ImplementationProfile
name: crews
suite: toy
implementation: {organization: Example, project: crews, url: https://example.com, version: v1}
program: {path: crews}
manifests: {crds: [crd.yaml]}
process: {command: ["{program}", "{kubeconfig}", "{config}"]}
configuration: {}
detection: {latency: 2s}
"""


def test_a_profile_describes_an_operator_of_the_suite_and_may_rename_nothing(
    assay: Assay, tmp_path: Path
) -> None:
    (tmp_path / "crews").touch(mode=0o755)
    (tmp_path / "crd.yaml").write_text("kind: CustomResourceDefinition\n")
    (tmp_path / "crews.yaml").write_text(PROFILE)
    assert "crews" in assay("profile", "check", "crews.yaml").stdout
    (tmp_path / "bad.yaml").write_text(PROFILE + "fields: {kind: Band}\n")
    checked = assay("profile", "check", "bad.yaml")
    assert checked.returncode == 2
    assert "fields: claims of toy let an operator choose no names" in checked.stderr


def test_workers_have_the_suites_of_the_process_that_they_work_for(tmp_path: Path) -> None:
    site = tmp_path / "site"
    install(site)
    script = tmp_path / "run.py"
    script.write_text(
        "import runpy, sys\n"
        f"sys.path[:0] = [{str(TOY)!r}, {str(site)!r}]\n"
        "if __name__ == '__main__':\n"
        "    sys.argv = ['assay', 'run', 'toy/lost-pods-come-back', '--crash-points', '-j', '2']\n"
        "    runpy.run_module('conformance.cli', run_name='__main__')\n"
    )
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
