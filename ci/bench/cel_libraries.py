"""Compare libraries for CEL by the rules of released CRDs: `python ci/bench/cel_libraries.py`.

Needs Go, for the released modules, and the libraries that were not chosen:
pip install common-expression-language cel-python
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import files, version
from typing import Any, Final

import yaml

from conformance.profiles.profile import GoModule
from conformance.profiles.program import download

MODULES: Final = (
    ("github.com/project-codeflare/appwrapper", "v1.1.2", "config/crd/bases"),
    ("github.com/project-codeflare/appwrapper", "v1.2.0", "config/crd/bases"),
    ("sigs.k8s.io/jobset", "v0.10.1", "config/components/crd/bases"),
    ("sigs.k8s.io/jobset", "v0.12.0", "config/components/crd/bases"),
    ("sigs.k8s.io/kueue", "v0.19.2", "config/components/crd/bases"),
)
WRONG: Final = ("1 == 'x'", "1 + 'x' == 2", "size(1) == 1", "nothing == 1", "'a'.find(1)", "1 >")
TIMES: Final = 2

Evaluate = Callable[[Any, Any], object]
"""(self, oldSelf) → True, False, or `error`."""
Compile = Callable[[str], Evaluate]


def cpp() -> Compile:
    """`cel-expr-python`, the C++ implementation."""
    from cel_expr_python import cel

    dyn = cel.Type.DYN
    environment = cel.NewEnv(variables={"self": dyn, "oldSelf": dyn})

    def compiled(rule: str) -> Evaluate:
        program = environment.compile(rule)

        def evaluate(new: Any, old: Any) -> object:
            found = program.eval(data={"self": new, "oldSelf": old})
            return "error" if found.type() == cel.Type.ERROR else found.value()

        return evaluate

    return compiled


def rust() -> Compile:
    """`common-expression-language`, in Rust."""
    import cel

    def compiled(rule: str) -> Evaluate:
        program = cel.compile(rule)
        return _or_error(lambda new, old: program.execute({"self": new, "oldSelf": old}))

    return compiled


def python() -> Compile:
    """`cel-python`, in Python."""
    import celpy

    environment = celpy.Environment()

    def compiled(rule: str) -> Evaluate:
        program = environment.program(environment.compile(rule))

        def evaluate(new: Any, old: Any) -> object:
            given = {"self": celpy.json_to_cel(new), "oldSelf": celpy.json_to_cel(old)}
            return bool(program.evaluate(given))

        return _or_error(evaluate)

    return compiled


LIBRARIES: Final[Mapping[str, Callable[[], Compile]]] = {
    "cel-expr-python": cpp,
    "common-expression-language": rust,
    "cel-python": python,
}


def _or_error(evaluate: Evaluate) -> Evaluate:
    def evaluated(new: Any, old: Any) -> object:
        try:
            return evaluate(new, old)
        except Exception:  # noqa: BLE001 - each library has its own
            return "error"

    return evaluated


def rules() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All rules of the CRDs, each with the schema that it is a rule of."""
    for path, release, folder in MODULES:
        module = download(GoModule(path=path, package="."), release)
        for file in sorted((module.folder / folder).glob("*.yaml")):
            yield from _rules_in(yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader))


def _rules_in(part: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(part, list):
        for each in part:
            yield from _rules_in(each)
    elif isinstance(part, dict):
        for rule in part.get("x-kubernetes-validations") or ():
            yield rule["rule"], part
        for each in part.values():
            yield from _rules_in(each)


def sample(schema: Mapping[str, Any], *, whole: bool) -> Any:
    """A value of a schema, with all of its fields or those that are required."""
    kind = schema.get("type")
    extra = schema.get("additionalProperties")
    if schema.get("enum"):
        return schema["enum"][0 if whole else -1]
    if kind == "object" and isinstance(extra, dict):
        return {"key": sample(extra, whole=whole)}
    if kind == "object":
        needed = schema.get("required") or ()
        return {
            name: sample(child, whole=whole)
            for name, child in (schema.get("properties") or {}).items()
            if whole or name in needed
        }
    if kind == "array":
        return [sample(schema["items"], whole=whole)] * (2 if whole else 1)
    return {"string": "QuotaReserved" if whole else "x", "number": 1.5, "boolean": whole}.get(
        str(kind), 3
    )


def row(name: str, told: Mapping[str, list[object]]) -> tuple[str, list[object]]:
    """A library's line of the table, and what its evaluations gave; `told` are those of others."""
    compile_rule = LIBRARIES[name]()
    compiling = evaluating = 0.0
    outcomes: list[object] = []
    compiled = 0
    every = list(rules())
    for rule, schema in every:
        began = time.process_time()
        evaluate = compile_rule(rule)
        compiling += time.process_time() - began
        compiled += 1
        for new, old in ((True, False), (True, True), (False, True)):
            values = sample(schema, whole=new), sample(schema, whole=old)
            began = time.process_time()
            found = [evaluate(*values) for _ in range(TIMES)]
            evaluating += time.process_time() - began
            outcomes.append(found[0])
    refused = sum(
        _or_error(lambda rule, _: compile_rule(str(rule)))(it, "") == "error" for it in WRONG
    )
    same = [sum(a == b for a, b in zip(outcomes, others, strict=True)) for others in told.values()]
    size = sum(file.locate().stat().st_size for file in files(name) or ()) / 1e6
    cells = (
        f"{name} {version(name)}",
        f"{compiled} of {len(every)}",
        f"{refused} of {len(WRONG)}",
        f"{compiling / len(every) * 1e3:.2f} ms",
        f"{evaluating / len(outcomes) / TIMES * 1e3:.2f} ms",
        f"{same[0] if same else len(outcomes)} of {len(outcomes)}",
        f"{size:.0f} MB",
    )
    return f"| {' | '.join(cells)} |", outcomes


def main() -> None:
    """Print the table."""
    columns = ("library", "rules compiled", "wrong ones refused", "to compile", "to evaluate")
    print(f"| {' | '.join((*columns, 'same results as the first', 'installed'))} |")
    print("|---" * (len(columns) + 2) + "|")
    told: dict[str, list[object]] = {}
    for name in LIBRARIES:
        line, told[name] = row(name, told)
        print(line)


if __name__ == "__main__":
    main()
