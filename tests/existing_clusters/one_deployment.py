"""A cluster just sufficient for one Deployment; its pods are ready immediately."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from conformance.stored_objects.lookup import WEBHOOK_FAILED
from conformance.stored_objects.retrying_connection import RetryingConnection
from vocabulary.errors import ApiError
from vocabulary.kinds import DEPLOYMENT, POD, Kind
from vocabulary.objects import Object, name_of, namespace_of
from vocabulary.requests import Create, Delete, Get, List, ObjectList, Patch, Request


class OneDeployment:
    """Objects of any kind by merge patch, and the pods of the Deployment that is created last."""

    def __init__(self, *objects: Object) -> None:
        self.stored: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.made: list[Object] = []
        self.pods: list[dict[str, Any]] = []
        self.deletions: list[int | None] = []
        self.scaled: list[int] = []
        """The numbers of replicas that were asked for, one after the other."""
        self.unreached = ""
        """Why the operator's webhooks cannot be called."""
        self._deployment: dict[str, Any] | None = None
        self._number = 0
        for obj in objects:
            self._create(obj)

    @property
    def connection(self) -> RetryingConnection:
        return cast(RetryingConnection, self)

    def handle(self, request: Request) -> Any:
        match request:
            case Create() if request.dry_run:
                if self.unreached:
                    raise ApiError(500, "InternalError", f"{WEBHOOK_FAILED}: {self.unreached}")
            case Create():
                self.made.append(request.object)
                return self._create(request.object)
            case Get():
                return self._stored(request.kind, request.namespace, request.name)
            case Patch():
                found = self._stored(request.kind, request.namespace, request.name)
                _merge(found, request.body)
                if request.kind == DEPLOYMENT:
                    self.scaled.append(found["spec"]["replicas"])
            case Delete() if request.kind == POD:
                self.deletions.append(request.grace_period_seconds)
                self.pods = []
            case Delete():
                self._stored(request.kind, request.namespace, request.name)
                del self.stored[request.kind.kind, request.namespace, request.name]
            case List() if request.kind == POD:
                return ObjectList(self.listed(), "1")
            case List():
                kind = request.kind.kind
                found_of_kind = [obj for key, obj in self.stored.items() if key[0] == kind]
                return ObjectList(tuple(found_of_kind), "1")
        return {}

    def at(self, kind: Kind, namespace: str, name: str) -> Any:
        """The stored object; None if there is none."""
        return self.stored.get((kind.kind, namespace, name))

    def listed(self) -> tuple[Object, ...]:
        """The pods of now."""
        assert self._deployment is not None
        wanted = self._deployment["spec"].get("replicas", 1)
        while len(self.pods) < wanted:
            self._number += 1
            self.pods.append(self.pod(f"p{self._number}"))
        self.pods = self.pods[:wanted]
        return tuple(self.pods)

    def pod(self, name: str) -> dict[str, Any]:
        """A pod of the Deployment, ready."""
        assert self._deployment is not None
        labels = self._deployment["spec"]["selector"]["matchLabels"]
        ready = {"type": "Ready", "status": "True"}
        return {
            "metadata": {"name": name, "labels": labels},
            "status": {"phase": "Running", "conditions": [ready]},
        }

    def _create(self, obj: Object) -> Object:
        key = str(obj["kind"]), namespace_of(obj), name_of(obj)
        if key in self.stored:
            raise ApiError(409, "AlreadyExists", f"{key} is there")
        self.stored[key] = _copied(obj)
        if obj["kind"] == DEPLOYMENT.kind:
            self._deployment = self.stored[key]
        return obj

    def _stored(self, kind: Kind, namespace: str, name: str) -> dict[str, Any]:
        found = self.at(kind, namespace, name)
        if found is None:
            raise ApiError(404, "NotFound", f"{kind} {namespace}/{name}")
        assert isinstance(found, dict)
        return found


def _merge(target: dict[str, Any], patch: Mapping[str, Any]) -> None:
    for key, value in patch.items():
        if isinstance(value, Mapping):
            _merge(target.setdefault(key, {}), value)
        else:
            target[key] = value


def _copied(obj: Any) -> Any:
    return {k: _copied(v) for k, v in obj.items()} if isinstance(obj, Mapping) else obj
