"""`assay explore`: what it prints, its exit codes, and the commands that read what it left."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.explore.planted import FOLDER, SITE, install
from vocabulary.clock import HOUR

Assay = Callable[..., subprocess.CompletedProcess[str]]
FEW = ("--only", "kills", "--sample", "30", "-j", "1")


@pytest.fixture
def assay(tmp_path: Path) -> Assay:
    install(tmp_path / "packages")
    (tmp_path / "site.yaml").write_text(yaml.safe_dump(SITE))
    path = [str(FOLDER), str(tmp_path / "packages"), os.environ.get("PYTHONPATH", "")]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "conformance.cli", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path).rstrip(os.pathsep)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_failure_is_shown_as_a_diff_and_can_be_replayed_verified_and_compared(
    assay: Assay, tmp_path: Path
) -> None:
    wrong = ("explore", "planted/mutant:enters-once", "--workload", "site.yaml", *FEW)
    found = assay(*wrong, "--out", "wrong")
    assert found.returncode == 1, found.stdout + found.stderr
    assert "OP-003 same-end-after-a-crash  FAILED" in found.stdout
    assert "there undisturbed only: ConfigMap default/a-entry" in found.stdout
    page = (tmp_path / "wrong" / "op-003.html").read_text()
    assert "The end, beside the undisturbed one" in page
    again = assay("replay", "wrong/op-003.yaml")
    assert again.returncode == 1, again.stdout + again.stderr
    assert "the same history" in again.stdout
    verified = assay("verify", "wrong")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    sound = assay("explore", "planted", "--workload", "site.yaml", *FEW, "--out", "sound")
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "no occasion in these runs: OP-004, OP-005" in sound.stdout
    compared = assay("compare", "sound", "wrong")
    assert compared.returncode == 1, compared.stdout + compared.stderr
    assert "OP-003" in compared.stdout


def test_a_run_goes_on_for_as_long_as_is_asked(assay: Assay, tmp_path: Path) -> None:
    words = ("explore", "planted", "--workload", "site.yaml", *FEW, "--sample", "1")
    ran = assay(*words, "--for", "2d", "--only", "touches", "--out", "out")
    assert ran.returncode == 3, ran.stdout + ran.stderr  # few claims are put to the test
    (created,) = (tmp_path / "out" / "histories").glob("operator-workload-created-*")
    *_, last = gzip.decompress(created.read_bytes()).splitlines()
    assert json.loads(last)["t"] >= 2 * 24 * HOUR
    refused = assay(*words, "--for", "6w")
    assert refused.returncode == 2
    assert "'6w' is not a span" in refused.stderr


def test_a_bare_run_leaves_the_suite_out(assay: Assay) -> None:
    ran = assay("run", "operator", "--implementation", "operator=planted", "--quiet", "-j", "1")
    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "assay explore NAME --workload FILE" in ran.stdout


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        ("", "site.yaml: holds no object; write the manifest of what your users create"),
        ("kind: Site\n", "site.yaml: document 1 has no apiVersion, or no kind; add it"),
        ("apiVersion: v1\nkind: Site\n", "site.yaml: document 1: metadata.name is missing"),
        (
            "apiVersion: v1\nkind: Site\n"
            "metadata: {name: a, annotations: {assay.dev/stays-for: 6w}}\n",
            "site.yaml: document 1: metadata.annotations[assay.dev/stays-for]: '6w' is not a span; "
            "use numbers with units, for example 7d, 90s or 1m30s",
        ),
    ],
)
def test_a_file_without_a_workload_is_refused(
    assay: Assay, tmp_path: Path, manifest: str, said: str
) -> None:
    (tmp_path / "site.yaml").write_text(manifest)
    ran = assay("explore", "planted", "--workload", "site.yaml")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert said in ran.stderr


def test_an_unknown_operator_is_refused(assay: Assay) -> None:
    ran = assay("explore", "planed", "--workload", "site.yaml")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "planed" in ran.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name one of OPERATOR and --command"),
        (("planted", "--command", "kopf run a.py"), "name one of OPERATOR and --command"),
        (("planted", "--crds", "crds"), "--crds and --rbac go with --command"),
    ],
)
def test_an_operator_is_named_in_one_way(assay: Assay, words: tuple[str, ...], said: str) -> None:
    ran = assay("explore", *words, "--workload", "site.yaml")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert said in ran.stdout + ran.stderr
