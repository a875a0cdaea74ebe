"""Runs the `assay` command in this process, as a shell would see it."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from conformance.cli import main


@dataclass(frozen=True)
class Ended:
    """The result of a command."""

    code: int
    out: str
    err: str


def assay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> Ended:
    """Run `assay` with arguments; an exception that escapes is a bug and fails the test."""
    monkeypatch.setattr("sys.argv", ["assay", *map(str, arguments)])
    monkeypatch.setenv("COLUMNS", "120")
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    return Ended(int(ended.value.code or 0), shown.out, shown.err)
