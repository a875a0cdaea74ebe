"""`ci/prose`: docstrings that have to be rewritten."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "ci" / "prose"

MODULE = '''"""Pods.

A note to whoever reads on.
"""

LIMIT = 3
"""As what a limit counts."""


class Pod:
    """A pod: whether it runs is in `runs`."""

    def runs(self) -> bool:
        """Whether it runs."""
        "Code such as `told` is no prose."
        told = "What is told in code is no docstring"
        return bool(told)
'''


def prose(*paths: Path) -> tuple[int, list[str]]:
    ended = subprocess.run(
        [sys.executable, SCRIPT, *paths], capture_output=True, text=True, check=False
    )
    assert not ended.stderr, ended.stderr
    return ended.returncode, ended.stdout.splitlines()


def test_question_openings_and_words_are_reported_with_file_and_line(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(MODULE)
    script = tmp_path / "script"
    script.write_text('#!/usr/bin/env python3\n"""Which pods run."""\n')
    (tmp_path / "text").write_text('"""What is no Python."""\n')
    code, lines = prose(tmp_path)
    assert code == 1
    assert lines == [
        f"{module}:3: A note to whoever reads on.",
        f"{module}:7: As what a limit counts.",
        f"{module}:14: Whether it runs.",
        f"{script}:2: Which pods run.",
    ]


def test_all_directories_but_those_not_yet_rewritten_are_clean() -> None:
    assert prose() == (0, [])
