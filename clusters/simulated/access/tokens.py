"""Tokens of service accounts: JSON Web Tokens that the cluster issues and recognizes."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import msgspec

from clusters.simulated.access.users import User, service_account, service_account_name
from clusters.simulated.field_errors import FieldError, invalid, value_invalid
from clusters.simulated.store import Key, Store
from vocabulary.clock import SECOND, Micros, parse_rfc3339, to_rfc3339
from vocabulary.errors import ApiError, conflict, not_found
from vocabulary.kinds import NODE, POD, SECRET, SERVICE_ACCOUNT, Kind
from vocabulary.objects import Object, meta, uid_of

ISSUER: Final = "https://kubernetes.default.svc"
AUDIENCES: Final = (ISSUER,)
"""The API server's own audiences."""
_DEFAULT_SECONDS: Final = 3600
_LEAST_SECONDS: Final = 600
_MOST_SECONDS: Final = 1 << 32
_LEEWAY_US: Final = 60 * SECOND
"""Tokens remain valid for this long after their expiry, and after the deletion of what they are
bound to has begun."""
_HEADER: Final = {"alg": "HS256", "typ": "JWT"}
_BOUND_TO: Final[Mapping[tuple[str, str], Kind]] = {
    ("v1", "Pod"): POD,
    ("v1", "Secret"): SECRET,
    ("v1", "Node"): NODE,
}
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


class UnknownTokenError(Exception):
    """The token is none of the cluster's, or is no longer valid."""


@dataclass(frozen=True, slots=True)
class Recognized:
    """The user of a token, and the audiences that it is for."""

    user: User
    audiences: Sequence[str]


class Tokens:
    """Issues and recognizes the tokens of one cluster."""

    def __init__(
        self, store: Store, now_us: Callable[[], Micros], draw_key: Callable[[], bytes]
    ) -> None:
        """`draw_key` makes the key that signs the tokens, once there is one."""
        self._store = store
        self._now_us = now_us
        self._draw_key = draw_key

    @cached_property
    def _key(self) -> bytes:
        return self._draw_key()

    def use_key(self, key: bytes) -> None:
        """Sign by another key, and recognize no token of the former one."""
        self._key = key

    def issue(self, namespace: str, name: str, request: Object, new_id: str) -> Object:
        """The response to a TokenRequest for a service account."""
        account = self._store.get(Key(str(SERVICE_ACCOUNT), namespace, name))
        if account is None:
            raise not_found(SERVICE_ACCOUNT, name)
        spec: Object = request.get("spec") or {}
        seconds = spec.get("expirationSeconds")
        seconds = _DEFAULT_SECONDS if seconds is None else seconds
        audiences = spec.get("audiences") or list(AUDIENCES)
        errors = _validate(seconds)
        if errors:
            raise invalid("TokenRequest.authentication.k8s.io", "", errors)
        reference = spec.get("boundObjectRef")
        bound = self._bound(namespace, name, reference) if reference else {}
        now = self._now_us() // SECOND
        claims = {
            "aud": audiences,
            "exp": now + seconds,
            "iat": now,
            "iss": ISSUER,
            "jti": new_id,
            "kubernetes.io": {
                "namespace": namespace,
                "serviceaccount": {"name": name, "uid": uid_of(account)},
                **bound,
            },
            "nbf": now,
            "sub": service_account_name(namespace, name),
        }
        return {
            "kind": "TokenRequest",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": uid_of(account),
                "creationTimestamp": to_rfc3339(self._now_us()),
            },
            "spec": {
                "audiences": audiences,
                "expirationSeconds": seconds,
                "boundObjectRef": reference,
            },
            "status": {
                "token": self._signed(claims),
                "expirationTimestamp": to_rfc3339((now + seconds) * SECOND),
            },
        }

    def recognize(self, token: str, audiences: Sequence[str] = ()) -> Recognized:
        """The user of a token for any of the audiences; UnknownTokenError if it is not valid."""
        claims = self._claims(token)
        accepted = [one for one in audiences or AUDIENCES if one in claims["aud"]]
        if not accepted or claims["exp"] * SECOND < self._now_us() - _LEEWAY_US:
            raise UnknownTokenError
        private = claims["kubernetes.io"]
        namespace, account = private["namespace"], private["serviceaccount"]
        self._require(SERVICE_ACCOUNT, namespace, account)
        extra = {"authentication.kubernetes.io/credential-id": [f"JTI={claims['jti']}"]}
        for kind in (POD, SECRET, NODE):
            named = private.get(kind.kind.lower())
            if named is None:
                continue
            # The node of a pod-bound token is information only.
            if kind != NODE or "pod" not in private:
                self._require(kind, namespace if kind.namespaced else "", named)
            if kind != SECRET:
                prefix = f"authentication.kubernetes.io/{kind.kind.lower()}"
                extra |= {f"{prefix}-name": [named["name"]], f"{prefix}-uid": [named["uid"]]}
        user = service_account(namespace, account["name"], account["uid"], extra)
        return Recognized(user, accepted)

    def _bound(self, namespace: str, account: str, reference: Object) -> dict[str, Any]:
        """The claim that binds a token to the life of an object."""
        kind = _BOUND_TO.get((reference.get("apiVersion", ""), reference.get("kind", "")))
        if kind is None:
            group, _, version = reference.get("apiVersion", "").rpartition("/")
            because = (
                f"cannot bind token to object of type {group}/{version}, "
                f"Kind={reference.get('kind', '')}"
            )
            raise ApiError(400, "BadRequest", because)
        name, uid = reference.get("name", ""), reference.get("uid", "")
        found = self._store.get(Key(str(kind), namespace if kind.namespaced else "", name))
        if found is None:
            raise not_found(kind, name)
        if uid and uid != uid_of(found):
            because = (
                f"the UID in the bound object reference ({uid}) does not match the UID in record. "
                "The object might have been deleted and then recreated"
            )
            refusal = conflict(kind, name, because)
            message = refusal.message.replace(f" {kind.plural} ", f" {kind.kind} ", 1)
            raise ApiError(refusal.code, refusal.reason, message, {"kind": kind.kind, "name": name})
        spec: Object = found.get("spec") or {}
        if kind == POD and spec.get("serviceAccountName", "") != account:
            because = (
                f'cannot bind token for serviceaccount "{account}" to pod running with different '
                "serviceaccount name."
            )
            raise ApiError(400, "BadRequest", because)
        bound = {kind.kind.lower(): {"name": name, "uid": uid_of(found)}}
        node = spec.get("nodeName") if kind == POD else None
        on = self._store.get(Key(str(NODE), "", node)) if node else None
        return bound if on is None else {**bound, "node": {"name": node, "uid": uid_of(on)}}

    def _require(self, kind: Kind, namespace: str, named: Object) -> None:
        """Require the object that a token names: the same one, and not deleted for long."""
        found = self._store.get(Key(str(kind), namespace, named["name"]))
        if found is None or uid_of(found) != named["uid"]:
            raise UnknownTokenError
        deleted = meta(found).get("deletionTimestamp")
        if deleted and parse_rfc3339(deleted) < self._now_us() - _LEEWAY_US:
            raise UnknownTokenError

    def _signed(self, claims: Object) -> str:
        signed = f"{_base64(_encode(_HEADER))}.{_base64(_encode(claims))}"
        return f"{signed}.{self._signature(signed)}"

    def _signature(self, signed: str) -> str:
        return _base64(hmac.digest(self._key, signed.encode(), "sha256"))

    def _claims(self, token: str) -> dict[str, Any]:
        signed, _, signature = token.rpartition(".")
        if not token.isascii() or not hmac.compare_digest(self._signature(signed), signature):
            raise UnknownTokenError
        try:
            text = signed.partition(".")[2]
            claims: dict[str, Any] = msgspec.json.decode(
                base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            )
        except (binascii.Error, msgspec.DecodeError):
            raise UnknownTokenError from None
        return claims


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _validate(seconds: int) -> list[FieldError]:
    field = "spec.expirationSeconds"
    if seconds < _LEAST_SECONDS:
        return [value_invalid(field, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > _MOST_SECONDS:
        because = "may not specify a duration larger than 2^32 seconds"
        return [value_invalid(field, seconds, because)]
    return []
