"""Controllers that are at work on a cluster already, and would have a hand in every run.

Two operators that look after the same AppWrappers undo each other's work, and what one did
wrong would be held against the other. So one that is found is named, and nothing is begun,
unless it is the one that is to be tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.clean import RUN_LABEL
from conformance.stored import Asked
from conformance.under_test import Installed, InstalledDeployment, InstalledPods
from vocabulary.errors import ApiError
from vocabulary.kinds import APPWRAPPER, DEPLOYMENT, STATEFUL_SET, Kind
from vocabulary.objects import Object, get_path, labels_of, name_of, namespace_of
from vocabulary.requests import List, ObjectList
from vocabulary.selectors import parse_selector

OPERATOR_WORD: Final = "appwrapper"
"""Part of the name, or of an image, of every AppWrapper operator that is known."""
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


def interfering(connection: Asked, tested: Installed | None = None) -> Iterator[str]:
    """Operators that would interfere with every run, in words, with the next step."""
    for kind in (DEPLOYMENT, STATEFUL_SET):
        for workload in _all_of(connection, kind):
            if tested is not None and _is(tested, workload):
                continue
            if get_path(workload, "spec.replicas", 1) and _is_operator(workload):
                where = f"{namespace_of(workload)}/{name_of(workload)}"
                yield (
                    f"{kind.kind} {where} looks like an AppWrapper operator, which would act on "
                    "the AppWrappers of runs too; scale it to 0 first"
                )
    for kind in _WEBHOOKS:
        for found in _all_of(connection, kind):
            if RUN_LABEL in labels_of(found):
                continue
            if any(_is_asked(hook) and not _answers(tested, hook) for hook in found["webhooks"]):
                yield (
                    f"{kind.kind} {name_of(found)} is asked about every AppWrapper, so an operator "
                    "is installed; remove it first"
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


def _is_operator(workload: Object) -> bool:
    containers = get_path(workload, "spec.template.spec.containers") or ()
    words = (name_of(workload), *(str(container.get("image", "")) for container in containers))
    return any(OPERATOR_WORD in word.lower() for word in words)


def _is_asked(webhook: Object) -> bool:
    """True if a webhook is for AppWrappers; one for all kinds does not belong to an operator."""
    return any(
        APPWRAPPER.group in (rule.get("apiGroups") or ())
        and {"*", "*/*", APPWRAPPER.plural} & set(rule.get("resources") or ())
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
