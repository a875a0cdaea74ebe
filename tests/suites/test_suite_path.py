"""`--suite-path`: a suite that is not installed, in every process and in every command printed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

TOY = Path(__file__).parents[1] / "toy"


def assay(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "conformance.cli", *words],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "ASSAY_SUITE_PATH"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_workers_find_the_suite_and_its_reference(tmp_path: Path) -> None:
    ran = assay(
        tmp_path, "--suite-path", str(TOY), "run", "toy", "--crash-points", "-j", "2", "--quiet"
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "5 passed" in ran.stdout
    report = (tmp_path / ".assay" / "report.yaml").read_text()
    assert f"assay --suite-path {TOY} run toy" in report
    verified = assay(tmp_path, "--suite-path", str(TOY), "verify", ".assay")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_the_printed_command_replays_a_failure(tmp_path: Path) -> None:
    mutant = "toy=mutant:lost-pods-stay-lost"
    path = ("--suite-path", str(TOY))
    ran = assay(tmp_path, *path, "run", "toy", "--implementation", mutant, "--quiet")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    (line,) = [part for part in ran.stdout.splitlines() if "replay: assay" in part]
    words = shlex.split(line.partition("replay: assay ")[2].partition("  ")[0])
    assert words[:3] == [*path, "replay"]
    replayed = assay(tmp_path, *words)
    assert replayed.returncode == 1, replayed.stdout + replayed.stderr
    assert "the same history as recorded" in replayed.stdout
    without = assay(tmp_path, *words[2:])
    assert without.returncode == 2
    assert "assay --suite-path DIRECTORY replay" in without.stderr


@pytest.mark.parametrize("module", ["", "SUITE = 3", "def broken(:"])
def test_a_directory_without_a_suite_is_refused(tmp_path: Path, module: str) -> None:
    package = tmp_path / "other" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(module)
    ran = assay(tmp_path, "--suite-path", "other", "run", "toy")
    assert ran.returncode == 2
    assert "--suite-path other: no package in it has a suite; name" in ran.stderr


def test_an_image_that_may_lack_the_suite_is_mentioned(tmp_path: Path) -> None:
    made = assay(tmp_path, "--suite-path", str(TOY), "in-cluster", "manifests", "toy")
    assert "toy does not come with Assay" in made.stderr
    own = assay(tmp_path, "in-cluster", "manifests", "appwrapper")
    assert "does not come with Assay" not in own.stderr
