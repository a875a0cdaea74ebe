"""Mistakes in single writes: what the server gets, what the client is answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from clusters.simulated.cluster import SimulatedCluster
from conformance.wire.drawn import OfRole, drawn
from conformance.wire.interposed import Mistaken, possible, target_of
from conformance.wire.paths import changed, from_text, in_text, merge_patch
from conformance.wire.rules import Mistake, UnknownMistakeError, mistake
from vocabulary.errors import ApiError
from vocabulary.history import Write
from vocabulary.kinds import CONFIG_MAP, JOB, LEASE, POD
from vocabulary.objects import finalizers_of, name_of
from vocabulary.requests import Create, Delete, Get, Patch, Request, Update, create

OPERATOR = "toy"
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "u-1"}


def map_of(name: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "data": {"key": "value"},
    }


POD_OF = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "i"}]},
}


class Cluster:
    """A cluster, with a mistake in the writes of an operator."""

    def __init__(self, text: str) -> None:
        self._cluster = SimulatedCluster(1, nodes=0, namespaces=("other",))
        self.wrong = Mistaken(mistake(text))
        api = self._cluster.api
        api.interposed = {OPERATOR: self.wrong.before(api, OPERATOR)}

    def do(self, request: Request, actor: str = OPERATOR) -> Any:
        return self._cluster.api.handle(request, actor)

    def get(self, name: str, namespace: str = "default") -> Any:
        try:
            return self.do(Get(CONFIG_MAP, namespace, name), "user")
        except ApiError:
            return None

    def kill(self) -> None:
        self._cluster.recorder.process(OPERATOR, "killed")

    @property
    def written(self) -> list[tuple[str, str, int]]:
        """The operator's writes in the history."""
        entries = self._cluster.recorder.entries
        mine = (e for e in entries if isinstance(e, Write) and e.actor == OPERATOR)
        return [(each.verb, each.name, each.code) for each in mine]


def test_a_write_that_is_left_out_is_answered_and_nowhere_to_be_seen() -> None:
    cluster = Cluster("left-out:create:ConfigMap")
    answer = cluster.do(create(map_of("a")))
    assert answer["data"] == {"key": "value"}
    assert cluster.get("a") is None
    assert cluster.written == []
    assert cluster.wrong.times == 1


def test_a_deletion_and_an_eviction_can_be_left_out() -> None:
    cluster = Cluster("left-out:delete:ConfigMap")
    cluster.do(create(map_of("a")))
    assert name_of(cluster.do(Delete(CONFIG_MAP, "default", "a"))) == "a"
    assert cluster.get("a")
    eviction = Cluster("left-out:create:Pod/eviction")
    eviction.do(create(POD_OF))
    eviction.do(Create(POD, {"metadata": {"name": "p"}}, "default", "p", "eviction"))
    assert "deletionTimestamp" not in eviction.do(Get(POD, "default", "p"))["metadata"]


def test_the_writes_of_others_and_of_other_targets_arrive_as_they_are() -> None:
    cluster = Cluster("left-out:create:ConfigMap")
    cluster.do(create(map_of("a")), "user")
    cluster.do(Patch(CONFIG_MAP, "default", "a", {"data": {"key": "other"}}))
    assert cluster.get("a")["data"] == {"key": "other"}
    assert cluster.wrong.times == 0


def test_a_creation_is_sent_twice_or_under_another_name_or_to_another_namespace() -> None:
    twice = Cluster("sent-twice:create:ConfigMap")
    assert name_of(twice.do(create(map_of("a")))) == "a"
    assert twice.get("a")
    assert twice.get("a-x")
    renamed = Cluster("renamed:create:ConfigMap")
    renamed.do(create(map_of("a")))
    assert renamed.get("a") is None
    assert renamed.get("a-x")
    elsewhere = Cluster("to-namesake:create:ConfigMap")
    elsewhere.do(create(map_of("a")))
    assert elsewhere.get("a", "other")
    assert elsewhere.get("a") is None


@pytest.mark.parametrize("verb", ["patch", "update", "delete"])
def test_a_write_goes_to_another_object_of_the_kind(verb: str) -> None:
    cluster = Cluster(f"to-namesake:{verb}:ConfigMap")
    first, second = (cluster.do(create(map_of(name)), "user") for name in "ab")
    if verb == "patch":
        version = {"resourceVersion": first["metadata"]["resourceVersion"]}
        cluster.do(
            Patch(CONFIG_MAP, "default", "a", {"metadata": version, "data": {"key": "other"}})
        )
    elif verb == "update":
        cluster.do(Update(CONFIG_MAP, {**first, "data": {"key": "other"}}))
    else:
        cluster.do(Delete(CONFIG_MAP, "default", "a", uid=first["metadata"]["uid"]))
    assert cluster.get("a") == first
    assert cluster.get("b") != second
    assert cluster.wrong.times == 1


def test_a_write_is_late_and_the_next_one_early() -> None:
    cluster = Cluster("too-late:create:ConfigMap")
    assert cluster.do(create(map_of("a")))
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}}
    cluster.do(Create(LEASE, lease, "default"))
    assert cluster.get("a") is None
    cluster.do(create(map_of("b")))
    assert [name for _, name, _ in cluster.written] == ["l", "b", "a"]


def test_a_late_update_is_one_of_the_object_as_it_is_by_then() -> None:
    cluster = Cluster("too-late:update:ConfigMap")
    first = cluster.do(create(map_of("a")))
    cluster.do(Update(CONFIG_MAP, {**first, "data": {"key": "late"}}))
    cluster.do(Patch(CONFIG_MAP, "default", "a", {"data": {"key": "early"}}))
    assert cluster.get("a")["data"] == {"key": "late"}


def test_a_late_write_is_lost_with_its_process() -> None:
    cluster = Cluster("too-late:create:ConfigMap")
    cluster.do(create(map_of("a")))
    cluster.kill()
    cluster.do(create(map_of("b")))
    assert cluster.get("a") is None
    assert cluster.get("b")


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("text-changed:create:ConfigMap:/data/key", {"key": "value-x"}),
        ("field-left-out:create:ConfigMap:/data/key", None),
        ("field-left-out:create:ConfigMap:/data", None),
    ],
)
def test_a_field_of_a_creation_is_wrong(text: str, stored: object) -> None:
    cluster = Cluster(text)
    cluster.do(create(map_of("a")))
    assert cluster.get("a").get("data") == stored


def test_labels_owners_finalizers_and_lists() -> None:
    told = map_of("a", labels={"example.com/n": "1"}, ownerReferences=[OWNER], finalizers=["e.g/f"])

    def made(text: str) -> Any:
        cluster = Cluster(text)
        cluster.do(create(told))
        return cluster.get("a")["metadata"]

    assert made("label-changed:create:ConfigMap:/metadata/labels/example.com~1n")["labels"] == {
        "example.com/n": "2"
    }
    assert "ownerReferences" not in made("owner-lost:create:ConfigMap:/metadata/ownerReferences")
    assert "finalizers" not in made("finalizer-not-added:create:ConfigMap:/metadata/finalizers")
    pods = Cluster("last-element-lost:create:Pod:/spec/containers")
    pods.do(create(POD_OF))
    assert len(pods.do(Get(POD, "default", "p"))["spec"]["containers"]) == 1


@pytest.mark.parametrize("patch_type", ["merge", "json", "update"])
def test_a_finalizer_is_not_removed(patch_type: str) -> None:
    verb = "update" if patch_type == "update" else "patch"
    cluster = Cluster(f"finalizer-not-removed:{verb}:ConfigMap:/metadata/finalizers")
    held = cluster.do(create(map_of("a", finalizers=["e.g/f"])))
    request: Request = Patch(CONFIG_MAP, "default", "a", {"metadata": {"finalizers": None}})
    if patch_type == "json":
        body = [{"op": "remove", "path": "/metadata/finalizers"}]
        request = Patch(CONFIG_MAP, "default", "a", body, "json")
    elif patch_type == "update":
        metadata = {key: value for key, value in held["metadata"].items() if key != "finalizers"}
        request = Update(CONFIG_MAP, {**held, "metadata": metadata})
    cluster.do(request)
    assert finalizers_of(cluster.get("a")) == ("e.g/f",)


JOB_OF = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "j", "namespace": "default"},
    "spec": {
        "suspend": True,
        "parallelism": 1,
        "template": {
            "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
        },
    },
}


def test_only_what_a_write_changes_is_wrong_in_updates_and_patches() -> None:
    cluster = Cluster("off-by-one:update:Job.batch:/spec/parallelism")
    job = cluster.do(create(JOB_OF))
    same = cluster.do(Update(JOB, {**job, "spec": {**job["spec"], "suspend": False}}))
    assert same["spec"]["parallelism"] == 1
    more = cluster.do(Update(JOB, {**same, "spec": {**same["spec"], "parallelism": 3}}))
    assert more["spec"]["parallelism"] == 4
    patched = Cluster("flipped:patch:Job.batch:/spec/suspend")
    patched.do(create(JOB_OF))
    patched.do(Patch(JOB, "default", "j", {"spec": {"suspend": False, "parallelism": 2}}))
    spec = patched.do(Get(JOB, "default", "j"))["spec"]
    assert (spec["suspend"], spec["parallelism"]) == (True, 2)


def test_the_status_of_a_condition_is_the_opposite() -> None:
    conditions = [{"type": "Failed", "status": "True"}, {"type": "Ready", "status": "True"}]
    paths = {in_text(path): asked for path, asked, _ in changed({"conditions": conditions}, {})}
    assert paths["/conditions/Ready/status"] == "True"
    cluster = Cluster("flipped:patch:Pod/status:/status/conditions/Ready/status")
    cluster.do(create(POD_OF))
    cluster.do(
        Patch(POD, "default", "p", {"status": {"conditions": conditions}}, "merge", "status")
    )
    found = cluster.do(Get(POD, "default", "p"))["status"]["conditions"]
    assert {each["type"]: each["status"] for each in found} == {"Failed": "True", "Ready": "False"}


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [(None, "Orphan"), ("Background", "Orphan"), ("Foreground", "Background")],
)
def test_a_deletion_has_another_policy(sent: Any, arrived: str) -> None:
    cluster = Cluster("other-propagation:delete:ConfigMap")
    cluster.do(create(map_of("a")))
    cluster.do(Delete(CONFIG_MAP, "default", "a", propagation_policy=sent))
    entries = cluster._cluster.recorder.entries
    assert isinstance(entries[-1], Write)
    assert entries[-1].options["propagationPolicy"] == arrived


def test_a_deletion_does_not_name_its_precondition() -> None:
    cluster = Cluster("option-left-out:delete:ConfigMap:/preconditions")
    cluster.do(create(map_of("a")))
    former = Delete(CONFIG_MAP, "default", "a", uid="former", propagation_policy="Orphan")
    found = {str(each) for each in possible(cluster._cluster.api, former)}
    assert {
        "option-left-out:delete:ConfigMap:/preconditions",
        "option-left-out:delete:ConfigMap:/propagationPolicy",
    } < found
    cluster.do(former)
    assert cluster.written[-1] == ("delete", "a", 200)
    (*_, last) = cluster._cluster.recorder.entries
    assert isinstance(last, Write)
    assert list(last.options) == ["propagationPolicy"]


def test_what_could_be_wrong_in_a_write() -> None:
    api = SimulatedCluster(1, nodes=0).api
    found = {str(each) for each in possible(api, create(map_of("a", finalizers=["e.g/f"])))}
    assert found == {
        "left-out:create:ConfigMap",
        "too-late:create:ConfigMap",
        "sent-twice:create:ConfigMap",
        "renamed:create:ConfigMap",
        "text-changed:create:ConfigMap:/data/key",
        "field-left-out:create:ConfigMap:/data",
        "field-left-out:create:ConfigMap:/data/key",
        "finalizer-not-added:create:ConfigMap:/metadata/finalizers",
    }
    dry = Patch(CONFIG_MAP, "default", "a", {}, dry_run=True)
    assert target_of(dry) == ""
    assert not list(possible(api, dry))


@pytest.mark.parametrize("key", ["example.com/queue", "a~b", "a:b,c", "~1"])
def test_any_key_can_stand_in_the_text_of_a_mistake(key: str) -> None:
    told = Mistake("label-changed", "create:Job.batch", ("metadata", "labels", key))
    assert "," not in str(told)
    assert mistake(str(told)) == told
    assert from_text(in_text((key,))) == (key,)


@pytest.mark.parametrize(
    "text", ["", "left-out", "left-out:create", "lost:create:Pod", "flipped:create:Pod"]
)
def test_a_text_that_names_no_mistake_is_refused(text: str) -> None:
    with pytest.raises(UnknownMistakeError, match="left-out, sent-twice"):
        mistake(text)


def test_a_merge_patch_makes_the_other_object() -> None:
    old = {"a": {"b": 1, "c": 2}, "d": [1]}
    assert merge_patch(old, {"a": {"b": 1, "e": 3}, "d": [2]}) == {
        "a": {"c": None, "e": 3},
        "d": [2],
    }


def of_rule(rule: str, count: int, path: Sequence[str] = ()) -> list[OfRole]:
    where = tuple(path)
    return [
        OfRole(OPERATOR, Mistake(rule, f"create:K{n}", (*where, f"f{n}") if where else ()))
        for n in range(count)
    ]


def test_mistakes_are_drawn_evenly_over_the_rules_and_more_begin_alike() -> None:
    every = [*of_rule("left-out", 3), *of_rule("flipped", 40, ["spec"])]
    few = drawn(every, 6, 7)
    assert [each.mistake.rule for each in few].count("left-out") == 3
    assert drawn(every[::-1], 20, 7)[:6] == few
    assert drawn(every, 20, 8)[:6] != few
    assert len(set(drawn(every, 100, 7))) == 43


def test_few_of_those_that_are_drawn_are_in_pod_templates() -> None:
    inside = of_rule("flipped", 50, ["spec", "template", "spec"])
    found = drawn([*inside, *of_rule("flipped", 50, ["spec"])], 20, 1)
    assert sum(each.mistake.mirrors_template for each in found) == 4
