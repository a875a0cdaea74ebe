"""The way to another client's API server, as a kubeconfig describes it, and who one is there."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from reference_controller.runtime.connection import (
    Connection,
    configuration,
    connect,
    own_token_file,
)
from vocabulary.clock import SECOND
from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path
from vocabulary.requests import Create, ObjectList

TIMEOUT_US: Final = 30 * SECOND
POOL_SIZE: Final = 32
SELF_REVIEW: Final = Kind(
    "authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews", namespaced=False
)


@dataclass(frozen=True, slots=True)
class Access:
    """One context of one kubeconfig; OptionsError where it cannot be read."""

    kubeconfig: Path | None
    """None: kubectl's default, or the service account that this process runs as."""
    context: str = ""

    def connection(self, user_agent: str) -> Connection:
        """A client of the API server; the user agent is what an audit log can tell by."""
        return connect(
            self.kubeconfig,
            self.context or None,
            user_agent=user_agent,
            timeout_us=TIMEOUT_US,
            pool_size=POOL_SIZE,
        )

    def tls(self, *, as_oneself: bool) -> ssl.SSLContext | None:
        """For proxies on their way to the API server; None if that speaks plain HTTP.

        `as_oneself`: with the client certificate, where there is one. An API server takes that
        for who is speaking before it looks at any token.
        """
        settings = self._settings()
        if not str(settings.host).startswith("https:"):
            return None
        context = ssl.create_default_context(cafile=settings.ssl_ca_cert)
        if not settings.verify_ssl:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if as_oneself and settings.cert_file:
            context.load_cert_chain(settings.cert_file, settings.key_file)
        return context

    def kubeconfig_through(self, server: str, path: Path) -> Path:
        """A kubeconfig for the same user through a proxy that `tls(as_oneself=True)` serves."""
        token_file = None if self.kubeconfig or self.context else own_token_file()
        if token_file is not None:
            return write_kubeconfig(path, server, "oneself", {"tokenFile": str(token_file)})
        header = self._settings().auth_settings().get("BearerToken", {}).get("value", "")
        token = str(header).removeprefix("Bearer ")
        return write_kubeconfig(path, server, "oneself", {"token": token} if token else {})

    def _settings(self) -> Any:
        return configuration(self.kubeconfig, self.context or None)


def whoami(connection: Connection) -> dict[str, Any]:
    """The user that the API server takes this client for: `username`, `uid`, …"""
    review = {"apiVersion": SELF_REVIEW.api_version, "kind": SELF_REVIEW.kind}
    return dict(get_path(asked(connection, SELF_REVIEW, review), "status.userInfo") or {})


def asked(connection: Connection, kind: Kind, review: Object) -> Object:
    """The answer to a review: something that is asked for by creating it, and not stored."""
    answer = connection.handle(Create(kind, review))
    assert not isinstance(answer, ObjectList)
    return answer


def write_kubeconfig(path: Path, server: str, user: str, credentials: Mapping[str, str]) -> Path:
    """A kubeconfig with such credentials, or none, for its owner's eyes."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "cluster", "cluster": {"server": server}}],
        "users": [{"name": user, "user": dict(credentials)}],
        "contexts": [{"name": "assay", "context": {"cluster": "cluster", "user": user}}],
        "current-context": "assay",
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path
