"""Restrictions of the suite's account beyond its roles, by an admission policy of the cluster.

RBAC cannot express "in the namespaces of runs": these have no names before the suite begins. But
their names have a common prefix, by which a ValidatingAdmissionPolicy can recognize them. It
applies to the account and to every account in the namespaces of runs, so that acting as an operator
gives no more permissions. Admission covers writes only: reads are left to the roles.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from conformance.left_behind.clean import RUN_LABEL
from conformance.worlds.existing.well_known import CONFINING, ENFORCE
from vocabulary.objects import Object, get_path, name_of
from vocabulary.selectors import Requirement, requirements

API_VERSION: Final = "admissionregistration.k8s.io/v1"
"""Since Kubernetes 1.30."""
NAME: Final = "assay-bounds"
OF_RUNS: Final = "assay-"
"""How the names of a suite's namespaces begin."""

_WEBHOOKS: Final = (
    "admissionregistration.k8s.io/mutatingwebhookconfigurations",
    "admissionregistration.k8s.io/validatingwebhookconfigurations",
)
_BINDINGS: Final = "rbac.authorization.k8s.io/clusterrolebindings"
_ROLES: Final = "rbac.authorization.k8s.io/clusterroles"
_DEFINITIONS: Final = "apiextensions.k8s.io/customresourcedefinitions"
_VARIABLES: Final = {
    "resource": "request.resource.group + '/' + request.resource.resource",
    "where": "has(request.namespace) ? request.namespace : ''",
    "name": "has(request.name) ? request.name : ''",
    "isDeletion": "request.operation == 'DELETE'",
    "isReview": "request.resource.group in ['authentication.k8s.io', 'authorization.k8s.io']",
}


def policy(username: str, node_selector: str, crds: Iterable[Object]) -> Object:
    """Bounds the user with that name; the nodes that the selector chooses, and the definitions
    `crds`, are within the bounds. ValueError for a selector that is malformed."""
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": ["*"],
                    "apiVersions": ["*"],
                    "operations": ["CREATE", "UPDATE", "DELETE"],
                    "resources": ["*/*"],
                }
            ]
        },
        "matchConditions": [{"name": "writes-of-the-suite", "expression": _is_ours(username)}],
        "variables": [{"name": name, "expression": text} for name, text in _VARIABLES.items()],
        "validations": [
            {"message": f"assay-bounds: {message}", "expression": expression}
            for message, expression in _bounds(node_selector, crds)
        ],
    }
    return _object("ValidatingAdmissionPolicy", spec)


def policy_binding() -> Object:
    """Has the policy refuse what it does not allow."""
    return _object(
        "ValidatingAdmissionPolicyBinding", {"policyName": NAME, "validationActions": ["Deny"]}
    )


def _object(kind: str, spec: dict[str, Any]) -> Object:
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": NAME}, "spec": spec}


def _is_ours(username: str) -> str:
    return (
        f"request.userInfo.username == {_text(username)} || "
        f"request.userInfo.username.startsWith('system:serviceaccount:{OF_RUNS}')"
    )


def _bounds(node_selector: str, crds: Iterable[Object]) -> Iterator[tuple[str, str]]:
    """The requirements on every write, each with its error message."""
    defined = tuple(crds)
    groups = tuple(sorted({get_path(crd, "spec.group") for crd in defined}))
    whole = ("/namespaces", "/nodes", *_WEBHOOKS, _ROLES, _BINDINGS, _DEFINITIONS)
    yield (
        f"writes only in namespaces whose names begin with {OF_RUNS}",
        f"variables.isReview || variables.resource in {_listed(whole)} || "
        f"variables.where.startsWith('{OF_RUNS}')",
    )
    yield (
        f"only namespaces, cluster roles and their bindings whose names begin with {OF_RUNS}",
        f"!(variables.resource in {_listed(('/namespaces', _ROLES, _BINDINGS))}) || "
        f"variables.name.startsWith('{OF_RUNS}')",
    )
    yield (
        f"a namespace needs the label {ENFORCE}, {' or '.join(CONFINING)}",
        f"variables.resource != '/namespaces' || variables.isDeletion || "
        f"(has(object.metadata.labels) && '{ENFORCE}' in object.metadata.labels && "
        f"object.metadata.labels['{ENFORCE}'] in {_listed(CONFINING)})",
    )
    yield (
        f"cluster roles are bound only to service accounts in namespaces that begin with {OF_RUNS}",
        f"variables.resource != '{_BINDINGS}' || variables.isDeletion || "
        "object.subjects.all(s, s.kind == 'ServiceAccount' && "
        f"s['namespace'].startsWith('{OF_RUNS}'))",
    )
    yield (
        "no cluster role becomes part of those of others",
        f"variables.resource != '{_ROLES}' || variables.isDeletion || "
        "!has(object.metadata.labels) || "
        "object.metadata.labels.all(key, !key.startsWith('rbac.authorization.k8s.io/'))",
    )
    yield (
        "only webhook configurations that are named after a run",
        f"!(variables.resource in {_listed(_WEBHOOKS)}) || "
        "variables.name.matches("
        f"'^(mutating|validating)[.][a-z0-9-]+[.]{OF_RUNS}[a-z0-9-]+[.]assay[.]dev$')",
    )
    yield (
        "webhooks are called for what a suite defines, in the namespace of one run",
        f"!(variables.resource in {_listed(_WEBHOOKS)}) || variables.isDeletion || "
        "object.webhooks.all(w, "
        "w.namespaceSelector.?matchLabels[?'kubernetes.io/metadata.name'].orValue('')"
        f".startsWith('{OF_RUNS}') && "
        f"w.rules.all(r, r.apiGroups.all(group, group in {_listed(groups)})))",
    )
    yield (
        f"nodes are changed only if label {node_selector} chooses them, or while they are lent",
        "variables.resource != '/nodes' || (request.operation == 'UPDATE' && "
        f"({_chosen(requirements(node_selector))} || {_is_labelled(RUN_LABEL)}))",
    )
    names = _listed(tuple(sorted(map(name_of, defined))))
    yield (
        "only the definitions that a suite brings, and they go only if it has brought them",
        f"variables.resource != '{_DEFINITIONS}' || "
        f"(variables.name in {names} && (!variables.isDeletion || {_is_labelled(RUN_LABEL)}))",
    )


def _chosen(demands: Iterable[Requirement]) -> str:
    """True if the node as it stands has labels that meet all of these."""
    return f"({' && '.join(map(_met, demands)) or 'true'})"


def _met(demand: Requirement) -> str:
    key, operator, values = demand
    label = f"oldObject.metadata.labels[{_text(key)}]"
    is_there = _is_labelled(key)
    match operator:
        case "Exists":
            return is_there
        case "DoesNotExist":
            return f"!{is_there}"
        case "In":
            return f"({is_there} && {label} in {_listed(sorted(values))})"
        case "NotIn":
            return f"!({is_there} && {label} in {_listed(sorted(values))})"
    sign, bound = (">" if operator == "Gt" else "<"), int(next(iter(values)))
    return f"({is_there} && {label}.matches('^-?[0-9]+$') && int({label}) {sign} {bound})"


def _is_labelled(key: str) -> str:
    return f"(has(oldObject.metadata.labels) && {_text(key)} in oldObject.metadata.labels)"


def _listed(words: Iterable[str]) -> str:
    return f"[{', '.join(map(_text, words))}]"


def _text(word: str) -> str:
    """A literal of the policy's language, in which JSON's are valid."""
    return json.dumps(word)
