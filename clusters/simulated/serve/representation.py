"""The representation a client negotiated: full object, Table or PartialObjectMetadata.

A client lists the forms it can read in `Accept`, the preferred one first. Informers that only
count or collect request metadata alone; `kubectl get` prints a Table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from clusters.simulated.custom_resources.strategy import CustomResourceStrategy
from clusters.simulated.serve.requests import Call, list_metadata
from clusters.simulated.strategy import Strategy
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import ObjectList

Form: TypeAlias = Literal["whole", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]

_GROUP: Final = "meta.k8s.io"
_FORMS: Final[Mapping[str, Form]] = {
    "Table": "Table",
    "PartialObjectMetadata": "PartialObjectMetadata",
    "PartialObjectMetadataList": "PartialObjectMetadataList",
}
_JSON: Final = frozenset({"application/json", "application/*", "*/*"})
_ENCODINGS: Final = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
"""The encodings of a real server. This one writes JSON only, also in place of the others."""

_STREAMED: Final = (
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf;stream=watch",
)


@dataclass(frozen=True, slots=True)
class Representation:
    """A negotiated form, and the version of meta.k8s.io that defines it."""

    form: Form = "whole"
    version: str = ""

    def of_one(self, obj: Object) -> Object:
        """Return an object or bookmark in this form; an error's `Status` is returned unchanged."""
        if self.form != "PartialObjectMetadata" or obj.get("kind") == "Status":
            return obj
        return {
            "kind": "PartialObjectMetadata",
            "apiVersion": f"{_GROUP}/{self.version}",
            "metadata": obj["metadata"],
        }

    def of_list(self, listed: ObjectList) -> dict[str, Any]:
        """Return the listed objects' metadata."""
        one = Representation("PartialObjectMetadata", self.version)
        return {
            "kind": self.form,
            "apiVersion": f"{_GROUP}/{self.version}",
            "metadata": list_metadata(listed),
            "items": [one.of_one(obj) for obj in listed.items],
        }


WHOLE: Final = Representation()


def wanted(call: Call, strategy: Strategy, *, many: bool) -> Representation:
    """Return the first supported form in `Accept`; 406 if there is none. `many`: for a list."""
    accept = call.headers.get("Accept", "")
    if not accept.strip():
        return WHOLE
    knows_encoding = False
    encodes_otherwise = False
    for clause in accept.split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        given = dict(parameter.partition("=")[::2] for parameter in parameters)
        knows_encoding = knows_encoding or media_type in _JSON or media_type in _ENCODINGS
        if "as" not in given:
            if media_type in _JSON:
                return WHOLE
            encodes_otherwise = encodes_otherwise or media_type in _ENCODINGS
        elif media_type in _JSON and given.get("g") == _GROUP:
            form, version = _FORMS.get(given["as"]), given.get("v", "")
            if form is not None and version in ("v1", "v1beta1"):
                return Representation(form, version)
    if encodes_otherwise:
        return WHOLE
    if knows_encoding or isinstance(strategy, CustomResourceStrategy):
        because = f"only the following media types are accepted: {', '.join(_ENCODINGS)}"
        raise ApiError(406, "NotAcceptable", because)
    encodings = ", ".join((*_ENCODINGS, *_STREAMED) if many else _ENCODINGS)
    because = f"406: Not Acceptable\n\nAvailable representations: {encodings}"
    raise ApiError(406, "NotAcceptable", because, {})


def require_for_list(representation: Representation, kind: Kind, strategy: Strategy) -> None:
    """Reject a representation that exists for single objects only."""
    if representation.form == "PartialObjectMetadata":
        raise _not_acceptable("PartialObjectMetadata", "a list", f"{_go_type(kind, strategy)}List")


def require_for_one(representation: Representation, kind: Kind, strategy: Strategy) -> None:
    """Reject a representation that exists for lists only."""
    if representation.form != "PartialObjectMetadataList":
        return
    if isinstance(strategy, CustomResourceStrategy):
        raise ApiError(500, "", "content is not a list")
    raise _not_acceptable("PartialObjectMetadataList", "not a list", f"{_go_type(kind, strategy)}")


def _not_acceptable(form: Form, what: str, go_type: str) -> ApiError:
    because = f"you requested {form}, but the requested object is {what} ({go_type})"
    return ApiError(406, "NotAcceptable", because)


def _go_type(kind: Kind, strategy: Strategy) -> str:
    """The Go type of such an object in a real server."""
    if isinstance(strategy, CustomResourceStrategy):
        return "*unstructured.Unstructured"
    return f"*{kind.group.partition('.')[0] or 'core'}.{kind.kind}"
