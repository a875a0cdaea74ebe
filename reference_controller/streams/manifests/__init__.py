"""The manifests that install the Streams controller in a cluster."""

from __future__ import annotations

from typing import Final

from reference_controller.manifests import Manifests

MANIFESTS: Final = Manifests(
    package=__name__,
    crds=("crds.yaml",),
    rbac=("rbac.yaml",),
    deployment=("deployment.yaml",),
)
