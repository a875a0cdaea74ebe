"""An existing CRD counts only if it keeps and rejects the same fields as ours."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from conformance.implementations.ours import implementation
from conformance.worlds.existing.preflight import _defined_otherwise
from conformance.worlds.existing.same_definition import is_same_definition
from reference_controller.runtime.connection import Connection
from vocabulary.errors import ApiError
from vocabulary.objects import Object, name_of
from vocabulary.requests import Get

(OURS,) = implementation("reference", "appwrapper").crds()
Definition = dict[str, Any]


class Stored(Connection):
    """A cluster that has one definition, or none."""

    def __init__(self, crd: Object | None) -> None:
        self._crd = crd

    def handle(self, request: Any) -> Object:
        assert isinstance(request, Get) and request.name == name_of(OURS)
        if self._crd is None:
            raise ApiError(404, "NotFound", "no such definition")
        return self._crd


def status_of(crd: Definition) -> Definition:
    schema: Definition = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    status: Definition = schema["properties"]["status"]
    return status


def changed(change: Callable[[Definition], Any]) -> Definition:
    crd: Definition = copy.deepcopy(dict(OURS))
    change(crd)
    return crd


def fill_in(crd: Definition) -> None:
    """The CRD as stored by the API server."""
    crd["metadata"] |= {"uid": "u", "resourceVersion": "9"}
    names = crd["spec"]["names"]
    names["listKind"] = f"{names['kind']}List"
    names["singular"] = names["kind"].lower()
    crd["spec"]["conversion"] = {"strategy": "None"}
    crd["status"] = {"storedVersions": ["v1beta2"]}


def reword(crd: Definition) -> None:
    status_of(crd)["description"] = "What has become of it."
    crd["spec"]["versions"][0]["additionalPrinterColumns"] = []


def lack_a_field(crd: Definition) -> None:
    del status_of(crd)["properties"]["failedAt"]


def refuse_more(crd: Definition) -> None:
    status_of(crd)["properties"]["phase"]["maxLength"] = 3


def have_another_description_property(crd: Definition) -> None:
    status_of(crd)["properties"]["description"] = {"type": "string"}


def lose_the_status(crd: Definition) -> None:
    crd["spec"]["versions"][0]["subresources"] = {}


@pytest.mark.parametrize("change", [fill_in, reword])
def test_what_the_api_server_fills_in_and_what_people_read_is_no_difference(
    change: Callable[[Definition], None],
) -> None:
    found = changed(change)
    assert found != OURS
    assert is_same_definition(OURS, found)
    assert not list(_defined_otherwise(Stored(found), implementation("reference", "appwrapper")))


@pytest.mark.parametrize(
    "change", [lack_a_field, refuse_more, have_another_description_property, lose_the_status]
)
def test_what_would_be_dropped_or_refused_is_a_problem_with_the_next_thing_to_do(
    change: Callable[[Definition], None],
) -> None:
    (problem,) = _defined_otherwise(
        Stored(changed(change)), implementation("reference", "appwrapper")
    )
    assert f"CustomResourceDefinition {name_of(OURS)} is not as reference defines it" in problem
    assert f"`kubectl delete crd {name_of(OURS)}`" in problem


def test_a_definition_that_is_missing_is_brought_and_is_no_problem() -> None:
    assert not list(_defined_otherwise(Stored(None), implementation("reference", "appwrapper")))
