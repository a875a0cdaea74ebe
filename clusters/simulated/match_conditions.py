"""The matchConditions of webhooks: CEL over the request and its objects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.declarations import Declarations, names_in
from clusters.simulated.custom_resources.rules.expressions import (
    CompilationError,
    EvaluationError,
    compiled,
    environment,
    evaluated,
    for_evaluation,
)
from vocabulary.objects import Object

_AUTHORIZER: Final = "undeclared reference to 'authorizer'"
_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_ANY: Final = {"x-kubernetes-int-or-string": True}
"""A schema whose values expressions see as of any type."""


def _with(**fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


_KIND: Final = _with(group=_TEXT, version=_TEXT, kind=_TEXT)
_RESOURCE: Final = _with(group=_TEXT, version=_TEXT, resource=_TEXT)
_TEXTS: Final = {"type": "array", "items": _TEXT}
_LABELS: Final = {"type": "object", "additionalProperties": _TEXT}
_TIME: Final = {"type": "string", "format": "date-time"}
_CONDITION: Final = _with(
    status=_TEXT, type=_TEXT, lastTransitionTime=_TIME, message=_TEXT, reason=_TEXT
)
_REQUEST: Final = _with(
    kind=_KIND,
    resource=_RESOURCE,
    subResource=_TEXT,
    requestKind=_KIND,
    requestResource=_RESOURCE,
    requestSubResource=_TEXT,
    name=_TEXT,
    namespace=_TEXT,
    operation=_TEXT,
    userInfo=_with(
        username=_TEXT,
        uid=_TEXT,
        groups=_TEXTS,
        extra={"type": "object", "additionalProperties": _TEXTS},
    ),
    dryRun={"type": "boolean"},
    options=_ANY,
)
_NAMESPACE: Final = _with(
    metadata=_with(
        name=_TEXT,
        generateName=_TEXT,
        namespace=_TEXT,
        labels=_LABELS,
        annotations=_LABELS,
        UID=_TEXT,
        creationTimestamp=_TIME,
        deletionGracePeriodSeconds={"type": "integer"},
        deletionTimestamp=_TIME,
        generation={"type": "integer"},
        resourceVersion=_TEXT,
        finalizers=_TEXTS,
    ),
    spec=_with(finalizers=_TEXTS),
    status=_with(conditions={"type": "array", "items": _CONDITION}, phase=_TEXT),
)


class ConditionsError(Exception):
    """Some conditions have no value, and none of them is false."""


@cache
def _checker() -> cel.Env:
    declarations = Declarations(names_in(iter([str((_REQUEST, _NAMESPACE))])))
    types = {
        name: declarations.declare(schema)
        for name, schema in (("request", _REQUEST), ("namespaceObject", _NAMESPACE))
    }
    typed = {name: type_.cel_type() for name, type_ in types.items() if type_ is not None}
    variables = dict.fromkeys(("object", "oldObject"), cel.Type.DYN) | typed
    return environment(variables, declarations.pool(), checked=True)


@cache
def _evaluation() -> cel.Env:
    variables = ("object", "oldObject", "request", "namespaceObject")
    return environment(dict.fromkeys(variables, cel.Type.DYN), None, checked=False)


@cache
def _compiled(text: str) -> cel.Expression:
    return for_evaluation(_evaluation(), text)


def refusal(text: str) -> str:
    """Why an expression is refused; empty if it is not."""
    try:
        type_ = compiled(_checker(), text).type
    except CompilationError as error:
        said = str(error)
        if _AUTHORIZER in said:
            said += "\n(Assay's simulated API server has no authorizer; a control plane does)"
        return said
    if type_ == cel.Type.BOOL:
        return ""
    got = str(type_).lower().replace("<", "(").replace(">", ")")
    return f"must evaluate to bool but got {got}"


def all_true(webhook: Object, request: Object) -> bool:
    """True if all conditions of a webhook hold; `request` is that of its review. ConditionsError
    if some have no value."""
    data: dict[str, Any] = {name: request[name] for name in ("object", "oldObject")}
    data["request"] = {name: value for name, value in request.items() if name not in data}
    # A real server declares it, and gives it no value.
    data["namespaceObject"] = None
    errors = []
    for condition in webhook["matchConditions"]:
        try:
            found = evaluated(_compiled(condition["expression"].strip()), data)
        except EvaluationError as error:
            errors.append(f"expression '{condition['expression']}' resulted in error: {error}")
            continue
        if not found:
            return False
    if errors:
        raise ConditionsError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")
    return True
