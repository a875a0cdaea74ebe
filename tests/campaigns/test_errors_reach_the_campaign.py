"""Errors come from the worker processes of a campaign pickled: by their class and arguments."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
ROOMS: Final = ("vocabulary", "clusters", "chaos", "reference_controller", "conformance")
NAME: Final = re.compile(r"\w*(Error|Exception)")
MAY_DEFINE: Final = re.compile(rf"class {NAME.pattern}\b.*def __init__", re.DOTALL)
"""In the text of a file that has such a class: parsing all files takes seconds."""


def errors_with_a_signature() -> Iterator[tuple[str, set[str]]]:
    """Exceptions that define `__init__`, each with the names of all that it defines."""
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            text = file.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if MAY_DEFINE.search(text) else ():
                if isinstance(node, ast.ClassDef) and NAME.fullmatch(node.name):
                    defined = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
                    if "__init__" in defined:
                        yield f"{file.relative_to(ROOT)}:{node.name}", defined


def test_an_error_with_a_signature_of_its_own_can_be_pickled() -> None:
    found = dict(errors_with_a_signature())
    assert "vocabulary/errors.py:ApiError" in found
    # Without it they would be made from their message alone.
    assert [name for name, defined in found.items() if "__reduce__" not in defined] == []
