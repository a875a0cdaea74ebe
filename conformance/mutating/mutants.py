"""Mutants of a program's source: found, drawn, identified.

A mutant is one replacement in one module. Its id is a digest of the function that it is in and of
the replacement, so the same id means the same mistake, whatever seed drew it; and where the
function has been changed, the id is no more.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Final

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from conformance.mutating.operators import OPERATORS

_NOT_MUTATED: Final = (
    cst.Annotation,
    cst.Decorator,
    cst.Import,
    cst.ImportFrom,
    cst.Assert,
    cst.FormattedString,
    cst.TypeAlias,
)
_SHOWN: Final = 60


class UnknownMutantError(ValueError):
    """No replacement in these modules has that id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMutant:
    """One replacement in the source of one module."""

    id: str
    """Eight hexadecimal digits."""
    module: str
    function: str
    """The qualified name of the innermost class or function; empty at the module's level."""
    path: str
    """The module's file."""
    line: int
    """The first line of what is replaced."""
    lines: tuple[int, ...]
    """The replaced lines."""
    scope: tuple[int, ...]
    """The lines of the outermost function around them; the same lines where there is none."""
    operator: str
    before: str
    after: str
    source: str
    """The whole module with the replacement made."""

    @property
    def where(self) -> str:
        return f"{self.module}:{self.function or '<module>'}:{self.line}"

    @property
    def change(self) -> str:
        """`a < b → a <= b`, each side in one line and shortened."""
        return f"{_short(self.before)} → {_short(self.after)}"

    def diff(self) -> str:
        """The replacement as a unified diff with one line around it."""
        path = Path(self.path)
        name = "/".join(path.parts[-len(self.module.split(".")) :])
        lines = difflib.unified_diff(
            path.read_text().splitlines(), self.source.splitlines(), name, name, lineterm="", n=1
        )
        return "\n".join(lines)


class Sources:
    """The modules that mutants are drawn from, parsed once."""

    def __init__(self, modules: Collection[str], told: Collection[str] = ()) -> None:
        """`told` names functions whose output is for readers: they, and calls of them, are not
        mutated."""
        self._sites = [
            site for name in sorted(modules) for site in _Module(name, frozenset(told)).sites()
        ]

    def __len__(self) -> int:
        """How many replacements there are, those that change nothing included."""
        return len(self._sites)

    def draw(self, count: int, seed: int) -> list[SourceMutant]:
        """The first `count` of the mutants in the order which the seed decides; fewer if there are
        no more. Those whose bytecode is the original's, or another's drawn before, are left out."""
        order = list(self._sites)
        random.Random(seed).shuffle(order)
        drawn: list[SourceMutant] = []
        seen: set[tuple[str, object]] = set()
        for site in order:
            if len(drawn) >= count:
                break
            found = site.mutant()
            if found is None:
                continue
            code = (found.module, comparable(compile(found.source, found.path, "exec")))
            if code not in seen:
                seen.add(code)
                drawn.append(found)
        return drawn

    def by_id(self, id_: str) -> SourceMutant:
        """The mutant of that id; UnknownMutantError."""
        for site in self._sites:
            if site.id == id_ and (found := site.mutant()) is not None:
                return found
        raise UnknownMutantError(f"no mutant has the id {id_}: the function may have changed")


class _Module:
    """One module's tree."""

    def __init__(self, name: str, told: frozenset[str]) -> None:
        self._told = told
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise UnknownMutantError(f"there is no module {name}")
        self.name = name
        self.path = spec.origin
        wrapper = MetadataWrapper(
            cst.parse_module(Path(spec.origin).read_text()), unsafe_skip_copy=True
        )
        self._tree = wrapper.module
        self._lines = self._tree.code.splitlines()
        self._positions = wrapper.resolve(PositionProvider)
        self.original = comparable(compile(self._tree.code, self.path, "exec"))

    def sites(self) -> Iterator[_Site]:
        for top in self._tree.body:
            yield from self._below(top, top, (), ())

    def _below(
        self,
        node: cst.CSTNode,
        top: cst.CSTNode,
        around: tuple[cst.CSTNode, ...],
        names: tuple[str, ...],
    ) -> Iterator[_Site]:
        if isinstance(node, _NOT_MUTATED) or _is_for_type_checkers(node) or self._is_told(node):
            return
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            names = (*names, node.name.value)
        for operator in OPERATORS:
            for index, replacement in enumerate(operator(node, around)):
                yield _Site(
                    id=self._id(node, around, names, (operator.__name__, str(index))),
                    module=self,
                    function=".".join(names),
                    operator=operator.__name__,
                    top=top,
                    scope=next((e for e in around if isinstance(e, cst.FunctionDef)), None),
                    node=node,
                    replacement=replacement,
                )
        for child in node.children:
            yield from self._below(child, top, (*around, node), names)

    def _is_told(self, node: cst.CSTNode) -> bool:
        match node:
            case cst.FunctionDef(name=cst.Name(value=name)):
                return name in self._told
            case cst.SimpleStatementLine(body=[cst.Expr(value=statement)]):
                return self._is_told(statement)
            case cst.Yield(value=cst.From(item=called)):
                return self._is_told(called)
            case cst.Call(func=cst.Name(value=name) | cst.Attribute(attr=cst.Name(value=name))):
                return name in self._told
        return False

    def _id(
        self,
        node: cst.CSTNode,
        around: tuple[cst.CSTNode, ...],
        names: tuple[str, ...],
        how: tuple[str, str],
    ) -> str:
        """A digest of the outermost function, of the place in it, and of the replacement."""
        functions = (each for each in around if isinstance(each, cst.FunctionDef))
        statements = (each for each in around if isinstance(each, cst.SimpleStatementLine))
        scope = next(functions, None) or next(statements, node)
        whole, part = self._positions[scope], self._positions[node]
        code = self._lines[whole.start.line - 1 : whole.end.line]
        place = (part.start.line - whole.start.line, part.start.column)
        size = (part.end.line - part.start.line, part.end.column)
        told = (self.name, ".".join(names), *how, *map(str, (*place, *size)), *code)
        return hashlib.sha256("\n".join(told).encode()).hexdigest()[:8]

    def lines_of(self, node: cst.CSTNode) -> range:
        span = self._positions[node]
        return range(span.start.line, span.end.line + 1)

    def code_of(self, node: cst.CSTNode) -> str:
        return str(self._tree.code_for_node(node)).strip()

    def with_replaced(self, top: cst.CSTNode, node: cst.CSTNode, replacement: cst.CSTNode) -> str:
        """The module's source, with a node of a statement of its own level replaced."""
        changed = replacement if top is node else top.deep_replace(node, replacement)
        body = [changed if each is top else each for each in self._tree.body]
        return str(self._tree.with_changes(body=body).code)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Site:
    """Where a replacement can be made."""

    id: str
    module: _Module
    function: str
    operator: str
    top: cst.CSTNode
    """The statement of the module's own level that it is in."""
    scope: cst.FunctionDef | None
    node: cst.CSTNode
    replacement: cst.CSTNode

    def mutant(self) -> SourceMutant | None:
        """The mutant, or None if the replacement is no program, or the same one."""
        module = self.module
        source = module.with_replaced(self.top, self.node, self.replacement)
        try:
            code = compile(source, module.path, "exec")
        except SyntaxError:
            return None
        if comparable(code) == module.original:
            return None
        lines = module.lines_of(self.node)
        scope = lines if self.scope is None else module.lines_of(self.scope)
        return SourceMutant(
            id=self.id,
            module=module.name,
            function=self.function,
            path=module.path,
            line=lines.start,
            lines=tuple(lines),
            scope=tuple(scope),
            operator=self.operator,
            before=module.code_of(self.node),
            after=module.code_of(self.replacement),
            source=source,
        )


def comparable(code: CodeType) -> object:
    """The parts of a code object that determine its behavior: all but its line numbers."""
    constants = tuple(
        comparable(each) if isinstance(each, CodeType) else (type(each), repr(each))
        for each in code.co_consts
    )
    return (code.co_code, constants, code.co_names, code.co_varnames, code.co_exceptiontable)


def _is_for_type_checkers(node: cst.CSTNode) -> bool:
    """True if the node only says what a module exports, or of which types something is."""
    match node:
        case cst.If(test=cst.Name(value="TYPE_CHECKING")):
            return True
        case cst.AnnAssign(annotation=cst.Annotation(annotation=cst.Name(value="TypeAlias"))):
            return True
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value="__all__"))]):
            return True
    return False


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
