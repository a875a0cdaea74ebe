"""Mutation operators: the small mistakes that are planted in a program's source.

Each operator takes a node of the syntax tree and gives its wrong replacements. They are the
operators that mutation testing has established (DeMillo, Lipton, Sayward 1978; Offutt 1996):
negated conditions, swapped comparisons and connectives, statements and arguments left out, other
constants. The tree is LibCST's, so what is not mutated stays as it is written.

Messages are left alone: what people read is no decision. Of strings only those that are compared,
and the statuses of conditions, are changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

import libcst as cst

Operator: TypeAlias = Callable[[cst.CSTNode, Sequence[cst.CSTNode]], Iterator[cst.CSTNode]]
"""Takes a node and the nodes around it, the innermost last; yields its replacements."""

_COMPARISONS: Final[dict[type[cst.CSTNode], tuple[Callable[[], cst.BaseCompOp], ...]]] = {
    cst.LessThan: (cst.LessThanEqual, cst.GreaterThan),
    cst.LessThanEqual: (cst.LessThan, cst.GreaterThan),
    cst.GreaterThan: (cst.GreaterThanEqual, cst.LessThan),
    cst.GreaterThanEqual: (cst.GreaterThan, cst.LessThan),
    cst.Equal: (cst.NotEqual,),
    cst.NotEqual: (cst.Equal,),
    cst.Is: (cst.IsNot,),
    cst.IsNot: (cst.Is,),
    cst.In: (cst.NotIn,),
    cst.NotIn: (cst.In,),
}
_ARITHMETIC: Final[dict[type[cst.CSTNode], Callable[[], cst.BaseBinaryOp]]] = {
    cst.Add: cst.Subtract,
    cst.Subtract: cst.Add,
    cst.Multiply: cst.FloorDivide,
    cst.FloorDivide: cst.Multiply,
}
_AUGMENTED: Final[dict[type[cst.CSTNode], Callable[[], cst.BaseAugOp]]] = {
    cst.AddAssign: cst.SubtractAssign,
    cst.SubtractAssign: cst.AddAssign,
}
_CALLS: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
_NAMES: Final = {"True": "False", "False": "True"}
_STATUSES: Final = {'"True"': '"False"', '"False"': '"True"'}


def negate_condition(node: cst.CSTNode, around: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`if a` becomes `if not (a)`; likewise `while`, `elif`, `a if b else c`, guards."""
    parent = around[-1] if around else None
    is_condition = (
        isinstance(parent, cst.If | cst.While | cst.IfExp | cst.CompIf) and parent.test is node
    ) or (isinstance(parent, cst.MatchCase) and parent.guard is node)
    if not is_condition or not isinstance(node, cst.BaseExpression):
        return
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        return  # `remove_not` does the same
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        operator = node.comparisons[0].operator
        if len(_COMPARISONS.get(type(operator), ())) == 1:
            return  # `swap_comparison` does the same
    inner = node
    if not node.lpar:
        inner = node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    yield cst.UnaryOperation(cst.Not(), inner)


def swap_comparison(node: cst.CSTNode, _: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`<` becomes `<=` or `>`, `==` becomes `!=`, `in` becomes `not in`, …"""
    if isinstance(node, cst.ComparisonTarget):
        for other in _COMPARISONS.get(type(node.operator), ()):
            yield node.with_changes(operator=other())


def swap_connective(node: cst.CSTNode, _: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`a and b` becomes `a or b`, and the other way round."""
    if isinstance(node, cst.BooleanOperation):
        before = node.operator
        other = cst.Or if isinstance(before, cst.And) else cst.And
        yield node.with_changes(operator=other(before.whitespace_before, before.whitespace_after))


def drop_operand(node: cst.CSTNode, _: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`a and b` becomes `a`, or `b`; likewise `or`."""
    if isinstance(node, cst.BooleanOperation):
        for kept in (node.left, node.right):
            yield kept.with_changes(lpar=[*node.lpar, *kept.lpar], rpar=[*kept.rpar, *node.rpar])


def remove_not(node: cst.CSTNode, _: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`not a` becomes `a`."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        kept = node.expression
        yield kept.with_changes(lpar=[*node.lpar, *kept.lpar], rpar=[*kept.rpar, *node.rpar])


def drop_statement(node: cst.CSTNode, around: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """A call, a raise, an early return, a later assignment, an `if` or a loop becomes `pass`."""
    if isinstance(node, cst.SimpleStatementLine):
        if len(node.body) == 1 and _is_droppable(node.body[0], node, around):
            yield node.with_changes(body=[cst.Pass()])
    elif isinstance(node, cst.For | cst.While | cst.If):
        if isinstance(node, cst.If) and around and isinstance(around[-1], cst.If):
            return  # an `elif`; that its condition is negated comes to much the same
        yield cst.SimpleStatementLine([cst.Pass()], leading_lines=node.leading_lines)


def _is_droppable(
    statement: cst.BaseSmallStatement,
    line: cst.SimpleStatementLine,
    around: Sequence[cst.CSTNode],
) -> bool:
    match statement:
        case cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString() | cst.Ellipsis()):
            return False
        case cst.Expr() | cst.Raise() | cst.Continue() | cst.Break() | cst.AugAssign():
            return True
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() | cst.Subscript())]):
            return True
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))]):
            # The first one would leave the name unbound, and any test notices that.
            return _is_bound_before(name, line, around)
        case cst.Return():
            return not _is_last(line, around)
    return False


def _is_bound_before(
    name: str, line: cst.SimpleStatementLine, around: Sequence[cst.CSTNode]
) -> bool:
    function = next(
        (found for found in reversed(around) if isinstance(found, cst.FunctionDef)), None
    )
    if function is None:
        return False
    if any(found.name.value == name for found in function.params.params):
        return True
    bound: set[str] = set()
    _bind_until(line, function.body, bound)
    return name in bound


def _bind_until(line: cst.CSTNode, node: cst.CSTNode, bound: set[str]) -> bool:
    """Collect the names that are bound before a statement; True once it was reached."""
    if node is line:
        return True
    match node:
        case cst.AssignTarget(target=target) | cst.For(target=target):
            bound |= set(_names(target))
        case cst.AnnAssign(target=target, value=value) if value is not None:
            bound |= set(_names(target))
    return any(_bind_until(line, child, bound) for child in node.children)


def _names(target: cst.CSTNode) -> Iterator[str]:
    if isinstance(target, cst.Name):
        yield target.value
    elif isinstance(target, cst.Tuple):
        for element in target.elements:
            yield from _names(element.value)


def _is_last(line: cst.SimpleStatementLine, around: Sequence[cst.CSTNode]) -> bool:
    """True if a return ends its function: then `return_none` does the same."""
    return (
        len(around) >= 2
        and isinstance(around[-1], cst.IndentedBlock)
        and isinstance(around[-2], cst.FunctionDef)
        and around[-1].body[-1] is line
    )


def return_other(node: cst.CSTNode, around: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`return x` becomes `return None`; where a bool is promised, `True` and `False`."""
    if not isinstance(node, cst.Return) or node.value is None:
        return
    function = next(
        (found for found in reversed(around) if isinstance(found, cst.FunctionDef)), None
    )
    promised = function.returns.annotation if function and function.returns else None
    is_bool = isinstance(promised, cst.Name) and promised.value == "bool"
    for name in ("True", "False") if is_bool else ("None",):
        if not (isinstance(node.value, cst.Name) and node.value.value in (*_NAMES, "None")):
            yield node.with_changes(
                value=cst.Name(name), whitespace_after_return=cst.SimpleWhitespace(" ")
            )


def change_constant(node: cst.CSTNode, around: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """A number becomes one more or one less, `True` becomes `False`; a compared string another."""
    parent = around[-1] if around else None
    match node:
        case cst.Integer():
            for other in (node.evaluated_value + 1, node.evaluated_value - 1):
                if other >= 0:
                    yield node.with_changes(value=str(other))
        case cst.Float():
            yield node.with_changes(value=repr(node.evaluated_value * 2))
        case cst.Name(value=name) if name in _NAMES and not isinstance(parent, cst.Attribute):
            yield node.with_changes(value=_NAMES[name])
        case cst.SimpleString(value=text) if text in _STATUSES:
            yield node.with_changes(value=_STATUSES[text])
        case cst.SimpleString() if isinstance(
            parent, cst.Comparison | cst.ComparisonTarget | cst.MatchValue
        ):
            yield node.with_changes(value=repr(f"not {node.raw_value}"))


def swap_arithmetic(node: cst.CSTNode, _: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`+` becomes `-`, `*` becomes `//`, and the other way round."""
    if isinstance(node, cst.BinaryOperation) and type(node.operator) in _ARITHMETIC:
        yield node.with_changes(operator=_ARITHMETIC[type(node.operator)]())
    elif isinstance(node, cst.AugAssign) and type(node.operator) in _AUGMENTED:
        yield node.with_changes(operator=_AUGMENTED[type(node.operator)]())


def swap_call(node: cst.CSTNode, _: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`min` becomes `max`, `any` becomes `all`, and the other way round."""
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
        other = _CALLS.get(node.func.value)
        if other is not None:
            yield node.with_changes(func=cst.Name(other))


def drop_argument(node: cst.CSTNode, _: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`f(a, k=v)` becomes `f(a)`; of `min`, `max` and `.get` also the last of several."""
    if not isinstance(node, cst.Call):
        return
    for index, found in enumerate(node.args):
        is_dropped = found.keyword is not None
        if len(node.args) >= 2 and index == len(node.args) - 1 and not found.star:
            is_dropped = is_dropped or _takes_several(node.func)
        if is_dropped:
            yield node.with_changes(args=_without(node.args, index))


def _takes_several(function: cst.BaseExpression) -> bool:
    match function:
        case cst.Name(value="min" | "max"):
            return True
        case cst.Attribute(attr=cst.Name(value="get")):
            return True
    return False


def drop_element(node: cst.CSTNode, around: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """One entry of a dict, set or list is left out; of a tuple, where it is no unpacking."""
    if not isinstance(node, cst.Dict | cst.Set | cst.List | cst.Tuple) or len(node.elements) < 2:
        return
    parent = around[-1]
    if isinstance(node, cst.Tuple) and not isinstance(
        parent, cst.ComparisonTarget | cst.For | cst.Arg | cst.AnnAssign
    ):
        return
    if isinstance(parent, cst.For) and parent.target is node:
        return
    for index in range(len(node.elements)):
        yield node.with_changes(elements=_without(node.elements, index))


def drop_case(node: cst.CSTNode, _: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """A `match` has one case less."""
    if isinstance(node, cst.Match) and len(node.cases) >= 2:
        for index in range(len(node.cases)):
            yield node.with_changes(cases=_without(node.cases, index))


def skip_loop(node: cst.CSTNode, around: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """A comprehension runs over nothing."""
    parent = around[-1] if around else None
    if isinstance(parent, cst.CompFor) and parent.iter is node:
        yield cst.Tuple([], lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def swap_jump(node: cst.CSTNode, _: Sequence[cst.CSTNode]) -> Iterator[cst.CSTNode]:
    """`continue` becomes `break`, and the other way round."""
    if isinstance(node, cst.Continue):
        yield cst.Break()
    elif isinstance(node, cst.Break):
        yield cst.Continue()


def _without(items: Sequence[cst.CSTNode], index: int) -> list[cst.CSTNode]:
    return [*items[:index], *items[index + 1 :]]


OPERATORS: Final[tuple[Operator, ...]] = (
    negate_condition,
    swap_comparison,
    swap_connective,
    drop_operand,
    remove_not,
    drop_statement,
    return_other,
    change_constant,
    swap_arithmetic,
    swap_call,
    drop_argument,
    drop_element,
    drop_case,
    skip_loop,
    swap_jump,
)
