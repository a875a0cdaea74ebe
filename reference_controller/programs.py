"""The reference programs of all installed packages, by name.

A package registers its own in the entry-point group `assay.programs`, as `module:PROGRAM`. A
program is imported when it is loaded; this module imports none.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from vocabulary.entry_points import EntryPointError, EntryPoints

if TYPE_CHECKING:
    from reference_controller.reference_program import ReferenceProgram

_REGISTERED: Final = EntryPoints("assay.programs", "program")


def names() -> tuple[str, ...]:
    """All registered names, sorted. Raises EntryPointError."""
    return _REGISTERED.names()


@cache
def load(name: str) -> ReferenceProgram[Any, Any]:
    """The program of that name. Raises EntryPointError unless it is exactly one."""
    from reference_controller.reference_program import ReferenceProgram

    program: ReferenceProgram[Any, Any] = _REGISTERED.load(name)
    if not isinstance(program, ReferenceProgram):
        raise EntryPointError(
            f"program {name!r}: its entry point is no ReferenceProgram; let it name the literal"
        )
    if program.name != name:
        raise EntryPointError(
            f"program {name!r}: its literal is named {program.name!r}; give both the same name"
        )
    return program
