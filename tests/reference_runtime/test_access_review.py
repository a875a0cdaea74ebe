"""The API server reviews a user's right to create, with the real user and resource."""

from __future__ import annotations

from typing import Any

import pytest

from reference_controller.runtime.access_review import AccessReviewer
from reference_controller.runtime.admission_review import UserInfo, Webhook, review
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB, Kind
from vocabulary.objects import get_path
from vocabulary.requests import Create

DATUM = Kind("example.org", "v1", "Datum", "datums")
"""Its plural is a guess, and wrong."""
SERVED = {"resources": [{"name": "data", "kind": "Datum", "namespaced": True}]}
USER = UserInfo("ann", "1", ("team",), {"scopes": ("a", "b")})


class Server:
    """An API server that allows what it is asked, and remembers it."""

    def __init__(self, served: Any) -> None:
        self._served = served
        self.specs: list[Any] = []

    def get(self, path: str) -> Any:
        assert path == "/apis/example.org/v1"
        if isinstance(self._served, ApiError):
            raise self._served
        return self._served

    def handle(self, request: Create) -> Any:
        self.specs.append(get_path(request.object, "spec"))
        return {**request.object, "status": {"allowed": True}}


def resource(served: Any, kind: Kind) -> Any:
    server = Server(served)
    assert AccessReviewer(server)(USER, kind, "team")  # type: ignore[arg-type]
    (spec,) = server.specs
    return spec["resourceAttributes"]


def test_the_plural_is_the_one_that_is_served() -> None:
    assert resource(SERVED, DATUM) == {
        "verb": "create",
        "group": "example.org",
        "version": "v1",
        "resource": "data",
        "namespace": "team",
    }


@pytest.mark.parametrize(
    "served", [{"resources": []}, ApiError(404, "NotFound", "no such version")]
)
def test_of_a_kind_that_is_not_served_all_resources_are_asked_for(served: Any) -> None:
    assert resource(served, DATUM)["resource"] == "*"


def test_known_kinds_need_no_discovery() -> None:
    assert resource(ApiError(500, "InternalError", "never asked"), JOB)["resource"] == "jobs"


def test_without_an_answer_nobody_may_create_anything() -> None:
    server = Server(ApiError(503, "ServiceUnavailable", "down"))
    with pytest.raises(ApiError, match="cannot ask what 'ann' may do"):
        AccessReviewer(server)(USER, DATUM, "team")  # type: ignore[arg-type]
    assert server.specs == []


def test_the_user_is_described_in_full() -> None:
    server = Server(SERVED)
    AccessReviewer(server)(USER, DATUM, "team")  # type: ignore[arg-type]
    (spec,) = server.specs
    assert (spec["user"], spec["uid"], spec["groups"]) == ("ann", "1", ["team"])
    assert spec["extra"] == {"scopes": ["a", "b"]}


def test_what_an_authenticator_knows_besides_reaches_the_controller() -> None:
    seen: list[UserInfo] = []

    def admit(operation: Any, new: Any, old: Any, user: UserInfo) -> Any:
        seen.append(user)
        return new

    review(
        b'{"apiVersion":"admission.k8s.io/v1","request":{"uid":"1","operation":"CREATE",'
        b'"kind":{"group":"batch","version":"v1","kind":"Job"},'
        b'"object":{},"userInfo":{"username":"ann","uid":"1","groups":["team"],'
        b'"extra":{"scopes":["a","b"]}}}}',
        {JOB: Webhook(mutate=admit)},
        "mutate",
    )
    assert seen == [USER]
