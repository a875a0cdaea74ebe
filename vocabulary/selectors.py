"""Label selectors: the text form of the API (`a=b,c!=d,e in (x,y),!f`) and the object form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias

from vocabulary.objects import Object

Labels: TypeAlias = Mapping[str, str]
Matcher: TypeAlias = Callable[[Labels], bool]

_REQUIREMENT: Final = re.compile(
    r"""\s*(?:
        (?P<absent>!\s*)(?P<absent_key>[^\s=!,()]+)
      | (?P<key>[^\s=!,()]+)
        (?: \s*(?P<op>==|=|!=)\s*(?P<value>[^\s,()!=]*)
          | \s+(?P<set_op>in|notin)\s*\((?P<values>[^()]*)\)
        )?
    )\s*""",
    re.VERBOSE,
)


@lru_cache(maxsize=1024)
def parse_selector(text: str) -> Matcher:
    """A function from labels to bool for a selector in text form; ValueError if malformed."""
    requirements: list[tuple[str, str, frozenset[str]]] = []
    position = 0
    while position < len(text):
        found = _REQUIREMENT.match(text, position)
        if found is None or found.end() == position:
            raise ValueError(f"unable to parse label selector {text!r} at column {position + 1}")
        if found["absent"]:
            requirements.append((found["absent_key"], "DoesNotExist", frozenset()))
        elif found["op"]:
            operator = "NotIn" if found["op"] == "!=" else "In"
            requirements.append((found["key"], operator, frozenset((found["value"],))))
        elif found["set_op"]:
            values = frozenset(value.strip() for value in found["values"].split(","))
            operator = "In" if found["set_op"] == "in" else "NotIn"
            requirements.append((found["key"], operator, values))
        else:
            requirements.append((found["key"], "Exists", frozenset()))
        position = found.end()
        if position < len(text):
            if text[position] != "," or position + 1 == len(text):
                raise ValueError(
                    f"unable to parse label selector {text!r} at column {position + 1}"
                )
            position += 1
    return _matcher(tuple(requirements))


def matches(selector: Object | None, labels: Labels) -> bool:
    """Whether a `metav1.LabelSelector` chooses these labels; None chooses nothing, {} all."""
    if selector is None:
        return False
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    return all(
        _holds(entry["key"], entry["operator"], frozenset(entry.get("values") or ()), labels)
        for entry in selector.get("matchExpressions") or ()
    )


def to_text(labels: Labels) -> str:
    """The selector in text form that demands exactly these labels."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _matcher(requirements: tuple[tuple[str, str, frozenset[str]], ...]) -> Matcher:
    return lambda labels: all(_holds(*requirement, labels) for requirement in requirements)


def _holds(key: str, operator: str, values: frozenset[str], labels: Labels) -> bool:
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    raise ValueError(f"unknown selector operator {operator!r}; use In, NotIn, Exists, DoesNotExist")
