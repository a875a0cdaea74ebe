"""The life of a kind cluster, by way of pytest-kind: created, used, and deleted unless kept.

A cluster that was there before is used and stays: whoever made it, or kept it, may want it yet.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from pytest_kind import KindCluster

from conformance.worlds.existing.access import Access
from conformance.worlds.kind import configuration
from conformance.worlds.kind.node_containers import NodeContainers
from conformance.worlds.kind.options import KindOptions
from conformance.worlds.kind.programs import KindError, find
from fixtures.control_plane.nodes import is_usable
from fixtures.control_plane.waiting import wait_until
from vocabulary.errors import ApiError
from vocabulary.kinds import NODE
from vocabulary.objects import name_of
from vocabulary.requests import List, ObjectList

READY_SECONDS: Final = 180.0
WITH_SHELL: Final = ("busybox", "local-path-helper")
"""Parts of the names of images that have a shell; kind's own node images have the second."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A kind cluster whose nodes are ready."""

    access: Access
    nodes: NodeContainers
    audit_log: Path
    pod_image: str
    """One that its nodes have, with a shell; empty if they have none."""


@contextmanager
def provided(options: KindOptions) -> Iterator[Cluster]:
    """A cluster for as long as it takes; KindError if there is none to be had."""
    programs = find(kind_bin=options.kind_bin, image=options.kind_image, download=options.download)
    kind = KindCluster(
        options.cluster_name,
        None if options.kubeconfig is None else options.kubeconfig.absolute(),
        image=programs.image,
        kind_path=programs.kind,
    )
    nodes = NodeContainers(programs.docker, options.cluster_name)
    if is_there(kind):
        yield adopted(kind, nodes)
        return
    try:
        yield created(kind, nodes, options.workers)
    finally:
        if not options.keep_cluster:
            _delete(kind)


def is_there(kind: Any) -> bool:
    """Whether a cluster of that name exists."""
    kind.ensure_kind()
    return kind.name in _run(kind, "get", "clusters").split()


def created(kind: Any, nodes: NodeContainers, workers: int) -> Cluster:
    """A new cluster, as the suite needs it."""
    folder = kind.path.absolute()
    log = configuration.prepare(folder / "audit")
    document = configuration.document(workers, folder / "audit")
    file = folder / "cluster.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    try:
        kind.create(file)
    except subprocess.CalledProcessError as error:
        raise KindError(
            f"kind create cluster ended with code {error.returncode}; what it said is above, and "
            f"{file} is what it was given"
        ) from error
    if not log.stat().st_size:
        raise KindError(
            f"the API server's audit log does not reach {log}; the Docker daemon must be on this "
            "machine, and share that folder"
        )
    return _ready(kind, nodes, log, revive=False)


def adopted(kind: Any, nodes: NodeContainers) -> Cluster:
    """A cluster that was there before; whatever a killed run has stopped there goes on."""
    log = nodes.audit_log()
    if log is None or not log.is_file():
        raise KindError(
            f"kind cluster {kind.name} was there before, without an audit log that this machine "
            "can read; choose another name by --cluster-name, or delete it: "
            f"kind delete cluster --name {kind.name}"
        )
    _run(kind, "export", "kubeconfig", "--name", kind.name, "--kubeconfig", kind.kubeconfig_path)
    return _ready(kind, nodes, log, revive=True)


def _ready(kind: Any, nodes: NodeContainers, log: Path, *, revive: bool) -> Cluster:
    """Wait until every worker takes pods; `revive` those that somebody has stopped."""
    access = Access(kind.kubeconfig_path.absolute(), f"kind-{kind.name}")
    connection = access.connection("assay-harness")
    workers = List(NODE, label_selector=configuration.USABLE, live=True)

    def are_usable() -> bool:
        try:
            found = connection.handle(workers)
        except ApiError:
            return False
        assert isinstance(found, ObjectList)
        for node in found.items:
            if revive and not is_usable(node):
                nodes.revive(name_of(node))
        return bool(found.items) and all(map(is_usable, found.items))

    try:
        wait_until(
            are_usable,
            f"the workers of kind cluster {kind.name} are ready",
            limit_seconds=READY_SECONDS,
            poll_seconds=1.0,
        )
        found = connection.handle(workers)
    finally:
        connection.close()
    assert isinstance(found, ObjectList)
    image = image_with_shell(nodes.images(name_of(found.items[0])))
    return Cluster(access, nodes, log, image)


def image_with_shell(images: Sequence[str]) -> str:
    """The first of a node's images that is known to have a shell; empty if there is none."""
    for word in WITH_SHELL:
        for image in images:
            if word in image:
                return image
    return ""


def _delete(kind: Any) -> None:
    """The cluster, and the folder that pytest-kind keeps for it."""
    kind.delete()
    shutil.rmtree(kind.path)
    if not any(kind.path.parent.iterdir()):
        kind.path.parent.rmdir()


def _run(kind: Any, *arguments: Any) -> str:
    command = [str(kind.kind_path), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise KindError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout
