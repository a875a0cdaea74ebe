"""Commands of other packages: one that cannot be imported is reported and missing, no more."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from conformance.cli import app
from vocabulary.entry_points import EntryPoints


def test_a_command_that_cannot_be_imported_is_missing_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken_commands.py").write_text("import no_such_module\n")
    metadata = tmp_path / "broken-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[assay.commands]\nbroken = broken_commands:app\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert EntryPoints("assay.commands", "command").names() == ("broken", "tools")
    whole = typer.Typer()
    whole.command("own")(lambda: None)
    app._add_commands_of_others(whole)
    told = capsys.readouterr().err
    assert told.startswith("assay: command 'broken' cannot be imported: ")
    assert told.endswith("; until then assay broken is missing\n")
    assert "tools" in get_command(whole).commands
