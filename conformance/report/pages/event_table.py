"""The table of events of a failure page: which entries, one row each, and what each changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from conformance.history.object_diff import ABSENT, differences
from conformance.norm.verdict import Verdict
from conformance.report.pages.change import Step, actor_of, brief, describe, subject_of
from conformance.report.pages.shown_time import shown_time
from conformance.report.pages.time_axis import TimeAxis
from conformance.report.untrusted import printable
from vocabulary.canonical import encode
from vocabulary.history import Fault, Mark, OutgoingCall, Process, Write

MAX_VALUE_CHARACTERS: Final = 160
MAX_PATH_CHARACTERS: Final = 160


class EventRow(NamedTuple):
    """One row; `skipped` says how many entries before it are not shown."""

    n: int
    time: str
    x: float
    rv: str
    actor: str
    subject: str
    text: str
    tone: str
    """`at` (the contradiction), `evidence`, `fault`, `process`, `refused`, or empty."""
    skipped: int


Detail = list[list[str]]
"""Path, value before, value after of each difference; or a label and a text."""


def shown_positions(steps: Sequence[Step], verdict: Verdict, limit: int) -> list[int]:
    """The positions of shown entries: all if they fit, else the evidence and the closest ones."""
    if len(steps) <= limit:
        return list(range(len(steps)))
    told = _evidence(verdict, len(steps))
    focus = sorted(told) or [len(steps) - 1]
    ranked = sorted(
        range(len(steps)),
        key=lambda n: (
            n not in told,
            isinstance(steps[n].entry, Write),
            min(abs(n - other) for other in focus),
            n,
        ),
    )
    return sorted(ranked[:limit])


def event_rows(
    steps: Sequence[Step], positions: Sequence[int], verdict: Verdict, axis: TimeAxis
) -> list[EventRow]:
    """The rows of the table, in order."""
    contradictions = {violation.at for violation in verdict.violations}
    told = _evidence(verdict, len(steps))
    rows: list[EventRow] = []
    previous = -1
    for n in positions:
        step = steps[n]
        entry = step.entry
        tone = "at" if n in contradictions else "evidence" if n in told else _tone(step)
        rows.append(
            EventRow(
                n=n,
                time=shown_time(entry.t),
                x=axis.x(entry.t),
                rv=str(entry.rv) if isinstance(entry, Write) and entry.rv else "",
                actor=actor_of(entry),
                subject=subject_of(entry),
                text=describe(step),
                tone=tone,
                skipped=n - previous - 1,
            )
        )
        previous = n
    return rows


def _evidence(verdict: Verdict, count: int) -> set[int]:
    return {
        n
        for violation in verdict.violations
        for n in (violation.at, *violation.evidence)
        if 0 <= n < count
    }


def _tone(step: Step) -> str:
    match step.entry:
        case Fault():
            return "fault"
        case Process() | OutgoingCall() | Mark():
            return "process"
        case Write() as write:
            return "refused" if write.code == 0 or write.code >= 400 else ""


def details(
    steps: Sequence[Step], positions: Iterable[int], *, lines: int, budget_bytes: int
) -> dict[str, Detail]:
    """Each entry's change, in full, within a budget; those that do not fit are left out.

    `positions` come in order of importance: the first get theirs.
    """
    found: dict[str, Detail] = {}
    spent = 0
    for n in positions:
        detail = _detail(steps[n], lines)
        spent += len(encode(detail)) + 8
        if spent > budget_bytes:
            break
        found[str(n)] = detail
    return found


def _detail(step: Step, lines: int) -> Detail:
    match step.entry:
        case Write() as write:
            rows = _request(write)
            if write.event and write.event != "DELETED":
                old = step.old if write.event == "MODIFIED" else None
                rows += [
                    [printable(d.path, MAX_PATH_CHARACTERS), _value(d.old), _value(d.new)]
                    for d in differences(old, write.object)
                ]
        case Fault() as fault:
            rows = [["fault", _value(fault.fault)]]
        case Process() as process:
            rows = [["process", f"{printable(process.process, 80)} {process.change}"]]
        case OutgoingCall() as call:
            rows = [[call.protocol, printable(f"{call.to} → {call.answer}", 400)]]
        case Mark() as mark:
            rows = [["mark", printable(f"{mark.mark} {mark.text}".strip(), 400)]]
    more = len(rows) - lines
    return [*rows[:lines], [f"… {more} more paths", ""]] if more > 0 else rows


def _request(write: Write) -> Detail:
    """The request and its response."""
    asked = " ".join(part for part in (write.verb, write.kind, write.subresource) if part)
    answer = "no answer" if write.code == 0 else f"{write.code} {write.reason}".rstrip()
    rows = [["request", printable(f"{asked} → {answer}", 200)]]
    if write.options:
        rows.append(["options", _value(write.options)])
    return rows


def _value(value: Any) -> str:
    return "" if value == ABSENT else brief(value, MAX_VALUE_CHARACTERS)
