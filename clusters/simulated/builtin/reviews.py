"""Reviews: they can be created only, and are not stored."""

from __future__ import annotations

from typing import ClassVar

from clusters.simulated.strategy import Strategy


class ReviewStrategy(Strategy):
    verbs: ClassVar = ("create",)
