"""Suites and references of directories that are named by path, without an installation.

A directory holds packages. A package with a literal `SUITE = Suite(name="toy", …)` registers that
suite, and its module `program`, if there is one, the reference of the role `toy`. The paths are in
an environment variable: every process that Assay starts finds the same.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Final

VARIABLE: Final = "ASSAY_SUITE_PATH"
OPTION: Final = "--suite-path"
SUITES: Final = "assay.suites"
PROGRAMS: Final = "assay.programs"


class SuitePathError(ValueError):
    """A directory holds no suite; the message says what to do."""


def add(folder: Path) -> None:
    """Look for suites there as well, in this process and those that it starts."""
    if not folder.is_dir():
        raise SuitePathError(
            f"{OPTION} {folder}: there is no such directory; name the one that holds the suite's "
            "package"
        )
    absolute = str(folder.resolve())
    if not any(point.group == SUITES for point in _points(absolute)):
        raise SuitePathError(
            f"{OPTION} {folder}: {_broken(folder)}no package in it has a suite; name the directory "
            'that holds a package with SUITE = Suite(name="…") in its __init__.py'
        )
    os.environ[VARIABLE] = os.pathsep.join(dict.fromkeys([*folders(), absolute]))


def folders() -> list[str]:
    """The directories, in order."""
    return [folder for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder]


def options() -> list[str]:
    """The options of `assay` by which another process finds the same suites."""
    return [word for folder in folders() for word in (OPTION, folder)]


def points(group: str) -> list[EntryPoint]:
    """The entry points of their packages; the directories are importable from then on."""
    found = []
    for folder in folders():
        if folder not in sys.path:
            sys.path.append(folder)
        found += [point for point in _points(folder) if point.group == group]
    return found


@cache
def _points(folder: str) -> tuple[EntryPoint, ...]:
    return tuple(_found(Path(folder)))


def _found(folder: Path) -> Iterator[EntryPoint]:
    for package in sorted(folder.glob("*/__init__.py")):
        name = _name_of_suite(package)
        if name:
            module = package.parent.name
            yield EntryPoint(name, f"{module}:SUITE", SUITES)
            if package.with_name("program.py").is_file():
                yield EntryPoint(name, f"{module}.program:PROGRAM", PROGRAMS)


def _name_of_suite(module: Path) -> str:
    """The name in a literal `SUITE = Suite(name="…")`; nothing is imported."""
    try:
        tree = ast.parse(module.read_bytes())
    except (SyntaxError, ValueError):
        return ""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if names == ["SUITE"] and isinstance(node.value, ast.Call):
            for keyword in node.value.keywords:
                if keyword.arg == "name" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
    return ""


def _broken(folder: Path) -> str:
    """The packages that cannot be read as Python, each with the place of the mistake; empty: all
    can."""
    told = []
    for package in sorted(folder.glob("*/__init__.py")):
        try:
            ast.parse(package.read_bytes())
        except SyntaxError as error:
            told.append(f"{package}:{error.lineno}: {error.msg}; ")
        except ValueError as error:
            told.append(f"{package}: {error}; ")
    return "".join(told)
