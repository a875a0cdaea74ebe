"""Expressions: compiled once, evaluated with `self` and `oldSelf`.

Each is compiled twice: by a checker that knows the types of the schema, which refuses what a real
server refuses, and for evaluation with values as they are in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from cel_expr_python import cel
from google.protobuf import descriptor_pool

from clusters.simulated.custom_resources.rules import (
    costs,
    library,
    rewriting,
    trees,
    validators,
    words,
)
from clusters.simulated.custom_resources.rules.declarations import Declared
from clusters.simulated.custom_resources.rules.library.lists import searches
from clusters.simulated.custom_resources.rules.library.numbers import comparisons

_LIBRARIES: Final = """
extensions:
- name: strings
  version: 2
- name: optional
- name: sets
- name: lists
- name: two-var-comprehensions
"""
_WITHOUT_STRING: Final = """
stdlib:
  exclude_functions:
  - name: string
"""
"""The checker's `string` is declared with those of Kubernetes' types."""
_SELF, _OLD, _OLD_OR_NONE = "self", "oldSelf", "__old_self_or_none__"
_OPTIONAL_OLD: Final = (
    f"[{_OLD_OR_NONE}.size() > 0 ? optional.of({_OLD_OR_NONE}[0]) : optional.none()].map({_OLD}, (",
    "\n))[0]",
)
"""The text around an expression that makes its `oldSelf` optional; no variable can be."""


_CONVERSIONS: Final = frozenset(("bool", "double", "int", "string", "uint"))


class CompilationError(Exception):
    """An expression that does not compile; the message is a real server's."""


class EvaluationError(Exception):
    """An expression that has no value for these objects."""


@dataclass(frozen=True, slots=True)
class Expression:
    """One compiled expression."""

    text: str
    uses_old: bool
    """True if it asks for `oldSelf`."""
    takes_optional: bool
    cost: int
    """The most that an evaluation costs, as a real server estimates it."""
    _program: cel.Expression

    def value(self, self_value: Any, old_value: Any, *, has_old: bool) -> Any:
        """The value that it has; EvaluationError if it has none."""
        data = {_SELF: self_value, _OLD: old_value}
        if self.takes_optional:
            data = {_SELF: self_value, _OLD_OR_NONE: [old_value] if has_old else []}
        return evaluated(self._program, data)


def evaluated(program: cel.Expression, data: Mapping[str, Any]) -> Any:
    """The value of a compiled expression; EvaluationError if it has none."""
    try:
        found = program.eval(data=data)
    except (RuntimeError, TypeError, ValueError) as error:
        raise EvaluationError(words.of_evaluation(str(error))) from error
    if found.type() == cel.Type.ERROR:
        raise EvaluationError(words.of_evaluation(str(found.value())))
    return found.value()


class Checker:
    """Compiles the expressions of one part of a schema."""

    def __init__(
        self, declared: Declared, pool: descriptor_pool.DescriptorPool, size_at: costs.SizeAt
    ) -> None:
        self._type = declared.cel_type()
        self._pool = pool
        self._size_at = size_at
        self._environments: dict[str, cel.Env] = {}

    def rule(self, text: str, *, takes_optional: bool) -> Expression:
        """A rule, which is true or false. CompilationError, also for any other type."""
        complaint = "cel expression must evaluate to a bool"
        return self._expression(text, cel.Type.BOOL, complaint, takes_optional=takes_optional)

    def message(self, text: str, *, takes_optional: bool) -> Expression:
        """A messageExpression, which is a text."""
        complaint = "messageExpression must evaluate to a string"
        return self._expression(text, cel.Type.STRING, complaint, takes_optional=takes_optional)

    def _expression(
        self, text: str, type_: cel.Type, complaint: str, *, takes_optional: bool
    ) -> Expression:
        before, after = _OPTIONAL_OLD if takes_optional else ("", "")
        known = self._environment(_OLD_OR_NONE if takes_optional else _OLD)
        found = compiled(known, text, before, after)
        if found.type != type_:
            raise CompilationError(complaint)
        tree = _inner(found.tree) if takes_optional else found.tree
        uses_old = any(part.ident.name == _OLD for part in trees.parts(tree.root))
        program = for_evaluation(_evaluation(), f"{before}{text}{after}")
        _convert_constants(tree)
        cost = costs.estimated(tree, self._size_at)
        return Expression(text, uses_old, takes_optional, cost, program)

    def _environment(self, old: str) -> cel.Env:
        """The one with `self` and a variable of this name for the old value."""
        if old not in self._environments:
            old_type = self._type if old == _OLD else cel.Type.List(self._type)
            variables = {_SELF: self._type, old: old_type}
            self._environments[old] = environment(variables, self._pool, checked=True)
        return self._environments[old]


def _inner(tree: trees.Tree) -> trees.Tree:
    """The tree of the expression within `_OPTIONAL_OLD`."""
    loop = tree.root.call.args[0].comprehension
    return replace(tree, root=loop.step.call.args[1].list.elements[0])


def _convert_constants(tree: trees.Tree) -> None:
    """Convert what a real server converts before an evaluation; CompilationError if that fails."""
    for part in trees.parts(tree.root):
        call = part.call
        if call.function not in _CONVERSIONS or len(call.args) != 1:
            continue
        literal = trees.literal(call.args[0])
        if literal:
            program = for_evaluation(_evaluation(), f"{call.function}({literal})")
            try:
                evaluated(program, {})
            except EvaluationError as error:
                raise CompilationError(f"program instantiation failed: {error}") from error


@cache
def _evaluation() -> cel.Env:
    dyn = dict.fromkeys((_SELF, _OLD, _OLD_OR_NONE), cel.Type.DYN)
    return environment(dyn, None, checked=False)


def environment(
    variables: Mapping[str, cel.Type], pool: descriptor_pool.DescriptorPool | None, *, checked: bool
) -> cel.Env:
    """An environment with Kubernetes' libraries: that of a checker, or one for evaluations."""
    return cel.NewEnv(
        pool,
        config=cel.NewEnvConfigFromYaml(_LIBRARIES + (_WITHOUT_STRING if checked else "")),
        variables=variables,
        extensions=[searches(), *((comparisons(),) if checked else ())],
        functions=library.functions(checked=checked),
    )


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression that the checker has accepted."""

    type: cel.Type
    tree: trees.Tree


def compiled(known: cel.Env, text: str, before: str = "", after: str = "") -> Compiled:
    """The expression, compiled; CompilationError, in a real server's words, if it does not.

    Errors show the expression without the text before and after it.
    """
    whole = f"{before}{rewriting.for_checker(text)}{after}"
    try:
        found = known.compile(whole)
    except RuntimeError as error:
        said = words.of_compilation(_about_operands(known, whole, str(error)), whole)
    else:
        tree = trees.checked(found.serialize())
        said = validators.complaints(tree, whole)
        if not said:
            return Compiled(found.return_type(), tree)
    raise CompilationError(
        f"compilation failed: {rewriting.as_written(said, text, before=len(before))}"
    )


_OPERANDS: Final = re.compile(
    r"ERROR: <input>:(\d+):(\d+): found no matching overload for '_(?:&&|\|\|)_' "
    r"applied to '\((.*)\)'.*\n \| .*\n \| .*\^"
)


def _about_operands(known: cel.Env, whole: str, said: str) -> str:
    """The errors of the library, those about `&&` and `||` each about the wrong operand."""
    if not _OPERANDS.search(said):
        return said
    tree = trees.parsed(known.compile(whole, disable_check=True).serialize())
    starts = [0, *(found.end() for found in re.finditer("\n", whole))]

    def replaced(found: re.Match[str]) -> str:
        at = starts[int(found[1]) - 1] + int(found[2]) - 1
        return validators.operand_complaints(tree, whole, at, words.types_in(found[3])) or found[0]

    return _OPERANDS.sub(replaced, said)


def for_evaluation(known: cel.Env, text: str) -> cel.Expression:
    """An expression that compiles, without the types of a checker, which would forbid more."""
    return known.compile(rewriting.for_evaluation(text), disable_check=True)
