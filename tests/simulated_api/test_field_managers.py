"""The managers of fields: for which objects the server keeps them, and how much of a history."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.patches import field_managers
from tests.simulated_api.cluster import NAMESPACE, Cluster, config_map
from vocabulary.kinds import CONFIG_MAP
from vocabulary.requests import DeleteCollection


def test_a_question_about_an_object_that_is_gone_leaves_nothing_behind() -> None:
    managers = field_managers.FieldManagers()
    assert managers.of("gone") == managers.of("gone")
    assert managers.of("gone") is not managers.of("gone")


def test_what_a_list_shows_is_worked_out_once_for_each_write(cluster: Cluster) -> None:
    made = cluster.create(config_map("c"), CONFIG_MAP)
    first = cluster.api.managed_fields(made)
    assert cluster.api.managed_fields(made) is first
    cluster.patch(CONFIG_MAP, "c", {"data": {"new": "1"}})
    assert cluster.api.managed_fields(made) != first


@pytest.mark.parametrize("of_all", [False, True])
def test_an_object_that_is_gone_is_forgotten(cluster: Cluster, of_all: bool) -> None:
    made = cluster.create(config_map("c"), CONFIG_MAP)
    cluster.patch(CONFIG_MAP, "c", {"data": {"a": "1"}})
    if of_all:
        cluster.user(DeleteCollection(CONFIG_MAP, NAMESPACE))
    else:
        cluster.delete(CONFIG_MAP, "c")
    assert cluster.api.managed_fields(made) == []


def test_it_is_forgotten_also_if_the_last_finalizer_goes(cluster: Cluster) -> None:
    made = cluster.create(config_map("c", finalizers=["a.b/c"]), CONFIG_MAP)
    cluster.delete(CONFIG_MAP, "c")
    assert cluster.api.managed_fields(made)
    cluster.patch(CONFIG_MAP, "c", {"metadata": {"finalizers": None}})
    assert cluster.api.managed_fields(made) == []


def test_a_read_works_out_a_few_dozen_writes(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = cluster.create(config_map("c"), CONFIG_MAP)
    for number in range(300):
        cluster.patch(CONFIG_MAP, "c", {"data": {f"k{number}": "1"}})
    changes, compared = field_managers.changes, []

    def counted(*arguments: Any) -> Any:
        compared.append(arguments)
        return changes(*arguments)

    monkeypatch.setattr(field_managers, "changes", counted)
    (managed,) = cluster.api.managed_fields(made)
    assert 0 < len(compared) < 64
    assert len(managed["fieldsV1"]["f:data"]) == 302  # the first key, the others, and the map
