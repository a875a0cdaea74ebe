"""Errors come from the worker processes of a campaign pickled: by their class and arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("vocabulary", "fixtures", "chaos", "reference_controller", "conformance")


def errors_with_a_signature() -> Iterator[tuple[str, set[str]]]:
    """Exceptions that define `__init__`, each with the names of all that it defines."""
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and node.name.endswith(("Error", "Exception")):
                    defined = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                    if "__init__" in defined:
                        yield f"{file.relative_to(ROOT)}:{node.name}", defined


@pytest.mark.parametrize(("name", "defined"), list(errors_with_a_signature()))
def test_an_error_with_a_signature_of_its_own_can_be_pickled(name: str, defined: set[str]) -> None:
    assert "__reduce__" in defined, f"{name} would be made from its message alone"
