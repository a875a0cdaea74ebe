"""All scripts, one file per subject."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence

from tests.differential.script import REGISTRY, Script


def every() -> list[Script]:
    """All scripts, by subject and in the order they stand in."""
    for module in pkgutil.iter_modules(__path__):
        if module.name != "manifests":
            importlib.import_module(f"{__name__}.{module.name}")
    return list(REGISTRY.values())


def chosen(names: Sequence[str]) -> list[Script]:
    """The scripts or subjects of these names, all if there are none; KeyError names strangers."""
    known = every()
    for name in names:
        if not any(name in (script.name, script.subject) for script in known):
            raise KeyError(f"no script or subject {name!r}; docs/differential.md lists them")
    return [
        script for script in known if not names or script.name in names or script.subject in names
    ]
