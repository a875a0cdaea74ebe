"""The permissions of a run on a cluster, checked one by one before it begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from conformance.implementations.under_test import UnderTest
from conformance.left_behind.clean import defined_kind
from conformance.manifests.files import is_granted
from conformance.worlds.control_plane.followed import followed_kinds
from conformance.worlds.control_plane.operator_rights import OBJECT_VERBS
from conformance.worlds.control_plane.session import brought_crds, installed_crds
from conformance.worlds.existing.access import asked
from reference_controller.runtime.connection import Connection
from vocabulary.kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    DEPLOYMENT,
    JOB,
    LEASE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    REPLICA_SET,
    RESOURCE_QUOTA,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
    Kind,
)
from vocabulary.objects import Object, get_path

ACCESS_REVIEW: Final = Kind(
    "authorization.k8s.io",
    "v1",
    "SelfSubjectAccessReview",
    "selfsubjectaccessreviews",
    namespaced=False,
)
AT_A_TIME: Final = 8
_READ: Final = ("get", "list", "watch")
_MADE: Final = ("get", "list", "create", "delete")
"""Created objects are also read: to find out if a creation without a response was executed."""
ONLY_SEEN: Final = (CONTROLLER_REVISION,)
"""Kinds of a history that controllers of Kubernetes alone make, change and delete."""


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """One verb on one resource, in all namespaces: those of runs have no names yet."""

    group: str
    resource: str
    verb: str


def _of(group: str, resource: str, *verbs: str) -> Iterator[Right]:
    return (Right(group, resource, verb) for verb in verbs)


_OF_THE_HARNESS: Final = frozenset(
    (
        *_of("", "nodes", "get", "list", "watch", "patch"),
        *_of("", "nodes/status", "patch"),
        *_of("", "namespaces", "get", "list", "watch", "create", "delete"),
        *_of("", "pods/eviction", "create"),
        *_of("apiextensions.k8s.io", "customresourcedefinitions", *_READ),
        *_of("coordination.k8s.io", "leases", *_READ),
        *_of("admissionregistration.k8s.io", "mutatingwebhookconfigurations", *_MADE),
        *_of("admissionregistration.k8s.io", "validatingwebhookconfigurations", *_MADE),
    )
)
WRITTEN_IN_RUNS: Final[Mapping[Kind, tuple[str, ...]]] = {
    CONFIG_MAP: ("create", "delete"),
    DEPLOYMENT: ("create", "delete"),
    JOB: ("delete",),
    LEASE: ("patch",),
    PERSISTENT_VOLUME_CLAIM: ("delete",),
    POD: ("create", "delete"),
    RESOURCE_QUOTA: ("create", "delete"),
    SECRET: ("delete",),
    SERVICE: ("delete",),
    SERVICE_ACCOUNT: ("delete",),
    STATEFUL_SET: ("delete",),
}
"""Writes of users, faults and the harness, besides watching and patching."""
EDITED_IN_RUNS: Final = (CONFIG_MAP, POD, REPLICA_SET, SERVICE)
"""Kinds that faults and users read one by one, to edit them."""


def written_in_runs(implementations: Mapping[str, UnderTest]) -> Mapping[Kind, tuple[str, ...]]:
    """The same with the kinds under test."""
    tested = map(defined_kind, brought_crds(implementations))
    return {**WRITTEN_IN_RUNS, **dict.fromkeys(tested, ("create", "update", "delete"))}


def required(implementations: Mapping[str, UnderTest], extra_crds: Iterable[Object]) -> list[Right]:
    """Without these nothing can be run: the harness's, the users', and the operators' own.

    `extra_crds` are definitions that only scenarios bring.
    """
    extra = tuple(extra_crds)
    found = set(_OF_THE_HARNESS)
    for kind in followed_kinds(installed_crds(implementations, extra)):
        if kind.namespaced:
            # Histories are watched; and whatever finalizer holds an object up is taken off, which
            # anybody's controller may have put there.
            verbs = ("list", "watch") if kind in ONLY_SEEN else ("list", "watch", "patch")
            found.update(_of(kind.group, kind.plural, *verbs))
    for kind, writes in written_in_runs(implementations).items():
        reads = ("get",) if "create" in writes else ()
        found.update(_of(kind.group, kind.plural, *reads, *writes))
    for kind in EDITED_IN_RUNS:
        found.update(_of(kind.group, kind.plural, "get"))
    if any(each.serves_webhooks for each in implementations.values()):
        found.update((*_of("", "secrets", "create"), *_of("", "services", "create")))
    found.update(held(implementations, extra))
    return sorted(found)


def held(
    implementations: Mapping[str, UnderTest], extra_crds: Iterable[Object]
) -> frozenset[Right]:
    """The operators' permissions. The suite needs them even if it does not use them: an account can
    grant only permissions it has; and without accounts for them, operators act as the suite."""
    of_scenarios = (
        right
        for kind in map(defined_kind, filter(is_granted, extra_crds))
        for right in _of(kind.group, kind.plural, *OBJECT_VERBS)
    )
    own = (role for each in implementations.values() for role in each.rbac())
    return frozenset((*of_roles(own), *of_scenarios))


INSTALLING: Final = tuple(
    Right("apiextensions.k8s.io", "customresourcedefinitions", verb)
    for verb in ("create", "delete")
)
"""Needed where a definition is missing."""
ACCOUNTS: Final = (
    *(
        Right("rbac.authorization.k8s.io", resource, verb)
        for resource in ("clusterroles", "clusterrolebindings")
        for verb in _MADE
    ),
    Right("", "serviceaccounts", "create"),
    Right("", "serviceaccounts/token", "create"),
)
"""With these the operators get accounts of their own, with no other rights than they ask for."""


def missing(connection: Connection, rights: Iterable[Right]) -> list[Right]:
    """Those that the API server would refuse."""
    wanted = list(rights)
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        allowed = list(pool.map(lambda right: _is_allowed(connection, right), wanted))
    return [right for right, is_allowed in zip(wanted, allowed, strict=True) if not is_allowed]


def policy_rules(rights: Iterable[Right]) -> list[dict[str, list[str]]]:
    """The rules of a ClusterRole that give these rights and no others, as few as it takes."""
    verbs: dict[tuple[str, str], list[str]] = {}
    for right in sorted(set(rights)):
        verbs.setdefault((right.group, right.resource), []).append(right.verb)
    resources: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (group, resource), listed in verbs.items():
        resources.setdefault((group, tuple(listed)), []).append(resource)
    return [
        {"apiGroups": [group], "resources": names, "verbs": list(listed)}
        for (group, listed), names in resources.items()
    ]


def of_roles(roles: Iterable[Object]) -> Iterator[Right]:
    """Right by right, what roles give."""
    for role in roles:
        for rule in role.get("rules") or ():
            for group in rule.get("apiGroups") or ():
                for resource in rule.get("resources") or ():
                    yield from _of(group, resource, *rule["verbs"])


def rules(rights: Iterable[Right]) -> Iterator[str]:
    """The same, one line of YAML each."""
    for rule in policy_rules(rights):
        parts = (f"{key}: [{', '.join(map(_word, words))}]" for key, words in rule.items())
        yield f"- {{{', '.join(parts)}}}"


def _word(text: str) -> str:
    """As it stands in YAML, where a bare asterisk is no text."""
    return text if text not in ("", "*") else f'"{text}"'


def _is_allowed(connection: Connection, right: Right) -> bool:
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "verb": right.verb,
    }
    review = {
        "apiVersion": ACCESS_REVIEW.api_version,
        "kind": ACCESS_REVIEW.kind,
        "spec": {"resourceAttributes": attributes},
    }
    return bool(get_path(asked(connection, ACCESS_REVIEW, review), "status.allowed", False))
