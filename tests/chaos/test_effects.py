"""Faults describe their own effect as the checkers understood it from the plan's spelling.

This is the bridge between two descriptions of the same thing: it goes when the checkers read the
first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from chaos.fault import FAULTS, Fault, fault_from_data
from chaos.faults.api_error import ANSWERS
from conformance.history_view import outages
from conformance.history_view.refusals import refused_for_us
from conformance.history_view.tracks import Track
from tests.chaos.examples import EXAMPLES
from vocabulary import history
from vocabulary.clock import SECOND
from vocabulary.fault_effect import FaultEffect

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


def entry(fault: Fault) -> history.Fault:
    return history.Fault(n=1, t=5, action="injected", fault=fault.to_data(), text="x")


def costs_us(effect: FaultEffect) -> int | None:
    """The cost as a judge reckons it: counted refusals cost what a client then waits."""
    refuses = effect.refuses
    if refuses is None or not refuses.times:
        return effect.costs_us
    return refused_for_us(refuses.times, {"retry_after_seconds": refuses.retry_after_us // SECOND})


def refuses_other_deletes(effect: FaultEffect, track: Track) -> bool:
    refuses = effect.refuses
    return (
        refuses is not None
        and refuses.verbs == ("delete",)
        and (refuses.kind not in ("", track.kind) or refuses.name not in ("", track.name))
    )


def test_every_registered_fault_is_among_the_cases() -> None:
    assert {type(fault) for fault in CASES} == set(FAULTS.values())


def test_an_effect_hinders_and_costs_what_checkers_derive_from_the_spelling() -> None:
    seen = set()
    for fault in CASES:
        effect = fault.fault_effect()
        if effect.ends is not None:
            continue
        told = outages._faults_in_force([entry(fault)])
        hit = effect.hinders in ("*", "operator") or effect.hinders.startswith("operator/")
        assert hit == bool(told), fault
        for outage in told:
            for_good = effect.refuses is not None and effect.refuses.for_good
            assert outage.cost_us == costs_us(effect), fault
            assert outage.refuses_for_good == for_good, fault
            assert outage.backs_off == effect.backs_off, fault
            assert outages._lingers_us(*outages._spelled(entry(fault))) == effect.lingers_us, fault
            seen.add(fault.plan_key)
    assert seen == {
        *("api_error", "time_out", "lose_reply", "slow_api", "webhook_outage"),
        *("stale_reads", "delay_watch", "break_watch"),
    }


def test_what_lifts_a_fault_names_it_as_it_was_injected() -> None:
    for fault in CASES:
        ends = fault.fault_effect().ends
        assert ends == (fault.to_data()["lift"]["fault"] if fault.plan_key == "lift" else None)


@pytest.mark.parametrize(("kind", "name"), [("Job.batch", "x"), ("Job.batch", "y"), ("Pod", "x")])
def test_an_effect_names_the_refused_requests(kind: str, name: str) -> None:
    created = history.Write(n=0, t=0, actor="user", verb="create", kind=kind, name=name)
    track = Track(created, "uid")
    found = {outages.refuses_other_deletes(entry(fault), track) for fault in CASES}
    assert found == {True, False}
    for fault in CASES:
        told = outages.refuses_other_deletes(entry(fault), track)
        assert refuses_other_deletes(fault.fault_effect(), track) == told, fault
