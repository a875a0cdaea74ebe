"""Published examples on a cluster as `assay serve` has it, beside all reference controllers.

No webhooks are called, and time is virtual. A manifest is posted as it stands; what it presupposes
is there before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from clusters.simulated.cluster import GPU, NodeSpec
from clusters.simulated.controllers.settings import Settings
from reference_controller import programs
from reference_controller.runtime.controller import Controller
from tests.operator_world import OperatorWorld
from vocabulary.clock import HOUR, Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, kind_of
from vocabulary.objects import (
    Object,
    condition,
    condition_status,
    get_path,
    name_of,
    namespace_of,
)
from vocabulary.requests import Create, Get, List

NODES: Final = 4
LONGEST_US: Final[Micros] = 2 * HOUR
"""No example takes longer than that to its end."""
SUCCEEDS, FAILS, RUNS_ON, WAITS, REFUSED = ENDS = (
    "succeeds",
    "fails",
    "runs on",
    "waits to be unsuspended",
    "refused",
)
UNDER_TEST: Final = ("AppWrapper.workload.codeflare.dev", "JobSet.jobset.x-k8s.io")
PROGRAMS: Final = ("appwrapper", "jobset")
"""Kueue would suspend what names a queue, and none of the examples brings one."""


@dataclass(frozen=True, slots=True)
class End:
    """The end of what a manifest holds."""

    text: str
    """One of ENDS, or what else was seen."""
    words: str = ""
    """Why it was refused."""

    def __str__(self) -> str:
        return f"{self.text}: {self.words}" if self.words else self.text


class Posted(OperatorWorld):
    """A cluster, and the reference controllers of the kinds that the examples are of, in one
    process."""

    def __init__(self, node_labels: Sequence[str] = (), gpus: int = 0) -> None:
        self._programs = [programs.load(name) for name in PROGRAMS]
        super().__init__(
            *(
                crd
                for each in self._programs
                for crd in each.manifests.objects(*each.manifests.crds)
            ),
            nodes=[
                NodeSpec(f"n{number}", gpus=gpus, labels=dict.fromkeys(node_labels, f"p{number}"))
                for number in range(NODES)
            ],
            settings=Settings(endpoint_slices=True, reads_commands=True),
        )

    def controllers_of_process(self) -> tuple[Controller, ...]:
        return tuple(
            controller
            for each in self._programs
            for controller in each.controllers(each.config.from_data({}), each.rules())
        )


def end_of(documents: Iterable[Object], presupposed: Mapping[str, Any]) -> End:
    """Post the documents in their order, and let time pass until all of them have ended."""
    world = Posted(presupposed.get("nodeLabels") or (), int(presupposed.get(GPU) or 0))
    for document in presupposed.get("objects") or ():
        _post(world, document)
    under_test = []
    for document in documents:
        try:
            stored = _post(world, document)
        except ApiError as error:
            kind = kind_of(document)
            return End(REFUSED, f"{kind.kind} of {kind.api_version}: {error.message}")
        if kind_of(document).group_kind in UNDER_TEST:
            under_test.append(stored)
    world.until(lambda: all(_ended(world, each) for each in under_test), LONGEST_US)
    ends = {_end(world, each) for each in under_test}
    return ends.pop() if len(ends) == 1 else End(f"{len(ends)} different ends")


def _post(world: Posted, document: Object) -> Object:
    kind = kind_of(document)
    namespace = (namespace_of(document) or "default") if kind.namespaced else ""
    stored: Object = world.user(Create(kind, document, namespace, name_of(document)))
    return stored


def _now(world: Posted, stored: Object) -> Object:
    found: Object = world.user(Get(kind_of(stored), namespace_of(stored), name_of(stored)))
    return found


def _ended(world: Posted, stored: Object) -> bool:
    return bool(_final(_now(world, stored)))


def _final(obj: Object) -> str:
    """SUCCEEDS or FAILS, if it has ended."""
    phase = get_path(obj, "status.phase")
    if phase == "Succeeded" or condition_status(obj, "Completed") == "True":
        return SUCCEEDS
    return FAILS if phase == "Failed" or condition_status(obj, "Failed") == "True" else ""


def _end(world: Posted, stored: Object) -> End:
    obj = _now(world, stored)
    final = _final(obj)
    unhealthy = condition(obj, "Unhealthy") or {}
    if final == FAILS and unhealthy.get("reason") == "CreateFailed":
        return End(REFUSED, str(unhealthy.get("message")))
    if final:
        return End(final)
    if get_path(obj, "spec.suspend"):
        return End(WAITS)
    told = [message for message in world.events(namespace_of(obj)) if " is not run: " in message]
    if told:
        return End(REFUSED, told[0])
    pods = world.user(List(POD)).items
    if any(get_path(pod, "status.phase") == "Running" for pod in pods):
        return End(RUNS_ON)
    return End(f"nothing runs: {yaml.safe_dump(obj.get('status'))}")
