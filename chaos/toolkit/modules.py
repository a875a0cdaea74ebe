"""The modules that hold activities: the toolkit's own, and those that suites bring."""

from typing import Final

from conformance.suite import load as suites

ACTIONS: Final = (
    "chaos.toolkit.actions",
    "chaos.toolkit.pod_actions",
    "chaos.toolkit.node_actions",
)
PROBES: Final = (
    "chaos.toolkit.probes",
    *(suite.activities for suite in suites().values() if suite.activities),
)
