"""The manifests that install a program in a cluster.

A program's files are complete but for three things that are known only at installation: the
image, the webhooks' certificate, and the authority to trust for it. `Manifests.installation` fills
them in, so that `kubectl apply -f -` takes its output as it is.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from importlib import resources
from typing import Final

import yaml

from reference_controller.runtime.options import OptionsError
from vocabulary.objects import Object

DEFAULT_IMAGE: Final = "assay:latest"
LIFETIME: Final = timedelta(days=3650)
"""The certificate is not renewed, and once it has expired no workload could be submitted."""

_IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,511}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifests:
    """The YAML files of one program, by purpose."""

    package: str
    """The Python package that holds the files."""
    crds: tuple[str, ...] = ()
    rbac: tuple[str, ...] = ()
    deployment: tuple[str, ...] = ()
    webhooks: tuple[str, ...] = ()
    webhook_host: str = ""
    """The DNS name of the webhooks' Service; their certificate is issued to it."""

    @property
    def files(self) -> tuple[str, ...]:
        """All files in the order in which they are applied: each needs only those before it."""
        return (*self.crds, *self.rbac, *self.deployment, *self.webhooks)

    def objects(self, *files: str) -> tuple[Object, ...]:
        """The documents of these files."""
        return tuple(found for file in files for found in _parsed(self.package, file))

    def installation(self, image: str, *, with_webhooks: bool = True) -> str:
        """All files as one YAML text, complete; raises OptionsError for an impossible image.

        The certificate is a new one each time. Without webhooks objects are stored as they come,
        and are not checked.
        """
        if not _IMAGE.fullmatch(image):
            raise OptionsError(
                f"image {image!r} is no image's name; give one such as "
                "registry.example.org/assay:1.0"
            )
        values = {f"image: {DEFAULT_IMAGE}": f"image: {image}"} if self.deployment else {}
        if self.webhook_host:
            from vocabulary.certificates import Authority

            # Its key is forgotten: it cannot sign again, and another installation makes its own.
            authority = Authority.create("webhook-authority", LIFETIME)
            issued = authority.issue_server("webhook", (self.webhook_host,))
            values['tls.crt: ""'] = f"tls.crt: {_base64(issued.certificate)}"
            values['tls.key: ""'] = f"tls.key: {_base64(issued.key)}"
            if with_webhooks:
                values['caBundle: ""'] = f"caBundle: {_base64(authority.pair.certificate)}"
        files = [file for file in self.files if with_webhooks or file not in self.webhooks]
        text = "---\n".join(_text(self.package, file) for file in files)
        for place, value in values.items():
            assert place in text, f"the manifests have no {place!r} any more"
            text = text.replace(place, value)
        return text


def _text(package: str, file: str) -> str:
    return resources.files(package).joinpath(file).read_text("utf-8")


@lru_cache(maxsize=64)
def _parsed(package: str, file: str) -> tuple[Object, ...]:
    # libyaml where it is built in: a CRD takes a tenth of a second in Python.
    return tuple(yaml.load_all(_text(package, file), getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def _base64(pem: bytes) -> str:
    return b64encode(pem).decode("ascii")
