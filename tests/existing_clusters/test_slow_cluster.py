"""However slow a cluster is, it is waited for as long as something still goes."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from conformance import clean
from conformance.clean import RUN_LABEL, NotCleanError, _Cleaning
from conformance.patience import PatientConnection
from reference_controller.runtime.connection import Connection
from vocabulary.errors import ApiError
from vocabulary.kinds import NAMESPACE
from vocabulary.objects import Object
from vocabulary.requests import Delete, List, ObjectList


class Slow(Connection):
    """A cluster which takes one of its namespaces away each time it has been asked so often for
    what is left; their status says nothing of anything that holds them up."""

    def __init__(self, namespaces: int, *, asked: int, stays: int = 0) -> None:
        self._left = [namespace(number) for number in range(namespaces)]
        self._asked = itertools.cycle(range(asked))
        self._stays = stays

    def handle(self, request: Any) -> Object | ObjectList:
        if isinstance(request, List) and request.kind == NAMESPACE:
            if next(self._asked) == 0 and len(self._left) > self._stays:
                self._left.pop()
            return ObjectList(tuple(self._left), "1")
        assert not isinstance(request, Delete), "they are being deleted already"
        raise ApiError(404, "NotFound", "nothing else is there")

    def get(self, path: str) -> Any:
        raise AssertionError(f"{path}: what is in the namespaces need not be searched")


def namespace(number: int) -> Object:
    metadata = {"name": f"run-{number}", "uid": str(number), "deletionTimestamp": "now"}
    return {"kind": "Namespace", "metadata": {**metadata, "labels": {RUN_LABEL: "assay-1"}}}


@pytest.fixture
def hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by a quarter of the patience with each look."""
    looks = itertools.count()
    step = clean.GONE_SECONDS / 4
    clock = SimpleNamespace(monotonic=lambda: next(looks) * step, sleep=lambda _: None)
    monkeypatch.setattr(clean, "time", clock)


def cleaning(cluster: Slow) -> _Cleaning:
    return _Cleaning(PatientConnection(cluster), RUN_LABEL)


@pytest.mark.usefixtures("hours")
def test_many_namespaces_may_take_longer_than_one() -> None:
    cleaning(Slow(20, asked=3))._remove_kind(NAMESPACE)


@pytest.mark.usefixtures("hours")
def test_it_is_given_up_when_nothing_goes_any_more() -> None:
    with pytest.raises(NotCleanError, match=r"Namespace run-0: still there .* none has gone"):
        cleaning(Slow(20, asked=3, stays=1))._remove_kind(NAMESPACE)
