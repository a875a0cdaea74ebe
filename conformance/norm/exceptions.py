"""Exceptions that escape from an operator's code: a claim that several suites have about theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from conformance.history import History
from conformance.history.operator import OperatorView
from conformance.norm.claim import Source
from conformance.norm.obligations import Obligation, met, violated
from conformance.norm.words import when
from conformance.suite import AUDIT_LOG

SOURCE: Final = Source("any-operator", "Claims", 13)
_RAISED: Final = re.compile(r"(?:webhook of )?(?P<name>\S+) raised (?P<error>.*)", re.DOTALL)
_ENDED: Final = "EndedError: "
_PANIC: Final = re.compile(r"\bpanic: |fatal error: ")


def escaped(history: History, operator: OperatorView) -> Iterator[Obligation]:
    """An obligation for each exception that the operator or a webhook of it raised, and one for the
    run if it wrote anything.

    A process that ends without a panic is no bug: it may have lost its Lease, or what it needs. An
    audit log tells of neither.
    """
    for mark in history.marks:
        raised = _RAISED.fullmatch(mark.text) if mark.mark == "step" else None
        if raised is None or not operator.is_by(raised["name"]):
            continue
        error = raised["error"]
        if not error.startswith(_ENDED) or _PANIC.search(error):
            yield violated(mark, f"{when(mark)} {mark.text}.")
    if operator.writes and not history.header.scenario.startswith(f"{AUDIT_LOG}/"):
        yield met(history.end)
