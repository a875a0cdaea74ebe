"""The command line of an operator under test, and the files that it reads and writes."""

from __future__ import annotations

from pathlib import Path

import yaml

from clusters.control_plane.users import User
from conformance.implementations.under_test import Launch, Place
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.control_plane.host import Host, RunPlace
from vocabulary.errors import ApiError
from vocabulary.history import label_of
from vocabulary.requests import Update, create


def launch_of(
    host: Host,
    name: str,
    user: User,
    server: str,
    run: RunPlace,
    *,
    health_port: int,
    webhook_port: int,
) -> Launch:
    """How to start an operator of that name in a run; writes what it will read.

    `server` is its way to the API server: a proxy.
    """
    label = label_of(name)
    kubeconfig = run.folder / f"{label}.kubeconfig"
    return host.implementation.launch(
        Place(
            label=label,
            folder=run.folder,
            kubeconfig=host.users.kubeconfig_through(user, server, kubeconfig),
            namespace=run.namespace,
            beside=run.beside,
            health_port=health_port,
            webhook_port=webhook_port,
            config=run.config,
            elects=run.elects,
        )
    )


def prepare(launch: Launch, connection: RetryingConnection) -> None:
    """Create what it needs in its namespace, or bring that up to date: another operator, whose
    ports are others, may need objects of the same names."""
    for needed in launch.objects:
        creation = create(needed)
        try:
            connection.handle(creation)
        except ApiError as error:
            if not error.is_already_exists:
                raise
            connection.handle(Update(creation.kind, needed))


def command_line(launch: Launch) -> tuple[str, ...]:
    """The command to execute. Its executor may have been started long ago with another
    environment, so variables are set by `env`, which then becomes the program."""
    if not launch.environment and launch.folder is None:
        return launch.command
    folder = (f"--chdir={launch.folder}",) if launch.folder else ()
    return ("env", *folder, *(f"{k}={v}" for k, v in launch.environment.items()), *launch.command)


def token_of(folder: Path, name: str) -> str:
    """The bearer token in that operator's kubeconfig; empty if it proves itself otherwise.

    The proxy adds it, because Go's client sends no token where nothing is encrypted.
    """
    text = (folder / f"{label_of(name)}.kubeconfig").read_text(encoding="utf-8")
    return str(yaml.safe_load(text)["users"][0]["user"].get("token", ""))


def log_of(folder: Path, name: str) -> Path:
    """Where the operator of that name logs to."""
    return folder / f"{label_of(name)}.log"
