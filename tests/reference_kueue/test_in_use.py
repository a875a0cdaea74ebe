"""ClusterQueues and ResourceFlavors that are in use are deleted only once they are not."""

from __future__ import annotations

from conformance.suites.kueue.handle import QueuedJob, flavor, queue
from conformance.worlds.simulated.world import SimulatedWorld
from reference_controller.kueue.names import CLUSTER_QUEUE, IN_USE, RESOURCE_FLAVOR
from vocabulary.clock import MINUTE, SECOND
from vocabulary.kinds import Kind
from vocabulary.objects import finalizers_of, get_path, is_terminating
from vocabulary.requests import Delete


def is_gone(world: SimulatedWorld, kind: Kind, name: str) -> bool:
    return world.get(kind, name) is None


def delete(world: SimulatedWorld, kind: Kind, name: str) -> None:
    world.call(Delete(kind, "", name), "user")
    world.wait(MINUTE)


def test_a_flavor_stays_until_the_last_queue_that_has_it_is_gone_and_that_until_its_quota_is(
    world: SimulatedWorld,
) -> None:
    first, second = queue(world), queue(world, "other")
    shared = flavor(world, "default")
    its = QueuedJob.of(world, "a", "run forever")
    world.until(its.is_ready())
    for kind, name in ((RESOURCE_FLAVOR, shared), (CLUSTER_QUEUE, second)):
        assert finalizers_of(world.get(kind, name) or {}) == (IN_USE,)
        delete(world, kind, name)
    assert is_gone(world, CLUSTER_QUEUE, second)
    assert is_terminating(world.get(RESOURCE_FLAVOR, shared) or {})
    delete(world, CLUSTER_QUEUE, first)
    assert is_terminating(world.get(CLUSTER_QUEUE, first) or {})
    assert its.is_ready().holds()
    its.delete()
    world.wait(MINUTE)
    assert is_gone(world, CLUSTER_QUEUE, first)
    assert is_gone(world, RESOURCE_FLAVOR, shared)


def test_a_flavor_goes_as_soon_as_its_queue_has_another_one(world: SimulatedWorld) -> None:
    name, old, new = queue(world), flavor(world, "default"), flavor(world, "new")
    delete(world, RESOURCE_FLAVOR, old)
    groups = get_path(world.get(CLUSTER_QUEUE, name), "spec.resourceGroups")
    (group,) = groups
    changed = {**group, "flavors": [{**group["flavors"][0], "name": new}]}
    world.patch(CLUSTER_QUEUE, name, {"spec": {"resourceGroups": [changed]}})
    world.wait(SECOND)
    assert is_gone(world, RESOURCE_FLAVOR, old)
    assert not is_gone(world, RESOURCE_FLAVOR, new)


def test_another_ones_finalizer_stays(world: SimulatedWorld) -> None:
    name = flavor(world, "default")
    world.wait(SECOND)
    held = ["example.com/hold", IN_USE]
    world.patch(RESOURCE_FLAVOR, name, {"metadata": {"finalizers": held}})
    delete(world, RESOURCE_FLAVOR, name)
    assert finalizers_of(world.get(RESOURCE_FLAVOR, name) or {}) == ("example.com/hold",)
