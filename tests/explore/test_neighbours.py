"""OP-018: what refusals of writes to one workload have delayed of another one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from conformance.norm.obligations import Fate
from conformance.suites.operator.claims.neighbours import (
    _is_named_after,
    _not_delayed,
    _plain,
    _unlike_each_other,
)
from conformance.suites.operator.view import OperatorHistory
from vocabulary.history import Counterpart, Mark

NAME = "Job.batch n/a"


def fates(undisturbed: dict[str, int]) -> list[Fate]:
    """The fates of a job that is created after 700 s, where writes were refused for 600 s;
    `undisturbed` is when it is created without refusals."""
    fault = SimpleNamespace(n=1, t=0, action="injected")
    ended = SimpleNamespace(n=2, t=600, action="reverted")
    created = SimpleNamespace(n=3, t=700, actor="operator")
    run = SimpleNamespace(
        struck=[fault],
        history=SimpleNamespace(
            faults=[fault, ended], is_stable=True, end=Mark(n=4, t=800, mark="end")
        ),
        undisturbed=SimpleNamespace(end={NAME: {}}, created=undisturbed),
        neighbours=[SimpleNamespace(created=created)],
        operator=SimpleNamespace(is_by=lambda actor: actor == "operator"),
        form=SimpleNamespace(name_of=lambda _: NAME),
        unlike=[],
    )
    return [each.fate for each in _not_delayed(cast("OperatorHistory", run))]


def test_an_object_that_is_created_earlier_without_refusals_was_delayed() -> None:
    assert fates({NAME: 5}) == [Fate.VIOLATED]


def test_an_object_that_is_created_as_late_without_refusals_says_nothing() -> None:
    assert fates({NAME: 690}) == [Fate.UNDECIDED, Fate.MET]
    assert fates({}) == [Fate.UNDECIDED, Fate.MET], "an older history does not say when"


def test_an_object_without_an_owner_belongs_to_the_subject_whose_name_stands_in_its_own() -> None:
    for name in ("a", "a-entry", "default.a", "registry-of-a"):
        assert _is_named_after(f"ConfigMap {name}", ("a",))
    for name in ("lock", "data", "a1-entry"):
        assert not _is_named_after(f"ConfigMap {name}", ("a",))


@pytest.mark.parametrize(
    "name",
    [
        "ConfigMap kube-system/run.orders",
        "ConfigMap kube-system/run-assay-neighbour.orders",
        "ConfigMap kube-system/run.orders-assay-neighbour",
    ],
)
def test_names_of_both_workloads_correspond_though_they_begin_with_a_namespace(name: str) -> None:
    assert _plain(name, ("run", "run-assay-neighbour")) == "ConfigMap run.orders"


def test_what_only_the_user_makes_is_there_for_both() -> None:
    """A ConfigMap of the workload belongs to no subject, and is named after none."""
    end: dict[str, object] = {
        "Site.example.dev default/a": {},
        "Site.example.dev default/a-assay-neighbour": {},
        "ConfigMap default/notes": {},
        "ConfigMap default/notes-assay-neighbour": {},
        "Lease.coordination.k8s.io default/leader": {},
    }
    known = Counterpart(
        scenario="",
        sha256="",
        is_stable=True,
        end={name: {"metadata": {}} for name in end},
        subjects=("Site.example.dev default/a", "Site.example.dev default/a-assay-neighbour"),
    )
    assert _unlike_each_other(known) == []
    del known.end["ConfigMap default/notes"]
    assert _unlike_each_other(known) == ["ConfigMap notes is there for the other only"]
