"""An entry's change, in a few words: the middle column of every event line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from conformance.history.object_diff import ABSENT, Difference, differences
from conformance.report.untrusted import printable
from vocabulary.canonical import encode
from vocabulary.history import Entry, Fault, Mark, OutgoingCall, Process, Write
from vocabulary.objects import Object, get_path, is_terminating

_CONDITION: Final = re.compile(
    r"^status\.(?:\w+\[(?P<part>[^\]]*)\]\.)?conditions\[(?P<type>[^\]]*)\](\.status)?$"
)
_DULL: Final = re.compile(
    r"^metadata\.generation|Time$|Timestamp$|\.(reason|message|type|uid)$|observedGeneration|resourceVersion"
)
_COUNTER: Final = re.compile(r"^status\.(\w+Count|\S*[rR]estarts\w*)$")
_OWNER: Final = re.compile(r"^metadata\.ownerReferences\[([^\]]*)\](\..*)?$")
_PLAIN: Final = 5
"""The rank of differences that have no words of their own."""
_SHOWN_CHANGES: Final = 3
_SHOWN_CHARACTERS: Final = 48


class Step(NamedTuple):
    """An entry, and the object as it was stored before (None if there was none)."""

    entry: Entry
    old: Object | None


def with_previous(entries: Sequence[Entry]) -> list[Step]:
    """Each entry together with the snapshot that it replaced."""
    stored: dict[tuple[str, str, str], Object] = {}
    steps: list[Step] = []
    for entry in entries:
        if not isinstance(entry, Write):
            steps.append(Step(entry, None))
            continue
        key = (entry.kind, entry.namespace, entry.name)
        steps.append(Step(entry, stored.get(key)))
        if entry.event == "DELETED":
            stored.pop(key, None)
        elif entry.event and entry.object is not None:
            stored[key] = entry.object
    return steps


def subject_of(entry: Entry) -> str:
    """The entry's subject: `job/a`, `kubelet/n0`, or nothing for a mark."""
    match entry:
        case Write():
            kind = entry.kind.partition(".")[0].lower()
            return printable(f"{kind}/{entry.name}" if entry.name else kind, 160)
        case Process() | OutgoingCall():
            return printable(entry.process, 160)
        case Fault():
            return "chaos"
        case Mark():
            return "run"


def actor_of(entry: Entry) -> str:
    """The entry's actor; empty if unknown."""
    match entry:
        case Write():
            return printable(entry.actor, 80)
        case Fault():
            return "chaos"
        case _:
            return ""


def describe(step: Step) -> str:
    """The entry in a few words: `QuotaReserved True → False`, `created`, `killed`."""
    match step.entry:
        case Write() as write:
            return printable(_describe_write(write, step.old), 240)
        case Process() as process:
            return process.change
        case OutgoingCall() as call:
            return printable(f"calls {call.to} ({call.protocol}): {call.answer}", 240)
        case Fault() as fault:
            return printable(f"{fault.action}: {fault.text}", 240)
        case Mark() as mark:
            return printable(f"{mark.mark}: {mark.text}" if mark.text else mark.mark, 240)


def _describe_write(write: Write, old: Object | None) -> str:
    what = write.verb or "change"
    if write.subresource:
        what += f" {write.subresource}"
    if write.code == 0:
        return f"{what}: no answer"
    if write.code >= 400:
        return f"{what} refused: {write.code} {write.reason}".rstrip()
    if not write.event:
        return f"{what} changed nothing"
    if write.event == "ADDED":
        return "created"
    if write.event == "DELETED":
        return f"gone{_options(write)}"
    return _describe_update(write, old)


def _options(write: Write) -> str:
    told = [
        f"{label} {write.options[key]}"
        for key, label in (("gracePeriodSeconds", "grace"), ("propagationPolicy", "propagation"))
        if key in write.options
    ]
    return f" ({', '.join(told)})" if told else ""


def _describe_update(write: Write, old: Object | None) -> str:
    if old is None:
        return "changed (its state before is not in this history)"
    changes = differences(old, write.object)
    told: list[str] = []
    if write.object is not None and is_terminating(write.object) and not is_terminating(old):
        told.append(f"deletion began{_options(write)}")
    told += _taint_words(old, write.object)
    # The counters of a whole object say more than those of its parts, which lie deeper.
    ranked = sorted(
        (rank, difference.path.count("."), index, words)
        for index, difference in enumerate(changes)
        for rank, words in _words(difference)
    )
    told += [words for rank, *_, words in ranked if rank < _PLAIN]
    if not told:
        # Nothing that has a name of its own happened: then the paths are what there is to tell.
        told = [words for rank, *_, words in ranked if rank == _PLAIN]
    if not told:
        told = [_plainly(difference) for difference in changes]
    if not told:
        return f"{write.verb or 'change'} changed nothing"
    more = len(told) - _SHOWN_CHANGES
    return "; ".join(told[:_SHOWN_CHANGES]) + (f"; {more} more" if more > 0 else "")


def _words(difference: Difference) -> list[tuple[int, str]]:
    """The difference in words with its rank (0 comes first); none if it is dull."""
    path = difference.path
    if path == "status.phase":
        return [(0, _arrow(difference))]
    if path == "spec.suspend":
        return [(1, f"suspend {_arrow(difference)}")]
    found = _CONDITION.match(path)
    if found is not None:
        old, new = _status(difference.old), _status(difference.new)
        if old == new:
            return []
        # A condition that appears says less than one that turns.
        rank = 2 if old and new and not found["part"] else 3
        name = f"{found['part']} {found['type']}" if found["part"] else found["type"]
        return [(rank, f"{name} {old or 'absent'} → {new or 'absent'}")]
    if _COUNTER.match(path):
        return [(1, f"{path.removeprefix('status.')} {_arrow(difference)}")]
    owner = _OWNER.match(path)
    if owner is not None:
        gone = difference.new == ABSENT
        is_whole = owner[2] in (None, ".uid")
        return [(4, f"owner {owner[1]} {'removed' if gone else 'added'}")] if is_whole else []
    if _DULL.search(path) or path.startswith("spec.taints"):
        return []
    return [(_PLAIN, _plainly(difference))]


def _taint_words(old: Object, new: Object | None) -> list[str]:
    before, after = _taints(old), _taints(new or {})
    return [f"taint {taint} added" for taint in after if taint not in before] + [
        f"taint {taint} removed" for taint in before if taint not in after
    ]


def _taints(obj: Object) -> list[str]:
    return [
        f"{taint.get('key', '')}={taint.get('value', '')}:{taint.get('effect', '')}"
        for taint in get_path(obj, "spec.taints") or ()
        if isinstance(taint, dict)
    ]


def _status(value: Any) -> str:
    """A condition's status: the value itself, or that of a whole condition."""
    if isinstance(value, dict):
        value = value.get("status", "")
    return "" if value == ABSENT else str(value)


def _plainly(difference: Difference) -> str:
    return f"{difference.path} {_arrow(difference)}"


def _arrow(difference: Difference) -> str:
    return f"{brief(difference.old)} → {brief(difference.new)}"


def brief(value: Any, limit: int = _SHOWN_CHARACTERS) -> str:
    """A value on one short line: text as it is, everything else as JSON."""
    if value == ABSENT:
        return "absent"
    if value == "":
        return "empty"
    text = value if isinstance(value, str) else encode(value).decode()
    return printable(text, limit)
