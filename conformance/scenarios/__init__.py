"""The scenarios: reproducible situations, each a function and its manifests.

One package per suite, one module per subject. Importing this package imports them all, so
that `SCENARIOS` holds every scenario by id.
"""

from __future__ import annotations

import importlib
import pkgutil

from conformance.scenario import SCENARIOS

__all__ = ["SCENARIOS"]

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)
