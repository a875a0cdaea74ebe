"""A machine with programs that record their arguments, and print prepared output."""

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
    """Create a program in a directory; `answers` are by the prefix of its arguments, None fails."""
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
