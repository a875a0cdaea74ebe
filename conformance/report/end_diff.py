"""A run beside the undisturbed one: the ends as a diff of YAML, and the changes that led there."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final, NamedTuple

import yaml

from conformance.history import History
from conformance.history.normal_form import Difference, NormalForm, differences
from conformance.report.run_result import RunResult
from vocabulary.history import Counterpart, role_of

CONTEXT_LINES: Final = 2
MOST_LINES: Final = 200


def end_diff(run: RunResult) -> Sequence[str]:
    """The lines of the diff, `-` for the undisturbed end; none for a run that has no other end, or
    that another course led to its own."""
    known = run.header.counterpart
    if not isinstance(known, Counterpart) or known.scenario != run.scenario:
        return ()
    history = History(run.header, run.entries)
    end = NormalForm(history).end if history.is_stable and known.is_stable else None
    history.close()
    return () if end is None else list(_lines(known, end))[:MOST_LINES]


class Step(NamedTuple):
    """A change in the undisturbed run, and its like in this one; one may be missing."""

    undisturbed: str
    here: str
    tone: str = ""
    """Empty if both are alike; `moved` if the other run has them earlier or later; `at` for the
    first change that only one of the runs has, and `other` for further ones."""


def courses(run: RunResult) -> Sequence[Step]:
    """The operator's changes in both runs, side by side, around those that are not alike. None for
    a run without a counterpart, or with the same course."""
    known = run.header.counterpart
    if not isinstance(known, Counterpart) or known.scenario != run.scenario:
        return ()
    history = History(run.header, run.entries)
    here = NormalForm(history).course(lambda actor: role_of(actor) in history.operators)
    history.close()
    steps = list(_beside(known.course, here))
    told = [n for n, step in enumerate(steps) if step.tone]
    near = sorted({n for at in told for n in range(at - CONTEXT_LINES, at + CONTEXT_LINES + 1)})
    return [steps[n] for n in near if 0 <= n < len(steps)][:MOST_LINES]


def _beside(undisturbed: Sequence[str], here: Sequence[str]) -> Iterator[Step]:
    on_both_sides = {"", *undisturbed} & {"", *here}
    differs = False
    matcher = difflib.SequenceMatcher(None, undisturbed, here, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        for left, right in zip_longest(undisturbed[i:j], here[k:m], fillvalue=""):
            if kind == "equal":
                yield Step(left, right)
            elif {left, right} <= on_both_sides:
                yield Step(left, right, "moved")
            else:
                yield Step(left, right, "other" if differs else "at")
                differs = True


def _lines(known: Counterpart, end: dict[str, dict[str, object]]) -> Iterator[str]:
    def is_ignored(each: Difference) -> bool:
        return each.field in known.volatile

    names = dict.fromkeys(each.object for each in differences(known.end, end, is_ignored))
    for name in names:
        before, after = (_yaml(ends.get(name)) for ends in (known.end, end))
        if not after:
            yield f"there undisturbed only: {name}"
        elif not before:
            yield f"not there undisturbed: {name}"
        else:
            yield name
            diff = difflib.unified_diff(before, after, n=CONTEXT_LINES, lineterm="")
            yield from (line for line in diff if not line.startswith(("---", "+++", "@@")))


def _yaml(obj: dict[str, object] | None) -> tuple[str, ...]:
    return () if obj is None else tuple(yaml.safe_dump(obj, sort_keys=True).splitlines())
