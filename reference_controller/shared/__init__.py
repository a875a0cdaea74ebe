"""The parts that references have in common: what any controller of a custom resource needs.

- `reading`: finding an object that may not be there.
- `own_writes`: the memory of one's own writes, against caches that are behind them.
- `conditions`: setting an entry of `status.conditions`.
- `events`: Events that are named after their contents.
- `counters`: counters with labels, as any endpoint shows them.
"""

from __future__ import annotations

from typing import Final

SHARED_DECISIONS: Final = (
    "reference_controller.shared.conditions",
    "reference_controller.shared.own_writes",
    "reference_controller.shared.reading",
)
"""The modules of these in which a bug breaks promises of a controller."""
