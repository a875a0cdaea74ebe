"""Paging through a list: all pages show the cluster as it was when the first was asked for."""

from __future__ import annotations

import base64
import binascii
import json
import posixpath
import re
from typing import Any, Final, NamedTuple

from clusters.simulated.builtin.mistyped import json_type
from clusters.simulated.store import Key
from vocabulary.errors import ApiError

PRESENT: Final = -1
"""Stands in a token for the revision at which it is used."""
_FORMAT: Final = "meta.k8s.io/v1"
_NO_BASE64: Final = re.compile("[^A-Za-z0-9_-]")
_BEGINNING: Final = "looking for beginning of value"


class Continuation(NamedTuple):
    """Where the next page begins: after this object, at this revision."""

    revision: int
    namespace: str
    name: str


def encode_continue(revision: int, last: Key) -> str:
    """The opaque text that a client hands back for the next page."""
    start = f"{last.namespace}/{last.name}" if last.namespace else last.name
    return _encoded(revision, f"{start}\0")


def _encoded(revision: int, start: str) -> str:
    token = {"v": _FORMAT, "rv": revision, "start": start}
    text = json.dumps(token, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_continue(text: str) -> Continuation:
    """Inverse of `encode_continue`; a 400 for anything else."""
    token = _decoded(text)
    for field, type_, wanted in (
        ("v", "string", str),
        ("rv", "int64", int),
        ("start", "string", str),
    ):
        value = token.get(field)
        if value is not None and (not isinstance(value, wanted) or isinstance(value, bool)):
            into = f"Go struct field continueToken.{field} of type {type_}"
            raise _invalid(f"json: cannot unmarshal {json_type(value)} into {into}")
    version, start = token.get("v") or "", token.get("start") or ""
    if version != _FORMAT:
        raise _invalid(f"server does not recognize this encoded version {version}")
    if not token.get("rv"):
        raise _invalid(f"incorrect encoded start resourceVersion (version {_FORMAT})")
    if not start:
        raise _invalid(f"encoded start key empty (version {_FORMAT})")
    key = f"/{start.removeprefix('/')}"
    if posixpath.normpath(key) != key:
        raise _invalid(start)
    namespace, _, name = start.rstrip("\0").rpartition("/")
    return Continuation(token["rv"], namespace, name)


def _decoded(text: str) -> dict[str, Any]:
    illegal = _NO_BASE64.search(text)
    try:
        if illegal is not None:
            raise binascii.Error
        token = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except binascii.Error:
        at = len(text) if illegal is None else illegal.start()
        raise _invalid(f"illegal base64 data at input byte {at}") from None
    except json.JSONDecodeError as error:
        place = "after top-level value" if error.msg == "Extra data" else _BEGINNING
        raise _invalid(f"invalid character '{error.doc[error.pos :][:1]}' {place}") from None
    except (UnicodeDecodeError, RecursionError):
        raise _invalid(f"invalid character {_BEGINNING}") from None
    if not isinstance(token, dict | None):
        into = "Go value of type storage.continueToken"
        raise _invalid(f"json: cannot unmarshal {json_type(token)} into {into}")
    return token or {}


def _invalid(because: str) -> ApiError:
    return ApiError(
        400, "BadRequest", f"invalid continue token: continue key is not valid: {because}"
    )


def expired_continue(text: str) -> ApiError:
    """The 410 for a page of a cluster state that is forgotten.

    Its own token continues with the present state, from where that one does.
    """
    return ApiError(
        410,
        "Expired",
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.",
        continue_=_encoded(PRESENT, _decoded(text)["start"]),
    )
