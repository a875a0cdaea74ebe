"""`assay profile`, and the names that `assay run --implementation` takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.profiles.reading import shipped
from tests.cli.command import assay

RELEASED = "appwrapper-v1.1.2"
Capture = pytest.CaptureFixture[str]


def test_a_shipped_profile_is_checked_and_the_next_commands_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    ended = assay(monkeypatch, capsys, "profile", "check", RELEASED)
    assert ended.code == 0
    assert f"assay profile build {RELEASED}" in ended.out
    assert f"--implementation {RELEASED}" in ended.out


def test_a_wrong_profile_is_told_with_its_line_and_is_bad_input(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    text = shipped()[RELEASED].read_text(encoding="utf-8")
    file.write_text(text.replace("suite: appwrapper", "sweet: appwrapper"), encoding="utf-8")
    ended = assay(monkeypatch, capsys, "profile", "check", file)
    assert ended.code == 2
    assert f"{file}:" in ended.err
    assert "sweet" in ended.err


def test_a_name_that_is_no_profile_is_told_with_those_that_are(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    ended = assay(monkeypatch, capsys, "profile", "check", "somebody")
    assert ended.code == 2
    assert RELEASED in ended.err


def test_the_list_says_how_to_build_what_is_not_built(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    ended = assay(monkeypatch, capsys, "profile", "list")
    assert ended.code == 0
    assert all(f"assay profile build {name}" in ended.out for name in shipped())


def test_the_simulated_cluster_refuses_a_program_and_names_the_option(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    ended = assay(
        monkeypatch, capsys, "run", "AW-015", "--implementation", RELEASED, "--out", tmp_path / "o"
    )
    assert ended.code == 2
    assert "--cluster control-plane" in ended.err
