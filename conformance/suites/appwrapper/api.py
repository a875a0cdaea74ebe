"""The names of the API under test, as scenarios and faults use them."""

from __future__ import annotations

from typing import Final

from vocabulary.kinds import Kind

APPWRAPPER: Final = Kind("workload.codeflare.dev", "v1beta2", "AppWrapper", "appwrappers")
APPWRAPPER_LABEL: Final = "workload.codeflare.dev/appwrapper"
"""An AppWrapper controller puts it on every pod of a workload."""
PARAMETER_PREFIX: Final = "workload.codeflare.dev.appwrapper/"
"""Of the annotations by which an AppWrapper sets its own parameters."""
AUTOPILOT_KEY: Final = "autopilot.ibm.com/gpuhealth"
"""The label in which Autopilot keeps its verdict on a node's GPUs."""
