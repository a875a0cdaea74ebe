"""Shared by the tests of this directory: a toy controller and a toy API server."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reference_controller.runtime.caches import Caches
from reference_controller.runtime.controller import Key, key_of
from reference_controller.runtime.operator import Operator
from vocabulary.clock import Micros
from vocabulary.errors import ApiError, already_exists, conflict, not_found
from vocabulary.kinds import CONFIG_MAP, Kind
from vocabulary.objects import Object, labels_of, meta, name_of, namespace_of
from vocabulary.requests import Create, Delete, Get, List, ObjectList, Reconcile, Request, Update

SOURCE_LABEL = "example.com/copy"
COPY_SUFFIX = "-copy"


def config_map(name: str, data: dict[str, str], **labels: str) -> dict[str, Any]:
    metadata: dict[str, Any] = {"namespace": "ns", "name": name}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


class CopyController:
    """For each ConfigMap labelled `example.com/copy`, keeps a second one with the same data."""

    watches = (CONFIG_MAP,)

    def __init__(self, name: str = "toy", suffix: str = COPY_SUFFIX) -> None:
        self.name = name
        self._suffix = suffix

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        key = key_of(obj)
        if key.name.endswith(self._suffix):
            return (Key(key.namespace, key.name.removesuffix(self._suffix)),)
        return (key,) if SOURCE_LABEL in labels_of(obj) else ()

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        try:
            source = yield Get(CONFIG_MAP, *key)
        except ApiError as error:
            if error.is_not_found:
                return None
            raise
        copy_key = Key(key.namespace, key.name + self._suffix)
        try:
            copy = yield Get(CONFIG_MAP, *copy_key)
        except ApiError as error:
            if not error.is_not_found:
                raise
            copy = {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"namespace": copy_key.namespace, "name": copy_key.name},
                "data": source["data"],
            }
            yield Create(CONFIG_MAP, copy, *copy_key)
            return None
        if copy.get("data") != source.get("data"):
            yield Update(CONFIG_MAP, {**copy, "data": source["data"]})
        return None


class Server:
    """Stores objects and notifies operators of changes; as strict as these tests need it."""

    def __init__(self) -> None:
        self.objects: dict[tuple[Kind, str, str], Object] = {}
        self.revision = 0
        self.requests: list[Request] = []
        self.events: list[tuple[Kind, Any, Object]] = []
        self.refusals: list[ApiError] = []
        """Thrown at the next requests, one each."""

    def handle(self, request: Request) -> Object | ObjectList | ApiError:
        self.requests.append(request)
        if self.refusals:
            return self.refusals.pop(0)
        if isinstance(request, List):
            items = tuple(o for (k, _, _), o in self.objects.items() if k == request.kind)
            return ObjectList(items, str(self.revision))
        assert isinstance(request, Get | Create | Update | Delete)
        address = (request.kind, request.namespace, request.name)
        stored = self.objects.get(address)
        if isinstance(request, Create):
            if stored is not None:
                return already_exists(request.kind, request.name)
            return self._store(request.kind, request.object, "ADDED")
        if stored is None:
            return not_found(request.kind, request.name)
        if isinstance(request, Update):
            claimed = meta(request.object).get("resourceVersion")
            if claimed and claimed != meta(stored)["resourceVersion"]:
                return conflict(request.kind, request.name, "the object has been modified")
            return self._store(request.kind, request.object, "MODIFIED")
        if isinstance(request, Delete):
            del self.objects[address]
            self.events.append((request.kind, "DELETED", stored))
        return stored

    def feed(self, operator: Operator, now_us: Micros) -> None:
        """Deliver the events that happened since the last call, of the kinds it watches."""
        events, self.events = self.events, []
        for kind, event, obj in events:
            if kind in operator.watches:
                operator.deliver(kind, event, obj, now_us)

    def list_into(self, operator: Operator, now_us: Micros) -> None:
        for kind in operator.watches:
            listed = self.handle(List(kind))
            assert isinstance(listed, ObjectList)
            operator.replace(kind, listed.items, now_us, listed.resource_version)

    def _store(self, kind: Kind, obj: Object, event: str) -> Object:
        self.revision += 1
        metadata = {"uid": f"uid-{self.revision}", **meta(obj)}
        stored = {**obj, "metadata": {**metadata, "resourceVersion": str(self.revision)}}
        self.objects[(kind, namespace_of(obj), name_of(obj))] = stored
        self.events.append((kind, event, stored))
        return stored


def settle(operator: Operator, server: Server, now_us: Micros = 0) -> list[Request]:
    """Answer everything at one instant until the operator is idle; returns what was sent."""
    sent: list[Request] = []
    server.feed(operator, now_us)
    while (pending := operator.poll(now_us)) is not None:
        sent.append(pending.request)
        operator.answer(pending.ticket, server.handle(pending.request), now_us)
        server.feed(operator, now_us)
        assert len(sent) < 1000, "the operator does not come to rest"
    return sent
