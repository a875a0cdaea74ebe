"""The manifests that install the JobSet controller in a cluster."""

from __future__ import annotations

from typing import Final

from reference_controller.manifests import Manifests

MANIFESTS: Final = Manifests(
    package=__name__,
    crds=("crd.yaml",),
    rbac=("rbac.yaml",),
    deployment=("certificate.yaml", "deployment.yaml"),
    webhooks=("webhooks.yaml",),
    webhook_host="jobset-webhook.jobset-system.svc",
)
