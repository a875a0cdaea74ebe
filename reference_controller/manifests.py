"""The manifests that install a program in a cluster.

A program's files are complete but for three things that are known only at installation: the
image, the webhooks' certificate, and the authority to trust for it. `Manifests.installation` fills
them in, so that `kubectl apply -f -` takes its output as it is.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
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
    in_all_versions: Callable[[Object, Object], Object] | None = None
    """(definition in its stored version, conversion) → the definition in all versions. None: the
    files have them."""

    @property
    def files(self) -> tuple[str, ...]:
        """All files in the order in which they are applied: each needs only those before it."""
        return (*self.crds, *self.rbac, *self.deployment, *self.webhooks)

    def objects(self, *files: str) -> tuple[Object, ...]:
        """The documents of these files."""
        return tuple(found for file in files for found in _parsed(self.package, file))

    def definitions(self, client_config: Object | None = None) -> tuple[Object, ...]:
        """The custom resource definitions; in the stored version alone unless a webhook converts:
        `client_config` says where it is."""
        found = self.objects(*self.crds)
        if client_config is None or self.in_all_versions is None:
            return found
        webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client_config}
        conversion = {"strategy": "Webhook", "webhook": webhook}
        return tuple(self.in_all_versions(each, conversion) for each in found)

    @property
    def converter(self) -> Object | None:
        """The client config of the installed webhook that converts, if there is one."""
        if self.in_all_versions is None:
            return None
        name, namespace, _ = self.webhook_host.split(".")
        return {"service": {"name": name, "namespace": namespace, "path": "/convert"}}

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
        converter: Object | None = None
        values = {f"image: {DEFAULT_IMAGE}": f"image: {image}"} if self.deployment else {}
        if self.webhook_host:
            from vocabulary.certificates import Authority

            # Its key is forgotten: it cannot sign again, and another installation makes its own.
            authority = Authority.create("webhook-authority", LIFETIME)
            issued = authority.issue_server("webhook", (self.webhook_host,))
            values['tls.crt: ""'] = f"tls.crt: {_base64(issued.certificate)}"
            values['tls.key: ""'] = f"tls.key: {_base64(issued.key)}"
            if with_webhooks:
                trusted = _base64(authority.pair.certificate)
                values['caBundle: ""'] = f"caBundle: {trusted}"
                if self.converter is not None:
                    converter = {"caBundle": trusted, **self.converter}
        files = [file for file in self.files if with_webhooks or file not in self.webhooks]
        texts = [_text(self.package, file) for file in files]
        if converter is not None:
            definitions = yaml.safe_dump_all(self.definitions(converter), sort_keys=False)
            texts[: len(self.crds)] = [definitions]
        text = "---\n".join(texts)
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
