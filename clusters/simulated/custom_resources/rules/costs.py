"""The costs that the evaluation of an expression may have, as a real server estimates them.

The estimate is that of Go's library, with what Kubernetes says of its own functions: it decides
which definitions are refused, so that it has to be the same number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from clusters.simulated.custom_resources.rules.rewriting import UNWRAPPED
from clusters.simulated.custom_resources.rules.trees import Tree

_MOST: Final = 2**64 - 1
_OF_LIST: Final = 10
_OF_MAP: Final = 30
_OF_CHARACTER: Final = 0.1
_OF_PATTERN_CHARACTER: Final = 0.25
_LONGEST_FORMAT_PATTERN: Final = 128
_LONGEST_FORMAT: Final = 64
_ACCUMULATOR: Final = "@result"


class Range(NamedTuple):
    """A size or a cost, at least and at most."""

    least: int
    most: int

    def plus(self, other: Range) -> Range:
        return Range(min(self.least + other.least, _MOST), min(self.most + other.most, _MOST))

    def times(self, other: Range) -> Range:
        return Range(min(self.least * other.least, _MOST), min(self.most * other.most, _MOST))

    def by(self, factor: float) -> Range:
        return Range(_scaled(self.least, factor), _scaled(self.most, factor))

    def union(self, other: Range) -> Range:
        return Range(min(self.least, other.least), max(self.most, other.most))


def _scaled(number: int, factor: float) -> int:
    return min(math.ceil(float(number) * factor), _MOST)


_NONE: Final = Range(0, 0)
_ONE: Final = Range(1, 1)
_UNKNOWN: Final = Range(0, _MOST)
_ADDRESS_BYTES: Final = Range(4, 16)


class _Entries(NamedTuple):
    """The sizes of the keys and the values of a list or a map that an expression makes."""

    key: Range
    value: Range


class _Variable(NamedTuple):
    """A variable of a comprehension."""

    path: tuple[str, ...]
    size: Range | None
    entries: _Entries | None = None


SizeAt = Callable[[Sequence[str]], int | None]
"""The path of a part of `self`, or of `oldSelf`, → its largest size; None for an unknown one."""


def estimated(tree: Tree, size_at: SizeAt) -> int:
    """The most that an evaluation costs."""
    return _Estimate(tree, size_at).cost(tree.root).most


class _Estimate:
    def __init__(self, tree: Tree, size_at: SizeAt) -> None:
        self._tree = tree
        self._size_at = size_at
        self._paths: dict[int, tuple[str, ...]] = {}
        self._sizes: dict[int, Range] = {}
        self._entries: dict[int, _Entries] = {}
        self._variables: dict[str, list[_Variable]] = {}

    def cost(self, expr: Any) -> Range:
        kind = expr.WhichOneof("kind")
        if kind == "ident":
            variable = self._variable(expr)
            self._paths[expr.id] = variable.path if variable else (expr.ident.name,)
            return _ONE
        if kind == "select":
            return self._of_select(expr)
        if kind == "call":
            return self._of_call(expr)
        if kind == "list":
            return self._of_list(expr)
        if kind == "struct":
            return self._of_map(expr)
        return self._of_comprehension(expr) if kind == "comprehension" else _NONE

    def _of_select(self, expr: Any) -> Range:
        operand = expr.select.operand
        cost = self.cost(operand)
        if expr.select.is_test:
            return cost
        self._paths[expr.id] = (*self._path(operand), expr.select.field)
        type_ = self._tree.types.get(operand.id)
        kind = None if type_ is None else type_.WhichOneof("kind")
        return cost.plus(_ONE) if kind in ("map", "message", "param") else cost

    def _of_list(self, expr: Any) -> Range:
        cost, size = Range(_OF_LIST, _OF_LIST), None
        for item in expr.list.elements:
            cost = cost.plus(self.cost(item))
            size = _joined(size, self._size(item))
        self._entries[expr.id] = _Entries(_ONE, size or _NONE)
        return cost

    def _of_map(self, expr: Any) -> Range:
        cost, key, value = Range(_OF_MAP, _OF_MAP), None, None
        for entry in expr.struct.entries:
            cost = cost.plus(self.cost(entry.key)).plus(self.cost(entry.value))
            key, value = (
                _joined(key, self._size(entry.key)),
                _joined(value, self._size(entry.value)),
            )
        self._entries[expr.id] = _Entries(key or _NONE, value or _NONE)
        return cost

    def _of_comprehension(self, expr: Any) -> Range:
        loop = expr.comprehension
        if loop.name == UNWRAPPED:
            # So a call was rewritten; its size is not known to a real server.
            return self.cost(loop.range.comprehension.range).plus(_ONE)
        cost = self.cost(loop.range).plus(self.cost(loop.start))
        start = _Variable(self._path(loop.start), self._known(loop.start), self._inner(loop.start))
        self._variables.setdefault(loop.result_name, []).append(start)
        if _is_binding(loop):
            cost = cost.plus(self.cost(loop.result))
            self._variables[loop.result_name].pop()
            self._copy(expr, loop.result)
            return cost
        names = self._bind(loop)
        each = self.cost(loop.condition).plus(self.cost(loop.step))
        for name in names:
            self._variables[name].pop()
        cost = cost.plus(self.cost(loop.result))
        self._variables[loop.result_name].pop()
        count = self._size(loop.range)
        kind = loop.start.WhichOneof("kind")
        if kind == "constant":
            self._set(expr, self._known(loop.start))
        elif kind in ("list", "struct"):
            self._set(expr, count)
            step = self._inner(loop.step)
            if step is not None:
                self._entries[expr.id] = step
        return cost.plus(count.times(each))

    def _bind(self, loop: Any) -> list[str]:
        """Bring the variables of a loop into scope."""
        inner, path = self._inner(loop.range), self._path(loop.range)
        key, value = (inner.key, inner.value) if inner else (None, None)
        is_list = self._tree.type_of(loop.range).startswith("list(")
        keys = _Variable((*path, "@indices" if is_list else "@keys"), key)
        values = _Variable((*path, "@items" if is_list else "@values"), value)
        bound = (
            {loop.name: keys, loop.second_name: values}
            if loop.second_name
            else {loop.name: values if is_list else keys}
        )
        for name, variable in bound.items():
            self._variables.setdefault(name, []).append(variable)
        return list(bound)

    def _of_call(self, expr: Any) -> Range:
        call = expr.call
        arguments = list(call.args)
        costs = [self.cost(each) for each in arguments]
        of_arguments = _NONE
        for cost in costs:
            of_arguments = of_arguments.plus(cost)
        if call.function == "dyn":
            self._copy(expr, arguments[0])
            return _ONE.plus(of_arguments)
        if _is_made_optional(call):
            # So the expression was rewritten; a real server's function returns an optional value.
            self._copy(expr, arguments[0])
            return costs[0]
        overloads = self._tree.overloads.get(expr.id, ())
        if not overloads:
            return _NONE
        before = self.cost(call.target) if call.HasField("target") else _NONE
        total: Range | None = None
        size: Range | None = None
        for overload in overloads:
            one, one_size = self._of_overload(expr, overload, costs, of_arguments)
            total, size = _joined(total, one), _joined(size, one_size)
            if overload in ("index_list", "index_map"):
                inner = self._inner(arguments[0])
                size = inner.value if inner else None
                step = "@items" if overload == "index_list" else "@values"
                self._paths[expr.id] = (*self._path(arguments[0]), step)
            if size is None:
                size = self._known(expr)
        self._set(expr, size)
        return before.plus(total or _NONE)

    def _of_overload(
        self, expr: Any, overload: str, costs: Sequence[Range], of_arguments: Range
    ) -> tuple[Range, Range | None]:
        """The cost of a call, and the size of what it returns."""
        found = self._of_function(expr, overload)
        if found is not None:
            return found[0].plus(of_arguments), found[1]
        arguments, size = expr.call.args, None
        if overload in ("logical_or", "logical_and"):
            return Range(costs[0].least, costs[0].plus(costs[1]).most), None
        if overload == "conditional":
            chosen = self._inner(arguments[1]), self._inner(arguments[2])
            self._set_union(expr, *chosen)
            size = self._size(arguments[1]).union(self._size(arguments[2]))
            return costs[0].plus(costs[1].union(costs[2])), size
        if overload in ("add_string", "add_bytes", "add_list"):
            size = self._size(arguments[0]).plus(self._size(arguments[1]))
            self._set_union(expr, self._inner(arguments[0]), self._inner(arguments[1]))
            cost = _ONE if overload == "add_list" else size.by(_OF_CHARACTER)
            return cost.plus(of_arguments), size
        if overload in _COMPARISONS:
            shorter = min(self._size(each).most for each in arguments)
            return Range(min(shorter, 1), shorter).by(_OF_CHARACTER).plus(of_arguments), None
        return _ONE.plus(of_arguments), None

    def _of_function(self, expr: Any, overload: str) -> tuple[Range, Range | None] | None:
        """The cost of a function that has one of its own, without that of its arguments."""
        call = expr.call
        name = call.function
        size = [self._size(each) for each in call.args]
        target = self._size(call.target) if call.HasField("target") else None
        found = None if target is None else self._of_method(call, overload, target, size)
        if found is not None:
            return found
        if name in _SIMPLE:
            return _ONE, None
        if name in _READING:
            return size[0].by(_OF_CHARACTER * _READING[name]), size[0] if name == "url" else None
        if name in ("containsIP", "containsCIDR"):
            return self._of_containing(call, size[0]), None
        if name == "validate":
            factor = _LONGEST_FORMAT_PATTERN * _OF_PATTERN_CHARACTER
            return size[0].by(_OF_CHARACTER).by(factor), None
        if name == "_==_":
            return self._of_equality(call)
        if overload in ("starts_with_string", "ends_with_string"):
            return size[0].by(_OF_CHARACTER), None
        if overload == "in_list":
            return size[1], None
        if name in ("string", "bytes"):
            return self._of_conversion(name, self._tree.type_of(call.args[0]), size[0])
        if name == "strings.quote":
            return size[0].by(_OF_CHARACTER), Range(size[0].least + 2, size[0].most * 2 + 2)
        if name.startswith("sets."):
            factor = 2 if name == "sets.equivalent" else 1
            return size[0].times(size[1]).by(factor).plus(_ONE), None
        return self._of_list_function(call, target, size)

    def _of_method(
        self, call: Any, overload: str, target: Range, size: Sequence[Range]
    ) -> tuple[Range, Range | None] | None:
        """The cost of a method that depends on how large the value is that it is called on."""
        name = call.function
        if name == "ip":
            return _ONE, None
        if name in ("isSorted", "sum", "min", "max", "indexOf", "lastIndexOf"):
            return self._of_search(call.target, target), None
        if name in ("lowerAscii", "upperAscii", "substring", "trim"):
            return target.by(_OF_CHARACTER), target
        if name == "replace":
            return target.by(2 * _OF_CHARACTER), _replaced(target, size[0], size[1])
        if name == "split":
            parts = target.most if len(size) == 1 else _number(call.args[1], target.most)
            return target.by(2 * _OF_CHARACTER), Range(0, parts)
        if name == "join":
            joined = target.times(self._size_of_items(call.target))
            if size:
                joined = joined.plus(
                    size[0].times(Range(max(target.least - 1, 0), max(target.most - 1, 0)))
                )
            return joined.by(_OF_CHARACTER), joined
        if name in ("find", "findAll"):
            return _of_pattern(target, size[0]), Range(0, target.most)
        if overload == "matches_string":
            return _of_pattern(target, size[0]), None
        if overload == "contains_string":
            return target.by(_OF_CHARACTER).times(size[0].by(_OF_CHARACTER)), None
        if name == "format":
            return target.by(_OF_CHARACTER), None
        return None

    def _of_list_function(
        self, call: Any, target: Range | None, size: Sequence[Range]
    ) -> tuple[Range, Range] | None:
        """The cost of a function that makes a list."""
        name, factor = call.function, 1.0
        if name == "lists.range":
            made = _fixed(_number(call.args[0], _MOST))
        elif target is None or not self._tree.type_of(call.target).startswith("list("):
            return None
        elif name == "slice":
            begin, end = _number(call.args[0], 0), _number(call.args[1], target.most)
            made = _fixed((end - begin) % 2**64)
        elif name == "reverse":
            made = target
        elif name == "flatten":
            factor, made = float(_number(call.args[0], _MOST) if size else 1), target
        elif name == "distinct":
            factor, made = 2.0, target.times(target)
        elif name in ("sort", "@sortByAssociatedKeys"):
            sorted_, length = (call.target, target) if name == "sort" else (call.args[0], size[0])
            of_texts = self._tree.type_of(sorted_) in ("list(string)", "list(bytes)")
            factor, made = 2.0 + (_OF_CHARACTER if of_texts else 0), length.times(length)
        else:
            return None
        return made.by(factor).plus(_ONE).plus(_fixed(_OF_LIST)), made

    def _of_conversion(self, name: str, from_: str, size: Range) -> tuple[Range, Range] | None:
        cost = size.by(_OF_CHARACTER)
        if name == "string" and from_ in ("bytes", "dyn"):
            return cost.union(_ONE) if from_ == "dyn" else cost, Range(size.least // 4, size.most)
        if name == "bytes" and from_ in ("string", "dyn"):
            return cost, Range(size.least, size.most * 4 % 2**64)
        return None

    def _of_search(self, target: Any, size: Range) -> Range:
        type_ = self._tree.type_of(target)
        if not type_.startswith("list("):
            return size.by(_OF_CHARACTER)
        of_texts = type_ in ("list(string)", "list(bytes)")
        each = self._size_of_items(target).by(_OF_CHARACTER) if of_texts else _NONE
        return size.times(_ONE.plus(each))

    def _size_of_items(self, target: Any) -> Range:
        path = self._path(target)
        if not path or path[0] == _ACCUMULATOR:
            return _UNKNOWN
        most = self._size_at((*path, "@items"))
        return _UNKNOWN if most is None else Range(0, most)

    def _of_containing(self, call: Any, size: Range) -> Range:
        cost = _ADDRESS_BYTES.plus(_ADDRESS_BYTES).by(_OF_CHARACTER)
        if call.function == "containsCIDR":
            cost = cost.plus(_ADDRESS_BYTES.by(_OF_CHARACTER)).plus(_ONE)
        if self._tree.type_of(call.args[0]) == "string":
            cost = cost.plus(size.by(_OF_CHARACTER))
        return cost

    def _of_equality(self, call: Any) -> tuple[Range, None] | None:
        """The cost of comparing two values of Kubernetes' types."""
        one, other = (self._tree.type_of(each) for each in call.args)
        if one != other or not one.startswith(("kubernetes.", "net.")):
            return None
        if one == "kubernetes.NamedFormat":
            return Range(1, _LONGEST_FORMAT).by(_OF_CHARACTER), None
        if one == "kubernetes.URL":
            known = self._known(call.args[1])
            return Range(1, known.most if known else 1).by(_OF_CHARACTER), None
        return _ONE, None

    def _variable(self, expr: Any) -> _Variable | None:
        stack = self._variables.get(expr.ident.name) if expr.HasField("ident") else None
        return stack[-1] if stack else None

    def _path(self, expr: Any) -> tuple[str, ...]:
        variable = self._variable(expr)
        return variable.path if variable else self._paths.get(expr.id, ())

    def _size(self, expr: Any) -> Range:
        return self._known(expr) or _UNKNOWN

    def _known(self, expr: Any) -> Range | None:
        """The size of an expression's value; None for one that is not known."""
        if expr.id in self._sizes:
            return self._sizes[expr.id]
        kind = expr.WhichOneof("kind")
        if kind == "constant":
            constant = expr.constant
            text = constant.string if constant.HasField("string") else constant.bytes
            is_text = constant.WhichOneof("kind") in ("string", "bytes")
            return _fixed(len(text) if is_text else 1)
        if kind == "list":
            return _fixed(len(expr.list.elements))
        if kind == "struct":
            return _fixed(len(expr.struct.entries))
        path = self._path(expr)
        most = self._size_at(path) if path else None
        if most is not None:
            self._sizes[expr.id] = Range(0, most)
            return self._sizes[expr.id]
        type_ = self._tree.type_of(expr)
        if type_.removeprefix("optional_type(").removesuffix(")") in _SCALARS:
            return _ONE
        variable = self._variable(expr)
        return variable.size if variable else None

    def _inner(self, expr: Any) -> _Entries | None:
        if expr.id in self._entries:
            return self._entries[expr.id]
        variable = self._variable(expr)
        return variable.entries if variable else None

    def _set(self, expr: Any, size: Range | None) -> None:
        if size is not None:
            self._sizes[expr.id] = size

    def _set_union(self, expr: Any, one: _Entries | None, other: _Entries | None) -> None:
        if one is not None and other is not None:
            self._entries[expr.id] = _Entries(
                one.key.union(other.key), one.value.union(other.value)
            )

    def _copy(self, expr: Any, source: Any) -> None:
        self._set(expr, self._known(source))
        inner = self._inner(source)
        if inner is not None:
            self._entries[expr.id] = inner


def _joined(one: Range | None, other: Range | None) -> Range | None:
    if one is None or other is None:
        return one or other
    return one.union(other)


def _fixed(number: int) -> Range:
    return Range(number, number)


def _number(expr: Any, otherwise: int) -> int:
    return expr.constant.int if expr.constant.HasField("int") else otherwise


def _is_binding(loop: Any) -> bool:
    """True for a comprehension that only gives a value a name."""
    return (
        loop.range.HasField("list")
        and not loop.range.list.elements
        and loop.condition.constant.HasField("bool")
        and not loop.condition.constant.bool
        and loop.result_name != _ACCUMULATOR
    )


def _is_made_optional(call: Any) -> bool:
    return call.function == "_[?_]" and call.args[0].call.function in ("validate", "format.named")


def _of_pattern(text: Range, pattern: Range) -> Range:
    return text.plus(_ONE).by(_OF_CHARACTER).times(pattern.by(_OF_PATTERN_CHARACTER))


def _replaced(text: Range, old: Range, new: Range) -> Range:
    """The size of a text after replacements."""
    least, most = _NONE, _NONE
    if old.least == 0:
        most = Range(min(text.most + 1, _MOST), text.most)
    elif new.most <= old.least:
        most = Range(0, text.most)
    else:
        most = Range(math.ceil(text.most / old.least), 0)
    if old.most == 0:
        least = Range(min(text.least + 1, _MOST), text.least)
    elif old.most <= new.least:
        least = Range(0, text.least)
    else:
        least = Range(math.ceil(text.least / old.most), 0)
    return Range(least[0], most[0]).times(new).plus(Range(least[1], most[1]))


_COMPARISONS: Final = frozenset(
    (
        *("equals", "not_equals"),
        *(
            f"{how}_{of}"
            for how in ("less", "greater", "less_equals", "greater_equals")
            for of in ("string", "bytes")
        ),
    )
)
_SCALARS: Final = frozenset(("bool", "double", "duration", "int", "timestamp", "uint"))
_READING: Final[Mapping[str, int]] = {
    **dict.fromkeys(("url", "cidr", "isIP", "isCIDR", "ip", "quantity", "isQuantity"), 1),
    **dict.fromkeys(("semver", "isSemver"), 1),
    "ip.isCanonical": 2,
}
"""Functions that read a text, and how often they do."""
_SIMPLE: Final = frozenset(
    (
        *("masked", "prefixLength", "family", "isUnspecified", "isLoopback"),
        *("isLinkLocalMulticast", "isLinkLocalUnicast", "isGlobalUnicast", "format.named"),
        *("sign", "asInteger", "isInteger", "asApproximateFloat", "isGreaterThan", "isLessThan"),
        *("compareTo", "add", "sub", "major", "minor", "patch"),
        *("getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"),
    )
)
