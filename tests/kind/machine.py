"""A machine with programs that only say what they were asked, and answer what a test wrote."""

from __future__ import annotations

from pathlib import Path

SCRIPT = """#!/bin/sh
echo "$*" >> {asked}
case "$*" in
{cases}
*) echo "unexpected: $*" >&2; exit 1 ;;
esac
"""


def program(folder: Path, name: str, answers: dict[str, str | None]) -> Path:
    """A program in that folder; `answers` are by the beginning of its arguments, None refuses."""
    cases = "\n".join(
        f'"{begins}"*) echo "no" >&2; exit 1 ;;'
        if answer is None
        else f'"{begins}"*) printf "%s\\n" {_quoted(answer)} ;;'
        for begins, answer in answers.items()
    )
    path = folder / name
    path.write_text(SCRIPT.format(asked=_quoted(str(folder / f"{name}.asked")), cases=cases))
    path.chmod(0o755)
    return path


def asked(folder: Path, name: str) -> list[str]:
    """The requests to a program, in order."""
    path = folder / f"{name}.asked"
    return path.read_text().splitlines() if path.exists() else []


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
