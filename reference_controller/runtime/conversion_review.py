"""ConversionReview v1: an API server's request for objects in another version, and the answer.

Pure, as `admission_review` is: the simulated API server's exchange and the HTTPS server share it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec

from reference_controller.runtime.admission_review import ReviewError
from vocabulary.objects import Object

Convert: TypeAlias = Callable[[Object, str], Object]
"""(object, API version) → the object in that version; raises ConversionError."""


class ConversionError(ValueError):
    """An object that has no form in that version; the message says why."""


def review(body: bytes, convert: Convert) -> bytes:
    """The answer to one ConversionReview: all objects, or why one of them cannot be converted.

    Raises ReviewError.
    """
    try:
        document = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ReviewError(f"not a ConversionReview: {error}") from error
    if document.apiVersion != "apiextensions.k8s.io/v1":
        raise ReviewError(
            f"ConversionReview of version {document.apiVersion!r}; "
            "set conversionReviewVersions: [v1] in the definition"
        )
    request = document.request
    answer: dict[str, Any] = {"uid": request.uid, "result": {"status": "Success"}}
    try:
        answer["convertedObjects"] = [
            convert(each, request.desiredAPIVersion) for each in request.objects
        ]
    except ConversionError as error:
        answer["result"] = {"status": "Failure", "message": str(error)}
    return msgspec.json.encode(
        {"apiVersion": document.apiVersion, "kind": "ConversionReview", "response": answer}
    )


class _Request(msgspec.Struct):
    uid: str
    desiredAPIVersion: str  # noqa: N815 - the API's name
    objects: list[dict[str, Any]]


class _Review(msgspec.Struct):
    apiVersion: str  # noqa: N815 - the API's name
    request: _Request


_decoder: Final = msgspec.json.Decoder(_Review)
"""Made at import, as in `admission_review`."""
