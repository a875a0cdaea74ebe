"""Labels of Kubernetes that the suite sets or tolerates on clusters of others."""

from __future__ import annotations

from typing import Final

CONTROL_PLANE: Final = "node-role.kubernetes.io/control-plane"
"""The label and the taint of nodes for the control plane."""
ENFORCE: Final = "pod-security.kubernetes.io/enforce"
"""The label by which a namespace refuses pods that could take over their node."""
CONFINING: Final = ("baseline", "restricted")
