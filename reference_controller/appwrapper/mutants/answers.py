"""Which mutants would have decided otherwise in a run, found out in one run of the sound rules.

Decisions are pure, and a mutant has one of them wrong. As long as it gives the sound answer
whenever that one is asked for, it does what the sound controller does, to the byte. So a scenario
in which it always would have needs no run of its own (weak mutation analysis: Howden 1982).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reference_controller.appwrapper.mutants.mutant import Mutant
from reference_controller.appwrapper.rules import Rules


def comparing(mutants: Iterable[Mutant], otherwise: set[str]) -> Rules:
    """The sound rules; to `otherwise` they add the name of each mutant whose answer differs.

    Mutants whose rules are the sound ones, since their definition is wrong, are never added.
    """
    asked: dict[str, dict[str, Rules]] = {}
    for each in mutants:
        if each.rules is not Rules:
            asked.setdefault(decision_of(each.rules), {})[each.name] = each.rules()
    methods = {
        decision: _compared(decision, theirs, otherwise) for decision, theirs in asked.items()
    }
    compared: type[Rules] = type("ComparedRules", (Rules,), methods)
    return compared()


def decision_of(rules: type[Rules]) -> str:
    """The name of the method that a mutant overrides; ValueError unless it is exactly one."""
    changed = {
        name
        for found in rules.__mro__[: rules.__mro__.index(Rules)]
        for name in vars(found)
        if not name.startswith("__")
    }
    if len(changed) != 1 or not hasattr(Rules, name := changed.pop()):
        raise ValueError(f"{rules.__name__} must override exactly one decision")
    return name


def _compared(decision: str, theirs: dict[str, Rules], otherwise: set[str]) -> Callable[..., Any]:
    sound: Callable[..., Any] = getattr(Rules, decision)

    def decide(rules: Rules, *seen: Any, **named: Any) -> Any:
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
