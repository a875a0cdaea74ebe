"""The first entry in which two histories of one plan differ, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from conformance.history.object_diff import Difference, differences
from conformance.report.pages.change import Step, actor_of, brief, describe, subject_of
from conformance.report.pages.change import with_previous as steps_of
from conformance.report.pages.shown_time import shown_time
from vocabulary.canonical import encode
from vocabulary.history import Entry, Header, Write

MAX_PATHS: Final = 3
"""So many paths are named; that the rest follows from them is likely."""


def first_difference(
    first: tuple[Header, Sequence[Entry]], second: tuple[Header, Sequence[Entry]]
) -> str:
    """One line: the first entry that differs as each history has it, and the paths of its values
    that differ. Empty if the histories are the same."""
    (header, entries), (other_header, other_entries) = first, second
    if encode(header) != encode(other_header):
        return f"the header differs in {_paths(header, other_header)}"
    steps, other_steps = steps_of(entries), steps_of(other_entries)
    for step, other in zip(steps, other_steps, strict=False):
        if encode(step.entry) != encode(other.entry):
            return (
                f"entry {step.entry.n} was {_in_words(step)}, then {_in_words(other)}; "
                f"they differ in {_paths(step.entry, other.entry)}"
            )
    if len(steps) == len(other_steps):
        return ""
    longer, which = (steps, "first") if len(steps) > len(other_steps) else (other_steps, "second")
    more = longer[min(len(steps), len(other_steps))]
    return f"entry {more.entry.n}, {_in_words(more)}, is in the {which} history alone"


def _in_words(step: Step) -> str:
    """`t=12.001s rv117 job/a created by job-controller`."""
    entry = step.entry
    rv = f"rv{entry.rv}" if isinstance(entry, Write) and entry.rv else ""
    actor = actor_of(entry)
    by = f"by {actor}" if actor else ""
    told = (f"t={shown_time(entry.t)}", rv, subject_of(entry), describe(step), by)
    return f"“{' '.join(filter(None, told))}”"


def _paths(first: Header | Entry, second: Header | Entry) -> str:
    found = differences(_plain(first), _plain(second))
    more = len(found) - MAX_PATHS
    told = ", ".join(map(_in_short, found[:MAX_PATHS]))
    return told + (f" and {more} more" if more > 0 else "")


def _in_short(difference: Difference) -> str:
    return f"{difference.path} ({brief(difference.old)} → {brief(difference.new)})"


def _plain(record: Header | Entry) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(record)
    return plain
