"""What installs the controller in a cluster.

The files beside this one are complete but for three things that only whoever installs it
knows: the image, the webhooks' certificate, and the authority to trust for it. `installation`
fills them in, so that `kubectl apply -f -` takes its output as it is.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from importlib import resources
from typing import Final

from reference_controller.runtime.options import OptionsError
from reference_controller.runtime.webhook_certificate import WebhookCertificate

WEBHOOKS: Final = "webhooks.yaml"
FILES: Final = ("crd.yaml", "rbac.yaml", "certificate.yaml", "deployment.yaml", WEBHOOKS)
"""In the order in which they are applied: each needs only what stands before it."""
DEFAULT_IMAGE: Final = "assay:latest"
WEBHOOK_HOST: Final = "appwrapper-webhook.appwrapper-system.svc"
"""The name by which API servers call the Service, and check the certificate."""

_IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,511}")


def installation(image: str, certificate: WebhookCertificate, *, with_webhooks: bool = True) -> str:
    """All files as one YAML text, complete. Raises OptionsError for what names no image.

    Without webhooks AppWrappers are stored as they come, and are not checked.
    """
    if not _IMAGE.fullmatch(image):
        raise OptionsError(
            f"image {image!r} is no image's name; give one such as registry.example.org/assay:1.0"
        )
    values = {
        f"image: {DEFAULT_IMAGE}": f"image: {image}",
        'tls.crt: ""': f"tls.crt: {_base64(certificate.certificate)}",
        'tls.key: ""': f"tls.key: {_base64(certificate.key)}",
    }
    files = [file for file in FILES if with_webhooks or file != WEBHOOKS]
    if with_webhooks:
        values['caBundle: ""'] = f"caBundle: {_base64(certificate.authority)}"
    folder = resources.files(__name__)
    return _filled("---\n".join(folder.joinpath(file).read_text("utf-8") for file in files), values)


def _filled(text: str, values: Mapping[str, str]) -> str:
    for place, value in values.items():
        assert place in text, f"the manifests have no {place!r} any more"
        text = text.replace(place, value)
    return text


def _base64(pem: bytes) -> str:
    return b64encode(pem).decode("ascii")
