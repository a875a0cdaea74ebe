"""An operator is restricted by its roles, with RBAC's messages; all other users are not."""

from __future__ import annotations

import pytest

from clusters.simulated.access.authorization import attributes
from clusters.simulated.access.rules import Rules
from clusters.simulated.access.users import AUTHENTICATED, User
from clusters.simulated.watches import EventType, WatchRequest
from tests.simulated_api.cluster import NAMESPACE, Cluster, config_map
from vocabulary.errors import ApiError, kept_message, lacks_rights
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.objects import Object
from vocabulary.requests import Create, Delete, DeleteCollection, Get, List, Patch, Request

ROLE = {
    "kind": "ClusterRole",
    "metadata": {"name": "reader"},
    "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create"]}],
}


@pytest.fixture
def held() -> Cluster:
    cluster = Cluster()
    access = cluster.api.access
    access.register_users({"operator": User("operator", (AUTHENTICATED,))})
    access.rbac.grant("operator", Rules(ROLE["rules"]))
    access.restrict_to([CONFIG_MAP])
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


def test_kinds_may_be_restricted_later(held: Cluster) -> None:
    held.api.access.restrict_to([POD])
    for kind in (POD, CONFIG_MAP):
        with pytest.raises(ApiError, match="is forbidden"):
            held.api.handle(List(kind, NAMESPACE), "operator")


def test_a_watch_needs_its_own_right(held: Cluster) -> None:
    def deliver(event: EventType, obj: Object) -> None:
        raise AssertionError((event, obj))

    with pytest.raises(ApiError, match='cannot watch resource "configmaps"'):
        held.api.watch(WatchRequest(CONFIG_MAP, NAMESPACE), deliver, "operator")


def test_names_restrict_a_right_also_where_a_selector_gives_them() -> None:
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"], "resourceNames": ["a"]}
    rules = Rules([rule])
    assert rules.allow(attributes(Get(CONFIG_MAP, NAMESPACE, "a")))
    assert not rules.allow(attributes(Get(CONFIG_MAP, NAMESPACE, "b")))
    assert not rules.allow(attributes(Create(CONFIG_MAP, config_map("a"), NAMESPACE, "a")))
    assert not rules.allow(attributes(List(CONFIG_MAP, NAMESPACE)))
    by_name = List(CONFIG_MAP, NAMESPACE, field_selector="metadata.name=a")
    assert rules.allow(attributes(by_name))


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
    asked = Patch(CONFIG_MAP, NAMESPACE, "a", {}, subresource="status")
    assert Rules([rule]).allow(attributes(asked)) is allowed


def test_rules_apply_to_the_kinds_that_they_name() -> None:
    everything = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    assert Rules([everything]).apply_to(POD)
    assert Rules(ROLE["rules"]).apply_to(CONFIG_MAP)
    assert not Rules(ROLE["rules"]).apply_to(POD)


def test_an_apply_that_creates_needs_the_right_to_create() -> None:
    """Also to objects of one name, which a plain creation cannot have."""
    cluster = Cluster()
    access = cluster.api.access
    access.register_users({"operator": User("operator", (AUTHENTICATED,))})
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}
    access.rbac.grant("operator", Rules([rule]))
    body = {**config_map("a"), "data": {"k": "1"}}
    applied = Patch(CONFIG_MAP, NAMESPACE, "a", body, "apply", field_manager="test")
    with pytest.raises(ApiError) as refused:
        cluster.api.handle(applied, "operator")
    assert refused.value.message.startswith(
        'configmaps "a" is forbidden: User "operator" cannot create resource "configmaps"'
    )
    assert cluster.get(CONFIG_MAP, "a") is None
    access.rbac.grant(
        "operator", Rules([rule, {**rule, "verbs": ["create"], "resourceNames": ["a"]}])
    )
    cluster.api.handle(applied, "operator")
    access.rbac.grant("operator", Rules([rule]))
    cluster.api.handle(applied, "operator")
    assert cluster.get(CONFIG_MAP, "a") is not None
