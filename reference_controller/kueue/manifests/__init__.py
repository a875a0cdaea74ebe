"""The manifests that install the Kueue controller in a cluster."""

from __future__ import annotations

from typing import Final

from reference_controller.kueue.conversion import in_both_versions
from reference_controller.manifests import Manifests

MANIFESTS: Final = Manifests(
    package=__name__,
    crds=("crds.yaml",),
    rbac=("rbac.yaml",),
    deployment=("certificate.yaml", "deployment.yaml"),
    webhooks=("webhooks.yaml",),
    webhook_host="kueue-webhook.kueue-system.svc",
    in_all_versions=in_both_versions,
)
