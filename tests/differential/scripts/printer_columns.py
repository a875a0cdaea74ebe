"""Printer columns of definitions: kubectl's JSONPath, as far as servers take it."""

from __future__ import annotations

import random
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.exchange import TABLE
from tests.differential.script import script

_DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PATHS: Final = (
    ".spec.list[0].n",
    ".spec.list[-1].n",
    ".spec.list[-1:].n",
    ".spec.list[1:].n",
    ".spec.list[:2].n",
    ".spec.list[0:3:2].n",
    ".spec.list[1:1].n",
    ".spec.list[5].n",
    ".spec.list[2:9].n",
    ".spec.list[*].n",
    ".spec.list[0,2].n",
    ".spec.list[1,0].n",
    ".spec['name','other']",
    ".spec['other']",
    ".spec['dotted.key']",
    r".spec['dotted\.key']",
    r".spec.dotted\.key",
    ".spec.one.*",
    ".spec..only",
    "..only",
    ".spec.list..n",
    '.spec.list[?(@.kind=="b")].n',
    ".spec.list[?(@.kind!='a')].n",
    ".spec.list[?(@.n>1)].n",
    ".spec.list[?(@.n>=3)].n",
    ".spec.list[?(@.n<2)].kind",
    ".spec.list[?(@.n<=1)].kind",
    ".spec.list[?(@.only)].n",
    ".spec.list[?(@.on==true)].n",
    ".spec.list[?(@.one.deep=='x')].n",
    '.spec.list[?(@.n=="1")].n',
    ".spec.list[?(@.kind[0])].n",
    ".spec.missing[0].n",
    ".spec.name[0]",
    ".spec.none",
    ".spec.one",
    ".spec.list",
    ".spec.list[*].kind",
)
_MALFORMED: Final = (".spec.list[", ".spec.list[a]", "spec", ".spec.list[?(@.n)", "")
_SPEC: Final = {
    "name": "x",
    "other": "y",
    "dotted.key": "z",
    "none": None,
    "one": {"deep": 7},
    "numbers": [{"half": 1.5, "whole": 2.0, "none": None}],
    "list": [
        {"n": 1, "kind": "a", "on": False, "one": {"deep": "w"}},
        {"n": 2, "kind": "b", "on": True, "one": {"deep": "x"}},
        {"n": 3, "kind": "c", "only": "here"},
    ],
}


def _definition(c: Dialogue, paths: Any, type_: str = "string") -> dict[str, Any]:
    group = f"{c.namespace}.assay.dev"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {"kind": "Thing", "plural": "things"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": anything},
                    "additionalPrinterColumns": [
                        {"name": path or "empty", "type": type_, "jsonPath": path} for path in paths
                    ],
                }
            ],
        },
    }


def _table_of(c: Dialogue, definition: dict[str, Any]) -> None:
    group = definition["spec"]["group"]
    c.raw("POST", _DEFINITIONS, definition, label="define", show=["spec.names"])
    c.until_served(f"/apis/{group}/v1/things")
    obj = {
        "apiVersion": f"{group}/v1",
        "kind": "Thing",
        "metadata": {"name": "a"},
        "spec": _SPEC,
    }
    c.raw("POST", f"/apis/{group}/v1/things", obj, label="create", show=["kind"])
    (version,) = definition["spec"]["versions"]
    columns = [each["jsonPath"] for each in version["additionalPrinterColumns"]]
    table = c.consult("GET", f"/apis/{group}/v1/things", accept=TABLE).body
    c.note("columns", [each["name"] for each in table["columnDefinitions"]])
    for path, cell in zip(["name", *columns], table["rows"][0]["cells"], strict=False):
        c.note(path, cell)
    c.raw("DELETE", f"{_DEFINITIONS}/things.{group}", label="withdraw", show=["kind"])


@script("A printer column takes a path with slices, unions, filters and descents.", ["4.16"])
def paths_of_columns(c: Dialogue) -> None:
    _table_of(c, _definition(c, _PATHS))


@script("A filter compares values of one type, and orders no booleans.", ["4.16"])
def comparisons_in_columns(c: Dialogue) -> None:
    filters = (
        "@.n==1.0",
        "@.n!=1.5",
        "@.n<1.5",
        "@.on<true",
        "@.on>=false",
        "@.on!=true",
        "@.kind<'b'",
        "@.kind>='b'",
        "@.one=='x'",
        "@.one!='x'",
        "@.one<'x'",
        "@.n=='1'",
        "@.n>true",
        "@.kind==true",
    )
    numbers = ("@.half==1.5", "@.half>1.0", "@.half>1", "@.none=='x'", "@.whole==2", "@.whole==2.0")
    paths = [f".spec.list[?({each})].n" for each in filters]
    _table_of(c, _definition(c, [*paths, *(f".spec.numbers[?({each})].half" for each in numbers)]))


@script("A column of numbers shows numbers alone.", ["4.16"])
def numbers_in_columns(c: Dialogue) -> None:
    paths = (".spec.list[-1:].n", ".spec.name", ".spec.one", ".spec.list[?(@.n>1)].n")
    _table_of(c, _definition(c, paths, "integer"))


@script("A column whose path cannot be read is not shown, nor are those after it.", ["4.16"])
def unreadable_columns(c: Dialogue) -> None:
    definition = _definition(c, (".spec.name", ".spec.list[a]", ".spec.other"))
    _table_of(c, definition)


@script("A definition whose printer column has no path from the top is refused.", ["4.16"])
def malformed_columns(c: Dialogue) -> None:
    path = f"{_DEFINITIONS}?dryRun=All"
    for each in _MALFORMED:
        c.raw("POST", path, _definition(c, [each]), label=f"define {each!r}", show=["spec.names"])


@script("A printer column has a name, a known type, and a known format if any.", ["4.16"])
def invalid_columns(c: Dialogue) -> None:
    path = f"{_DEFINITIONS}?dryRun=All"
    full = {"name": "n", "type": "string", "jsonPath": ".spec.name"}
    for label, column in {
        "no name": {**full, "name": ""},
        "an absent name": {"type": "string", "jsonPath": ".spec.name"},
        "no type": {"name": "n", "jsonPath": ".spec.name"},
        "a strange type": {**full, "type": "strange"},
        "a type of values": {**full, "type": "object"},
        "a strange format": {**full, "format": "strange"},
        "a format": {**full, "format": "int32"},
        "no format": {**full, "format": ""},
        "a type and format that differ": {**full, "type": "date", "format": "byte"},
        "nothing": {},
    }.items():
        definition = _definition(c, ())
        (version,) = definition["spec"]["versions"]
        version["additionalPrinterColumns"] = [column]
        c.raw("POST", path, definition, label=f"define with {label}", show=["spec.names"])


_STEPS: Final = (
    *(".list", ".list", ".name", ".one", ".numbers", ".n", ".kind", ".deep", ".none"),
    *("['one']", "['name','other']", "..n", "..kind", "[*]", "[0,1]", "[-1,0]"),
)


def _drawn_step(rng: random.Random) -> str:
    how = rng.randrange(8)
    if how == 0:
        return f"[{rng.randint(-4, 4)}]"
    if how == 1:
        first, end, by = (
            rng.choice(("", str(rng.randint(-4, 5)), str(rng.randint(0, 3)))) for _ in "abc"
        )
        return f"[{first}:{end}]" if rng.randrange(2) else f"[{first}:{end}:{by}]"
    if how == 2:
        field = rng.choice(("n", "kind", "only", "one.deep", "on", "half", "whole", "none"))
        literal = rng.choice(
            ("1", "2", "3", "1.5", "2.0", "-1", "'a'", '"b"', "'x'", "true", "false")
        )
        compared = rng.choice(("==", "!=", "<", "<=", ">", ">="))
        return f"[?(@.{field})]" if rng.randrange(4) == 0 else f"[?(@.{field}{compared}{literal})]"
    return rng.choice(_STEPS)


@script("A printer column takes any path that kubectl's JSONPath allows.", ["4.16"])
def drawn_columns(c: Dialogue) -> None:
    rng = c.random("columns")
    paths = [
        f".spec{''.join(_drawn_step(rng) for _ in range(rng.randint(1, 4)))}" for _ in range(120)
    ]
    ends = ("", ".n", ".half")
    lists = [
        f".spec.{rng.choice(('list', 'numbers'))}{_drawn_step(rng)}{rng.choice(ends)}"
        for _ in range(120)
    ]
    # A whole number that was given a fraction is shown without one.
    shown = [it for it in (*paths, *lists) if "numbers" not in it or not it.endswith(("s", "]"))]
    _table_of(c, _definition(c, list(dict.fromkeys(shown))))
