"""Server-side apply, and patches of unknown types."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.plane import WIDGET
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, widget
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT

APPLY: Final = "application/apply-patch+yaml"


def _apply(c: Dialogue, path: str, body: Any, label: str, by: str = "one", **more: Any) -> None:
    force = "&force=true" if more.pop("force", False) else ""
    target = f"{path}?fieldManager={by}{force}"
    c.raw("PATCH", target, body, content_type=APPLY, label=label, **more)


@script("Applying creates an object, changes it, and removes what is no longer applied.", ["4.16"])
def apply_life(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace, "a")
    _apply(c, path, config_map("a", {"k": "1", "l": "1"}), "create")
    _apply(c, path, config_map("a", {"k": "2", "l": "1"}), "change")
    _apply(c, path, config_map("a", {"k": "2", "l": "1"}), "again")
    _apply(c, path, config_map("a", {"k": "2"}), "remove")
    _apply(c, path, config_map("a", labels={"x": "y"}), "remove all data")
    _apply(c, WIDGET.path(c.namespace, "w"), widget("w", "large"), "create a custom resource")
    _apply(c, WIDGET.path(c.namespace, "w"), widget("w", "small"), "change it")


@script("What another manager applied conflicts, unless it is the same or forced.", ["4.16"])
def apply_conflicts(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace, "a")
    _apply(c, path, config_map("a", {"k": "1"}), "create")
    _apply(c, path, config_map("a", {"k": "1"}), "the same by another", "two")
    _apply(c, path, config_map("a", {"k": "2"}), "another value by another", "two")
    _apply(c, path, config_map("a", {"k": "2"}), "forced", "two", force=True)
    _apply(c, path, config_map("a", {"k": "1"}), "back by the first")
    _apply(c, path, config_map("a", {"l": "1"}), "leave it to the other")
    c.get(CONFIG_MAP, "a")


@script("Applying needs a manager, the kind and the name of the object.", ["4.16"])
def invalid_applies(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace, "a")
    c.raw("PATCH", path, config_map("a"), content_type=APPLY, label="no manager")
    _apply(c, path, {"metadata": {"name": "a"}}, "no kind")
    _apply(
        c, path, {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}, "another kind"
    )
    _apply(c, path, config_map("b"), "another name")
    _apply(
        c, path, {**config_map("a"), "metadata": {"name": "a", "managedFields": [{}]}}, "managed"
    )
    _apply(c, f"{WIDGET.path(c.namespace, 'none')}/status", widget("none"), "status of nothing")


@script("Lists with keys are merged entry by entry when they are applied.", ["4.16"])
def apply_lists(c: Dialogue) -> None:
    path = DEPLOYMENT.path(c.namespace, "d")

    def deployment(*names: str, **fields: Any) -> dict[str, Any]:
        containers = [{"name": name, "image": f"example.org/{name}", **fields} for name in names]
        labels = {"app": "d"}
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d"},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
            },
        }

    shown = ["spec.template.spec.containers", "spec.replicas"]
    _apply(c, path, deployment("a"), "create", show=shown)
    partial = deployment("b")
    del partial["spec"]["replicas"]
    _apply(c, path, partial, "another container by another", "two", show=shown)
    _apply(c, path, deployment("a", env=[{"name": "E", "value": "1"}]), "a variable", show=shown)
    _apply(c, path, deployment("a"), "without it", show=shown)


@script("Patches of unknown types are refused, with those that the kind takes.", ["4.16"])
def unknown_patch_types(c: Dialogue) -> None:
    c.create(config_map("a"), show=["metadata.name"])
    c.create(widget("w"), show=["metadata.name"])
    for path in (CONFIG_MAP.path(c.namespace, "a"), WIDGET.path(c.namespace, "w")):
        for content_type in (
            "application/json",
            "application/yaml",
            "text/plain",
            "application/strategic-merge-patch+json",
            "application/merge-patch+json; charset=utf-8",
        ):
            c.raw("PATCH", path, {}, content_type=content_type, label=f"{content_type} {path[-1]}")
