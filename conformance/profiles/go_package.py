"""The main package that a profile names, looked for before Go is asked to build it.

Go's own error for a package that is not there is about modules and where they come from.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.profiles.profile import GoModule
from vocabulary.typed_yaml import field_error

FIELD: Final = "program.goModule.package"
_MOST_NAMED: Final = 8
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BETWEEN: Final = rf"(?:\s|{_COMMENT.pattern})"
_PACKAGE: Final = re.compile(rf"({_BETWEEN}*+)package{_BETWEEN}++(\w+)", re.DOTALL)
"""A file's beginning: a package clause is preceded by blanks and comments only."""
_IGNORED: Final = re.compile(r"//go:build ignore\b")


def require_main_package(wanted: GoModule, folder: Path, profile: Path) -> None:
    """YamlError if the module in the folder has no such package, or if it is no program."""
    relative = _relative(wanted)
    named = relative or wanted.package
    nested = "" if relative is None else _nested_module(folder, relative)
    if relative is None:
        what = f"{named} is outside of the module; a package of it begins with ./"
    elif nested:
        what = f"{named} belongs to another module, that of {nested}/go.mod"
    elif not (names := _packages_in(folder / relative)):
        what = f"{wanted.path} has no package {named}"
    elif "main" not in names:
        what = f"{named} is no program, but package {min(names)}"
    else:
        return
    programs = sorted(programs_in(folder))
    shown = ", ".join(programs[:_MOST_NAMED])
    more = " …" if len(programs) > _MOST_NAMED else ""
    advice = f"the module's programs are {shown}{more}; name one of them"
    if not programs:
        advice = "the module has no program; correct program.goModule.path"
    elif nested:
        advice += ", or that module in program.goModule.path"
    raise field_error(profile, FIELD, f"{what}; {advice}")


def _relative(wanted: GoModule) -> str | None:
    """The package's folder, relative to the module's; None if it is elsewhere."""
    package = wanted.package
    if package == wanted.path or package.startswith(f"{wanted.path}/"):
        package = f".{package.removeprefix(wanted.path)}"
    if package != "." and not package.startswith("./"):
        return None
    cleaned = os.path.normpath(package)
    return None if cleaned.startswith("..") else package


def _nested_module(module: Path, package: str) -> str:
    """The folder of the module inside this one that has the package; empty if this one has it."""
    at = Path(os.path.normpath(package))
    nested = (
        each for each in (at, *at.parents) if each.parts and (module / each / "go.mod").exists()
    )
    return next((f"./{each}" for each in nested), "")


def _packages_in(folder: Path) -> set[str]:
    """The names of the packages in a folder, without tests and files that are never built."""
    names = set()
    for file in folder.glob("*.go") if folder.is_dir() else ():
        if file.name.endswith("_test.go") or file.name.startswith(("_", ".")):
            continue
        text = file.read_text(encoding="utf-8-sig", errors="replace")
        if name := _package_of(text):
            names.add(name)
    return names


def _package_of(text: str) -> str:
    """The name in a file's package clause; empty if it has none, or is never built."""
    found = _PACKAGE.match(text)
    if found is None or any(map(_IGNORED.match, _COMMENT.findall(found[1]))):
        return ""
    return found[2]


def programs_in(module: Path) -> Iterator[str]:
    """The main packages of a module, relative to it; those of modules inside of it are theirs."""
    for at, folders, _ in os.walk(module):
        folders[:] = [
            name
            for name in folders
            if name not in ("vendor", "testdata")
            and not name.startswith(("_", "."))
            and not (Path(at) / name / "go.mod").exists()
        ]
        if "main" in _packages_in(Path(at)):
            relative = Path(at).relative_to(module)
            yield f"./{relative}" if relative.parts else "."
