"""The garbage collector (sections 4.1 to 4.16)."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import DEFAULT, Lab, pod
from vocabulary.clock import SECOND
from vocabulary.kinds import CONFIG_MAP, NODE, POD, SECRET, kind_of
from vocabulary.objects import finalizers_of, name_of, owner_references, uid_of
from vocabulary.requests import Delete, Get, Patch


def config_map(name: str, *owners: Any, **flags: Any) -> dict[str, Any]:
    """A ConfigMap with owner references to other objects; `block`: blockOwnerDeletion."""
    metadata: dict[str, Any] = {"name": name, "namespace": DEFAULT}
    if owners:
        metadata["ownerReferences"] = [reference(owner, **flags) for owner in owners]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def reference(owner: Any, *, block: bool = True, **changes: Any) -> dict[str, Any]:
    kind = kind_of(owner)
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(owner),
        "uid": uid_of(owner),
        "blockOwnerDeletion": block,
        **changes,
    }


def family(lab: Lab, **flags: Any) -> None:
    """`owner`, and `child` that it owns."""
    owner = lab.create(config_map("owner"))
    lab.create(config_map("child", owner, **flags))
    lab.run(1)


def names(lab: Lab) -> set[str]:
    return {name_of(obj) for obj in lab.all(CONFIG_MAP)}


def test_4_6_a_dependent_goes_some_time_after_its_owner() -> None:
    lab = Lab()
    family(lab)
    lab.delete(CONFIG_MAP, "owner")
    assert names(lab) == {"child"}
    gone_us = lab.until(lambda: not names(lab))
    assert gone_us > SECOND
    (deletion,) = lab.writes(CONFIG_MAP, name="child", verb="delete")
    assert deletion.actor == "garbage-collector"
    assert deletion.options["propagationPolicy"] == "Background"


def test_4_6_deletes_name_the_uid_and_the_version_that_were_judged() -> None:
    lab = Lab()
    family(lab)
    child = lab.get(CONFIG_MAP, "child")
    lab.delete(CONFIG_MAP, "owner")
    lab.run(1)
    (deletion,) = lab.writes(CONFIG_MAP, name="child", verb="delete")
    assert deletion.options["preconditions"] == {
        "uid": uid_of(child),
        "resourceVersion": child["metadata"]["resourceVersion"],
    }


def test_4_6_an_object_whose_owner_never_existed_is_deleted() -> None:
    lab = Lab()
    ghost = {**config_map("ghost"), "metadata": {"name": "ghost", "uid": "no-such-uid"}}
    lab.create(config_map("child", ghost))
    lab.run(1)
    assert names(lab) == set()


def test_4_6_a_reference_to_another_uid_of_the_same_name_is_dangling() -> None:
    lab = Lab()
    lab.create(config_map("owner"))
    old = {**config_map("owner"), "metadata": {"name": "owner", "uid": "an-earlier-uid"}}
    lab.create(config_map("child", old))
    lab.run(1)
    assert names(lab) == {"owner"}


def test_4_6_an_owner_that_exists_keeps_its_dependent_and_the_dangling_reference_goes() -> None:
    lab = Lab()
    first, second = lab.create(config_map("first")), lab.create(config_map("second"))
    lab.create(config_map("child", first, second))
    lab.run(1)
    lab.delete(CONFIG_MAP, "first")
    lab.run(1)
    assert names(lab) == {"second", "child"}
    (left,) = owner_references(lab.get(CONFIG_MAP, "child"))
    assert left["name"] == "second"


def test_4_6_foreground_the_owner_waits_for_blocking_dependents() -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    obj = pod(behaviour="stop 30s")
    obj["metadata"]["ownerReferences"] = [reference(owner)]
    lab.create(obj)
    lab.run(1)
    lab.delete(CONFIG_MAP, "owner", propagation_policy="Foreground")
    lab.run(20)
    assert finalizers_of(lab.get(CONFIG_MAP, "owner")) == ("foregroundDeletion",)
    lab.run(20)
    assert [entry.kind for entry in lab.writes(event="DELETED")] == ["Pod", "ConfigMap"]


def test_4_6_foreground_does_not_wait_for_dependents_that_do_not_block() -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    obj = pod(behaviour="stop 30s")
    obj["metadata"]["ownerReferences"] = [reference(owner, block=False)]
    lab.create(obj)
    lab.run(1)
    lab.delete(CONFIG_MAP, "owner", propagation_policy="Foreground")
    lab.run(5)
    assert names(lab) == set()
    assert "deletionTimestamp" in lab.pod()["metadata"]


def test_4_6_foreground_goes_down_the_whole_chain() -> None:
    lab = Lab()
    top = lab.create(config_map("top"))
    middle = lab.create(config_map("middle", top))
    lab.create(config_map("leaf", middle))
    lab.run(1)
    lab.delete(CONFIG_MAP, "top", propagation_policy="Foreground")
    lab.run(5)
    assert [entry.name for entry in lab.writes(event="DELETED")] == ["leaf", "middle", "top"]
    policies = {entry.name: entry.options for entry in lab.writes(verb="delete")}
    assert policies["middle"]["propagationPolicy"] == "Foreground"


def test_4_15_a_dependent_with_a_solid_and_a_waiting_owner_is_kept() -> None:
    lab = Lab()
    going, staying = lab.create(config_map("going")), lab.create(config_map("staying"))
    lab.create(config_map("child", going, staying))
    lab.run(1)
    lab.delete(CONFIG_MAP, "going", propagation_policy="Foreground")
    lab.run(5)
    assert names(lab) == {"staying", "child"}


def test_4_15_a_circle_of_owners_does_not_block_a_foreground_deletion() -> None:
    lab = Lab()
    created = [lab.create(config_map(name)) for name in ("a", "b", "c")]
    for own, owner in zip(created, (created[2], created[0], created[1]), strict=True):
        lab.patch(CONFIG_MAP, name_of(own), {"metadata": {"ownerReferences": [reference(owner)]}})
    lab.run(1)
    lab.delete(CONFIG_MAP, "a", propagation_policy="Foreground")
    lab.run(30)
    assert names(lab) == set()


def test_4_10_orphans_lose_the_reference_before_their_owner_goes() -> None:
    lab = Lab()
    family(lab)
    lab.delete(CONFIG_MAP, "owner", propagation_policy="Orphan")
    assert names(lab) == {"owner", "child"}
    lab.run(30)
    assert names(lab) == {"child"}
    assert owner_references(lab.get(CONFIG_MAP, "child")) == ()
    mine = [(entry.verb, entry.name) for entry in lab.writes(actor="garbage-collector")]
    assert mine == [("patch", "child"), ("patch", "owner")]


def test_4_11_a_dependent_with_a_finalizer_holds_its_owner_without_limit() -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    child = config_map("child", owner)
    child["metadata"]["finalizers"] = ["example.com/hold"]
    lab.create(child)
    lab.run(1)
    lab.delete(CONFIG_MAP, "owner", propagation_policy="Foreground")
    lab.run(3600)
    assert names(lab) == {"owner", "child"}
    lab.patch(CONFIG_MAP, "child", {"metadata": {"finalizers": None}})
    lab.run(1)
    assert names(lab) == set()


def test_4_8_a_dependent_that_is_born_after_its_owner_went_is_deleted_all_the_same() -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    lab.run(1)
    lab.delete(CONFIG_MAP, "owner")
    lab.create(config_map("late", owner))
    lab.run(1)
    assert names(lab) == set()


def test_4_8_foreground_deletion_can_miss_a_dependent_that_was_just_born() -> None:
    missed = 0
    for seed in range(20):
        lab = Lab(seed)
        family(lab)
        owner = lab.get(CONFIG_MAP, "owner")
        lab.delete(CONFIG_MAP, "owner", propagation_policy="Foreground")
        lab.until(lambda lab=lab: "child" not in names(lab))
        lab.create(config_map("late", owner))
        lab.until(lambda lab=lab: "owner" not in names(lab))
        missed += "late" in names(lab)
        lab.run(1)
        assert names(lab) == set()
    assert missed > 0


def test_4_6_between_judgement_and_delete_an_adopted_object_is_spared_since_1_34() -> None:
    assert adopted_in_the_gap(Settings()) == {"child", "new"}


def test_4_6_before_1_34_an_object_adopted_in_the_gap_was_deleted() -> None:
    assert adopted_in_the_gap(Settings(gc_resource_version_precondition=False)) == {"new"}


def adopted_in_the_gap(settings: Settings) -> set[str]:
    """Give the child a new owner right after the collector has read the child."""
    lab = Lab(settings=settings)
    family(lab)
    new = lab.create(config_map("new"))
    handle = lab.cluster.api.handle

    def adopting(request: Any, actor: str) -> Any:
        if isinstance(request, Delete) and actor == "garbage-collector":
            lab.cluster.api.handle = handle  # type: ignore[method-assign]
            body = {"metadata": {"ownerReferences": [reference(new)]}}
            handle(Patch(CONFIG_MAP, DEFAULT, "child", body), "user")
        return handle(request, actor)

    lab.cluster.api.handle = adopting  # type: ignore[method-assign]
    lab.delete(CONFIG_MAP, "owner")
    lab.run(5)
    return names(lab)


def test_4_6_changes_that_leave_the_owners_alone_do_not_save_an_object() -> None:
    lab = Lab()
    family(lab)
    handle = lab.cluster.api.handle
    conflicts = 0

    def touching(request: Any, actor: str) -> Any:
        nonlocal conflicts
        if isinstance(request, Delete) and request.resource_version:
            conflicts += 1
            body = {"metadata": {"labels": {"touched": str(conflicts)}}}
            handle(Patch(CONFIG_MAP, DEFAULT, "child", body), "user")
        return handle(request, actor)

    lab.delete(CONFIG_MAP, "owner")
    lab.cluster.api.handle = touching  # type: ignore[method-assign]
    lab.run(5)
    assert (names(lab), conflicts) == (set(), 1)


def test_4_16_the_collector_can_be_overtaken_by_the_re_creation_of_an_owner() -> None:
    lab = Lab()
    family(lab)
    lab.delete(CONFIG_MAP, "owner")
    lab.create(config_map("owner"))
    lab.run(5)
    assert names(lab) == {"owner"}


@pytest.mark.parametrize("stop", ["pause", "kill"])
def test_a_collector_that_stands_still_catches_up_afterwards(stop: str) -> None:
    lab = Lab()
    family(lab)
    getattr(lab.processes, stop)("garbage-collector")
    lab.delete(CONFIG_MAP, "owner")
    lab.run(3600)
    assert names(lab) == {"child"}
    getattr(lab.processes, "resume" if stop == "pause" else "start")("garbage-collector")
    lab.run(1)
    assert names(lab) == set()


def test_a_collector_that_goes_on_hears_what_it_missed_in_order() -> None:
    """Otherwise it would keep an owner indefinitely, for dependents that are gone."""
    lab = Lab()
    owner = lab.create(config_map("owner"))
    lab.run(1)
    lab.processes.pause("garbage-collector")
    for number in range(20):
        passing = config_map(f"passing-{number}", owner)
        passing["metadata"]["finalizers"] = ["example.com/hold"]
        lab.create(passing)
        lab.delete(CONFIG_MAP, name_of(passing))
        lab.patch(CONFIG_MAP, name_of(passing), {"metadata": {"finalizers": None}})
    lab.delete(CONFIG_MAP, "owner", propagation_policy="Foreground")
    lab.processes.resume("garbage-collector")
    lab.until(lambda: not names(lab))


def test_what_happens_at_the_moment_it_goes_on_comes_after_what_it_missed() -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    lab.run(1)
    lab.processes.pause("garbage-collector")
    passing = [config_map(f"passing-{number}", owner) for number in range(20)]
    for dependent in passing:
        dependent["metadata"]["finalizers"] = ["example.com/hold"]
        lab.create(dependent)
        lab.delete(CONFIG_MAP, name_of(dependent))
    lab.processes.resume("garbage-collector")
    for dependent in passing:
        lab.patch(CONFIG_MAP, name_of(dependent), {"metadata": {"finalizers": None}})
    lab.delete(CONFIG_MAP, "owner", propagation_policy="Foreground")
    lab.until(lambda: not names(lab))


@pytest.mark.parametrize("policy", ["Foreground", "Orphan"])
def test_a_deletion_that_began_while_the_collector_was_down_is_finished(policy: str) -> None:
    lab = Lab()
    family(lab)
    lab.processes.kill("garbage-collector")
    lab.delete(CONFIG_MAP, "owner", propagation_policy=policy)
    lab.run(60)
    lab.processes.start("garbage-collector")
    lab.run(1)
    assert names(lab) == (set() if policy == "Foreground" else {"child"})


def test_a_reference_with_wrong_coordinates_does_not_hurt_its_siblings() -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    lab.create(config_map("right", owner))
    wrong = config_map("wrong")
    wrong["metadata"]["ownerReferences"] = [reference(owner, name="another")]
    lab.create(wrong)
    lab.run(5)
    assert names(lab) == {"owner", "right"}


def test_4_6_a_resource_type_installed_later_is_unknown_for_up_to_thirty_seconds() -> None:
    lab = Lab()
    lab.run(3)
    lab.create(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "foos.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {
                    "kind": "Foo",
                    "listKind": "FooList",
                    "plural": "foos",
                    "singular": "foo",
                },
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": {"type": "object"}},
                    }
                ],
            },
        }
    )
    lab.run(1)
    foo = {
        "apiVersion": "example.com/v1",
        "kind": "Foo",
        "metadata": {"name": "foo", "namespace": DEFAULT},
    }
    owner = lab.create(foo)
    lab.create(config_map("child", owner))
    lab.delete(kind_of(foo), "foo")
    lab.run(20)
    assert names(lab) == {"child"}
    lab.run(10)
    assert names(lab) == set()


def test_a_cluster_scoped_owner_keeps_and_takes_namespaced_dependents() -> None:
    lab = Lab()
    lab.create(config_map("child", lab.get(NODE, "n0")))
    lab.run(5)
    assert names(lab) == {"child"}
    lab.delete(NODE, "n0")
    lab.run(1)
    assert names(lab) == set()


def test_dependents_of_different_kinds_go_alike() -> None:
    lab = Lab()
    owner = lab.create(config_map("owner"))
    obj = pod()
    obj["metadata"]["ownerReferences"] = [reference(owner)]
    lab.create(obj)
    metadata = {"name": "s", "namespace": DEFAULT, "ownerReferences": [reference(owner)]}
    lab.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    lab.run(1)
    lab.delete(CONFIG_MAP, "owner")
    lab.run(5)
    assert lab.all(POD) == lab.all(SECRET) == []
    assert lab.cluster.is_quiet()


def test_reads_of_the_collector_are_live() -> None:
    lab = Lab()
    reads = []
    handle = lab.cluster.api.handle

    def watching(request: Any, actor: str) -> Any:
        if isinstance(request, Get) and actor == "garbage-collector":
            reads.append(request)
        return handle(request, actor)

    lab.cluster.api.handle = watching  # type: ignore[method-assign]
    family(lab)
    lab.delete(CONFIG_MAP, "owner")
    lab.run(1)
    assert reads
    assert all(request.live for request in reads)
