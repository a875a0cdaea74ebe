"""Histories of an operator that are written by hand, and verdicts on them."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance import claims
from conformance.history import History
from conformance.norm.verdict import Verdict
from tests.headers import header_of
from vocabulary.clock import Micros
from vocabulary.history import (
    OPERATOR,
    Entry,
    Mark,
    OperatorFacts,
    OperatorUnderTest,
    Process,
    Write,
)

END = Mark(n=0, t=0, mark="end")


def step(text: str, t: Micros = 0) -> Mark:
    return Mark(n=0, t=t, mark="step", text=text)


def process(change: Any, t: Micros = 0) -> Process:
    return Process(n=0, t=t, process=OPERATOR, change=change)


def update(t: Micros, kind: str, code: int = 200) -> Write:
    """The operator updates an object, or is refused."""
    return Write(
        n=0,
        t=t,
        actor=OPERATOR,
        verb="update",
        kind=kind,
        namespace="default",
        name="a",
        uid=f"uid-of-{kind}" if code < 400 else "",
        event="MODIFIED" if code < 400 else "",
        code=code,
    )


def lease(t: Micros) -> Write:
    """The operator renews its Lease."""
    return update(t, "Lease.coordination.k8s.io")


def verdict_on(claim: str, *entries: Entry, facts: Any = None, **header: Any) -> Verdict:
    """The verdict on these entries, in their order; `facts` are those of the profile."""
    operator = OperatorUnderTest(
        suite=OPERATOR, implementation="by hand", facts=OperatorFacts(**(facts or {}))
    )
    history = History(
        msgspec.structs.replace(header_of(), operators={OPERATOR: operator}, **header),
        [msgspec.structs.replace(each, n=n) for n, each in enumerate(entries, 1)],
    )
    (judge,) = (each.judge for each in claims.load() if each.id == claim)
    verdict = judge(history)
    assert not verdict.error
    return verdict
