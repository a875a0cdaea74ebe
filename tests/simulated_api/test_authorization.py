"""An operator is restricted by its roles, with RBAC's messages; all other users are not."""

from __future__ import annotations

import pytest

from fixtures.simulated.authorization import has_rights, rules_for
from tests.simulated_api.cluster import NAMESPACE, Cluster, config_map
from vocabulary.errors import ApiError, kept_message, lacks_rights
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.requests import Create, Delete, DeleteCollection, Get, List, Patch, Request

ROLE = {
    "kind": "ClusterRole",
    "metadata": {"name": "reader"},
    "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create"]}],
}


@pytest.fixture
def held() -> Cluster:
    cluster = Cluster()
    cluster.api.authorize = rules_for({"operator": [ROLE]}, [CONFIG_MAP])
    return cluster


def test_what_a_role_gives_is_allowed(held: Cluster) -> None:
    held.api.handle(Create(CONFIG_MAP, config_map("a")), "operator")
    assert held.api.handle(Get(CONFIG_MAP, NAMESPACE, "a"), "operator")


@pytest.mark.parametrize(
    ("asked", "verb", "resource"),
    [
        (List(CONFIG_MAP, NAMESPACE), "list", "configmaps"),
        (Delete(CONFIG_MAP, NAMESPACE, "a"), "delete", "configmaps"),
        (DeleteCollection(CONFIG_MAP, NAMESPACE), "deletecollection", "configmaps"),
        (Patch(CONFIG_MAP, NAMESPACE, "a", {}, subresource="status"), "patch", "configmaps/status"),
    ],
)
def test_what_it_does_not_give_is_forbidden_and_changes_nothing(
    held: Cluster, asked: Request, verb: str, resource: str
) -> None:
    held.create(config_map("a"), CONFIG_MAP)
    with pytest.raises(ApiError) as refused:
        held.api.handle(asked, "operator")
    assert (refused.value.code, refused.value.reason) == (403, "Forbidden")
    assert refused.value.message.endswith(
        f'is forbidden: User "operator" cannot {verb} resource "{resource}" in API group "" '
        f'in the namespace "{NAMESPACE}"'
    )
    assert lacks_rights(refused.value.message)
    assert held.get(CONFIG_MAP, "a") is not None


def test_others_and_other_kinds_are_not_held_to_it(held: Cluster) -> None:
    held.api.handle(Create(CONFIG_MAP, config_map("a")), "user")
    held.api.handle(Delete(CONFIG_MAP, NAMESPACE, "a"), "user")
    held.api.handle(List(POD, NAMESPACE), "operator")


def test_a_history_keeps_which_right_was_missing_but_no_words_of_a_quota() -> None:
    quota = 'pods "a" is forbidden: exceeded quota: q, requested: pods=1'
    assert not lacks_rights(quota)
    assert kept_message("Forbidden", quota) == ""
    right = 'pods "a" is forbidden: User "x" cannot create resource "pods" in API group ""'
    assert kept_message("Forbidden", right) == right


@pytest.mark.parametrize(
    ("group", "resource", "verb", "allowed"),
    [
        ("*", "*", "*", True),
        ("", "*", "patch", True),
        ("", "*/status", "*", True),
        ("", "configmaps/status", "*", True),
        ("", "configmaps", "*", False),
        ("", "*/scale", "*", False),
        ("apps", "*", "*", False),
    ],
)
def test_asterisks_stand_for_all_as_in_rbac(
    group: str, resource: str, verb: str, allowed: bool
) -> None:
    rule = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
    authorize = rules_for({"operator": [{**ROLE, "rules": [rule]}]}, [CONFIG_MAP])
    asked = Patch(CONFIG_MAP, NAMESPACE, "a", {}, subresource="status")
    if allowed:
        authorize(asked, "operator")
    else:
        with pytest.raises(ApiError):
            authorize(asked, "operator")


def test_a_role_has_to_do_with_the_kinds_of_its_rules() -> None:
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    assert has_rights([{**ROLE, "rules": [everything]}], POD)
    assert has_rights([ROLE], CONFIG_MAP)
    assert not has_rights([ROLE], POD)
