"""Faults of Autopilot, which judges the GPUs of nodes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from chaos.choice import described
from chaos.fault import fault
from chaos.faults.node_label import NodePatch
from chaos.fields import Name
from chaos.menu import random_nodes
from chaos.terrain import Terrain
from conformance.suites.appwrapper.api import AUTOPILOT_KEY


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


def random_autopilot_label(rng: random.Random, terrain: Terrain) -> AutopilotLabel:
    nodes = random_nodes(rng, terrain)
    return AutopilotLabel(nodes, rng.choice(("ERR", "EVICT", "TESTING", "WARN")))
