"""The effects that faults describe, and those that histories of format 1 leave to derive."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import msgspec
import pytest

from chaos.effects import among_several
from chaos.fault import FAULTS, Fault, fault_from_data
from chaos.faults.api_error import ANSWERS
from conformance import suite
from conformance.suites.appwrapper.history_format1 import effect_of
from tests.chaos.examples import EXAMPLES
from tests.chaos.fake_ground import FakeGround
from vocabulary.hindrance import hinders

suite.load()  # its kinds complete what plans leave out
ACTORS = ("", "operator", "operator/1", "job-controller", "kubelet/n0")
SPANS = ("0s", "1s", "1m30s")
TIMES = (0, 1, 2, 14)


def spellings() -> Iterator[dict[str, Any]]:
    """Connection faults over a range of their parameters, defaults included."""
    for actor, times in product((None, *ACTORS), (None, *TIMES)):
        common: dict[str, Any] = {} if actor is None else {"actor": actor}
        counted = common if times is None else {**common, "times": times}
        for code, seconds in product((None, *ANSWERS), (0, 1, 7)):
            coded = counted if code is None else {**counted, "code": code}
            yield {"api_error": {**coded, "retry_after_seconds": seconds}}
        for verb, kind, name in product(
            ("delete", ["delete", "update"], "create"), ("", "Job", "Job.batch", "Pod"), ("", "x")
        ):
            refused = {**counted, "verb": verb, "name": name} | ({"kind": kind} if kind else {})
            yield {"api_error": refused}
            yield {"time_out": refused}
        for span in (None, *SPANS):
            yield {"time_out": counted | ({} if span is None else {"after": span})}
            yield {"lose_reply": counted | ({} if span is None else {"after": span})}
            yield {"slow_api": counted | ({} if span is None else {"by": span})}
            yield {"delay_watch": common | ({} if span is None else {"by": span})}
            yield {"break_watch": common | ({} if span is None else {"gap": span})}
        yield {"stale_reads": common}
    yield {"webhook_outage": {}}
    yield {"webhook_outage": {"kind": "Job"}}


CASES: list[Fault] = [*EXAMPLES, *(fault_from_data(data) for data in spellings())]
CASES += [fault_from_data({"lift": {"fault": data}}) for data in spellings()]


def test_every_registered_fault_is_among_the_cases() -> None:
    assert {type(fault) for fault in CASES} == set(FAULTS.values())


def test_a_fault_of_format_1_has_the_effect_that_it_describes_today() -> None:
    seen = set()
    for fault in CASES:
        effect, told = fault.fault_effect(), effect_of(fault.to_data())
        if told.refuses is not None and effect.refuses is not None:
            # Format 1 kept the kind as it was spelled, with or without its group.
            assert told.refuses.kind.partition(".")[0] == effect.refuses.kind.partition(".")[0]
            refuses = msgspec.structs.replace(told.refuses, kind=effect.refuses.kind)
            told = msgspec.structs.replace(told, refuses=refuses)
        if "webhook_outage" in str(fault.to_data()):
            assert told.hinders
            assert effect.hinders == "*"
            continue
        assert told == effect, fault
        seen |= {fault.plan_key} if effect.hinders else set()
    assert {"api_error", "time_out", "lose_reply", "slow_api", "stale_reads"} <= seen
    assert {"delay_watch", "break_watch", "lift"} <= seen


def test_what_lifts_a_fault_names_it_as_it_was_injected() -> None:
    for fault in CASES:
        ends = fault.fault_effect().ends
        assert ends == (fault.to_data()["lift"]["fault"] if fault.plan_key == "lift" else None)


class TwoOperators(FakeGround):
    """A Job operator beside one that has to do with Jobs and pods."""

    roles = ("job", "job-and-pod")

    def concerned(self, kind: str) -> tuple[str, ...]:
        return self.roles if kind == "Job.batch" else ("job-and-pod",)


@pytest.mark.parametrize(
    ("data", "recorded", "hindered"),
    [
        ({"webhook_outage": {"kind": "Job"}}, "*", ["job", "job-and-pod"]),
        ({"webhook_outage": {"kind": "Pod"}}, "job-and-pod", ["job-and-pod"]),
        ({"delay_watch": {"kind": "Pod", "actor": "job"}}, "", []),
        ({"delay_watch": {"kind": "Pod", "actor": "job/*"}}, "", []),
        ({"delay_watch": {"kind": "Pod", "actor": "job*"}}, "job-and-pod", ["job-and-pod"]),
        (
            {"delay_watch": {"kind": "Pod", "actor": "job-and-pod/1"}},
            "job-and-pod/1",
            ["job-and-pod"],
        ),
        (
            {"delay_watch": {"kind": "Pod", "actor": "job-and-pod*"}},
            "job-and-pod*",
            ["job-and-pod"],
        ),
        ({"delay_watch": {"actor": "job"}}, "job", ["job"]),
        ({"lift": {"fault": {"delay_watch": {"kind": "Pod", "actor": "job"}}}}, "", []),
        ({"kill": {"actor": "job"}}, "", []),
    ],
)
def test_a_fault_of_one_kind_hinders_the_operators_that_have_to_do_with_it(
    data: dict[str, Any], recorded: str, hindered: list[str]
) -> None:
    fault = fault_from_data(data)
    effect = among_several(fault.fault_effect(), fault.befalls(), TwoOperators())
    assert effect.hinders == recorded
    named = [role for role in TwoOperators.roles if hinders(effect, role)]
    assert named == hindered


@pytest.mark.parametrize("actor", ["user", "scheduler", "kubelet/*", "job-controller", "pod*"])
def test_a_fault_of_one_kind_that_strikes_no_operator_hinders_none(actor: str) -> None:
    fault = fault_from_data({"api_error": {"kind": "Job", "actor": actor}})
    effect = among_several(fault.fault_effect(), fault.befalls(), TwoOperators())
    assert effect.hinders == actor
    assert not [role for role in TwoOperators.roles if hinders(effect, role)]


def test_beside_no_other_an_operator_is_hindered_as_the_fault_describes() -> None:
    fault = fault_from_data({"delay_watch": {"kind": "Pod"}})
    assert (
        among_several(fault.fault_effect(), fault.befalls(), FakeGround()) == fault.fault_effect()
    )
