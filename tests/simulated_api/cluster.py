"""An API server with nothing around it, and the objects that tests put into it."""

from __future__ import annotations

from typing import Any

from clusters.simulated.api_server import ApiServer
from clusters.simulated.loop import Loop
from clusters.simulated.recorder import Recorder
from clusters.simulated.store import Key, Store
from vocabulary.errors import ApiError
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.objects import Object
from vocabulary.requests import Create, Delete, List, ObjectList, Patch, Request

WIDGET = Kind("test.assay.dev", "v1", "Widget", "widgets")
NAMESPACE = "default"


class Cluster:
    """A cluster to serve: a loop and an API server. `user` sends a request as a user."""

    def __init__(self, seed: int = 1) -> None:
        self.loop = Loop(seed)
        self.store = Store()
        self.recorder = Recorder(self.loop)
        self.api = ApiServer(self.loop, self.store, self.recorder)

    def user(self, request: Request) -> Any:
        return self.api.handle(request, "user")

    def refused(self, request: Request) -> ApiError:
        """The error of a request that must fail."""
        try:
            answer = self.api.handle(request, "user")
        except ApiError as error:
            return error
        raise AssertionError(f"{request} was answered {answer}")

    def create(self, obj: dict[str, Any], kind: Kind) -> Object:
        created: Object = self.user(Create(kind, obj))
        return created

    def get(self, kind: Kind, name: str) -> Object | None:
        return self.store.get(Key(str(kind), NAMESPACE if kind.namespaced else "", name))

    def patch(self, kind: Kind, name: str, body: Any, subresource: str = "", **how: Any) -> Object:
        patched: Object = self.user(
            Patch(kind, NAMESPACE, name, body, subresource=subresource, **how)
        )
        return patched

    def delete(self, kind: Kind, name: str, **how: Any) -> Object:
        deleted: Object = self.user(Delete(kind, NAMESPACE, name, **how))
        return deleted

    def events(self, since: int = 0) -> list[tuple[str, str]]:
        """Changes of the store: event and name."""
        return [(change.event, change.key.name) for change in self.store.changes[since:]]

    def names(self, kind: Kind, **selectors: str) -> list[str]:
        listed: ObjectList = self.user(List(kind, NAMESPACE, **selectors))
        return [obj["metadata"]["name"] for obj in listed.items]

    def install_widgets(self, **spec: Any) -> Object:
        return self.create(widget_definition(**spec), CUSTOM_RESOURCE_DEFINITION)


def config_map(name: str = "c", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE, **metadata},
        "data": {"key": "value"},
    }


def pod(name: str = "p", *, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels or {}},
        "spec": {"containers": [{"name": "main", "image": "x:1"}], **spec},
    }


def job(name: str = "j", **spec: Any) -> dict[str, Any]:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "m", "image": "x:1"}]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"template": template, **spec},
    }


def widget(name: str = "w", spec: dict[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    return {
        "apiVersion": WIDGET.api_version,
        "kind": "Widget",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"size": 1} if spec is None else spec,
        **rest,
    }


WIDGET_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["size"],
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 9},
                "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]+$"},
                "port": {"x-kubernetes-int-or-string": True},
                "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "template": {
                    "type": "object",
                    "x-kubernetes-embedded-resource": True,
                    "x-kubernetes-preserve-unknown-fields": True,
                },
                "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
                "note": {"type": "string", "nullable": True},
                "parts": {
                    "type": "array",
                    "maxItems": 3,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string"},
                            "count": {"type": "integer", "default": 1},
                        },
                    },
                },
                "nested": {
                    "type": "object",
                    "default": {},
                    "properties": {"deep": {"type": "string", "default": "value"}},
                },
                "fixed": {
                    "type": "string",
                    "x-kubernetes-validations": [
                        {"rule": "self == oldSelf", "message": "fixed cannot change"}
                    ],
                },
                "replicas": {"type": "integer"},
            },
        },
        "status": {
            "type": "object",
            "properties": {"phase": {"type": "string"}, "replicas": {"type": "integer"}},
        },
    },
}


def widget_definition(**version: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.test.assay.dev"},
        "spec": {
            "group": WIDGET.group,
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": WIDGET_SCHEMA},
                    "subresources": {
                        "status": {},
                        "scale": {
                            "specReplicasPath": ".spec.replicas",
                            "statusReplicasPath": ".status.replicas",
                        },
                    },
                    "additionalPrinterColumns": [
                        {"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
                        {"name": "Phase", "type": "string", "jsonPath": ".status.phase"},
                    ],
                    **version,
                }
            ],
        },
    }
