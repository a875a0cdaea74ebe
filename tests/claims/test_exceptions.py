"""Exceptions and panics are violations of their own, in whatever form they are logged."""

from __future__ import annotations

import pytest

from conformance.history import History
from conformance.norm.exceptions import escaped
from conformance.norm.obligations import Fate
from conformance.worlds.panics import panics
from vocabulary.history import Header, Mark, OperatorUnderTest

LOGS = {
    "klog": b'E0101 10:00:00.0 7 runtime.go:79] Observed a panic: "nil map" (boom)\n',
    "klog, structured": b'E0101 10:00:00.0 7 x.go:1] "Observed a panic" panic="nil map" '
    b'stacktrace="goroutine 1"\n',
    "zap, JSON": b'{"level":"error","msg":"Observed a panic","controller":"a","panic":"nil map"}\n',
    "zap, console": b'ERROR\tObserved a panic\t{"controller": "a", "panic": "nil map"}\n',
    "reconciler": b"INFO\tObserved a panic in reconciler: nil map\t{}\n",
    "webhook": b'{"msg":"Observed a panic in webhook: nil map","webhook":"a"}\n',
}


@pytest.mark.parametrize("form", LOGS)
def test_a_logged_panic_is_found_once(form: str) -> None:
    log = b"INFO\tbegins\t{}\n" + 2 * LOGS[form] + b"INFO\tgoes on\t{}\n"
    assert [str(each) for each in panics(log)] == ["nil map"]


def test_other_lines_are_none() -> None:
    assert not panics(b'E0101 1 x.go:1] "Reconciler error" err="panic is not observed"\n')


HEADER = Header(
    scenario="a",
    seed=1,
    cluster="simulated",
    clock="virtual",
    began_us=0,
    kubernetes_version="v1.36.3",
    operators={"jobset": OperatorUnderTest(suite="jobset", implementation="reference")},
)


@pytest.mark.parametrize(
    ("text", "is_violated"),
    [
        ("jobset raised ValueError: no pod (jobs.py:1, in run)", True),
        ("jobset/1 raised PanicError: nil map", True),
        ("webhook of jobset raised KeyError: 'spec'", True),
        ("jobset raised EndedError: it ended with 2; its log ends: panic: boom", True),
        ("jobset raised EndedError: it ended with 1; its log ends: leader election lost", False),
        ("kueue raised ValueError: no pod (jobs.py:1, in run)", False),
        ("a user raised the priority", False),
    ],
)
def test_exceptions_of_the_operator_are_violations(text: str, is_violated: bool) -> None:
    history = History(HEADER, [Mark(n=0, t=0, mark="step", text=text), Mark(n=1, t=1, mark="end")])
    judged = list(escaped(history, history.operators["jobset"]))
    assert [each.fate for each in judged] == [Fate.VIOLATED] * is_violated
