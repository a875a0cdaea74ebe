"""Every `assay` command that a message, a help text or a page names exists, with its options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from typer.main import get_command

from conformance.cli.app import app

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = (
    "chaos",
    "conformance",
    "clusters",
    "mlbatch_tools",
    "reference_controller",
    "vocabulary",
)
FILLED_IN: Final = "FILLED-IN"
"""Stands for what a message fills in."""
_MENTION: Final = re.compile(r"(?<![\w./-])assay((?: +[^\s`;,\"'()|&]+)+)")
_OF_ANOTHER: Final = re.compile(r"--?[a-z]+ \Z")
"""Before the name where that is an option's value: kubectl -n assay."""
_WORD: Final = re.compile(r"[a-z][a-z-]*")
_OPTION: Final = re.compile(r"--[a-z][a-z-]*|-[a-z]")
COMMAND: Final = get_command(app)
PROSE: Final = frozenset({"chaos-toolkit", "is", "missing", "or", "reports", "suite"})
"""Words that follow the name where it names the program, or a group, in a sentence, and in a
user agent."""


class Mention(NamedTuple):
    """A command as some text has it."""

    place: str
    words: tuple[str, ...]


def _texts_of_module(path: Path) -> Iterator[tuple[int, str]]:
    left: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while left:
        node = left.pop()
        if isinstance(node, ast.JoinedStr):
            parts = (
                str(part.value) if isinstance(part, ast.Constant) else FILLED_IN
                for part in node.values
            )
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                yield node.lineno, node.value
        else:
            left.extend(ast.iter_child_nodes(node))


@cache
def mentions() -> tuple[Mention, ...]:
    """All commands in string literals and in Markdown pages."""
    # To parse the modules without any mention would take most of the time.
    modules = [
        path
        for name in PACKAGES
        for path in sorted((ROOT / name).rglob("*.py"))
        if b"assay " in path.read_bytes()
    ]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = [
        *((path, line, text) for path in modules for line, text in _texts_of_module(path)),
        *(
            (path, number, line)
            for path in pages
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        ),
    ]
    return tuple(
        Mention(f"{path.relative_to(ROOT)}:{line}", tuple(found[1].split()))
        for path, line, text in texts
        for found in _MENTION.finditer(text)
        if not _OF_ANOTHER.search(text[: found.start()])
    )


def _is_group(command: Any) -> bool:
    return hasattr(command, "commands")


def _options(command: Any) -> dict[str, Any]:
    return {
        name: each for each in command.params for name in (*each.opts, *each.secondary_opts)
    } | {"--help": None, "-h": None}


def _problem(words: tuple[str, ...]) -> str:
    """Return the problem of a command; empty if it exists, or if this is a sentence about Assay."""
    command: Any = COMMAND
    skipped = False
    for word in words:
        bare = word.rstrip(".:…")
        if skipped:
            skipped = False
        elif bare.startswith("-"):
            name = bare.partition("=")[0]
            if not _OPTION.fullmatch(name):
                continue
            if name not in (known := _options(command)):
                return f"{command.name} has no option {name}"
            found = known[name]
            skipped = found is not None and not found.is_flag and "=" not in bare
        elif _is_group(command):
            if not _WORD.fullmatch(bare) or word in PROSE:
                return ""
            if bare not in command.commands:
                return f"{command.name} has no command {bare}"
            command = command.commands[bare]
        if word != bare:  # the sentence ends
            return ""
    return ""


def test_every_command_that_a_text_names_exists() -> None:
    assert len(mentions()) > 500, "the scan finds them"
    wrong = [
        f"{place}: assay {' '.join(words)}: {problem}"
        for place, words in mentions()
        if (problem := _problem(words))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("list scenarios", "assay has no command list"),
        ("claims lst", "claims has no command lst"),
        ("clean --yess", "clean has no option --yess"),
        ("clean --kubeconfig --x --yes", ""),
    ],
)
def test_a_wrong_command_would_be_found(words: str, problem: str) -> None:
    assert _problem(tuple(words.split())) == problem


def _paths(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if path:
        yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from _paths(inner, (*path, name))


def test_every_command_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    for path in _paths(COMMAND):
        COMMAND.main([*path, "--help"], prog_name="assay", standalone_mode=False)
        shown = capsys.readouterr()
        assert f"assay {' '.join(path)}" in shown.out
        assert shown.err == ""
