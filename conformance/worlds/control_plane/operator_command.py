"""The command line of an operator under test, and the files that it reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from conformance.patience import PatientConnection
from conformance.under_test import Launch, Place
from conformance.worlds.control_plane.session import Session
from fixtures.control_plane.users import User
from vocabulary.errors import ApiError
from vocabulary.history import label_of
from vocabulary.requests import create


def launch_of(
    session: Session,
    name: str,
    user: User,
    server: str,
    *,
    folder: Path,
    config: Mapping[str, Any],
    namespace: str,
    health_port: int,
    webhook_port: int,
    elects: bool,
) -> Launch:
    """How to start an operator of that name for one namespace; writes what it will read.

    `server` is its way to the API server: a proxy. `elects`: it is one of several.
    """
    label = label_of(name)
    return session.implementation.launch(
        Place(
            label=label,
            folder=folder,
            kubeconfig=session.kubeconfig_through(user, server, folder / f"{label}.kubeconfig"),
            namespace=namespace,
            health_port=health_port,
            webhook_port=webhook_port,
            config=config,
            elects=elects,
        )
    )


def prepare(launch: Launch, connection: PatientConnection) -> None:
    """Create what it needs in its namespace; two operators may need the same."""
    for needed in launch.objects:
        try:
            connection.handle(create(needed))
        except ApiError as error:
            if not error.is_already_exists:
                raise


def command_line(launch: Launch) -> tuple[str, ...]:
    """The command to execute. Its executor may have been started long ago with another
    environment, so variables are set by `env`, which then becomes the program."""
    if not launch.environment:
        return launch.command
    return ("env", *(f"{k}={v}" for k, v in launch.environment.items()), *launch.command)


def token_of(folder: Path, name: str) -> str:
    """The bearer token in that operator's kubeconfig; empty if it proves itself otherwise.

    The proxy adds it, because Go's client sends no token where nothing is encrypted.
    """
    text = (folder / f"{label_of(name)}.kubeconfig").read_text(encoding="utf-8")
    return str(yaml.safe_load(text)["users"][0]["user"].get("token", ""))


def log_of(folder: Path, name: str) -> Path:
    """Where the operator of that name logs to."""
    return folder / f"{label_of(name)}.log"
