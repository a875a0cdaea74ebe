"""Tables of who and what matches: flow schemas, rules of roles, budgets that allow no eviction."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.access.rules import Attributes, Rules
from clusters.simulated.access.users import User
from clusters.simulated.disruption import require_budget
from clusters.simulated.flow_control import FLOW_SCHEMA, PRIORITY_LEVEL, Flow, flow_of
from clusters.simulated.store import Key, Store
from vocabulary.errors import ApiError
from vocabulary.kinds import POD_DISRUPTION_BUDGET, Kind

ANYBODY = {"kind": "User", "user": {"name": "*"}}
ACCOUNT = User("system:serviceaccount:n:a", ("g", "system:serviceaccounts"))
PERSON = User("p", ("g",))
PODS = Attributes("get", "", "pods", "n")
NODES = Attributes("get", "", "nodes")
PATH = Attributes("get", path="/a/b")


def store_of(*objects: tuple[str, str, dict[str, Any]]) -> Store:
    store = Store()
    for kind, namespace, obj in objects:
        store.put(Key(kind, namespace, obj["metadata"]["name"]), obj)
    return store


def flow(rules: Any, user: User = PERSON, asked: Attributes = PODS) -> bool:
    metadata = {"name": "s", "uid": "schema"}
    spec = {
        "matchingPrecedence": 1,
        "priorityLevelConfiguration": {"name": "l"},
        "rules": rules,
    }
    level = {"metadata": {"name": "l", "uid": "level"}}
    schema = {"metadata": metadata, "spec": spec}
    found = flow_of(store_of((FLOW_SCHEMA, "", schema), (PRIORITY_LEVEL, "", level)), user, asked)
    assert found in (None, Flow("schema", "level"))
    return found is not None


def resource_rule(**fields: Any) -> dict[str, Any]:
    rule = {"verbs": ["get"], "resources": ["pods"], "apiGroups": [""], "namespaces": ["n"]}
    return {"subjects": [ANYBODY], "resourceRules": [{**rule, **fields}]}


def path_rule(*paths: str, **fields: Any) -> dict[str, Any]:
    rule = {"verbs": ["get"], "nonResourceURLs": list(paths), **fields}
    return {"subjects": [ANYBODY], "nonResourceRules": [rule]}


def account(namespace: str, name: str) -> dict[str, Any]:
    return {"kind": "ServiceAccount", "serviceAccount": {"namespace": namespace, "name": name}}


@pytest.mark.parametrize(
    ("subject", "user", "matches"),
    [
        (ANYBODY, PERSON, True),
        ({"kind": "User", "user": {"name": "p"}}, PERSON, True),
        ({"kind": "User", "user": {"name": "q"}}, PERSON, False),
        ({"kind": "Group", "group": {"name": "*"}}, PERSON, True),
        ({"kind": "Group", "group": {"name": "g"}}, PERSON, True),
        ({"kind": "Group", "group": {"name": "h"}}, PERSON, False),
        (account("n", "a"), ACCOUNT, True),
        (account("n", "*"), ACCOUNT, True),
        (account("n", "b"), ACCOUNT, False),
        (account("m", "a"), ACCOUNT, False),
        (account("m", "*"), ACCOUNT, False),
        (account("n", "a"), PERSON, False),
    ],
)
def test_a_flow_schema_names_its_subjects(subject: Any, user: User, *, matches: bool) -> None:
    rule = resource_rule()
    assert flow([{**rule, "subjects": [subject]}], user) is matches
    nobody = {"kind": "User", "user": {"name": "nobody"}}
    assert flow([{**rule, "subjects": [nobody, subject]}], user) is matches


@pytest.mark.parametrize(
    ("rule", "asked", "matches"),
    [
        (resource_rule(), PODS, True),
        (resource_rule(verbs=["*"]), PODS, True),
        (resource_rule(verbs=["list"]), PODS, False),
        (resource_rule(resources=["*"]), PODS, True),
        (resource_rule(resources=["jobs"]), PODS, False),
        (resource_rule(apiGroups=["*"]), PODS, True),
        (resource_rule(apiGroups=["batch"]), PODS, False),
        (resource_rule(namespaces=["*"]), PODS, True),
        (resource_rule(namespaces=["m"]), PODS, False),
        (resource_rule(namespaces=[]), PODS, False),
        (resource_rule(namespaces=None), PODS, False),
        (resource_rule(namespaces=None, clusterScope=True), PODS, False),
        (resource_rule(resources=["nodes"], clusterScope=True), NODES, True),
        (resource_rule(resources=["nodes"]), NODES, False),
        (resource_rule(), PATH, False),
        (path_rule("*"), PATH, True),
        (path_rule("/a/b"), PATH, True),
        (path_rule("/a/*"), PATH, True),
        (path_rule("/a"), PATH, True),
        (path_rule("/b", "/a/b"), PATH, True),
        (path_rule("/b"), PATH, False),
        (path_rule("/a/bc"), PATH, False),
        (path_rule("/a/b", verbs=["*"]), PATH, True),
        (path_rule("/a/b", verbs=["post"]), PATH, False),
        (path_rule("*"), PODS, False),
        ({"subjects": [ANYBODY]}, PATH, False),
        ({"resourceRules": resource_rule()["resourceRules"]}, PODS, False),
    ],
)
def test_a_flow_schema_names_what_is_asked(rule: Any, asked: Attributes, *, matches: bool) -> None:
    assert flow([rule], asked=asked) is matches
    assert flow([path_rule("/other"), rule], asked=asked) is matches


def test_a_flow_schema_without_rules_or_level_matches_nothing() -> None:
    assert not flow(None)
    assert not flow([])
    spec = {"matchingPrecedence": 1, "priorityLevelConfiguration": {"name": "gone"}}
    schema = {"metadata": {"name": "s", "uid": "u"}, "spec": {**spec, "rules": [resource_rule()]}}
    assert flow_of(store_of((FLOW_SCHEMA, "", schema)), PERSON, PODS) is None


NAMED = {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}


@pytest.mark.parametrize(
    ("rule", "asked", "allowed"),
    [
        (NAMED, Attributes("get", "", "pods", "n", "a"), True),
        (NAMED, Attributes("get", "", "pods", "n", "b"), False),
        (NAMED, Attributes("get", "", "pods", "n"), False),
        (NAMED, Attributes("list", "", "pods", "n", "a"), False),
        ({**NAMED, "resourceNames": None}, Attributes("get", "", "pods", "n"), True),
        ({**NAMED, "verbs": ["*"]}, Attributes("patch", "", "pods", "n", "a"), True),
        ({**NAMED, "resources": ["*"]}, Attributes("get", "", "jobs", "n", "a"), True),
        ({**NAMED, "apiGroups": ["*"]}, Attributes("get", "x", "pods", "n", "a"), True),
        ({**NAMED, "resources": ["*/log"]}, Attributes("get", "", "pods/log", "n", "a"), True),
        ({**NAMED, "resources": ["*/log"]}, Attributes("get", "", "pods", "n", "a"), False),
        ({**NAMED, "verbs": None}, Attributes("get", "", "pods", "n", "a"), False),
        ({**NAMED, "resources": None}, Attributes("get", "", "pods", "n", "a"), False),
        ({**NAMED, "apiGroups": None}, Attributes("get", "", "pods", "n", "a"), False),
        ({"verbs": ["get"], "nonResourceURLs": ["/a/b"]}, PATH, True),
        ({"verbs": ["*"], "nonResourceURLs": ["*"]}, PATH, True),
        ({"verbs": ["get"], "nonResourceURLs": ["/a/*"]}, PATH, True),
        ({"verbs": ["get"], "nonResourceURLs": ["/a"]}, PATH, False),
        ({"verbs": ["put"], "nonResourceURLs": ["*"]}, PATH, False),
        ({"verbs": None, "nonResourceURLs": ["*"]}, PATH, False),
    ],
)
def test_a_rule_allows_what_it_names(rule: Any, asked: Attributes, *, allowed: bool) -> None:
    assert Rules([rule]).allow(asked) is allowed
    assert Rules([{}, rule]).allow(asked) is allowed


@pytest.mark.parametrize(
    ("rule", "applies"),
    [
        (NAMED, True),
        ({**NAMED, "resources": ["pods/log"]}, True),
        ({**NAMED, "resources": ["*"]}, True),
        ({**NAMED, "apiGroups": ["*"]}, True),
        ({**NAMED, "apiGroups": ["batch"]}, False),
        ({**NAMED, "resources": ["jobs"]}, False),
        ({"verbs": ["get"], "nonResourceURLs": ["*"]}, False),
    ],
)
def test_a_rule_applies_to_a_kind_if_it_names_some_of_it(rule: Any, *, applies: bool) -> None:
    other = {**NAMED, "resources": ["secrets"], "resourceNames": None}
    assert Rules([rule, other]).apply_to(Kind("", "v1", "Pod", "pods")) is applies


def _refusal(status: Any, *, ready: bool = True, **spec: Any) -> str:
    """The words with which an eviction is refused; empty if it is allowed."""
    budget = {
        "metadata": {"name": "b", "namespace": "n", "generation": 2, "uid": "u"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, **spec},
        **({} if status is None else {"status": {"observedGeneration": 2, **status}}),
    }
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    pod = {
        "metadata": {"name": "p", "namespace": "n", "labels": {"a": "b"}},
        "status": {"phase": "Running", "conditions": conditions},
    }
    store = store_of((str(POD_DISRUPTION_BUDGET), "n", budget))
    try:
        require_budget(store, pod, 0, dry_run=True)
    except ApiError as refused:
        causes = (refused.details or {}).get("causes") or [{}]
        return str(causes[0].get("message") or refused.message)
    return ""


FAILED = {"type": "DisruptionAllowed", "status": "False", "reason": "SyncFailed", "message": "m"}
MANY = {f"p{number}": "2024-01-01T00:00:00Z" for number in range(2_001)}
FEWER = dict(list(MANY.items())[:2_000])


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({"disruptionsAllowed": 1}, ""),
        ({"disruptionsAllowed": 1, "disruptedPods": FEWER}, ""),
        ({"disruptionsAllowed": 1, "disruptedPods": MANY}, "DisruptedPods map too big"),
        ({"disruptionsAllowed": 1, "observedGeneration": 1}, "still being processed"),
        (None, "still being processed"),
        ({}, "needs 0 healthy pods and has 0 currently"),
        ({"currentHealthy": 2, "desiredHealthy": 3}, "needs 3 healthy pods and has 2 currently"),
        ({"currentHealthy": 3, "desiredHealthy": 3}, "needs 3 healthy pods and has 3 currently"),
        ({"currentHealthy": 4, "desiredHealthy": 3}, "does not allow evicting pods currently"),
        ({"conditions": [FAILED]}, "because it failed sync: m"),
        ({"conditions": [{**FAILED, "reason": "Other"}]}, "needs 0 healthy pods"),
        ({"conditions": [{**FAILED, "status": "True"}]}, "needs 0 healthy pods"),
        ({"conditions": [{**FAILED, "message": ""}]}, "needs 0 healthy pods"),
    ],
)
def test_a_budget_says_why_it_allows_no_eviction(status: Any, said: str) -> None:
    found = _refusal(status)
    assert said in found
    assert bool(said) is bool(found)


@pytest.mark.parametrize(
    ("status", "policy", "allowed"),
    [
        ({"currentHealthy": 1, "desiredHealthy": 1}, "IfHealthyBudget", True),
        ({"currentHealthy": 1, "desiredHealthy": 2}, "IfHealthyBudget", False),
        ({"currentHealthy": 0, "desiredHealthy": 0}, "IfHealthyBudget", False),
        ({"currentHealthy": 1}, "IfHealthyBudget", False),
        ({"desiredHealthy": 1}, "IfHealthyBudget", False),
        ({"currentHealthy": 1, "desiredHealthy": 2}, "AlwaysAllow", True),
        (None, "AlwaysAllow", True),
    ],
)
def test_a_pod_that_is_not_ready_may_go_while_others_are(
    status: Any, policy: str, *, allowed: bool
) -> None:
    found = _refusal(status, ready=False, unhealthyPodEvictionPolicy=policy)
    assert (found == "") is allowed
