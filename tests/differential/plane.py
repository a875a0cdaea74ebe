"""The common ground of both sides: one node, two kinds of custom resources, the same settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from clusters.control_plane import crds
from clusters.control_plane.nodes import CAPACITY
from vocabulary.kinds import Kind

NODE: Final = "n0"
"""The one node that scripts share. There is one, so that no scheduler has a choice."""
NODE_CAPACITY: Final = dict(CAPACITY)
ZONE: Final = "a"
SEPARATE_ZONE: Final = "b"
NODE_LABELS: Final = {"assay.dev/kubelet": ZONE}

WIDGET: Final = Kind("tests.assay.dev", "v1", "Widget", "widgets")
GADGET: Final = Kind("tests.assay.dev", "v1", "Gadget", "gadgets")

_DEFINITIONS: Final = (
    Path(__file__).parent / "widgets.yaml",
    Path(__file__).parents[2] / "reference_controller" / "appwrapper" / "manifests" / "crd.yaml",
)


def definitions() -> list[dict[str, Any]]:
    """The CustomResourceDefinitions that both sides serve."""
    return crds.parse(path.read_text() for path in _DEFINITIONS)
