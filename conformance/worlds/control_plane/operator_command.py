"""The command line of an operator under test, and the files that it reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from conformance.worlds.control_plane.session import Session
from fixtures.control_plane.users import User

RENEWAL_FLAGS: Final = ("--leader-elect", "--lease-namespace")


def operator_command(
    session: Session,
    name: str,
    user: User,
    server: str,
    *,
    folder: Path,
    config: Mapping[str, Any],
    namespace: str,
    health_port: int,
    elects: bool,
) -> list[str]:
    """How to start an operator of that name for one namespace; writes what it will read.

    `server` is its way to the API server: a proxy. `elects`: it is one of several.
    """
    label = _label(name)
    config_file = folder / f"{label}.yaml"
    config_file.write_text(yaml.safe_dump(dict(config)), encoding="utf-8")
    kubeconfig = session.kubeconfig_through(user, server, folder / f"{label}.kubeconfig")
    return [
        *session.implementation.command(),
        *("--kubeconfig", str(kubeconfig)),
        *("--config", str(config_file)),
        *("--namespace", namespace),
        *("--identity", label),
        *("--health-port", str(health_port)),
        *((*RENEWAL_FLAGS, namespace) if elects else ()),
    ]


def log_of(folder: Path, name: str) -> Path:
    """Where the operator of that name logs to."""
    return folder / f"{_label(name)}.log"


def _label(name: str) -> str:
    return name.replace("/", "-")
