"""The builder's own work, with a stand-in for the Go toolchain."""

from __future__ import annotations

import fcntl
import os
import threading
from itertools import groupby
from pathlib import Path

import pytest

from clusters.control_plane import binaries, builder
from clusters.control_plane.builder import BuildError, BuildStep, build

# Lists two packages, says that it compiles them, and writes what was asked for.
FAKE_GO = """#!/bin/sh
case "$1" in
list)
    printf 'one\\ntwo\\n'
    exit 0
    ;;
esac
echo run >> "$GO_RUNS"
printf 'one\\ntwo\\n' >&2
test ! -e "$GO_FAILS" || { echo 'two.go:7: undefined: x' >&2; exit 2; }
while test "$1" != -o; do shift; done
out=$2
shift 2
case "$out" in
*/) for package; do echo built > "$out${package##*/}"; done ;;
*) echo built > "$out" ;;
esac
"""


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with the stand-in and an empty cache; returns the file that counts builds."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "go").write_text(FAKE_GO)
    (tools / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GO_RUNS", str(tmp_path / "runs"))
    monkeypatch.setenv("GO_FAILS", str(tmp_path / "fails"))
    return tmp_path / "runs"


def test_every_program_is_built_once_and_then_taken_from_the_cache(runs: Path) -> None:
    steps: list[BuildStep] = []
    folder = build(steps.append)
    expected = {*binaries.REQUIRED, *binaries.OPTIONAL}
    assert {file.name for file in folder.iterdir()} == expected
    # A build that takes long says so every second.
    assert [state for state, _ in groupby(step.state for step in steps)] == [
        "building",
        "built",
    ] * 3
    assert steps[-1].done == steps[-1].total == 2
    steps.clear()
    build(steps.append)
    assert [step.state for step in steps] == ["cached"] * 3
    assert len(runs.read_text().splitlines()) == 3


def test_only_what_is_missing_is_built_again(runs: Path) -> None:
    folder = build()
    (folder / "kube-scheduler").unlink()
    (folder / f"{builder.INCOMPLETE}left-by-a-killed-build").mkdir()
    steps: list[BuildStep] = []
    build(steps.append)
    assert [step.binaries for step in steps if step.state == "built"] == [("kube-scheduler",)]
    assert not list(folder.glob(f"{builder.INCOMPLETE}*"))


def test_a_failed_build_shows_the_compilers_words_and_leaves_no_program(
    runs: Path, tmp_path: Path
) -> None:
    (tmp_path / "fails").touch()
    with pytest.raises(BuildError, match=r"two\.go:7: undefined: x"):
        build()
    assert not list(binaries.cache_dir().iterdir())


def test_without_go_the_next_action_is_named(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="install Go"):
        build()


def test_a_second_build_waits_for_the_first_and_finds_its_work(runs: Path) -> None:
    folder = binaries.cache_dir()
    folder.mkdir(parents=True)
    waiting = threading.Event()
    steps: list[BuildStep] = []

    def report(step: BuildStep) -> None:
        steps.append(step)
        if step.state == "waiting":
            waiting.set()

    second = threading.Thread(target=build, args=(report,))
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second.start()
        assert waiting.wait(timeout=10)
        for name in (*binaries.REQUIRED, *binaries.OPTIONAL):
            (folder / name).write_text("built by the first")
    second.join(timeout=10)
    assert [step.state for step in steps] == ["waiting", "cached", "cached", "cached"]
    assert not runs.exists()
