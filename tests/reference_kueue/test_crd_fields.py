"""The CRDs have what the reference reads and writes, and nothing else without a reason.

The objects that it gets in a run note the fields that it asks for. That these have the types they
are read as is shown by `test_odd_values`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from conformance.implementations.ours import implementation
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.kueue.handle import QueuedJob, job
from conformance.world import World
from reference_controller.kueue.names import KINDS, VERSION, WORKLOAD
from reference_controller.runtime.operator import Operator, Pending
from vocabulary.clock import MINUTE, SECOND
from vocabulary.objects import name_of
from vocabulary.requests import Create, ObjectList, Patch, Update

from .made import PREFIX, with_all_fields
from .odd_fields import fields, is_refused

KUEUE: Final = implementation("reference", "kueue")
NAMES: Final = {kind.kind for kind in KINDS}
IGNORED: Final = {
    "LocalQueue.status.conditions.observedGeneration": "no condition depends on the spec alone",
    "ClusterQueue.status.conditions.observedGeneration": "no condition depends on the spec alone",
    "Workload.status.conditions.observedGeneration": "no condition depends on the spec alone",
    "WorkloadPriorityClass.description": "a text for users",
    "ResourceFlavor.spec.nodeTaints.timeAdded": "when a node got a taint does not matter",
    "ResourceFlavor.spec.tolerations.tolerationSeconds": "pods get it as it is",
    "Workload.spec.podSets.template.spec.tolerations.tolerationSeconds": "it concerns running pods",
}
"""Fields of the CRDs that the reference neither reads nor writes, and why."""


class Noting(dict[str, Any]):
    """A part of an object that notes which fields of it are asked for."""

    def __init__(self, part: Mapping[str, Any], path: str, noted: set[str]) -> None:
        super().__init__(part)
        self._path = path
        self._noted = noted

    def __getitem__(self, key: str) -> Any:
        return self._asked(key, super().__getitem__(key))

    def get(self, key: str, default: Any = None) -> Any:
        return self._asked(key, super().get(key, default))

    def _asked(self, key: str, value: Any) -> Any:
        path = f"{self._path}.{key}"
        self._noted.add(path)
        return noting(value, path, self._noted)


def noting(value: Any, path: str, noted: set[str]) -> Any:
    if isinstance(value, Mapping):
        return Noting(value, path, noted)
    return [noting(each, path, noted) for each in value] if isinstance(value, list) else value


def plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value


def paths(value: Any, path: str) -> Iterator[str]:
    """The paths of all fields that a value has; items of lists have that of their list."""
    yield path
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from paths(each, f"{path}.{key}")
    elif isinstance(value, list):
        for each in value:
            yield from paths(each, path)


class Used(NamedTuple):
    """The paths of fields, which begin with their kind."""

    read: set[str]
    written: set[str]

    def watch(self, patch: pytest.MonkeyPatch) -> None:
        """Let operators get objects that note what is read, and note what they write."""
        replaced, deliver, poll, answer = (
            *(Operator.replace, Operator.deliver),
            *(Operator.poll, Operator.answer),
        )

        def listed(its: Operator, kind: Any, objects: Any, *rest: Any) -> None:
            replaced(its, kind, [self._noting(each) for each in objects], *rest)

        def delivered(its: Operator, kind: Any, event: Any, obj: Any, now_us: int) -> None:
            deliver(its, kind, event, self._noting(obj), now_us)

        def answered(its: Operator, ticket: int, reply: Any, now_us: int) -> None:
            answer(its, ticket, self._noting(reply), now_us)

        def polled(its: Operator, now_us: int) -> Pending | None:
            pending = poll(its, now_us)
            return None if pending is None else self._noted(pending)

        patch.setattr(Operator, "replace", listed)
        patch.setattr(Operator, "deliver", delivered)
        patch.setattr(Operator, "answer", answered)
        patch.setattr(Operator, "poll", polled)

    def _noting(self, reply: Any) -> Any:
        if isinstance(reply, ObjectList):
            items = [self._noting(each) for each in reply.items]
            return msgspec.structs.replace(reply, items=items)
        is_its = isinstance(reply, Mapping) and reply.get("kind") in NAMES
        return noting(plain(reply), reply["kind"], self.read) if is_its else reply

    def _noted(self, pending: Pending) -> Pending:
        request = pending.request
        if not isinstance(request, Create | Update | Patch):
            return pending
        field = "body" if isinstance(request, Patch) else "object"
        sent = plain(getattr(request, field))
        if request.kind.kind in NAMES:
            self.written.update(paths(sent, request.kind.kind))
        return pending._replace(request=msgspec.structs.replace(request, **{field: sent}))


def steps(world: World) -> None:
    """A Workload of all fields, a job that is never ready, and one that takes its quota."""
    for kind, obj in with_all_fields(0).items():
        if kind != WORKLOAD:
            world.create(obj)
    world.wait(2 * SECOND)
    class_ = f"{PREFIX}p0"
    first = QueuedJob.submit(world, job("first", "q0", 2, cpu=1), "never ready")
    world.until(first.was_requeued(2))
    second = QueuedJob.submit(world, job("second", "q0", cpu=2, priority=class_), "run 1m")
    world.until(second.is_finished())
    third = QueuedJob.submit(world, job("third", "q0", 2, parallelism=2), "run 1m")
    first.delete()
    world.until(third.is_finished())
    made = with_all_fields(0)[WORKLOAD]
    world.create(made)
    world.wait(MINUTE)
    world.delete(WORKLOAD, name_of(made))


@cache
def used() -> Used:
    found = Used(set(), set())
    scenario = replace(
        SCENARIOS["kueue/kinds/pod-is-never-ready"],
        id="kueue/kinds/of-a-test",
        steps=steps,
        arms=(),
    )
    with pytest.MonkeyPatch.context() as patch:
        found.watch(patch)
        run = run_one(scenario, KUEUE, DEFAULT_SEED, is_judged=False)
    assert not run.error
    return found


@cache
def defined() -> dict[str, Mapping[str, Any]]:
    """The schemas of the fields that the CRDs have, by path; items of lists are no fields."""
    return {
        ".".join((crd["spec"]["names"]["kind"], *map(str, field.path))).replace(".0", ""): (
            field.schema
        )
        for crd in KUEUE.crds()
        for version in crd["spec"]["versions"]
        if version["name"] == VERSION
        for field in fields(version["schema"]["openAPIV3Schema"])
        if not isinstance(field.path[-1], int)
    }


def test_the_crds_have_each_field_that_is_read_or_written() -> None:
    known = defined()
    metadata = {f"{kind}.{field}" for kind in NAMES for field in ("apiVersion", "kind", "metadata")}
    unknown = {
        path
        for path in used().read | used().written
        if path not in known.keys() | metadata | NAMES and not _is_open(path)
    }
    assert unknown == set()


def _is_open(path: str) -> bool:
    """True for metadata, and in a part that may have any field."""
    parents = path.split(".")
    above = (".".join(parents[:length]) for length in range(2, len(parents)))
    schemas = [defined().get(each, {}) for each in above]
    return parents[1] == "metadata" or any(
        "additionalProperties" in each or "x-kubernetes-preserve-unknown-fields" in each
        for each in schemas
    )


def test_each_field_of_the_crds_is_read_or_written_or_ignored_for_a_reason() -> None:
    all_used = used().read | used().written
    refused = {path for path, schema in defined().items() if is_refused(schema)}
    unused = {path for path in defined() if path not in all_used | refused}
    assert unused == set(IGNORED)
