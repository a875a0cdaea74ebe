"""Reviews: questions about tokens, users and rights. They are answered, and nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from clusters.simulated.access.authorization import Authorizer
from clusters.simulated.access.rules import Attributes
from clusters.simulated.access.tokens import Tokens, UnknownTokenError
from clusters.simulated.access.users import User
from clusters.simulated.field_errors import FieldError, invalid, value_invalid
from vocabulary import requests as rq
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object, meta

AUTHENTICATION: Final = "authentication.k8s.io"
AUTHORIZATION: Final = "authorization.k8s.io"
REVIEW_GROUPS: Final = frozenset({AUTHENTICATION, AUTHORIZATION})


def _review(group: str, kind: str, *, namespaced: bool = False) -> Kind:
    return Kind(group, "v1", kind, f"{kind.lower()}s", namespaced)


TOKEN_REVIEW: Final = _review(AUTHENTICATION, "TokenReview")
SELF_SUBJECT_REVIEW: Final = _review(AUTHENTICATION, "SelfSubjectReview")
SUBJECT_ACCESS_REVIEW: Final = _review(AUTHORIZATION, "SubjectAccessReview")
SELF_SUBJECT_ACCESS_REVIEW: Final = _review(AUTHORIZATION, "SelfSubjectAccessReview")
LOCAL_SUBJECT_ACCESS_REVIEW: Final = _review(
    AUTHORIZATION, "LocalSubjectAccessReview", namespaced=True
)
SELF_SUBJECT_RULES_REVIEW: Final = _review(AUTHORIZATION, "SelfSubjectRulesReview")
REVIEWS: Final = (
    TOKEN_REVIEW,
    SELF_SUBJECT_REVIEW,
    SUBJECT_ACCESS_REVIEW,
    SELF_SUBJECT_ACCESS_REVIEW,
    LOCAL_SUBJECT_ACCESS_REVIEW,
    SELF_SUBJECT_RULES_REVIEW,
)

_Answer: TypeAlias = Callable[["Reviews", rq.Create, Object, User], Mapping[str, Any]]


class Reviews:
    """Answers the reviews of one cluster."""

    def __init__(
        self, authorizer: Authorizer, tokens: Tokens, now_us: Callable[[], Micros]
    ) -> None:
        self._authorizer = authorizer
        self._tokens = tokens
        self._now_us = now_us

    def answer(self, request: rq.Create, user: User) -> Object:
        """The review with its status."""
        obj = request.object
        spec: Object = obj.get("spec") or {}
        return {
            "kind": request.kind.kind,
            "apiVersion": request.kind.api_version,
            "metadata": {
                name: value for name, value in meta(obj).items() if name != "creationTimestamp"
            },
            **_ANSWERS[request.kind](self, request, spec, user),
        }

    def _token(self, request: rq.Create, spec: Object, user: User) -> Mapping[str, Any]:  # noqa: ARG002
        token = spec.get("token") or ""
        if not token:
            because = "token is required for TokenReview in authentication"
            raise ApiError(400, "BadRequest", because)
        try:
            found = self._tokens.recognize(token, spec.get("audiences") or ())
        except UnknownTokenError:
            return {"spec": spec, "status": {"user": {}, "error": "invalid bearer token"}}
        status = {
            "authenticated": True,
            "user": found.user.to_info(),
            "audiences": list(found.audiences),
        }
        return {"spec": spec, "status": status}

    def _oneself(self, request: rq.Create, spec: Object, user: User) -> Mapping[str, Any]:  # noqa: ARG002
        now = {"metadata": {"creationTimestamp": to_rfc3339(self._now_us())}}
        return {**now, "status": {"userInfo": user.to_info()}}

    def _access(self, request: rq.Create, spec: Object, user: User) -> Mapping[str, Any]:  # noqa: ARG002
        errors = _validate_attributes(spec) + _validate_subject(spec)
        _require_valid(request, errors)
        return self._decided(spec, _subject(spec))

    def _access_of_oneself(self, request: rq.Create, spec: Object, user: User) -> Mapping[str, Any]:
        _require_valid(request, _validate_attributes(spec))
        return self._decided(spec, user)

    def _local_access(self, request: rq.Create, spec: Object, user: User) -> Mapping[str, Any]:  # noqa: ARG002
        errors = _validate_attributes(spec) + _validate_subject(spec)
        namespace = meta(request.object).get("namespace") or request.namespace
        resource = spec.get("resourceAttributes")
        if resource and resource.get("namespace", "") != namespace:
            because = "must match metadata.namespace"
            errors.append(
                value_invalid(
                    "spec.resourceAttributes.namespace", resource.get("namespace", ""), because
                )
            )
        if spec.get("nonResourceAttributes"):
            because = "disallowed on this kind of request"
            errors.append(
                value_invalid("spec.nonResourceAttributes", spec["nonResourceAttributes"], because)
            )
        _require_valid(request, errors)
        return self._decided(spec, _subject(spec))

    def _rules(self, request: rq.Create, spec: Object, user: User) -> Mapping[str, Any]:  # noqa: ARG002
        namespace = spec.get("namespace", "")
        if not namespace:
            raise ApiError(400, "BadRequest", "no namespace on request")
        rules, errors = self._authorizer.rbac.rules_of(user, namespace)
        status: dict[str, Any] = {
            "resourceRules": [_resource_rule(rule) for rule in rules if rule.get("resources")],
            "nonResourceRules": [
                {"verbs": rule["verbs"], "nonResourceURLs": rule["nonResourceURLs"]}
                for rule in rules
                if rule.get("nonResourceURLs")
            ],
            "incomplete": bool(errors),
        }
        if errors:
            status["evaluationError"] = errors
        return {"spec": {}, "status": status}

    def _decided(self, spec: Object, user: User) -> Mapping[str, Any]:
        decision = self._authorizer.rbac.decide(user, _attributes(spec))
        status: dict[str, Any] = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        return {"spec": spec, "status": status}


_ANSWERS: Final[Mapping[Kind, _Answer]] = {
    TOKEN_REVIEW: Reviews._token,
    SELF_SUBJECT_REVIEW: Reviews._oneself,
    SUBJECT_ACCESS_REVIEW: Reviews._access,
    SELF_SUBJECT_ACCESS_REVIEW: Reviews._access_of_oneself,
    LOCAL_SUBJECT_ACCESS_REVIEW: Reviews._local_access,
    SELF_SUBJECT_RULES_REVIEW: Reviews._rules,
}


def _attributes(spec: Object) -> Attributes:
    resource = spec.get("resourceAttributes")
    if resource is None:
        path: Object = spec["nonResourceAttributes"]
        return Attributes(path.get("verb", ""), path=path.get("path", ""))
    subresource = resource.get("subresource", "")
    plural = resource.get("resource", "")
    return Attributes(
        resource.get("verb", ""),
        resource.get("group", ""),
        f"{plural}/{subresource}" if subresource else plural,
        resource.get("namespace", ""),
        resource.get("name", ""),
    )


def _subject(spec: Object) -> User:
    return User(spec.get("user", ""), tuple(spec.get("groups") or ()))


def _resource_rule(rule: Object) -> Object:
    fields = ("verbs", "apiGroups", "resources", "resourceNames")
    return {field: rule[field] for field in fields if rule.get(field)}


def _validate_attributes(spec: Object) -> list[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        because = "cannot be specified in combination with resourceAttributes"
        return [value_invalid("spec.nonResourceAttributes", path, because)]
    if resource is None and path is None:
        because = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [value_invalid("spec.resourceAttributes", None, because)]
    return []


def _validate_subject(spec: Object) -> list[FieldError]:
    if spec.get("user") or spec.get("groups"):
        return []
    return [value_invalid("spec.user", "", "at least one of user or group must be specified")]


def _require_valid(request: rq.Create, errors: list[FieldError]) -> None:
    given = {
        name: value
        for name, value in meta(request.object).items()
        if name not in ("creationTimestamp", "managedFields", "namespace")
    }
    if given:
        errors = [*errors, value_invalid("metadata", given, "must be empty")]
    if errors:
        raise invalid(f".{request.kind.group}", "", errors)
