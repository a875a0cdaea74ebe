"""Controllers that are at work on a cluster already, and would have a hand in every run.

Two operators that look after the same objects undo each other's work, and what one did
wrong would be held against the other. So one that is found is named, and nothing is begun,
unless it is the one that is to be tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.implementations.under_test import (
    Installed,
    InstalledDeployment,
    InstalledPods,
    UnderTest,
)
from conformance.left_behind.clean import RUN_LABEL, defined_kind
from conformance.stored_objects.lookup import Asked
from vocabulary.errors import ApiError
from vocabulary.kinds import DEPLOYMENT, STATEFUL_SET, Kind
from vocabulary.objects import Object, get_path, labels_of, name_of, namespace_of
from vocabulary.requests import List, ObjectList
from vocabulary.selectors import parse_selector

_WEBHOOKS: Final = tuple(
    Kind(
        "admissionregistration.k8s.io",
        "v1",
        f"{which}WebhookConfiguration",
        f"{which.lower()}webhookconfigurations",
        namespaced=False,
    )
    for which in ("Mutating", "Validating")
)


def interfering(connection: Asked, implementations: Mapping[str, UnderTest]) -> Iterator[str]:
    """Operators that would interfere with every run, in words, with the next step."""
    for role, implementation in implementations.items():
        yield from _operators(connection, role, implementation.installed)
        kinds = tuple(map(defined_kind, implementation.crds()))
        yield from _askers(connection, kinds, implementation.installed)


def _operators(connection: Asked, role: str, tested: Installed | None) -> Iterator[str]:
    for kind in (DEPLOYMENT, STATEFUL_SET):
        for workload in _all_of(connection, kind):
            if tested is not None and _is(tested, workload):
                continue
            if get_path(workload, "spec.replicas", 1) and _is_operator(workload, role):
                where = f"{namespace_of(workload)}/{name_of(workload)}"
                yield (
                    f"{kind.kind} {where} looks like an operator of {role}, which would act on "
                    "the objects of runs too; scale it to 0 first"
                )


def _askers(connection: Asked, kinds: Sequence[Kind], tested: Installed | None) -> Iterator[str]:
    for configured in _WEBHOOKS:
        for found in _all_of(connection, configured):
            if RUN_LABEL in labels_of(found):
                continue
            asked = (hook for hook in found["webhooks"] if not _answers(tested, hook))
            about = next((kind for hook in asked for kind in kinds if _is_asked(hook, kind)), None)
            if about is not None:
                yield (
                    f"{configured.kind} {name_of(found)} is asked about every {about.kind}, so an "
                    "operator is installed; remove it first"
                )


def _is(tested: Installed, workload: Object) -> bool:
    """True if it is what runs the operator under test."""
    if namespace_of(workload) != tested.namespace:
        return False
    if isinstance(tested, InstalledPods):
        labels = get_path(workload, "spec.template.metadata.labels") or {}
        return parse_selector(tested.selector)(labels)
    assert isinstance(tested, InstalledDeployment)
    return workload["kind"] == DEPLOYMENT.kind and name_of(workload) == tested.name


def _answers(tested: Installed | None, webhook: Object) -> bool:
    """True if a webhook is served from where the operator under test is."""
    service = get_path(webhook, "clientConfig.service.namespace")
    return tested is not None and service == tested.namespace


def _is_operator(workload: Object, role: str) -> bool:
    """True if its name, or an image, contains the role: those of known operators do."""
    containers = get_path(workload, "spec.template.spec.containers") or ()
    words = (name_of(workload), *(str(container.get("image", "")) for container in containers))
    return any(role in word.lower() for word in words)


def _is_asked(webhook: Object, kind: Kind) -> bool:
    """True if a webhook is for a kind; one for all kinds does not belong to an operator."""
    return any(
        kind.group in (rule.get("apiGroups") or ())
        and {"*", "*/*", kind.plural} & set(rule.get("resources") or ())
        for rule in webhook.get("rules") or ()
    )


def _all_of(connection: Asked, kind: Kind) -> tuple[Object, ...]:
    """Those that may be seen; a right to look that is missing is named elsewhere."""
    try:
        found = connection.handle(List(kind, live=True))
    except ApiError as error:
        if error.code == 403:
            return ()
        raise
    assert isinstance(found, ObjectList)
    return tuple(found.items)
