"""Preflight: a cluster's state before a suite changes it, and the planned changes.

Everything here only reads. The result is either a problem, which ends the command with the
next step, or part of the plan that is shown before anything is begun.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from clusters.control_plane.ports import LOOPBACK
from conformance.implementations.under_test import Installed, UnderTest
from conformance.left_behind.clean import RUN_LABEL
from conformance.suite import load as suites
from conformance.worlds.control_plane.session import installed_crds, limited_kinds
from conformance.worlds.existing import installation, rights
from conformance.worlds.existing.access import Access, whoami
from conformance.worlds.existing.definitions import definition
from conformance.worlds.existing.neighbours import interfering
from conformance.worlds.existing.node_pool import Survey, survey
from conformance.worlds.existing.same_definition import is_same_definition
from reference_controller.runtime.connection import Connection
from vocabulary.clock import Micros, format_seconds
from vocabulary.implementations import named_roles
from vocabulary.kinds import NAMESPACE
from vocabulary.objects import Object, name_of
from vocabulary.requests import List, ObjectList

OLDEST: Final = (1, 28)
"""The first release with SelfSubjectReview, which tells who one is."""
NODES_OF_A_RUN: Final = 2
"""The number of nodes for nearly all scenarios."""
MAY_BE_EVICTED: Final = (
    "  Pods of others that are scheduled there meanwhile may be evicted, and so may pods of",
    "  DaemonSets that do not tolerate every taint. Choose nodes that others keep off.",
)
NO_NODES: Final = Survey((), {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a suite may take on another client's cluster, and how much it may put there."""

    time_us: Micros
    objects: int
    """Pods, Jobs and objects of each kind under test, in the namespace of each run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undertaking:
    """The preflight's findings, and the changes that a suite therefore plans."""

    access: Access
    limits: Limits
    audit_log: Path | None
    webhook_host: str = LOOPBACK
    """Where the API server is to find the webhooks that this machine serves."""
    pod_image: str = ""
    """The image of pods on real kubelets."""
    operator_images: Mapping[str, str] = field(default_factory=dict)
    """The images of operators that the suite runs in the cluster, by role; others are processes of
    this machine, or installed."""
    serves_webhooks: bool = True
    """True if this machine serves the implementation's webhooks."""
    installed: Mapping[str, Installed] = field(default_factory=dict)
    """By role, the operators under test that stand in the cluster already."""
    needs_accounts: bool = True
    """True if operators under test are started by the suite."""
    kinds: tuple[str, ...] = ()
    """The kinds under test that have a namespace."""
    server: str = ""
    version: str = ""
    username: str = ""
    uid: str = ""
    problems: tuple[str, ...] = ()
    """Why nothing can be run; empty if something can."""
    lacking: tuple[rights.Right, ...] = ()
    without_accounts: tuple[rights.Right, ...] = ()
    """The permissions without which operators act as the suite's user."""
    to_install: tuple[Object, ...] = ()
    """Definitions of custom resources that are not there."""
    nodes: Survey = NO_NODES

    @property
    def tells_writers(self) -> bool:
        """True if its histories can tell who wrote what."""
        return self.audit_log is not None and not self.without_accounts


def examine(
    access: Access,
    limits: Limits,
    implementations: Mapping[str, UnderTest],
    extra_crds: Iterable[Object],
    *,
    node_selector: str,
    audit_log: Path | None,
    webhook_host: str = LOOPBACK,
    pod_image: str = "",
    operator_image: str = "",
) -> Undertaking:
    """Look at the cluster; raises OptionsError or ApiError if it cannot be asked at all.

    Without a `pod_image` only nodes with fake kubelets can be used.
    """
    connection = access.connection("assay-preflight")
    extra = tuple(extra_crds)
    installed = {
        role: each.installed for role, each in implementations.items() if each.installed is not None
    }
    try:
        version = str(connection.get("/version")["gitVersion"])
        user = whoami(connection) if _is_recent(version) else {}
        lacking = _lacking(connection, implementations, extra)
        problems = list(_problems(connection, version, lacking, audit_log))
        found = (
            NO_NODES
            if lacking
            else survey(connection, node_selector, real_kubelets=bool(pod_image))
        )
        if not lacking:
            problems += _too_few(found, node_selector)
            problems += interfering(connection, implementations)
            for role, found_installed in installed.items():
                settings = suites()[role].settings
                problems += installation.problems(connection, found_installed, settings)
            for each in implementations.values():
                problems += _defined_otherwise(connection, each)
        # One that is installed has an account of its own.
        needs_accounts = len(installed) < len(implementations)
        wanted = rights.ACCOUNTS if needs_accounts else ()
        without_accounts = tuple(rights.missing(connection, wanted))
        images = operator_images(operator_image, implementations)
        problems += _problems_of_images(images, implementations)
        if images and without_accounts:
            needed = "; ".join(rights.rules(without_accounts))
            problems.append(f"--operator-image: operators need accounts of their own: {needed}")
        return Undertaking(
            access=access,
            limits=limits,
            audit_log=audit_log,
            webhook_host=webhook_host,
            pod_image=pod_image,
            operator_images=images,
            serves_webhooks=any(
                each.serves_webhooks or each.webhooks(suites()[role].settings.defaults)
                for role, each in implementations.items()
            ),
            installed=installed,
            needs_accounts=needs_accounts,
            kinds=tuple(kind.kind for kind in limited_kinds(implementations)),
            server=connection.server,
            version=version,
            username=str(user.get("username", "")),
            uid=str(user.get("uid", "")),
            problems=tuple(problems),
            lacking=lacking,
            without_accounts=without_accounts,
            to_install=() if lacking else _not_there(connection, implementations, extra),
            nodes=found,
        )
    finally:
        connection.close()


def operator_images(spelled: str, implementations: Mapping[str, UnderTest]) -> Mapping[str, str]:
    """The images that `--operator-image` names, by role: one for all operators but those that are
    installed, or those of some as ROLE=IMAGE."""
    if not spelled:
        return {}
    rest = (role for role, each in implementations.items() if each.installed is None)
    return named_roles(spelled) or dict.fromkeys(rest, spelled)


def _problems_of_images(
    images: Mapping[str, str], implementations: Mapping[str, UnderTest]
) -> Iterator[str]:
    for role in images:
        if role not in implementations:
            there = ", ".join(implementations)
            yield f"--operator-image: no run has an operator {role!r}; there is {there}"
        elif reason := implementations[role].why_not_deployed:
            yield f"--operator-image: {reason}"


def in_words(undertaking: Undertaking) -> Iterator[str]:
    """The planned changes, line by line."""
    yield f"{undertaking.server}, Kubernetes {undertaking.version}, as {undertaking.username}."
    yield f"Everything made there bears the label {RUN_LABEL}, and goes when the suite ends:"
    most = undertaking.limits.objects
    *first, last = (f"{most} {kind}s" for kind in ("pod", "Job", *undertaking.kinds))
    yield f"  a namespace per run, with at most {', '.join(first)} and {last}"
    if undertaking.serves_webhooks:
        yield "  webhook configurations for these namespaces alone, served by this machine"
    if undertaking.to_install:
        definitions = ", ".join(map(name_of, undertaking.to_install))
        yield f"  definitions of custom resources: {definitions}"
    for found in undertaking.installed.values():
        yield from installation.in_words(found)
    if undertaking.without_accounts:
        needed = "; ".join(rights.rules(undertaking.without_accounts))
        yield f"  no accounts for operators, which act as you: that would need {needed}"
    elif undertaking.needs_accounts:
        yield "  service accounts, cluster roles and bindings for the operators under test"
    for role, image in undertaking.operator_images.items():
        yield (
            f"  the operators of {role}, as Deployments of image {image}, on nodes that no run "
            "borrows"
        )
    if undertaking.pod_image:
        yield f"Pods are real containers of image {undertaking.pod_image} where kubelets are real."
    yield (
        "Nodes lent to one run at a time, labelled, tainted, cordoned, and all that undone: "
        + ", ".join(undertaking.nodes.usable)
    )
    yield from MAY_BE_EVICTED
    for name, reason in undertaking.nodes.refused.items():
        yield f"Node {name} is left alone: it {reason}."
    if not undertaking.tells_writers:
        remedy = (
            "--audit-log FILE, the API server's own, tells"
            if undertaking.audit_log is None
            else "The audit log cannot tell operators that act as you from you"
        )
        yield (
            "Histories come from watches, which do not tell who wrote: claims that need to know "
            f"will be inconclusive. {remedy}."
        )
    where = _options(undertaking.access)
    yield (
        f"It takes {format_seconds(undertaking.limits.time_us)} at most. "
        f"If it is killed: assay clean{where} --yes"
    )


def lacking_in_words(undertaking: Undertaking) -> Iterator[str]:
    """The rights that are missing, each with the rule of a ClusterRole that gives it."""
    if undertaking.lacking:
        yield f"{undertaking.username} lacks rights; bind a ClusterRole with these rules:"
        yield from rights.rules(undertaking.lacking)


def _problems(
    connection: Connection,
    version: str,
    lacking: tuple[rights.Right, ...],
    audit_log: Path | None,
) -> Iterator[str]:
    if not _is_recent(version):
        oldest = ".".join(map(str, OLDEST))
        yield f"Kubernetes {version} is too old; {oldest} or later is needed"
    if audit_log is not None and not audit_log.is_file():
        yield f"--audit-log {audit_log}: there is no such file; give the one the API server writes"
    if lacking:
        yield f"{len(lacking)} rights are missing"
        return
    ours = connection.handle(List(NAMESPACE, label_selector=RUN_LABEL, live=True))
    assert isinstance(ours, ObjectList)
    if ours.items:
        names = ", ".join(map(name_of, ours.items))
        yield (
            f"namespaces {names} are of another run, which is at work or was killed; wait for its "
            "end, or remove what it left: assay clean --yes"
        )


def _lacking(
    connection: Connection, implementations: Mapping[str, UnderTest], extra: tuple[Object, ...]
) -> tuple[rights.Right, ...]:
    lacking = rights.missing(connection, rights.required(implementations, extra))
    if not lacking and _not_there(connection, implementations, extra):
        lacking = rights.missing(connection, rights.INSTALLING)
    return tuple(lacking)


def _not_there(
    connection: Connection, implementations: Mapping[str, UnderTest], extra: tuple[Object, ...]
) -> tuple[Object, ...]:
    return tuple(
        crd
        for crd in installed_crds(implementations, extra)
        if definition(connection, name_of(crd)) is None
    )


def _defined_otherwise(connection: Connection, implementation: UnderTest) -> Iterator[str]:
    """The definitions that scenarios bring are not looked at: anybody's will do for those."""
    for crd in implementation.crds():
        name = name_of(crd)
        found = definition(connection, name)
        if found is not None and not is_same_definition(crd, found):
            yield (
                f"CustomResourceDefinition {name} is not as {implementation.as_option} defines it, "
                "so the API server would drop or refuse what the operator writes; if nobody needs "
                f"what is stored there, `kubectl delete crd {name}` deletes it with every object "
                "of that kind, and the suite brings its own; otherwise use another cluster"
            )


def _too_few(found: Survey, selector: str) -> Iterator[str]:
    if len(found.usable) >= NODES_OF_A_RUN:
        return
    reasons = "".join(f"; {name} {reason}" for name, reason in found.refused.items())
    yield (
        f"{len(found.usable)} nodes with label {selector} can be used, {NODES_OF_A_RUN} are "
        f"needed{reasons}. Label nodes that runs may taint and cordon: "
        f"kubectl label node NAME {selector}"
    )


def _is_recent(version: str) -> bool:
    major, minor = version.removeprefix("v").split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor)))) >= OLDEST


def _options(access: Access) -> str:
    named = "" if access.kubeconfig is None else f" --kubeconfig {access.kubeconfig}"
    return named + (f" --context {access.context}" if access.context else "")
