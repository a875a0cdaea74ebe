"""The table of connection rules: which request meets what, how often, and which watch."""

from __future__ import annotations

import pytest

from chaos.connection_rules import ConnectionRules
from chaos.ground import (
    Break,
    Delay,
    Freeze,
    NoAnswer,
    Refuse,
    RequestRule,
    Slow,
    WatchRule,
    is_same_actor,
    is_same_kind,
)
from conformance.suites.appwrapper.api import APPWRAPPER
from vocabulary.kinds import JOB, POD
from vocabulary.requests import Create, Delete, Get, List, Patch, Update

REFUSAL = Refuse(500, "InternalError", "no")
UPDATE = Update(APPWRAPPER, {"metadata": {"namespace": "t", "name": "a"}}, "status")


def meets(rule: RequestRule, request: object, actor: str = "operator") -> bool:
    rules = ConnectionRules()
    rules.add(rule)
    return rules.meets(actor, request) is rule.effect  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("criteria", "request_", "actor", "expected"),
    [
        ({}, UPDATE, "operator", True),
        ({}, UPDATE, "operator/1", False),
        ({"actor": "operator*"}, UPDATE, "operator/1", True),
        ({"actor": ""}, UPDATE, "user", True),
        ({"actor": "kubelet/*"}, UPDATE, "kubelet/n0", True),
        ({"verbs": ("update",)}, UPDATE, "operator", True),
        ({"verbs": ("patch", "delete")}, UPDATE, "operator", False),
        ({"verbs": ("list",)}, List(POD, "t"), "operator", True),
        ({"kind": "AppWrapper"}, UPDATE, "operator", True),
        ({"kind": "AppWrapper.workload.codeflare.dev"}, UPDATE, "operator", True),
        ({"kind": "Job.batch"}, Get(JOB, "t", "a"), "operator", True),
        ({"kind": "Pod"}, UPDATE, "operator", False),
        ({"name": "a"}, UPDATE, "operator", True),
        ({"name": "b"}, UPDATE, "operator", False),
        ({"name": "a"}, List(POD, "t"), "operator", False),
        ({"subresource": "status"}, UPDATE, "operator", True),
        ({"subresource": ""}, UPDATE, "operator", False),
        ({"subresource": ""}, Create(POD, {}, "t", "p"), "operator", True),
        ({"subresource": ""}, Delete(POD, "t", "p"), "operator", True),
        ({"subresource": "scale"}, Patch(JOB, "t", "a", {}), "operator", False),
    ],
)
def test_a_rule_hits_the_requests_that_fit_its_criteria(criteria, request_, actor, expected):
    assert meets(RequestRule(REFUSAL, **criteria), request_, actor) is expected


def hits(rules: ConnectionRules, count: int) -> list[bool]:
    return [rules.meets("operator", UPDATE) is not None for _ in range(count)]


def test_a_rule_passes_the_skipped_and_hits_the_next_ones_only():
    rules = ConnectionRules()
    rules.add(RequestRule(REFUSAL, skip=2, times=2))
    assert hits(rules, 6) == [False, False, True, True, False, False]
    assert rules.rules == ()


def test_a_rule_without_times_holds_until_it_is_removed():
    rules = ConnectionRules()
    rule = RequestRule(REFUSAL, times=0)
    rules.add(rule)
    assert hits(rules, 3) == [True] * 3
    rules.remove(rule)
    assert hits(rules, 1) == [False]


def test_the_rule_that_was_added_first_decides_and_all_count():
    rules = ConnectionRules()
    rules.add(RequestRule(REFUSAL, times=1))
    rules.add(RequestRule(Slow(5), skip=1, times=1))
    assert rules.meets("operator", UPDATE) == REFUSAL
    assert rules.meets("operator", UPDATE) == Slow(5)
    assert rules.meets("operator", UPDATE) is None


def test_requests_that_do_not_fit_are_not_counted():
    rules = ConnectionRules()
    rules.add(RequestRule(NoAnswer(reached=True, after_us=0), kind="Pod", skip=1))
    assert rules.meets("operator", UPDATE) is None
    assert rules.meets("operator", List(POD, "t")) is None
    assert rules.meets("operator", UPDATE) is None
    assert rules.meets("operator", List(POD, "t")) == NoAnswer(reached=True, after_us=0)


def test_delays_of_a_watch_add_up_and_concern_their_kind_and_actor_only():
    rules = ConnectionRules()
    rules.add(WatchRule(Delay(3), kind="Pod"))
    rules.add(WatchRule(Delay(4)))
    assert rules.watch_delay_us("operator", "Pod") == 7
    assert rules.watch_delay_us("operator", "Job.batch") == 4
    assert rules.watch_delay_us("scheduler", "Pod") == 0


def test_a_frozen_watch_stays_frozen_until_its_rule_is_removed():
    rules = ConnectionRules()
    rule = WatchRule(Freeze(), kind="Pod")
    rules.add(rule)
    assert rules.on_watch("operator", "Pod") == (Freeze(),)
    assert rules.on_watch("operator", "Job.batch") == ()
    rules.remove(rule)
    assert rules.on_watch("operator", "Pod") == ()


def test_a_carrier_hears_of_every_rule_that_comes_or_goes_and_a_break_does_not_stay():
    heard: list[tuple[object, bool]] = []
    rules = ConnectionRules(lambda rule, holds: heard.append((rule, holds)))
    freeze, break_ = WatchRule(Freeze()), WatchRule(Break(5))
    for rule in (freeze, break_):
        rules.add(rule)
    assert rules.rules == (freeze,)
    rules.remove(break_)
    rules.remove(freeze)
    rules.remove(freeze)
    assert heard == [(freeze, True), (break_, True), (freeze, False)]


@pytest.mark.parametrize(
    ("wanted", "actor", "expected"),
    [
        ("", "anybody", True),
        ("operator", "operator", True),
        ("operator", "operator/1", False),
        ("operator*", "operator/1", True),
        ("kubelet/*", "kubelet/n0", True),
        ("kubelet/*", "kubelet", False),
    ],
)
def test_actors_are_the_same_exactly_or_by_a_trailing_star(wanted, actor, expected):
    assert is_same_actor(wanted, actor) is expected


@pytest.mark.parametrize(
    ("wanted", "kind", "expected"),
    [
        ("Job", "Job.batch", True),
        ("Job.batch", "Job.batch", True),
        ("Job.other", "Job.batch", False),
        ("Pod", "Pod", True),
        ("Job", "JobSet.jobset.x-k8s.io", False),
    ],
)
def test_a_bare_kind_is_that_of_any_group(wanted, kind, expected):
    assert is_same_kind(wanted, kind) is expected
