"""Objects that installed packages register by name, found as entry points.

Nothing is imported before it is loaded by its name. An editable installation keeps the entry
points of the day on which it was made: where this source tree declares others, that is an error,
since one suite or program would be missing without a word.
"""

from __future__ import annotations

import sys
import tomllib
import traceback
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from vocabulary import suite_path

_SOURCES: Final = Path(__file__).parents[1] / "pyproject.toml"
"""There is none where a wheel is installed."""


class EntryPointError(ValueError):
    """A name that is not registered, or not unambiguously; the message says what to do."""


class EntryPoints:
    """One group of entry points."""

    def __init__(self, group: str, noun: str) -> None:
        """`noun`: the word for one of its objects, for messages."""
        self.group = group
        self._noun = noun

    def names(self) -> tuple[str, ...]:
        """All registered names, sorted. Raises EntryPointError if the installation is stale."""
        found = {point.name: point for point in self._points()}
        self._require_declared(list(found.values()), self._declared())
        return tuple(sorted(found))

    def modules(self) -> tuple[str, ...]:
        """The modules in which the objects stand, in the order of `names`."""
        self.names()
        points = sorted((point.name, point.module) for point in self._points())
        return tuple(dict.fromkeys(module for _, module in points))

    def distributions(self) -> list[tuple[str, str]]:
        """The registered names, each with its distribution; empty: it is not installed."""
        return [(each.name, each.dist.name if each.dist else "") for each in self._points()]

    def load(self, name: str) -> Any:
        """Import the object of that name. Raises EntryPointError unless it is exactly one."""
        found = [point for point in self._points() if point.name == name]
        declared = self._declared()
        self._require_declared(found, {name: declared[name]} if name in declared else {})
        targets = {point.value: point for point in found}
        if not targets:
            there = ", ".join(self.names()) or "none"
            raise EntryPointError(f"there is no {self._noun} {name!r}; there is: {there}")
        if len(targets) > 1:
            said = " and ".join(f"{value} ({_origin(point)})" for value, point in targets.items())
            raise EntryPointError(
                f"{self._noun} {name!r} is registered twice, as {said}; uninstall one of them"
            )
        try:
            return found[0].load()
        except MemoryError:
            raise
        except Exception as error:
            raise EntryPointError(
                f"{self._noun} {name!r} cannot be imported: {where_raised(error, found[0].module)}"
            ) from error

    def _points(self) -> list[EntryPoint]:
        """Of installed distributions, and of directories that are named by path."""
        installed = _installed(self.group, tuple(sys.path))
        values = {(point.name, point.value) for point in installed}
        added = suite_path.points(self.group)
        return [*installed, *(each for each in added if (each.name, each.value) not in values)]

    def _declared(self) -> dict[str, str]:
        """The entries that this source tree declares, if it is one."""
        if not _SOURCES.is_file():
            return {}
        groups = _groups_in(_SOURCES.read_text("utf-8"))
        return groups.get(self.group, {})

    def _require_declared(self, found: list[EntryPoint], declared: dict[str, str]) -> None:
        installed = {(point.name, point.value) for point in found}
        if stale := declared.items() - installed:
            names = ", ".join(sorted(name for name, _ in stale))
            raise EntryPointError(
                f"{self._noun} {names} of {_SOURCES} is not in the installation's metadata: run "
                f"pip install -e . again, in {_SOURCES.parent}"
            )


@cache
def _installed(
    group: str,
    path: tuple[str, ...],  # noqa: ARG001  # `sys.path`, where they are found
) -> tuple[EntryPoint, ...]:
    """The entry points of installed distributions: reading them takes longer than a run."""
    return tuple(entry_points(group=group))


@cache
def _groups_in(text: str) -> dict[str, dict[str, str]]:
    """The entry points that a pyproject.toml declares, by group."""
    found: dict[str, dict[str, str]] = (
        tomllib.loads(text).get("project", {}).get("entry-points", {})
    )
    return found


def where_raised(error: Exception, module: str) -> str:
    """The sentence about an exception of a module's package, or of something that it called: with
    the file and line of that package, and the next action."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {type(error).__name__}: {error.msg}; mend it"
    package = find_spec(module.partition(".")[0])
    folders = (package.submodule_search_locations if package else None) or ()
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if any(Path(frame.filename).is_relative_to(folder) for folder in folders)
    ]
    if isinstance(error, ImportError) and not own:
        return f"{error}; reinstall its distribution"
    place = f"{own[-1].filename}:{own[-1].lineno}: " if own else ""
    return f"{place}{type(error).__name__}: {error}; mend it"


def line_that_raised(error: Exception, folder: Path) -> str:
    """The file and line in this folder that raised it; empty if code elsewhere did."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not Path(frames[-1].filename).is_relative_to(folder):
        return ""
    return f"{frames[-1].filename}:{frames[-1].lineno}"


def _origin(point: EntryPoint) -> str:
    return f"of {point.dist.name}" if point.dist is not None else "of an unknown package"
