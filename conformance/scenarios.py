"""The scenarios of all installed suites. Importing this module imports them."""

from __future__ import annotations

from conformance import suite
from conformance.manifests import load_manifests
from conformance.scenario_type import SCENARIOS
from vocabulary.objects import Object

__all__ = ["SCENARIOS", "all_crds"]

suite.load()


def all_crds() -> tuple[Object, ...]:
    """Every custom resource definition that some scenario installs.

    A real control plane gets them before it starts: its garbage collector learns of later
    ones only after half a minute.
    """
    folders = [folder for each in suite.load().values() for folder in each.folders]
    paths = sorted(path for folder in folders for path in folder.rglob("*_crd.yaml"))
    return tuple(document for path in paths for document in load_manifests(path))
