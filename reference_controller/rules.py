"""The decisions of a controller that could be made wrongly, one small pure method each.

A reference asks its rules and carries out what they say. So a mutant is a subclass that overrides
exactly one method, and `comparing` finds out in one run which mutants would have decided otherwise:
as long as a mutant gives the right answer whenever its decision is asked for, it does what the
right rules do, to the byte. A scenario in which it always would needs no run of its own (weak
mutation analysis: Howden 1982).

Mutants may remember what they were asked: until its first different answer, a mutant is asked
exactly what it would be asked in a run of its own, by the same process, at the same times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from vocabulary.clock import Micros


class Rules:
    """The base of a reference's rules. Each operator process has an object of its own."""

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Take the clock of the process. Right rules keep nothing but what status keeps, and need
        none; mutants that keep a timer in memory do."""


R = TypeVar("R", bound=Rules)


def comparing(right: type[R], wrong: Mapping[str, type[R]], otherwise: set[str]) -> type[R]:
    """The right rules; to `otherwise` they add the name of each wrong one whose answer differs.

    Make an object of them for each process, as of any rules: it has the wrong rules of that
    process. Where these are the right ones, since a manifest is wrong, they are never added.
    """
    asked: dict[str, dict[str, type[R]]] = {}
    for name, rules in wrong.items():
        if rules is not right:
            asked.setdefault(decision_of(rules, right), {})[name] = rules

    class ComparedRules(right):  # type: ignore[valid-type, misc] # a class made at run time
        def __init__(self) -> None:
            super().__init__()
            self.theirs = {
                decision: {name: rules() for name, rules in theirs.items()}
                for decision, theirs in asked.items()
            }

        def use_clock(self, clock: Callable[[], Micros]) -> None:
            super().use_clock(clock)
            for theirs in self.theirs.values():
                for rules in theirs.values():
                    rules.use_clock(clock)

    for decision in asked:
        setattr(ComparedRules, decision, _compared(getattr(right, decision), decision, otherwise))
    return ComparedRules


def decision_of(wrong: type[R], right: type[R]) -> str:
    """The name of the decision that `wrong` overrides; ValueError unless it is exactly one.

    Its private methods, and `use_clock`, decide nothing.
    """
    changed = {
        name
        for found in wrong.__mro__[: wrong.__mro__.index(right)]
        for name in vars(found)
        if not name.startswith("_") and name != "use_clock"
    }
    if len(changed) != 1 or not hasattr(right, name := changed.pop()):
        raise ValueError(f"{wrong.__name__} must override exactly one decision")
    return name


def _compared(decide: Callable[..., Any], decision: str, otherwise: set[str]) -> Callable[..., Any]:
    def compared(rules: Any, *seen: Any, **named: Any) -> Any:
        theirs: dict[str, Rules] = rules.theirs[decision]
        try:
            right = decide(rules, *seen, **named)
        except Exception:
            otherwise.update(theirs)  # any of them may give an answer there
            raise
        for name, wrong in theirs.items():
            if name not in otherwise and not _gives(right, wrong, decision, seen, named):
                otherwise.add(name)
        return right

    return compared


def _gives(
    right: object, rules: Rules, decision: str, seen: tuple[Any, ...], named: dict[str, Any]
) -> bool:
    try:
        answer = getattr(rules, decision)(*seen, **named)
    except Exception:  # noqa: BLE001 - however it breaks down, it is no such answer
        return False
    return type(answer) is type(right) and bool(answer == right)
