"""The kinds of clusters that scenarios run on, by name."""

from __future__ import annotations

from typing import Literal, TypeAlias

ClusterName: TypeAlias = Literal["simulated", "control-plane", "kind", "existing"]
