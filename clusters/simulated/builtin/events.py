"""Events: old ones, which say little, and those with a time, which are complete.

`events.k8s.io/v1` asks more of an Event than `v1` does, where they are stored.
"""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from clusters.simulated.builtin.go_times import in_utc
from clusters.simulated.field_errors import IMMUTABLE, FieldError, required, value_invalid
from clusters.simulated.names import NameCheck, path_segment, qualified_name
from clusters.simulated.strategy import METADATA_FIELDS, FieldOf, Strategy, path_field
from vocabulary.objects import Object, get_path, namespace_of

_FIELDS: Final = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "type",
)
_MAX_NAME: Final = 128
_MAX_MESSAGE: Final = 1024
_FIXED: Final = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "reason",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)
"""The fields that `events.k8s.io/v1` does not let anybody change, as a real server lists them."""
_UNSET: Final = ("firstTimestamp", "lastTimestamp", "count")


class EventStrategy(Strategy):
    """Garbage collection leaves them alone."""

    lists_selectable: ClassVar = False
    default_policy: ClassVar = None
    creates_on_update = True
    short_names = ("ev",)
    selectable: Mapping[str, FieldOf] = {
        **METADATA_FIELDS,
        **{path: path_field(path) for path in _FIELDS},
    }

    @property
    def check_name(self) -> NameCheck:
        return path_segment

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        if obj.get("eventTime"):
            obj["eventTime"] = in_utc(obj["eventTime"])
        series = obj.get("series") or {}
        last = series.get("lastObservedTime")
        if last and in_utc(last) != last:
            obj["series"] = {**series, "lastObservedTime": in_utc(last)}

    def validate(self, obj: Object) -> list[FieldError]:
        return _validate(obj, "reportingComponent")

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.validate(new)


def validate_new(event: Object) -> list[FieldError]:
    """Validate an Event that is created by `events.k8s.io/v1`."""
    errors = _validate(event, "reportingController") + _validate_series(event)
    if not event.get("eventTime"):
        errors.append(required("eventTime"))
    type_ = event.get("type", "")
    if type_ not in ("Normal", "Warning"):
        errors.append(value_invalid("type", "", f"has invalid value: {type_}"))
    source: Object = event.get("source") or {}
    said = [field for field in _UNSET if event.get(field)]
    if source.get("component") or source.get("host"):
        said.append("source")
    return errors + [value_invalid(field, "", "needs to be unset") for field in said]


def validate_changed(new: Object, old: Object) -> list[FieldError]:
    """Validate an Event that is updated by `events.k8s.io/v1`."""
    errors = _validate(new, "reportingController")
    if new.get("series") != old.get("series"):
        errors += _validate_series(new)
    return errors + [
        value_invalid(
            _shown(field), new.get(field, None if field == "eventTime" else ""), IMMUTABLE
        )
        for field in _FIXED
        if (new.get(field) or None) != (old.get(field) or None)
    ]


def _shown(field: str) -> str:
    return "reportingController" if field == "reportingComponent" else field


def _validate(event: Object, controller_field: str) -> list[FieldError]:
    about, own = get_path(event, "involvedObject.namespace") or "", namespace_of(event)
    is_old = not event.get("eventTime")
    if is_old:
        agrees = own == about if about else own == "default"
    else:
        agrees = bool(about) or own in ("default", "kube-system")
    errors = []
    if not agrees:
        because = "does not match event.namespace"
        errors.append(value_invalid("involvedObject.namespace", about, because))
    if is_old:
        return errors
    controller = event.get("reportingComponent") or ""
    if not controller:
        errors.append(required(controller_field))
    errors += [
        value_invalid(controller_field, controller, text) for text in qualified_name(controller)
    ]
    for field in ("reportingInstance", "action", "reason"):
        text = event.get(field) or ""
        if not text:
            errors.append(required(field))
        errors += _validate_length(field, text, _MAX_NAME)
    return errors + _validate_length("message", event.get("message") or "", _MAX_MESSAGE)


def _validate_length(field: str, text: str, limit: int) -> list[FieldError]:
    if len(text.encode()) <= limit:
        return []
    return [value_invalid(field, "", f"can have at most {limit} characters")]


def _validate_series(event: Object) -> list[FieldError]:
    series: Any = event.get("series")
    if series is None:
        return []
    errors = []
    if (series.get("count") or 0) < 2:
        errors.append(value_invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(required("series.lastObservedTime"))
    return errors
