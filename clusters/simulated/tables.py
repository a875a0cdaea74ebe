"""Tables: how `kubectl get` shows objects. The server decides the columns and fills them in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from clusters.simulated.custom_resources.json_path import Find, as_decoded, parse_json_path
from clusters.simulated.custom_resources.strategy import CustomResourceStrategy
from clusters.simulated.strategy import Strategy
from clusters.simulated.table_cells import CELLS, age
from vocabulary.canonical import encode
from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.kinds import EVENT, POD, Kind
from vocabulary.objects import Object, get_path, meta, name_of

Cell = Callable[[Object, Micros], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """One column; those of a priority above 0 are shown by `-o wide` only."""

    name: str
    cell: Cell
    type: str = "string"
    format: str = ""
    priority: int = 0

    def definition(self) -> dict[str, Any]:
        """The column as a Table declares it."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        }


def _name(obj: Object, now_us: Micros) -> str:  # noqa: ARG001
    return name_of(obj)


def _age(obj: Object, now_us: Micros) -> str:
    return age(meta(obj).get("creationTimestamp"), now_us)


def _created(obj: Object, now_us: Micros) -> str:  # noqa: ARG001
    return str(meta(obj).get("creationTimestamp", ""))


NAME: Final = Column("Name", _name, format="name")
AGE: Final = Column("Age", _age)
_CUSTOM_AGE: Final = Column("Age", _age, "date")
_CREATED: Final = Column("Created At", _created, "date")


def columns_of(strategy: Strategy, version: str) -> Sequence[Column]:
    """The columns of a kind: its own, or name and age."""
    cells = CELLS.get(str(strategy.kind))
    if cells is not None:
        shown = [
            Column(
                title,
                cell,
                _type_of(str(strategy.kind), title),
                format="name" if title == "Name" else "",
                priority=priority,
            )
            for title, cell, priority in cells
        ]
        return shown if strategy.kind == EVENT else [NAME, *shown]
    if isinstance(strategy, CustomResourceStrategy):
        declared = strategy.columns.get(version) or ()
        if declared:
            return [NAME, *_declared_columns(declared)]
        return [NAME, _CUSTOM_AGE]
    # Few clusters serve the kinds whose columns these are.
    from clusters.simulated.further_columns import COLUMNS

    return COLUMNS.get(str(strategy.kind)) or [NAME, _CREATED]


_TYPES: Final[Mapping[tuple[str, str], str]] = {
    ("ReplicaSet.apps", "Desired"): "integer",
    ("ReplicaSet.apps", "Current"): "integer",
    ("ReplicaSet.apps", "Ready"): "integer",
    ("PriorityClass.scheduling.k8s.io", "Value"): "integer",
    ("MutatingWebhookConfiguration.admissionregistration.k8s.io", "Webhooks"): "integer",
    ("ValidatingWebhookConfiguration.admissionregistration.k8s.io", "Webhooks"): "integer",
    ("PriorityClass.scheduling.k8s.io", "Global-Default"): "boolean",
}
_ENDED: Final = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


def _type_of(kind: str, title: str) -> str:
    """The type that a column declares; also of most counts it is a text."""
    return _TYPES.get((kind, title), "string")


def table(
    kind: Kind,
    strategy: Strategy,
    items: Sequence[Object],
    now_us: Micros,
    *,
    include: str = "Metadata",
    list_metadata: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The objects as a meta.k8s.io/v1 Table; `include` is Metadata, Object or None."""
    columns = columns_of(strategy, kind.version)
    rows = []
    for obj in items:
        row: dict[str, Any] = {"cells": [column.cell(obj, now_us) for column in columns]}
        phase = get_path(obj, "status.phase") if kind == POD else ""
        if phase in _ENDED:
            # What `kubectl get --watch` goes by to leave ended pods out.
            message = _ENDED[phase]
            row["conditions"] = [
                {"type": "Completed", "status": "True", "reason": phase, "message": message}
            ]
        if include == "Object":
            row["object"] = obj
        elif include == "None":
            row["object"] = None
        else:
            row["object"] = {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": obj["metadata"],
            }
        rows.append(row)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": dict(list_metadata or {}),
        "columnDefinitions": [column.definition() for column in columns],
        "rows": rows,
    }


def _declared_columns(declared: Iterable[Object]) -> Iterator[Column]:
    """The columns that a CustomResourceDefinition declares, up to the first whose path cannot be
    read, as a real server shows them."""
    for each in declared:
        try:
            find = parse_json_path(each["jsonPath"])
        except ValueError:
            return
        type_ = each.get("type", "string")
        yield Column(
            each["name"],
            partial(_found_cell, find, type_),
            type_,
            each.get("format", ""),
            each.get("priority", 0),
        )


def _found_cell(find: Find, type_: str, obj: Object, now_us: Micros) -> Any:
    found = find(obj)
    if not found:
        return None
    (value,) = as_decoded(found[:1])
    if type_ == "string":
        return _text(value)
    if type_ == "date":
        if not isinstance(value, str):
            return None
        return age(value, now_us) if not value or _is_time(value) else "<invalid>"
    if isinstance(value, bool) or type_ == "boolean":
        return value if isinstance(value, bool) and type_ == "boolean" else None
    if not isinstance(value, int | float):
        return None
    return int(value) if type_ == "integer" else float(value)


def _text(value: Any) -> str:
    if value is None:
        return "<no value>"
    return value if isinstance(value, str) else encode(value).decode()


def _is_time(value: Any) -> bool:
    try:
        parse_rfc3339(str(value))
    except ValueError:
        return False
    return True
