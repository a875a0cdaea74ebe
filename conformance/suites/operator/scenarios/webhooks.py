"""Objects that the API server has admitted are submitted again."""

from __future__ import annotations

from conformance.history.normal_form import is_custom
from conformance.scenario_type import scenario
from conformance.suites.operator.scenarios.steps import (
    IN_VIRTUAL_TIME,
    await_gone,
    delete_all,
    objects,
)
from conformance.world import World
from vocabulary.errors import ApiError
from vocabulary.objects import Object, annotations_of, labels_of, meta, name_of
from vocabulary.requests import Update

NOT_ADMITTED = "not admitted: "
"""Begins the mark of a workload that the schema or a webhook refuses, as it may."""


@scenario(arms=("OP-027",), of_plans=True, only_simulated=IN_VIRTUAL_TIME)
def submitted_again(world: World) -> None:
    """A workload that was admitted is admitted again as it is stored, and is handled."""
    admitted: list[Object] = []
    for _, manifest in objects(world):
        try:
            admitted.append(world.create(manifest))
        except ApiError as refused:
            world.mark("step", f"{NOT_ADMITTED}{name_of(manifest)}: {refused.message}")
            return
    world.rest()
    for kind, manifest in objects(world):
        stored = world.get(kind, name_of(manifest))
        if stored is not None and is_custom(str(kind)):
            _submit(world, Update(kind, stored))
    world.rest()
    delete_all(world)
    for kind, manifest in objects(world):
        await_gone(world, kind, name_of(manifest))
    for (kind, manifest), stored in zip(objects(world), admitted, strict=True):
        world.create(_as_admitted(stored) if is_custom(str(kind)) else manifest)
    world.rest()


def _submit(world: World, request: Update) -> None:
    try:
        world.call(request, "user")
    except ApiError as refused:  # the claim's own finding, which the history has
        world.mark("step", f"refused: {refused.message}")


def _as_admitted(stored: Object) -> Object:
    """The manifest that gives an object as it was stored."""
    metadata = {
        "name": name_of(stored),
        **({"namespace": meta(stored)["namespace"]} if "namespace" in meta(stored) else {}),
        **({"labels": labels_of(stored)} if labels_of(stored) else {}),
        **({"annotations": annotations_of(stored)} if annotations_of(stored) else {}),
    }
    kept = {key: value for key, value in stored.items() if key not in ("metadata", "status")}
    return {**kept, "metadata": metadata}
