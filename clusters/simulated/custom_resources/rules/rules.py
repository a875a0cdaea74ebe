"""The rules of a whole schema: what is wrong with them, and what they say of an object.

As on a real server, a rule that names `oldSelf` is evaluated only where there is an old value to
compare with, and any other rule is no error where an update leaves the value as it was. A rule that
has no value for an object is an error, never a pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from google.protobuf import descriptor_pool

from clusters.simulated.custom_resources.flaws import ABSENT
from clusters.simulated.custom_resources.keyed_lists import by_key, key_of, map_keys
from clusters.simulated.custom_resources.rules import sizes
from clusters.simulated.custom_resources.rules.declarations import (
    Declarations,
    Declared,
    names_in,
)
from clusters.simulated.custom_resources.rules.expressions import (
    Checker,
    CompilationError,
    EvaluationError,
    Expression,
)
from clusters.simulated.custom_resources.rules.limits import Budget
from clusters.simulated.custom_resources.rules.pointing import path_within
from clusters.simulated.custom_resources.rules.values import (
    Adapt,
    Align,
    adapter,
    aligner,
)
from clusters.simulated.field_errors import (
    FieldError,
    forbidden,
    not_supported,
    required,
    value_invalid,
)

KEY: Final = "x-kubernetes-validations"
_REASONS: Final = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_SCHEMA: Final = "<schema>"
_MAX_MESSAGE_BYTES: Final = 5 * 1024
_IMMUTABLE: Final = re.compile(r"\s*(self\s*==\s*oldSelf|oldSelf\s*==\s*self)\s*")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, compiled."""

    expression: Expression
    message: str
    message_expression: Expression | None
    reason: str
    field_path: str
    """The field below the rule's own that a refusal names; empty for its own."""
    is_immutability: bool
    """True for `self == oldSelf`, which most rules are: an unchanged value need not be shown."""


@dataclass(slots=True)
class Node:
    """A part of a schema with rules, or with parts that have some."""

    type: str
    rules: tuple[Rule, ...] = ()
    adapt: Adapt | None = None
    align: Align | None = None
    properties: Mapping[str, Node] | None = None
    extra: Node | None = None
    items: Node | None = None
    keys: tuple[str, ...] = ()
    """Of a keyed list: by these its entries are found in the old one."""
    has_transitions: bool = False
    """True if a rule here or below asks for the old value."""

    def errors(self, value: Any, old: Any, *, unchanged: bool, always: bool) -> list[FieldError]:
        """The errors of a value, below its own path; `old` is ABSENT without one to compare with.

        `unchanged` says that an update left it as it was. Then it has passed all rules without an
        old value, unless these are others now: `always` has them evaluated.
        """
        if value is None or (unchanged and not always and not self.has_transitions):
            return []
        errors = self._own(value, old, unchanged=unchanged, always=always)
        for path, child, before, node in self._children(value, old):
            same = unchanged or (before is not ABSENT and before == child)
            found = node.errors(child, before, unchanged=same, always=always)
            errors += [replace(each, field=f"{path}{each.field}") for each in found]
        return errors

    def _children(self, value: Any, old: Any) -> Iterator[tuple[str, Any, Any, Node]]:
        if isinstance(value, dict) and (self.properties or self.extra):
            before: Mapping[str, Any] = old if isinstance(old, dict) else {}
            named = self.properties or {}
            for field, child in value.items():
                node = named.get(field, self.extra)
                if node is not None:
                    path = f".{field}" if field in named else f"[{field}]"
                    yield path, child, before.get(field, ABSENT), node
        elif isinstance(value, list) and self.items is not None:
            standing = by_key(old, self.keys) if self.keys and isinstance(old, list) else {}
            for position, child in enumerate(value):
                match = standing.get(key_of(child, self.keys), ABSENT) if standing else ABSENT
                yield f"[{position}]", child, match, self.items

    def _own(self, value: Any, old: Any, *, unchanged: bool, always: bool) -> list[FieldError]:
        has_old = old is not ABSENT and old is not None
        due = [
            rule
            for rule in self.rules
            if self._is_due(rule, has_old=has_old, unchanged=unchanged, always=always)
        ]
        if not due:
            return []
        before = self.align(old, value) if has_old and self.align is not None else old
        try:
            seen = value if self.adapt is None else self.adapt(value)
            seen_before = before if self.adapt is None or not has_old else self.adapt(before)
        except ValueError as error:
            return [value_invalid("", self.type, f"{error} evaluating rule: {_named(due[0])}")]
        judge = partial(self._judge, value, seen, seen_before if has_old else None)
        return [
            found
            for rule in due
            if (found := judge(rule, has_old=has_old, unchanged=unchanged)) is not None
        ]

    def _is_due(self, rule: Rule, *, has_old: bool, unchanged: bool, always: bool) -> bool:
        if not rule.expression.uses_old:
            return always or not unchanged
        return (has_old and not (unchanged and rule.is_immutability)) or (
            not has_old and rule.expression.takes_optional
        )

    def _judge(
        self, value: Any, seen: Any, before: Any, rule: Rule, *, has_old: bool, unchanged: bool
    ) -> FieldError | None:
        try:
            verdict = rule.expression.value(seen, before, has_old=has_old)
        except EvaluationError as error:
            return value_invalid("", self.type, _why(str(error), rule))
        if verdict is True or (unchanged and not rule.expression.uses_old):
            return None
        detail = _said(rule, seen, before, has_old=has_old)
        refusal = self._refusal(value, detail, rule.reason)
        return replace(refusal, field=f".{rule.field_path}") if rule.field_path else refusal

    def _refusal(self, value: Any, detail: str, reason: str) -> FieldError:
        is_shown = self.type not in ("object", "array")
        shown = json.dumps(value, ensure_ascii=False) if is_shown else ""
        if reason == "FieldValueForbidden":
            return forbidden("", detail)
        if reason == "FieldValueRequired":
            return required("", detail)
        if reason == "FieldValueDuplicate":
            return FieldError(
                reason, "", f"Duplicate value: {shown}" if shown else "Duplicate value"
            )
        body = f"Invalid value: {shown}: {detail}" if shown else f"Invalid value: {detail}"
        return FieldError("FieldValueInvalid", "", body)


def _named(rule: Rule) -> str:
    return rule.message or rule.expression.text.strip()


def _why(error: str, rule: Rule) -> str:
    if error == "no such overload":
        return (
            f"'{error}': call arguments did not match a supported operator, function or macro "
            f"signature for rule: {_named(rule)}"
        )
    return f"{error} evaluating rule: {_named(rule)}"


def _said(rule: Rule, seen: Any, before: Any, *, has_old: bool) -> str:
    """The message of a broken rule; its own one where the expression for it gives none."""
    if rule.message_expression is not None:
        try:
            said = rule.message_expression.value(seen, before, has_old=has_old).strip()
        except EvaluationError:
            said = ""
        if said and "\n" not in said and len(said.encode()) <= _MAX_MESSAGE_BYTES:
            return str(said)
    return rule.message or f"failed rule: {rule.expression.text.strip()}"


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of a schema."""

    root: Node | None
    """None without any rule."""
    _refusals: tuple[FieldError, ...]

    def refusals(self, path: str) -> list[FieldError]:
        """Why a definition is refused that has this schema at this path."""
        return [
            replace(error, field=f"{path}{error.field}", body=error.body.replace(_SCHEMA, path))
            for error in self._refusals
        ]

    def broken(self, new: Mapping[str, Any], old: Any, *, always: bool) -> list[FieldError]:
        """The errors of an object; `old` is ABSENT for one that is created."""
        if self.root is None:
            return []
        found = self.root.errors(new, old, unchanged=False, always=always)
        return [replace(error, field=error.field.removeprefix(".") or "<nil>") for error in found]


class _Place(NamedTuple):
    """A part of a schema that has rules of its own."""

    node: Node
    schema: Mapping[str, Any]
    path: str
    declared: Declared | None
    uncorrelated: str
    """The path of the list around it whose entries cannot be found in the old one."""
    is_root: bool
    most: int | None
    """The number of values that an object may have there; None without a limit."""

    def size_at(self, path: Sequence[str]) -> int | None:
        """The largest size of a part of its values; the path begins with their variable."""
        part = sizes.at(self.schema, path[1:], is_root=self.is_root)
        return None if part is None else sizes.max_elements(part)

    def total(self, cost: int) -> int:
        """The cost of an expression for all values that an object may have there."""
        if self.most is not None:
            return cost * self.most
        return cost * (sizes.MAX_REQUEST_BYTES // (sizes.min_bytes(self.schema) + 1))


def compile_rules(schema: Mapping[str, Any]) -> Rules:
    """Compile all rules of a version's `openAPIV3Schema`."""
    return _Compiler(schema).rules


class _Compiler:
    """Walks through a schema, and collects what is wrong with its rules."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._errors: list[FieldError] = []
        self._places: list[_Place] = []
        self._mentioned = names_in(_texts(schema))
        self._declarations = Declarations(self._mentioned)
        self._budget = Budget()
        root = self._node(schema, "", "", is_root=True, count=1)
        pool = self._declarations.pool()
        for place in self._places:
            place.node.rules = tuple(self._compiled(place, pool))
        if root is not None:
            _mark_transitions(root)
        self.rules = Rules(root, (*self._errors, *self._budget.errors()))

    def _node(
        self,
        schema: Mapping[str, Any],
        path: str,
        uncorrelated: str,
        *,
        is_root: bool,
        count: int | None,
    ) -> Node | None:
        for place in _quantified(schema, path):
            self._errors.append(forbidden(f"{place}.{KEY}", "must be empty to be structural"))
        node = Node(schema.get("type", ""))
        keys = node.keys = map_keys(schema)
        if KEY in schema:
            declared = self._declarations.declare(schema, is_root=is_root)
            node.adapt = adapter(schema, self._mentioned)
            node.align = aligner(schema)
            self._places.append(_Place(node, schema, path, declared, uncorrelated, is_root, count))
        factor = sizes.max_factor(schema)
        below = None if count is None or factor is None else count * factor
        properties = {
            field: self._child(child, f"{path}.properties[{field}]", uncorrelated, below)
            for field, child in (schema.get("properties") or {}).items()
        }
        node.properties = {field: child for field, child in properties.items() if child is not None}
        extra, items = schema.get("additionalProperties"), schema.get("items")
        if isinstance(extra, Mapping):
            node.extra = self._child(extra, f"{path}.additionalProperties", uncorrelated, below)
        if items:
            node.items = self._child(items, f"{path}.items", uncorrelated if keys else path, below)
        has_any = KEY in schema or node.properties or node.extra or node.items
        return node if has_any else None

    def _child(
        self, schema: Mapping[str, Any], path: str, uncorrelated: str, count: int | None
    ) -> Node | None:
        embedded = bool(schema.get("x-kubernetes-embedded-resource"))
        return self._node(schema, path, uncorrelated, is_root=embedded, count=count)

    def _compiled(self, place: _Place, pool: descriptor_pool.DescriptorPool) -> Iterator[Rule]:
        if place.declared is None:
            because = "unable to convert structural schema to CEL declarations"
            self._errors.append(value_invalid(f"{place.path}.{KEY}", "", because))
            return
        checker = Checker(place.declared, pool, place.size_at)
        for position, given in enumerate(place.schema[KEY]):
            path = f"{place.path}.{KEY}[{position}]"
            flaws = list(_flaws(given, path, place.schema))
            if not flaws:
                try:
                    yield _compiled(given, path, checker, place, self._budget)
                except _RefusedRuleError as refused:
                    flaws = [*refused.args]
            self._errors += flaws


class _RefusedRuleError(Exception):
    """Its arguments are the FieldErrors of the CRD."""


def _compiled(
    given: Mapping[str, Any], path: str, checker: Checker, place: _Place, budget: Budget
) -> Rule:
    takes_optional = bool(given.get("optionalOldSelf"))
    expression = message = None
    errors: list[FieldError] = []
    try:
        expression = checker.rule(given["rule"], takes_optional=takes_optional)
        cost = place.total(expression.cost)
        errors += budget.spend(f"{path}.rule", "estimated rule cost", cost)
        if given.get("messageExpression"):
            message = checker.message(given["messageExpression"], takes_optional=takes_optional)
            name = "estimated messageExpression cost"
            errors += budget.spend(f"{path}.messageExpression", name, message.cost)
    except CompilationError as error:
        of_message = expression is not None
        because, name = str(error), "messageExpression" if of_message else "rule"
        if of_message:
            because = because.replace("compilation failed", f"{name} compilation failed")
            because = because.replace("program instantiation", f"{name} instantiation")
        errors.append(value_invalid(f"{path}.{name}", given, because))
    uses_old = expression is not None and expression.uses_old
    if uses_old and place.uncorrelated:
        because = "oldSelf cannot be used on the uncorrelatable portion of the schema within "
        where = f"{_SCHEMA}{place.uncorrelated}"
        errors.append(value_invalid(f"{path}.rule", given["rule"], because + where))
    if not uses_old and "optionalOldSelf" in given:
        because = "may not be set if oldSelf is not used in rule"
        errors.append(value_invalid(f"{path}.optionalOldSelf", takes_optional, because))
    if expression is None or errors:
        raise _RefusedRuleError(*errors)
    return Rule(
        expression,
        str(given.get("message") or "").strip(),
        message,
        str(given.get("reason") or "FieldValueInvalid"),
        path_within(given.get("fieldPath") or "", place.schema) or "",
        _IMMUTABLE.fullmatch(given["rule"]) is not None,
    )


def _flaws(given: Mapping[str, Any], path: str, schema: Mapping[str, Any]) -> Iterator[FieldError]:
    """The mistakes in a rule of this schema that show before it is compiled."""
    rule, message = str(given.get("rule") or "").strip(), given.get("message") or ""
    if not rule:
        yield required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        yield value_invalid(f"{path}.message", message, "must be non-empty if specified")
    elif "\n" in message.strip():
        yield value_invalid(f"{path}.message", message, "must not contain line breaks")
    elif "\n" in rule and not message.strip():
        yield required(f"{path}.message", "message must be specified if rule contains line breaks")
    if given.get("messageExpression") and not given["messageExpression"].strip():
        because = "messageExpression must be non-empty if specified"
        yield required(f"{path}.messageExpression", because)
    if given.get("reason") is not None and given["reason"] not in _REASONS:
        yield not_supported(f"{path}.reason", given["reason"], _REASONS)
    field_path = given.get("fieldPath") or ""
    if field_path and not field_path.strip():
        yield value_invalid(f"{path}.fieldPath", field_path, "must be non-empty if specified")
    if "\n" in field_path:
        yield value_invalid(f"{path}.fieldPath", field_path, "must not contain line breaks")
    if field_path and path_within(field_path, schema) is None:
        yield value_invalid(f"{path}.fieldPath", field_path, "must be a valid path")


def _quantified(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    """The parts of a schema with rules that only narrow it, in which no rules may stand."""
    for key in ("anyOf", "allOf", "oneOf"):
        for position, part in enumerate(schema.get(key) or ()):
            yield from _ruled(part, f"{path}.{key}[{position}]")
    if schema.get("not"):
        yield from _ruled(schema["not"], f"{path}.not")


def _ruled(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    yield from _quantified(schema, path)
    if schema.get("items"):
        yield from _ruled(schema["items"], f"{path}.items")
    for field, child in (schema.get("properties") or {}).items():
        yield from _ruled(child, f"{path}.properties[{field}]")
    if schema.get(KEY):
        yield path


def _texts(schema: Any) -> Iterator[str]:
    """All expressions in a schema; below lists of schemas (`allOf`) there are none."""
    if not isinstance(schema, Mapping):
        return
    for key, part in schema.items():
        if key == KEY and isinstance(part, list):
            for rule in part:
                yield str(rule.get("rule", ""))
                yield str(rule.get("messageExpression", ""))
        else:
            yield from _texts(part)


def _mark_transitions(node: Node) -> bool:
    children = [*(node.properties or {}).values(), node.extra, node.items]
    below = [child is not None and _mark_transitions(child) for child in children]
    node.has_transitions = any(below) or any(rule.expression.uses_old for rule in node.rules)
    return node.has_transitions
