"""The reference controller: creates missing pods, deletes surplus ones, counts those that run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reference_controller.manifests import Manifests
from reference_controller.mutants import Mutants
from reference_controller.reference_program import DecisionCode, ReferenceProgram
from reference_controller.rules import Rules
from reference_controller.runtime.caches import Caches
from reference_controller.runtime.controller import Key, key_of
from reference_controller.runtime.options import ConfigError
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, Kind
from vocabulary.objects import Object, controller_of, get_path, is_terminating, name_of, uid_of
from vocabulary.requests import Create, Delete, Get, List, Patch, Reconcile

from .api import CREW, IMAGE, pod_name


class CrewRules(Rules):
    """The decisions that mutants make wrongly."""

    def has_to_be_created(self, wanted: bool, exists: bool, ready_before: int) -> bool:
        del ready_before
        return wanted and not exists

    def is_ready(self, pod: Object) -> bool:
        return get_path(pod, "status.phase") == "Running" and not is_terminating(pod)

    def counted(self, ready: int, before: int) -> int:
        del before
        return ready


MUTANTS: Final = Mutants(CrewRules)


@MUTANTS.mutant(CrewRules.has_to_be_created, "It creates pods only at the beginning.", "TOY-001")
def lost_pods_stay_lost(self: CrewRules, wanted: bool, exists: bool, ready_before: int) -> bool:
    return wanted and not exists and not ready_before


@MUTANTS.mutant(CrewRules.is_ready, "It counts pods that do not run yet.", "TOY-002")
def counts_pods_that_wait(self: CrewRules, pod: Object) -> bool:
    return not is_terminating(pod)


@MUTANTS.mutant(CrewRules.counted, "It never agrees with its last count.", "TOY-003")
def counts_anew_for_ever(self: CrewRules, ready: int, before: int) -> int:
    return max(0, ready - 1) if before == ready else ready


@dataclass(frozen=True)
class NoConfig:
    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> NoConfig:
        if data:
            raise ConfigError(f"unknown key {min(data)}; the controller has no settings")
        return cls()


class CrewController:
    name = "crew"
    watches = (CREW, POD)

    def __init__(self, rules: CrewRules) -> None:
        self._rules = rules

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        del old, caches
        if kind == CREW:
            return [key_of(obj)]
        owner = controller_of(obj) or {}
        return [Key(key_of(obj).namespace, owner["name"])] if owner.get("kind") == "Crew" else []

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del now_us
        try:
            crew = yield Get(CREW, *key)
        except ApiError as error:
            if error.is_not_found:
                return None
            raise
        if is_terminating(crew):
            return None
        listed = yield List(POD, key.namespace)
        mine = [p for p in listed.items if (controller_of(p) or {}).get("uid") == uid_of(crew)]
        pods = {name_of(pod): pod for pod in mine}
        wanted = [pod_name(key.name, index) for index in range(get_path(crew, "spec.pods", 0))]
        before = int(get_path(crew, "status.ready", 0))
        for name in wanted:
            if self._rules.has_to_be_created(True, name in pods, before):
                yield Create(POD, _pod(crew, name), key.namespace, name)
        for name, pod in pods.items():
            if name not in wanted and not is_terminating(pod):
                yield Delete(POD, key.namespace, name)
        running = sum(self._rules.is_ready(pods[name]) for name in wanted if name in pods)
        ready = self._rules.counted(running, before)
        if ready != before:
            yield Patch(CREW, *key, {"status": {"ready": ready}}, subresource="status")
        return None


def _pod(crew: Object, name: str) -> Object:
    owner = {
        "apiVersion": CREW.api_version,
        "kind": CREW.kind,
        "name": name_of(crew),
        "uid": uid_of(crew),
        "controller": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "ownerReferences": [owner]},
        "spec": {"containers": [{"name": "main", "image": IMAGE}]},
    }


PROGRAM: Final = ReferenceProgram(
    name="toy",
    config=NoConfig,
    controllers=lambda _config, rules: (CrewController(rules),),
    kinds=(CREW,),
    manifests=Manifests(package="assay_toy.manifests", crds=("crd.yaml",), rbac=("rbac.yaml",)),
    rules=CrewRules,
    mutants=MUTANTS,
    decision_code=DecisionCode(modules=(__name__,)),
)
