"""Faults that strike AppWrappers alone, and what chaos knows of their kind."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, Final

from chaos.appwrapper.random_variation import random_variation
from chaos.appwrapper.variation import AppWrapperVariation
from chaos.choice import described
from chaos.fault import fault
from chaos.faults.node_label import NodePatch
from chaos.fields import Name
from chaos.menu import random_nodes
from chaos.subject_kind import SubjectKind, register
from chaos.terrain import Terrain
from vocabulary.kinds import APPWRAPPER

APPWRAPPER_LABEL: Final = "workload.codeflare.dev/appwrapper"
"""An AppWrapper controller puts it on every pod of a workload."""
AUTOPILOT_KEY: Final = "autopilot.ibm.com/gpuhealth"


@fault("autopilot_label")
class AutopilotLabel(NodePatch):
    """Have Autopilot judge a node's GPUs: PASS, WARN, TESTING, ERR or EVICT; null: no verdict."""

    value: str | None
    key: Name = AUTOPILOT_KEY

    def patch(self) -> Mapping[str, Any]:
        return {"metadata": {"labels": {self.key: self.value}}}

    def describe(self) -> str:
        node = described("node", self.node)
        if self.value is None:
            return f"have Autopilot withdraw its verdict {self.key} on {node}"
        return f"have Autopilot label {node} with {self.key}={self.value}"


def _autopilot_label(rng: random.Random, terrain: Terrain) -> AutopilotLabel:
    nodes = random_nodes(rng, terrain)
    return AutopilotLabel(nodes, rng.choice(("ERR", "EVICT", "TESTING", "WARN")))


register(
    SubjectKind(
        APPWRAPPER,
        label=APPWRAPPER_LABEL,
        role="appwrapper",
        implied={"webhook_outage": {"kind": APPWRAPPER.kind}},
        deployment=("appwrapper-system", "appwrapper-controller-manager"),
        menu={"autopilot_label": _autopilot_label},
        variation=AppWrapperVariation,
        random_variation=random_variation,
    )
)
