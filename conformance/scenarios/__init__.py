"""The scenarios: reproducible situations, each a function and its manifests.

One package per suite. `load()` imports them all; `conformance.scenario.SCENARIOS` then holds
every scenario by id.
"""

from __future__ import annotations

import importlib
import pkgutil


def load() -> None:
    """Import every module below this package, so that all scenarios are registered."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
