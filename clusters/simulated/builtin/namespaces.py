"""Namespaces: they are emptied, by a controller, before they go."""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from clusters.simulated.field_errors import FieldError, value_invalid
from clusters.simulated.names import NameCheck, dns_label, qualified_name
from clusters.simulated.object_meta import validate_finalizer_qualified
from clusters.simulated.strategy import FieldOf, Strategy, path_field
from vocabulary.clock import Micros
from vocabulary.objects import Object, name_of

NAME_LABEL: Final = "kubernetes.io/metadata.name"


class NamespaceStrategy(Strategy):
    verbs: ClassVar = ("create", "delete", "get", "list", "patch", "update", "watch")
    lists_selectable: ClassVar = False
    subresources = frozenset({"status", "finalize"})
    returns_deleted = True
    short_names = ("ns",)
    selectable: Mapping[str, FieldOf] = {
        "metadata.name": name_of,
        "status.phase": path_field("status.phase"),
    }

    @property
    def check_name(self) -> NameCheck:
        return dns_label

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        metadata = obj["metadata"]
        if metadata.get("name"):
            labels = metadata.get("labels") or {}
            if labels.get(NAME_LABEL) != metadata["name"]:
                metadata["labels"] = {**labels, NAME_LABEL: metadata["name"]}

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        self.default(obj, None)
        finalizers = list((obj.get("spec") or {}).get("finalizers") or ())
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")
        obj["spec"] = {"finalizers": finalizers}
        obj["status"] = {"phase": "Active"}

    def prepare_for_update(self, new: dict[str, Any], old: Object) -> None:
        super().prepare_for_update(new, old)
        new["spec"] = old.get("spec") or {}

    def validate(self, obj: Object) -> list[FieldError]:
        return _validate_finalizers(obj, "spec.finalizers")

    def validate_finalize(self, new: Object) -> list[FieldError]:
        return _validate_finalizers(new, "spec.finalizers[{}]")

    def begin_deletion(self, marked: dict[str, Any], now_us: Micros) -> bool:
        marked["status"] = {**(marked.get("status") or {}), "phase": "Terminating"}
        return True

    def is_final(self, obj: Object) -> bool:
        return not (obj.get("spec") or {}).get("finalizers")


def _validate_finalizers(obj: Object, path: str) -> list[FieldError]:
    return [
        error
        for position, finalizer in enumerate((obj.get("spec") or {}).get("finalizers") or ())
        for error in (
            *(
                value_invalid(path.format(position), finalizer, text)
                for text in qualified_name(finalizer)
            ),
            *validate_finalizer_qualified(finalizer, path.format(position)),
        )
    ]
