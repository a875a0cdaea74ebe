"""Rights that no run used are listed, and violate no claim."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.explore.unused_rights import unused_rights
from tests.explore.planted import explored, planted, violated

__all__ = ["planted"]


def role(group: str, resources: list[str], verbs: list[str]) -> dict[str, Any]:
    return {"rules": [{"apiGroups": [group], "resources": resources, "verbs": verbs}]}


def test_a_right_is_used_by_a_request_of_its_verb_resource_and_group() -> None:
    roles = [role("apps", ["deployments", "deployments/scale"], ["get", "patch"])]
    used = [{"get deployments of apps": 3}, {"patch deployments/scale of apps": 1}]
    assert unused_rights(roles, used) == [
        "deployments of apps: patch",
        "deployments/scale of apps: get",
    ]


def test_another_group_is_another_right() -> None:
    assert unused_rights([role("", ["events"], ["create"])], [{"create events of apps": 1}]) == [
        "events: create"
    ]


def test_an_asterisk_is_shown_with_what_it_was_used_for() -> None:
    roles = [role("", ["secrets"], ["*"]), role("batch", ["*"], ["get"])]
    assert unused_rights(roles, [{"get secrets": 2, "list secrets": 1}]) == [
        "secrets: * (only get secrets, list secrets was used)",
        "* of batch: get",
    ]


@pytest.mark.usefixtures("planted")
def test_an_exploration_ends_with_the_rights_that_no_run_used() -> None:
    suite, _ = explored("planted", "edits", sample=0)
    (note,) = [note for note in suite.notes if "OP-026" in note]
    assert "sites/status of planted.example.dev: get" in note
    assert "deployments" not in note, "it creates one, and patches what edits changed"
    assert not violated(suite)
