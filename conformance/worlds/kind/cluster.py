"""The life of a kind cluster, by way of pytest-kind: created, used, and deleted unless kept.

A cluster that was there before is used, and stays if it was made to be kept. One suite at a time
has it. The kernel takes the lock back from a suite that was killed, so whatever the next
one finds there has been abandoned, and is removed: in the end the cluster, too.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from pytest_kind import KindCluster

from clusters.control_plane.waiting import wait_until
from conformance.implementations.under_test import UnderTest
from conformance.left_behind.clean import clean_cluster
from conformance.scenarios import all_crds
from conformance.stored_objects.retrying_connection import RetryingConnection
from conformance.worlds.existing.access import Access
from conformance.worlds.existing.node_pool import survey
from conformance.worlds.existing.preflight import Limits, Undertaking, examine
from conformance.worlds.existing.well_known import CONTROL_PLANE
from conformance.worlds.kind import configuration
from conformance.worlds.kind.component import revive
from conformance.worlds.kind.node_containers import NodeContainers
from conformance.worlds.kind.options import KindOptions
from conformance.worlds.kind.programs import KindError, find, kind_program, require_watches
from vocabulary.clock import DAY
from vocabulary.kinds import DEPLOYMENT
from vocabulary.objects import Object, get_path, name_of
from vocabulary.requests import List, ObjectList, Patch

READY_SECONDS: Final = 180.0
LIMITS: Final = Limits(time_us=2 * DAY, objects=100)
"""The cluster is the suite's own: these only bound tokens, and runaway errors."""
OWN_NAMESPACES: Final = ("kube-system", "local-path-storage")
"""Where the Deployments are that kind brings."""
CLUSTERS: Final = Path(".pytest-kind")
"""Where pytest-kind has a folder for each."""
TENANT: Final = "tenant"
KEPT: Final = "kept"
"""Files beside the audit log: locked by the suite that has the cluster; there if it stays."""
WITH_SHELL: Final = ("busybox", "local-path-helper")
"""Parts of the names of images that have a shell; kind's own node images have the second."""


# pytest-kind logs by functions that would print everybody's log from then on, ours too.
logging.getLogger().addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Cluster:
    """A kind cluster whose nodes are ready."""

    access: Access
    kind: Path
    """The program that made it."""
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
    was_there = is_there(kind)
    if was_there:
        log = audit_log_of(nodes)
    else:
        require_watches(options.workers + 1)
        log = kind.path.absolute() / "audit" / configuration.AUDIT_LOG
        log.parent.mkdir(exist_ok=True)
    with cluster_lock(log.parent):
        kept = log.parent / KEPT
        if not was_there:
            # Whoever deletes a cluster by kind alone leaves the files of it behind.
            kept.unlink(missing_ok=True)
            configuration.prepare(log.parent)
        if options.keep_cluster:
            kept.touch()
        try:
            yield (
                adopted(kind, nodes, log)
                if was_there
                else created(kind, nodes, log, options.workers)
            )
        except BaseException as error:
            if not kept.exists():
                try:
                    _delete(kind, log.parent)
                except KindError as second:
                    if not isinstance(error, Exception):
                        raise  # an interrupt, of which there is nothing to tell
                    error.add_note(str(second))
            raise
        if kept.exists():
            return
        if options.fixture_deletes:
            shutil.rmtree(log.parent)
        else:
            _delete(kind, log.parent)


def delete_abandoned(folder: Path = CLUSTERS, *, really: bool) -> list[str]:
    """The clusters of suites that were killed, in words, as far as they were begun in this
    folder; deleted only if `really`. KindError if kind does not say which there are."""
    found = []
    for tenant in sorted(folder.glob(f"*/audit/{TENANT}")):
        audit = tenant.parent
        if (audit / KEPT).exists() or is_held(audit):
            continue
        kind = KindCluster(audit.parent.name, kind_path=kind_program(os.environ))
        if not is_there(kind):
            continue
        found.append(f"kind cluster {kind.name}")
        if really:
            with cluster_lock(audit):
                _delete(kind, audit)
    return found


def is_there(kind: Any) -> bool:
    """True if a cluster of that name exists."""
    kind.ensure_kind()
    return kind.name in _run(kind, "get", "clusters").split()


@contextmanager
def cluster_lock(folder: Path) -> Iterator[None]:
    """Hold the cluster whose audit log is in that folder; KindError if another client does."""
    descriptor = os.open(folder / TENANT, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def is_held(folder: Path) -> bool:
    """True if a suite has the cluster whose audit log is in that folder."""
    try:
        with cluster_lock(folder):
            return False
    except KindError:
        return True


def _lock(descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise KindError(
            "another run uses this kind cluster; wait for its end, or choose another name by "
            "--cluster-name"
        ) from None


def created(kind: Any, nodes: NodeContainers, log: Path, workers: int) -> Cluster:
    """A new cluster, as the suite needs it."""
    document = configuration.document(workers, log.parent)
    file = log.parent / "cluster.yaml"
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
    return _ready(kind, nodes, log)


def audit_log_of(nodes: NodeContainers) -> Path:
    """That of a cluster which was there before."""
    log = nodes.audit_log()
    if log is None or not log.is_file():
        raise KindError(
            f"kind cluster {nodes.cluster} was there before, without an audit log that this "
            "machine can read; choose another name by --cluster-name, or delete it: "
            f"kind delete cluster --name {nodes.cluster}"
        )
    return log


def adopted(kind: Any, nodes: NodeContainers, log: Path) -> Cluster:
    """A cluster that was there before; what a killed run left there is undone."""
    _run(kind, "export", "kubeconfig", "--name", kind.name, "--kubeconfig", kind.kubeconfig_path)
    access = _access(kind)
    revive(nodes)  # nothing can be removed while those stand still who would remove it
    clean_cluster(access.kubeconfig, context=access.context, remove=True)
    return _ready(kind, nodes, log)


def _ready(kind: Any, nodes: NodeContainers, log: Path) -> Cluster:
    """Wait until every worker takes pods."""
    access = _access(kind)
    connection = RetryingConnection(access.connection("assay-harness"))
    usable: tuple[str, ...] = ()

    def are_usable() -> bool:
        nonlocal usable
        found = survey(connection, configuration.USABLE, real_kubelets=True)
        usable = found.usable
        return bool(usable) and not found.refused

    try:
        keep_off_workers(connection)
        wait_until(
            are_usable,
            f"the workers of kind cluster {kind.name} are ready, and nobody else's",
            limit_seconds=READY_SECONDS,
            poll_seconds=1.0,
        )
    finally:
        connection.close()
    image = image_with_shell(nodes.images(usable[0]))
    return Cluster(access, Path(kind.kind_path).absolute(), nodes, log, image)


def keep_off_workers(connection: RetryingConnection) -> None:
    """Have the cluster's own Deployments, its DNS for instance, run on the control plane's node:
    faults at a node would hit them, and they go where there is room. Others are their owners'."""
    for namespace in OWN_NAMESPACES:
        listed = connection.handle(List(DEPLOYMENT, namespace, live=True))
        assert isinstance(listed, ObjectList)
        for deployment in listed.items:
            name, patch = name_of(deployment), _on_control_plane(deployment)
            connection.handle(Patch(DEPLOYMENT, namespace, name, patch))


def _on_control_plane(deployment: Object) -> dict[str, Any]:
    tolerations = get_path(deployment, "spec.template.spec.tolerations") or ()
    others = [each for each in tolerations if each.get("key") != CONTROL_PLANE]
    own = {"key": CONTROL_PLANE, "operator": "Exists", "effect": "NoSchedule"}
    spec = {"nodeSelector": {CONTROL_PLANE: ""}, "tolerations": [*others, own]}
    return {"spec": {"template": {"spec": spec}}}


def image_with_shell(images: Sequence[str]) -> str:
    """The first of a node's images that is known to have a shell; empty if there is none."""
    for word in WITH_SHELL:
        for image in images:
            if word in image:
                return image
    return ""


def undertaking(
    cluster: Cluster,
    implementations: Mapping[str, UnderTest],
    *,
    pod_image: str = "",
    operator_image: str = "",
    webhook_host: str = "",
    limits: Limits = LIMITS,
) -> Undertaking:
    """The preflight's findings and the planned changes; missing values are the cluster's own."""
    return examine(
        cluster.access,
        limits,
        implementations,
        all_crds(),
        node_selector=configuration.USABLE,
        audit_log=cluster.audit_log,
        webhook_host=webhook_host or cluster.nodes.gateway(),
        pod_image=pod_image or cluster.pod_image,
        operator_image=operator_image,
    )


def _access(kind: Any) -> Access:
    return Access(kind.kubeconfig_path.absolute(), f"kind-{kind.name}")


def _delete(kind: Any, audit: Path) -> None:
    """The cluster, its audit log, and the folder that pytest-kind keeps for it; KindError if kind
    does not delete it."""
    try:
        kind.delete()
    except subprocess.CalledProcessError as error:
        raise KindError(
            f"kind cluster {kind.name} is still there: deleting it ended with code "
            f"{error.returncode}; try again: kind delete cluster --name {kind.name}"
        ) from error
    shutil.rmtree(audit)
    shutil.rmtree(kind.path)
    if not any(kind.path.parent.iterdir()):
        kind.path.parent.rmdir()


def _run(kind: Any, *arguments: Any) -> str:
    command = [str(kind.kind_path), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise KindError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout
