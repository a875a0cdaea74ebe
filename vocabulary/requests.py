"""API requests as data.

Reconcilers yield them, one at a time, and are sent the server's response (the object, an
`ObjectList`, or an `ApiError` thrown into them). So the same reconciler runs unchanged in
the simulation and on a real cluster, and can be killed between any two of its requests.

A request has no attribution, such as `by`: the connection knows its client.

Requests are msgspec structs: a run makes hundreds of them, and a frozen dataclass takes
twenty times as long to construct.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec

from vocabulary.clock import Micros
from vocabulary.kinds import Kind, kind_of
from vocabulary.objects import Object, name_of, namespace_of

PropagationPolicy: TypeAlias = Literal["Background", "Foreground", "Orphan"]
PatchType: TypeAlias = Literal["json", "merge", "strategic", "apply"]


class Get(msgspec.Struct, frozen=True):
    """Read one object; from the informer cache where one serves the kind, unless `live`."""

    kind: Kind
    namespace: str
    name: str
    live: bool = False
    subresource: str = ""


class List(msgspec.Struct, frozen=True):
    """Read the objects of a kind in a namespace ("" means all), narrowed by selectors.

    `label_selector` and `field_selector` are the API's own text forms, "" selects all.
    `limit` and `continue_` page through; they need a live read.
    """

    kind: Kind
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""
    live: bool = False
    limit: int = 0
    continue_: str = ""
    resource_version: str = ""
    resource_version_match: str = ""


class Create(msgspec.Struct, frozen=True):
    """Create an object. With `subresource` "eviction" or "binding", the body is that request.

    An API server drops fields that it does not know, unless `strict` has it refuse them.
    """

    kind: Kind
    object: Object
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    dry_run: bool = False
    field_manager: str = ""
    strict: bool = False


class Update(msgspec.Struct, frozen=True):
    """Replace an object, or its `status` or `scale`; 409 if its resourceVersion is not current."""

    kind: Kind
    object: Object
    subresource: str = ""
    dry_run: bool = False
    field_manager: str = ""

    @property
    def namespace(self) -> str:
        return namespace_of(self.object)

    @property
    def name(self) -> str:
        return name_of(self.object)


class Patch(msgspec.Struct, frozen=True):
    """Patch an object; the document is a list for `json`, an object for the other types."""

    kind: Kind
    namespace: str
    name: str
    body: Any
    patch_type: PatchType = "merge"
    subresource: str = ""
    dry_run: bool = False
    field_manager: str = ""
    force: bool = False


class Delete(msgspec.Struct, frozen=True):
    """Delete an object; options left at None take the server's defaults."""

    kind: Kind
    namespace: str
    name: str
    grace_period_seconds: int | None = None
    propagation_policy: PropagationPolicy | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: bool = False


class DeleteCollection(msgspec.Struct, frozen=True):
    """Delete all objects that the selectors match, one by one, with the same options."""

    kind: Kind
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""
    grace_period_seconds: int | None = None
    propagation_policy: PropagationPolicy | None = None


class ObjectList(msgspec.Struct, frozen=True):
    """The response to a `List`: the items, and the store's resourceVersion."""

    items: Sequence[Object]
    resource_version: str
    continue_: str = ""
    remaining_item_count: int | None = None


Read: TypeAlias = Get | List
Write: TypeAlias = Create | Update | Patch | Delete | DeleteCollection
Request: TypeAlias = Read | Write

AnyRequest = TypeVar("AnyRequest", bound=Request)

WRITES = (Create, Update, Patch, Delete, DeleteCollection)

Reconcile: TypeAlias = Generator[Request, Any, Micros | None]
"""Yields requests, is sent answers, returns when to run again (a point in time) or None."""


def create(obj: Object) -> Create:
    """A Create of the object under its own kind, namespace and name."""
    return Create(kind_of(obj), obj, namespace_of(obj), name_of(obj))


def as_served(request: AnyRequest, kind: Kind, namespace: str = "") -> AnyRequest:
    """The request for its kind as a server serves it, in another scope or plural perhaps; of a
    kind that has namespaces after all it goes to the one that is given."""
    if kind == request.kind:
        return request
    if isinstance(request, Update) or kind.namespaced == request.kind.namespaced:
        return msgspec.structs.replace(request, kind=kind)
    where = (request.namespace or namespace) if kind.namespaced else ""
    return msgspec.structs.replace(request, kind=kind, namespace=where)


_VERBS: Final = {
    request: request.__name__.lower()
    for request in (Get, List, Create, Update, Patch, Delete, DeleteCollection)
}


def verb_of(request: Request) -> str:
    """The API's verb: get, list, create, update, patch, delete, deletecollection."""
    return _VERBS[type(request)]
