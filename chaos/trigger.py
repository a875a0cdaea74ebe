"""When a fault strikes: at a time, at an event at one of six places, or a combination.

    when: {at: 12s}
    when: {object: JobSet/a, condition: Completed}
    when: {after: commit, by: operator, verb: update, kind: Job, name: a,
           field: {status.phase: [Running, Failed]}, occurrence: 1}
    when: {before: delivery, to: operator, kind: Pod, event: deleted}
    when: {all: [running, {at: 30s}]}
    when: {then: [running, {after: commit, kind: Pod, event: created}]}

    when: {injection: 2}

`all` is due when the last of its parts is, `any` when the first is; `then` looks out for
each part only once the one before it was due. A word in place of a mapping names a trigger
of the plan's `triggers`. `object` with a `phase` or a `condition` is short for the commit that
gives the object this phase, or this condition the status True. `injection` stands for what the
scenario's own steps inject, and combines with nothing. This file says what triggers are;
`chaos.trigger_set` watches them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from chaos.choice import KindName, ObjectName, Selector
from chaos.fields import (
    Count,
    PlanError,
    Span,
    Spelling,
    at,
    closest,
    in_full,
    listed,
    mapping,
    read_fields,
    read_value,
    write_fields,
)
from chaos.happening import Place
from vocabulary.clock import format_seconds

ANYTHING: Final = "*"
"""In a field's values: whatever it is, as long as it changed."""

MAX_PARTS: Final = 100
MAX_DEPTH: Final = 16

WriteVerb: TypeAlias = Literal["create", "update", "patch", "delete", "deletecollection"]


class FieldChange(NamedTuple):
    """A field that goes from one value to another; None is absent, `*` is anything."""

    path: str
    steps: tuple[str, ...]
    """The path's steps; one in brackets selects a list's entry by its `type` or `name`."""
    before: Any
    after: Any


def field_change(path: str, after: str) -> FieldChange:
    """A field, such as `status.conditions[Unhealthy].status`, that takes a value."""
    return FieldChange(path, _steps(path), ANYTHING, after)


def _field_changes(data: Any) -> tuple[FieldChange, ...]:
    """`{status.phase: Running}` or `{status.phase: [Running, Resetting]}`; all must hold."""
    changes = []
    for path, values in mapping(data, "field").items():
        if isinstance(values, Mapping) or (isinstance(values, list) and len(values) != 2):
            raise ValueError(f"expected a value of {path}, or a list [from, to]; * is anything")
        before, after = values if isinstance(values, list) else (ANYTHING, values)
        changes.append(FieldChange(path, _steps(path), before, after))
    if not changes:
        raise ValueError("is empty, expected for example {status.phase: Running}")
    return tuple(changes)


def _spelled_changes(changes: Iterable[FieldChange]) -> dict[str, Any]:
    return {
        change.path: change.after if change.before == ANYTHING else [change.before, change.after]
        for change in changes
    }


@dataclass(frozen=True, slots=True)
class At:
    """A time since the run began."""

    at: Span

    def to_data(self) -> dict[str, Any]:
        return write_fields(self)

    def describe(self) -> str:
        return f"at {format_seconds(self.at)}"


@dataclass(frozen=True, slots=True)
class AtInjection:
    """Where the scenario's own steps inject their n-th fault."""

    injection: Count

    def to_data(self) -> dict[str, Any]:
        return write_fields(self)

    def describe(self) -> str:
        return f"where the scenario injects its {_ordinal(self.injection)} fault"


_Point: TypeAlias = Literal["commit", "reply", "delivery"]


@dataclass(frozen=True, slots=True)
class On:
    """The `occurrence`-th event that fits, at one place. Empty criteria fit everything.

    Either `after` or `before` is given. `by` is who wrote; `to` is who watches. These and a
    name may end in `*`. `outcome` is that of the request: done (code < 400), refused, or any.
    """

    after: _Point | None = None
    before: _Point | None = None
    by: str = ""
    to: str = ""
    verb: tuple[WriteVerb, ...] = ()
    event: Literal["", "created", "updated", "deleted"] = ""
    kind: KindName = ""
    name: str = ""
    labels: Selector = ""
    subresource: str | None = None
    field: Annotated[tuple[FieldChange, ...], Spelling(_field_changes, _spelled_changes)] = ()
    outcome: Literal["done", "refused", "any"] = "done"
    occurrence: Count = 1
    delay: Span = 0
    """How much later than the event the trigger is due."""

    @property
    def place(self) -> Place:
        return Place(f"after {self.after}" if self.after else f"before {self.before}")

    def to_data(self) -> dict[str, Any]:
        return write_fields(self)

    def describe(self) -> str:
        what = self._event()
        later = f"{format_seconds(self.delay)} " if self.delay else ""
        match self.place:
            case Place.BEFORE_COMMIT:
                return f"{later}before {what} is committed"
            case Place.AFTER_COMMIT:
                return f"{later}after {what} is {'answered' if self._may_fail else 'committed'}"
            case Place.BEFORE_REPLY:
                return f"{later}before the reply to {what} arrives"
            case Place.AFTER_REPLY:
                return f"{later}after the reply to {what} arrived"
            case Place.BEFORE_DELIVERY:
                return f"{later}before {self.to or 'a watcher'} hears of {what}"
            case Place.AFTER_DELIVERY:
                return f"{later}after {self.to or 'a watcher'} heard of {what}"

    @property
    def _may_fail(self) -> bool:
        return self.outcome != "done"

    def _event(self) -> str:
        nouns = {"created": "creation", "updated": "change", "deleted": "removal"}
        noun = nouns.get(self.event) or (" or ".join(self.verb) if self.verb else "write")
        refused = "refused " if self.outcome == "refused" else ""
        words = [f"the {_ordinal(self.occurrence)} {refused}{noun}"]
        if self.subresource:
            words.append(f"of the {self.subresource}")
        if self.kind or self.name:
            words.append(f"of {' '.join(filter(None, (self.kind or 'an object', self.name)))}")
        if self.labels:
            words.append(f"with labels {self.labels}")
        if self.by:
            words.append(f"by {self.by}")
        if self.field:
            words.append(f"that takes {listed(_change(change) for change in self.field)}")
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Named:
    """A trigger of the plan's `triggers`, by name."""

    name: str

    def to_data(self) -> str:
        return self.name

    def describe(self) -> str:
        return f"when {self.name}"


@dataclass(frozen=True, slots=True)
class Combined:
    """Several triggers: `all` of them, `any` of them, or one `then` the next."""

    how: Literal["all", "any", "then"]
    parts: tuple[Trigger, ...]

    def to_data(self) -> dict[str, Any]:
        return {self.how: [part.to_data() for part in self.parts]}

    def describe(self) -> str:
        parts = [part.describe() for part in self.parts]
        match self.how:
            case "all":
                return f"once all of these: {'; '.join(parts)}"
            case "any":
                return f"at the first of these: {'; '.join(parts)}"
            case "then":
                return ", and then ".join(parts)


Trigger: TypeAlias = At | On | Named | Combined


def trigger_from_data(data: Any, path: str, names: frozenset[str], depth: int = 1) -> Trigger:
    """The trigger that plain data spells; `names` are those it may refer to. PlanError."""
    if isinstance(data, str):
        if data not in names:
            known = ", ".join(sorted(names)) or "none"
            raise PlanError(
                path,
                f"names the trigger {data!r}, which `triggers` does not define (defined: {known})"
                f"{closest(data, sorted(names))}",
            )
        return Named(data)
    spelled = mapping(data, path)
    combined = [how for how in ("all", "any", "then") if how in spelled]
    if combined:
        return _combined(spelled, combined[0], path, names, depth)
    if "at" in spelled:
        return read_fields(At, spelled, path)
    return _on(spelled, path)


def _combined(
    spelled: Mapping[str, Any], how: str, path: str, names: frozenset[str], depth: int
) -> Combined:
    if len(spelled) > 1:
        others = ", ".join(key for key in spelled if key != how)
        raise PlanError(path, f"has {others} beside {how}; put what belongs together in one list")
    here = at(path, how)
    parts = read_value(list[Any], spelled[how], here)
    if not 1 <= len(parts) <= MAX_PARTS:
        raise PlanError(here, f"has {len(parts)} parts, expected from 1 to {MAX_PARTS}")
    if depth > MAX_DEPTH:
        raise PlanError(here, f"is nested deeper than {MAX_DEPTH} levels; name a part of it")
    return Combined(
        how,  # type: ignore[arg-type]  # the caller found it among the three
        tuple(
            trigger_from_data(part, f"{here}[{number}]", names, depth + 1)
            for number, part in enumerate(parts)
        ),
    )


def _on(spelled: Mapping[str, Any], path: str) -> On:
    on = read_fields(On, _in_full(spelled, path), path)
    if (on.after is None) == (on.before is None):
        found = "both" if on.after else "neither"
        raise PlanError(
            path,
            f"has {found} of after and before, expected exactly one, with commit, reply or "
            "delivery; or {at: 12s} for a time",
        )
    is_delivery = "delivery" in (on.after, on.before)
    early = ("is not known before the commit; use verb, or after: commit", on.before == "commit")
    wrong = {
        "event": early,
        "outcome": early,
        "delay": early,
        "by": ("is not known at a delivery; say with `to` who watches", is_delivery),
        "verb": ("is not known at a delivery; use event", is_delivery),
        "to": ("is who watches, at a delivery; say with `by` who writes", not is_delivery),
    }
    for key, (problem, is_wrong) in wrong.items():
        if is_wrong and key in spelled:
            raise PlanError(at(path, key), problem)
    if on.event and on.outcome != "done":
        raise PlanError(at(path, "outcome"), "contradicts event: only what is done has one")
    return on


def _in_full(spelled: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """The mapping with `{object: Job/a, phase: Failed}` as kind, name and change of a field."""
    full = dict(in_full(spelled, "object", path))
    if "object" not in full:
        return spelled
    named = read_value(ObjectName, full.pop("object"), at(path, "object"))
    kind, _, name = named.rpartition("/")
    shown: dict[str, Any] = {"kind": kind, "name": name}
    if "phase" in full:
        shown["field"] = {"status.phase": full.pop("phase")}
    elif "condition" in full:
        wanted = read_value(str | dict[str, Any], full.pop("condition"), at(path, "condition"))
        statuses = {wanted: "True"} if isinstance(wanted, str) else wanted
        shown["field"] = {f"status.conditions[{type_}].status": s for type_, s in statuses.items()}
    for key in shown.keys() & full.keys():
        raise PlanError(at(path, key), "stands beside object, which says it already")
    return {**shown, **full} if "before" in full else {"after": "commit", **shown, **full}


def _steps(path: str) -> tuple[str, ...]:
    """`status.conditions[Unhealthy].status` as `status`, `conditions`, `[Unhealthy]`, `status`."""
    steps: list[str] = []
    for part in path.replace("[", ".[").split("."):
        if not part or part in ("[]", "[") or part.startswith("[") != part.endswith("]"):
            raise ValueError(
                f"{path!r} is not a field's path; write for example status.phase or "
                "status.conditions[Unhealthy].status"
            )
        steps.append(part)
    return tuple(steps)


def _change(change: FieldChange) -> str:
    if change.before == ANYTHING:
        return f"{change.path} to {_value(change.after)}"
    return f"{change.path} from {_value(change.before)} to {_value(change.after)}"


def _value(value: Any) -> str:
    if value is None:
        return "nothing"
    return "anything" if value == ANYTHING else str(value)


def _ordinal(number: int) -> str:
    if number == 1:
        return "first"
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else suffix}"
