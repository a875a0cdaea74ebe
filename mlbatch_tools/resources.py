"""The resources that quotas and checks are about."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from vocabulary.quantities import parse_quantity

GPU: Final = "nvidia.com/gpu"
GDR: Final = "nvidia.com/roce_gdr"
"""Network interfaces for GPUs."""
NODE_SHAPE: Final = {
    GPU: Fraction(8),
    GDR: Fraction(2),
    "cpu": Fraction(80),
    "memory": parse_quantity("1100Gi"),
}
"""A node's resources, as in the published tool."""


def share(resource: str, gpus: Fraction) -> Fraction:
    """The amount of a resource that comes with so many of a node's GPUs."""
    return NODE_SHAPE[resource] * gpus / NODE_SHAPE[GPU]
