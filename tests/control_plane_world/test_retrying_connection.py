"""Assay's own requests survive an API server outage; errors are not retried."""

from __future__ import annotations

import pytest

from conformance.stored_objects import retrying_connection
from conformance.stored_objects.retrying_connection import RetryingConnection
from vocabulary.errors import ApiError, already_exists, no_answer, not_found
from vocabulary.kinds import POD
from vocabulary.requests import Create, Delete, Get, Request

A_POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
CREATE = Create(POD, A_POD, "here")
LOST = no_answer("the connection ended")


class Scripted:
    """A connection whose answers are known beforehand."""

    def __init__(self, *answers: object) -> None:
        self._answers = list(answers)
        self.asked: list[Request] = []

    def handle(self, request: Request) -> object:
        self.asked.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrying_connection, "PATIENCE_SECONDS", 0.5)


@pytest.mark.parametrize(
    "away", [LOST, ApiError(503, "ServiceUnavailable", ""), ApiError(500, "", "etcdserver: slow")]
)
def test_a_request_that_nobody_answers_is_made_again(away: ApiError) -> None:
    connection = Scripted(away, away, A_POD)
    assert RetryingConnection(connection).handle(CREATE) == A_POD
    assert connection.asked == [CREATE] * 3


@pytest.mark.parametrize(
    "refusal",
    [
        ApiError(403, "Forbidden", ""),
        already_exists(POD, "a"),
        ApiError(500, "InternalError", "failed calling webhook"),
    ],
)
def test_a_refusal_is_not_asked_for_twice(refusal: ApiError) -> None:
    connection = Scripted(refusal)
    with pytest.raises(ApiError) as raised:
        RetryingConnection(connection).handle(CREATE)
    assert raised.value is refusal
    assert connection.asked == [CREATE]


def test_what_was_created_though_the_answer_was_lost_is_what_was_asked_for() -> None:
    connection = Scripted(LOST, already_exists(POD, "a"), A_POD)
    assert RetryingConnection(connection).handle(CREATE) == A_POD
    assert connection.asked[-1] == Get(POD, "here", "a", live=True)


def test_what_is_gone_though_the_answer_was_lost_is_what_was_asked_for() -> None:
    connection = Scripted(LOST, not_found(POD, "a"))
    assert RetryingConnection(connection).handle(Delete(POD, "here", "a")) == {}


def test_a_server_that_stays_away_is_given_up_on() -> None:
    connection = Scripted(*[LOST] * 100)
    with pytest.raises(ApiError) as raised:
        RetryingConnection(connection).handle(CREATE)
    assert raised.value is LOST
