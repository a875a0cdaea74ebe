"""Which mutants would have decided otherwise in a run, found out in one run of the sound rules.

Decisions are pure, and a mutant has one of them wrong. As long as it gives the sound answer
whenever that one is asked for, it does what the sound controller does, to the byte. So a scenario
in which it always would have needs no run of its own (weak mutation analysis: Howden 1982).

Mutants may remember what they were asked: until its first different answer, a mutant is asked
exactly what it would be asked in a run of its own, by the same process, at the same times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reference_controller.appwrapper.mutants.mutant import Mutant
from reference_controller.appwrapper.rules import Rules
from vocabulary.clock import Micros


def comparing(mutants: Iterable[Mutant], otherwise: set[str]) -> type[Rules]:
    """The sound rules; to `otherwise` they add the name of each mutant whose answer differs.

    Make an object of them for each process, as of any rules: it has each mutant's rules of that
    process. Mutants whose rules are the sound ones, since their CRD is wrong, are never added.
    """
    asked: dict[str, dict[str, type[Rules]]] = {}
    for each in mutants:
        if each.rules is not Rules:
            asked.setdefault(decision_of(each.rules), {})[each.name] = each.rules

    class ComparedRules(Rules):
        def __init__(self) -> None:
            self.theirs = {
                decision: {name: rules() for name, rules in wrong.items()}
                for decision, wrong in asked.items()
            }

        def use_clock(self, clock: Callable[[], Micros]) -> None:
            for wrong in self.theirs.values():
                for rules in wrong.values():
                    rules.use_clock(clock)

    for decision in asked:
        setattr(ComparedRules, decision, _compared(decision, otherwise))
    return ComparedRules


def decision_of(rules: type[Rules]) -> str:
    """The name of the decision that a mutant overrides; ValueError unless it is exactly one.

    Its private methods, and `use_clock`, decide nothing.
    """
    changed = {
        name
        for found in rules.__mro__[: rules.__mro__.index(Rules)]
        for name in vars(found)
        if not name.startswith("_") and name != "use_clock"
    }
    if len(changed) != 1 or not hasattr(Rules, name := changed.pop()):
        raise ValueError(f"{rules.__name__} must override exactly one decision")
    return name


def _compared(decision: str, otherwise: set[str]) -> Callable[..., Any]:
    sound: Callable[..., Any] = getattr(Rules, decision)

    def decide(rules: Any, *seen: Any, **named: Any) -> Any:
        theirs: dict[str, Rules] = rules.theirs[decision]
        try:
            right = sound(rules, *seen, **named)
        except Exception:
            otherwise.update(theirs)  # any of them may give an answer there
            raise
        for name, wrong in theirs.items():
            if name not in otherwise and not _gives(right, wrong, decision, seen, named):
                otherwise.add(name)
        return right

    return decide


def _gives(
    right: object, rules: Rules, decision: str, seen: tuple[Any, ...], named: dict[str, Any]
) -> bool:
    try:
        answer = getattr(rules, decision)(*seen, **named)
    except Exception:  # noqa: BLE001 - however it breaks down, it is no such answer
        return False
    return type(answer) is type(right) and bool(answer == right)
