"""Admission by webhooks: which requests they review, what they are sent, and what they answer.

The mutating ones are called before the validating ones, in the order of their configurations'
names. `timeoutSeconds` is left to who makes the calls. As on a real server, webhooks do not review
configurations of webhooks. Creations of evictions, bindings and tokens are not reviewed.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from clusters.simulated.api_server import ApiServer
from clusters.simulated.builtin.known_fields import without_unknown
from clusters.simulated.builtin.webhook_configurations import GROUP as CONFIGURATIONS
from clusters.simulated.builtin.wire_form import drop_optional_zeros
from clusters.simulated.patches.json_patch import JsonPatchError, apply_json_patch
from clusters.simulated.reading import in_version
from clusters.simulated.store import Key
from clusters.simulated.webhook_responses import (
    GROUP,
    KIND,
    REVIEW_VERSIONS,
    WebhookCallError,
    patch_operations,
    verified_response,
)
from vocabulary import requests as rq
from vocabulary.errors import ApiError, forbidden
from vocabulary.kinds import NAMESPACE, Kind
from vocabulary.objects import Object, labels_of, meta, name_of
from vocabulary.selectors import matches

MUTATING: Final = "MutatingWebhookConfiguration"
VALIDATING: Final = "ValidatingWebhookConfiguration"
_OPTIONS: Final = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}

Exchange: TypeAlias = Callable[[Object, bytes], bytes]
"""(webhook, review) → the body of its response; raises OSError or HTTPException."""


class AdmissionWebhooks:
    """The registered webhooks of one cluster, as hooks of its API server."""

    def __init__(
        self,
        api: ApiServer,
        configurations: Iterable[Object],
        exchange: Exchange,
    ) -> None:
        found = sorted(configurations, key=name_of)
        self._api = api
        self._mutating = list(_webhooks(found, MUTATING))
        self._validating = list(_webhooks(found, VALIDATING))
        self._exchange = exchange

    def mutate(
        self, request: rq.Request, actor: str, new: dict[str, Any], old: Object | None
    ) -> dict[str, Any]:
        """The object as the mutating webhooks leave it; ApiError if one refuses it."""
        invoked: set[int] = set()
        """Those of reinvocationPolicy IfNeeded that have not seen the object as it is now."""
        again: set[int] = set()
        for is_second in (False, True):
            for number, webhook in enumerate(self._mutating):
                if is_second and number not in again:
                    continue
                kind = self._reviewed_as(webhook, request, actor, new, old)
                if kind is None:
                    continue
                patch = self._review(webhook, kind, request, actor, new, old, mutating=True)
                patched = self._patched(new, kind, patch, old) if patch else new
                if patched != new:
                    new = patched
                    again |= invoked
                    invoked.clear()
                if webhook.get("reinvocationPolicy") == "IfNeeded":
                    invoked.add(number)
        return new

    def validate(
        self, request: rq.Request, actor: str, new: Object | None, old: Object | None
    ) -> None:
        """Raise ApiError if the request is refused; of deletions mutating webhooks hear, too."""
        if new is None:
            for webhook in self._mutating:
                kind = self._reviewed_as(webhook, request, actor, new, old)
                if kind is not None and self._review(
                    webhook, kind, request, actor, new, old, mutating=True
                ):
                    raise _internal_error(
                        f'admission webhook "{webhook["name"]}" attempted to modify the object, '
                        "which is not supported for this operation"
                    )
        for webhook in self._validating:
            kind = self._reviewed_as(webhook, request, actor, new, old)
            if kind is not None:
                self._review(webhook, kind, request, actor, new, old, mutating=False)

    def _patched(
        self, obj: Object, kind: Kind, patch: list[Object], old: Object | None
    ) -> dict[str, Any]:
        """The object after a patch, as the next webhook sees it: read anew, and defaulted."""
        try:
            patched = apply_json_patch(self._in_version(obj, kind), patch)
        except JsonPatchError as error:
            raise _internal_error(str(error)) from error
        if not isinstance(patched, dict) or not isinstance(patched.get("metadata"), dict):
            raise _internal_error("the patch leaves no object with metadata")
        strategy = self._api.strategies[kind.group_kind]
        found = strategy.to_version(patched, obj["apiVersion"])
        if strategy.is_built_in:
            found = dict(without_unknown(found, strategy.kind))
            drop_optional_zeros(found, strategy.kind, obj, empty=True)
        strategy.default(found, old)
        return found

    def _review(
        self,
        webhook: Object,
        kind: Kind,
        request: rq.Request,
        actor: str,
        new: Object | None,
        old: Object | None,
        *,
        mutating: bool,
    ) -> list[Object]:
        """The operations of its patch; ApiError if it refuses the request."""
        uid = f"00000000-0000-4000-8000-{next(self._api.admission.reviews):012x}"
        reviewed = {"uid": uid, **self._request(kind, request, actor, new, old)}
        api_version = f"{GROUP}/{_review_version(webhook)}"
        review = {
            "kind": KIND,
            "apiVersion": api_version,
            "request": {name: value for name, value in reviewed.items() if value != ""},
        }
        name = webhook["name"]
        try:
            if reviewed["dryRun"]:
                _require_no_side_effects(webhook)
            # In order, as Go writes maps: webhooks may compare the bytes of the old and the new.
            body = self._called(webhook, json.dumps(review, sort_keys=True).encode())
            response = verified_response(body, uid, api_version, mutating=mutating)
            if not response.get("allowed"):
                raise _denied(name, response.get("status") or {})
            return patch_operations(response) if mutating else []
        except WebhookCallError as error:
            if webhook.get("failurePolicy", "Fail") == "Ignore":
                return []
            raise _internal_error(f'failed calling webhook "{name}": {error}') from error

    def _request(
        self, kind: Kind, request: rq.Request, actor: str, new: Object | None, old: Object | None
    ) -> dict[str, Any]:
        """The request of a review, without the review's uid."""
        asked = request.kind
        operation = _operation(request)
        subresource = getattr(request, "subresource", "")
        told: dict[str, Any] = {
            "kind": _named(kind, kind=kind.kind),
            "resource": _named(kind, resource=kind.plural),
            "requestKind": _named(asked, kind=asked.kind),
            "requestResource": _named(asked, resource=asked.plural),
            "name": meta(new).get("name", "") if new else getattr(request, "name", ""),
            "namespace": meta(new or old or {}).get("namespace", ""),
            "operation": operation,
            "userInfo": self._api.access.user(actor).to_info(),
            "object": None if new is None else self._in_version(new, kind),
            "oldObject": None if old is None else self._in_version(old, kind),
            "dryRun": bool(getattr(request, "dry_run", False)),
            "options": {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1"},
        }
        if subresource:
            told |= {"subResource": subresource, "requestSubResource": subresource}
        return told

    def _called(self, webhook: Object, review: bytes) -> bytes:
        try:
            return self._exchange(webhook, review)
        except (OSError, http.client.HTTPException) as error:
            raise WebhookCallError(f"failed to call webhook: {error}") from error

    def _in_version(self, obj: Object, kind: Kind) -> Object:
        return in_version(obj, kind, self._api.strategies[kind.group_kind])

    def _reviewed_as(
        self,
        webhook: Object,
        request: rq.Request,
        actor: str,
        new: Object | None,
        old: Object | None,
    ) -> Kind | None:
        """The kind, in the version that the webhook asks for; None if it does not review this."""
        kind = self._version_for(webhook, request)
        if kind is None:
            return None
        selector = webhook.get("objectSelector")
        if selector and not any(matches(selector, labels_of(one)) for one in (new, old) if one):
            return None
        selector = webhook.get("namespaceSelector")
        if selector:
            labels = self._namespace_labels(request, new)
            if labels is not None and not matches(selector, labels):
                return None
        if webhook.get("matchConditions"):
            told = self._request(kind, request, actor, new, old)
            if not _conditions_hold(webhook, request, told):
                return None
        return kind

    def _version_for(self, webhook: Object, request: rq.Request) -> Kind | None:
        kind = request.kind
        if kind.group == CONFIGURATIONS:
            return None
        rules = [rule for rule in webhook.get("rules", ()) if _matches_but_version(rule, request)]
        if any({kind.version, "*"} & set(rule["apiVersions"]) for rule in rules):
            return kind
        if webhook.get("matchPolicy", "Equivalent") == "Exact":
            return None
        for rule in rules:
            for version in self._api.strategies[kind.group_kind].versions:
                if version in rule["apiVersions"]:
                    return Kind(kind.group, version, kind.kind, kind.plural, kind.namespaced)
        return None

    def _namespace_labels(
        self, request: rq.Request, new: Object | None
    ) -> Mapping[str, str] | None:
        """The labels of the namespace that a request is about; None if it is about none."""
        kind = request.kind
        if kind.namespaced:
            name = request.namespace
        elif kind != NAMESPACE:
            return None
        elif new is not None and not getattr(request, "subresource", ""):
            return labels_of(new)
        else:
            name = getattr(request, "name", "")
        found = self._api.store.get(Key(str(NAMESPACE), "", name))
        return {} if found is None else labels_of(found)


def _webhooks(configurations: Iterable[Object], kind: str) -> Iterator[Object]:
    for configuration in configurations:
        if configuration["kind"] == kind:
            yield from configuration["webhooks"]


def _review_version(webhook: Object) -> str:
    """The first version that it takes and that is sent."""
    taken = webhook.get("admissionReviewVersions") or REVIEW_VERSIONS
    return next(version for version in taken if version in REVIEW_VERSIONS)


def _conditions_hold(webhook: Object, request: rq.Request, told: Object) -> bool:
    # The library takes longer to load than a cluster to start.
    from clusters.simulated.match_conditions import ConditionsError, all_true

    try:
        return all_true(webhook, {name: value for name, value in told.items() if value != ""})
    except ConditionsError as error:
        if webhook.get("failurePolicy", "Fail") == "Ignore":
            return False
        raise forbidden(request.kind, told["name"], str(error)) from error


def _operation(request: rq.Request) -> str:
    if isinstance(request, rq.Delete | rq.DeleteCollection):
        return "DELETE"
    return "CREATE" if isinstance(request, rq.Create) else "UPDATE"


def _named(of: Kind, **more: str) -> dict[str, str]:
    return {"group": of.group, "version": of.version, **more}


def _matches_but_version(rule: Object, request: rq.Request) -> bool:
    kind = request.kind
    subresource = getattr(request, "subresource", "")
    part = f"/{subresource}" if subresource else ""
    # An asterisk for the subresource stands for none, too.
    resources = {kind.plural + part, f"*{part}", f"{kind.plural}/*", "*/*"}
    scope = rule.get("scope") or "*"
    return bool(
        {_operation(request), "*"} & set(rule["operations"])
        and {kind.group, "*"} & set(rule["apiGroups"])
        and resources & set(rule["resources"])
        and scope in ("*", "Namespaced" if kind.namespaced else "Cluster")
    )


def _denied(name: str, status: Object) -> ApiError:
    said = status.get("message") or status.get("reason")
    told = f'admission webhook "{name}" denied the request'
    message = f"{told}: {said}" if said else f"{told} without explanation"
    code = status.get("code", 0)
    return ApiError(code if code >= 400 else 400, status.get("reason", ""), message)


def _internal_error(message: str) -> ApiError:
    details = {"causes": [{"message": message}]}
    return ApiError(500, "InternalError", f"Internal error occurred: {message}", details)


def _require_no_side_effects(webhook: Object) -> None:
    effects = webhook.get("sideEffects")
    if effects is None:
        raise WebhookCallError("Webhook SideEffects is nil")
    if effects not in ("None", "NoneOnDryRun"):
        message = f'admission webhook "{webhook["name"]}" does not support dry run'
        raise ApiError(400, "BadRequest", message)
