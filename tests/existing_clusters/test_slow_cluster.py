"""However slow a cluster is, it is waited for as long as something still goes, and not pestered."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.left_behind import clean
from conformance.left_behind.clean import RUN_LABEL, NotCleanError, _Cleaning
from conformance.stored_objects.lookup import WEBHOOK_FAILED
from conformance.stored_objects.retrying_connection import RetryingConnection
from reference_controller.runtime.connection import Connection
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, NAMESPACE, SECRET
from vocabulary.objects import Object
from vocabulary.requests import Delete, List, ObjectList, Patch


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
    """A clock that advances by a quarter of the patience with each look."""
    looks = itertools.count()
    step = clean.GONE_SECONDS / 4
    clock = SimpleNamespace(monotonic=lambda: next(looks) * step, sleep=lambda _: None)
    monkeypatch.setattr(clean, "time", clock)


def cleaning(cluster: Slow) -> _Cleaning:
    return _Cleaning(RetryingConnection(cluster), RUN_LABEL, ())


@pytest.mark.usefixtures("hours")
def test_many_namespaces_may_take_longer_than_one() -> None:
    cleaning(Slow(20, asked=3))._remove_kind(NAMESPACE)


@pytest.mark.usefixtures("hours")
def test_it_is_given_up_when_nothing_goes_any_more() -> None:
    with pytest.raises(NotCleanError, match=r"Namespace run-0: still there .* none has gone"):
        cleaning(Slow(20, asked=3, stays=1))._remove_kind(NAMESPACE)


class Held(Connection):
    """A cluster with a namespace of whose contents a finalizer keeps the last, and which is gone
    ten seconds after that was taken off; until then its status says what was so before."""

    def __init__(self) -> None:
        self.now = 0.0
        self.searches: list[str] = []
        self.webhook_answers_at = 0.0
        self._goes_at = math.inf

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def handle(self, request: Any) -> Object | ObjectList:
        match request:
            case List() if request.kind == NAMESPACE:
                held = {"type": "NamespaceFinalizersRemaining", "status": "True"}
                there = {**namespace(0), "status": {"conditions": [held]}}
                return ObjectList((there,) if self.now < self._goes_at else (), "1")
            case List() if request.kind == CONFIG_MAP:
                self.searches.append(request.kind.kind)
                return ObjectList((held_by("example.com/mine"),), "1")
            case List() if request.kind == SECRET:
                self.searches.append(request.kind.kind)
                raise ApiError(403, "Forbidden", "secrets may not be listed")
            case Patch():
                assert (request.kind, request.name) == (CONFIG_MAP, "c")
                if self.now < self.webhook_answers_at:
                    raise ApiError(500, "InternalError", f'{WEBHOOK_FAILED} "v": refused')
                self._goes_at = min(self._goes_at, self.now + 10.0)
                return {}
        return ObjectList((), "1")

    def get(self, path: str) -> Any:
        verbs = ["list", "delete", "patch"]
        kinds = (CONFIG_MAP, SECRET) if path == "/api/v1" else ()
        served = [
            {"name": kind.plural, "kind": kind.kind, "namespaced": True, "verbs": verbs}
            for kind in kinds
        ]
        return {"groups": [], "resources": served}


def held_by(finalizer: str) -> Object:
    metadata = {"name": "c", "namespace": "run-0", "uid": "c", "resourceVersion": "1"}
    return {"kind": "ConfigMap", "metadata": {**metadata, "finalizers": [finalizer]}}


def test_what_holds_a_namespace_up_is_searched_once_a_second_and_what_is_hidden_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Held()
    monkeypatch.setattr(clean, "time", cluster)
    _Cleaning(RetryingConnection(cluster), RUN_LABEL, ())._remove_kind(NAMESPACE)
    counts = Counter(cluster.searches)
    assert counts["Secret"] == 1
    assert counts["ConfigMap"] == pytest.approx(10, abs=1)


def test_an_operator_whose_webhooks_cannot_be_called_yet_is_waited_for_and_named_at_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Held()
    monkeypatch.setattr(clean, "time", cluster)
    cluster.webhook_answers_at = 20.0
    _Cleaning(RetryingConnection(cluster), RUN_LABEL, ())._remove_kind(NAMESPACE)
    never = Held()
    monkeypatch.setattr(clean, "time", never)
    never.webhook_answers_at = math.inf
    with pytest.raises(NotCleanError, match=f"the last was refused: {WEBHOOK_FAILED}"):
        _Cleaning(RetryingConnection(never), RUN_LABEL, ())._remove_kind(NAMESPACE)
