"""A run is at rest if the API server confirms it, not if no event arrived."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.suites.appwrapper import SUITE
from conformance.worlds.control_plane.at_rest import are_at_rest
from vocabulary.errors import ApiError
from vocabulary.requests import List, ObjectList, Request


def failed(deployed: str) -> dict[str, Any]:
    conditions = [{"type": "ResourcesDeployed", "status": deployed}]
    return {"status": {"phase": "Failed", "conditions": conditions}}


@pytest.mark.parametrize(("deployed", "at_rest"), [("False", True), ("True", False)])
def test_what_watches_have_not_told_yet_counts(deployed: str, at_rest: bool) -> None:
    def call(request: Request) -> ObjectList:
        assert isinstance(request, List)
        assert request.namespace == "run-1"
        return ObjectList((failed("False"), failed(deployed)), "7")

    assert are_at_rest(SUITE.kinds, call, ("run-1",)) is at_rest


def test_an_api_server_that_is_away_leaves_it_open() -> None:
    def call(request: Request) -> ObjectList:
        raise ApiError(503, "ServiceUnavailable", "away")

    assert not are_at_rest(SUITE.kinds, call, ("run-1",))
