"""Virtual time for programs in Python: they run unmodified, and their clock is the cluster's.

A program gets it from a module that Python imports before the program begins: `site` comes first in
its PYTHONPATH. It speaks the protocol of `clusters.go_time.pacer`, and needs nothing of Assay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

SITE: Final = Path(__file__).parent / "site"
_INTERPRETER: Final = re.compile(r"python[0-9.]*$")
_SHEBANG: Final = re.compile(rb"#!\s*(\S+)(?:[ \t]+(\S+))?")
_HEAD_BYTES: Final = 512


def environment(told: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that give a program virtual time, beside those it is `told`.

    Hashes are seeded, since the order of sets would be chance.
    """
    path = told.get("PYTHONPATH") or os.environ.get("PYTHONPATH", "")
    entries = os.pathsep.join(filter(None, (str(SITE), path)))
    return {"PYTHONPATH": entries, "PYTHONHASHSEED": "0"}


def interpreter_of(program: Path) -> Path | None:
    """The Python that runs a program: itself, or that of its first line; None for another one."""
    if _INTERPRETER.search(program.name):
        return program
    with program.open("rb") as file:
        found = _SHEBANG.match(file.read(_HEAD_BYTES))
    if found is None:
        return None
    named = [Path(os.fsdecode(each)) for each in found.groups() if each]
    return next((each for each in reversed(named) if _INTERPRETER.search(each.name)), None)


def folders_of(program: Path) -> Iterator[Path]:
    """Where its Python and its modules are, besides its own directory."""
    yield SITE
    interpreter = interpreter_of(program)
    if interpreter is not None and interpreter.is_absolute():
        for each in (interpreter, interpreter.resolve()):
            yield each.parent.parent
