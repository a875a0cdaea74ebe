"""The modules that hold activities: the toolkit's own, and those that suites bring."""

from typing import Final

ACTIONS: Final = (
    "chaos.toolkit.actions",
    "chaos.toolkit.pod_actions",
    "chaos.toolkit.node_actions",
)
PROBES: Final = ("chaos.toolkit.probes", "chaos.appwrapper.activities")
