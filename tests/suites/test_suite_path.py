"""`--suite-path`: a suite that is not installed, in every process and in every command printed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from vocabulary import suite_path

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
    for words in (("verify", ".assay"), ("report", "rejudge", ".assay", "--out", "again")):
        without = assay(tmp_path, *words)
        assert without.returncode == 2, without.stdout + without.stderr
        assert ".assay: is about toy, of which no suite is installed" in without.stderr


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


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("", "no package in it has a suite; name"),
        ("SUITE = 3", "no package in it has a suite; name"),
        ("def broken(:", "other/package/__init__.py:1: "),
    ],
)
def test_a_directory_without_a_suite_is_refused(tmp_path: Path, module: str, told: str) -> None:
    package = tmp_path / "other" / "package"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(module)
    ran = assay(tmp_path, "--suite-path", "other", "run", "toy")
    assert ran.returncode == 2
    assert f"--suite-path other: {told}" in ran.stderr


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    ran = assay(tmp_path, "--suite-path", "nowhere", "run", "toy")
    assert ran.returncode == 2
    assert "--suite-path nowhere: there is no such directory" in ran.stderr


def test_an_image_that_may_lack_the_suite_is_mentioned(tmp_path: Path) -> None:
    made = assay(tmp_path, "--suite-path", str(TOY), "in-cluster", "manifests", "toy")
    assert "toy does not come with Assay" in made.stderr
    own = assay(tmp_path, "in-cluster", "manifests", "appwrapper")
    assert "does not come with Assay" not in own.stderr


def test_a_literal_with_its_type_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text('SUITE: Suite = Suite(name="typed")')
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv(suite_path.VARIABLE, str(tmp_path))
    assert [point.name for point in suite_path.points(suite_path.SUITES)] == ["typed"]
