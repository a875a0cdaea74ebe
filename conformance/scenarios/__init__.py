"""The scenarios: reproducible situations, each a function and its manifests.

One package per suite, one module per subject. Importing this package imports them all, so
that `SCENARIOS` holds every scenario by id.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from conformance.manifests import load_manifests
from conformance.scenario import SCENARIOS
from vocabulary.objects import Object

__all__ = ["SCENARIOS", "all_crds"]

for _module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(_module.name)


def all_crds() -> tuple[Object, ...]:
    """Every custom resource definition that some scenario installs.

    A real control plane gets them before it starts: its garbage collector learns of later
    ones only after half a minute.
    """
    paths = sorted(Path(__file__).parent.rglob("*_crd.yaml"))
    return tuple(document for path in paths for document in load_manifests(path))
