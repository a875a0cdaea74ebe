"""The stage of an experiment's activities: one cluster, its clock, and what happened there."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from chaoslib.exceptions import ActivityFailed

from chaos.choice import named_object
from chaos.fault import Fault, fault_from_data
from chaos.fields import PlanError
from chaos.ground import Ground
from chaos.injector import Injector
from conformance import claims
from conformance.history import History
from conformance.norm.claim import CLAIMS
from conformance.norm.verdict import Verdict
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.fault_effect import FaultEffect
from vocabulary.history import Entry, Header
from vocabulary.kinds import Kind
from vocabulary.nearest import meant
from vocabulary.objects import Object
from vocabulary.requests import Get, List, ObjectList, Request

logger = logging.getLogger("chaostoolkit")

POLL_US: Final = SECOND // 2
"""How often an activity that waits for something looks."""


class Stage(ABC):
    """One namespace of one cluster during one experiment."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._notes: list[tuple[str, str]] = []

    # What differs between the simulation and a real cluster.

    @property
    @abstractmethod
    def injector(self) -> Injector:
        """Injects and undoes; it must note what it does with `note`."""

    @abstractmethod
    def wait(self, span_us: Micros) -> None:
        """Let time pass."""

    @abstractmethod
    def prepare(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        """A user's manifest as this cluster needs it."""

    @abstractmethod
    def history(self) -> tuple[Header, Sequence[Entry]]:
        """All that has happened so far."""

    # What is the same.

    def note(self, action: str, data: dict[str, Any], text: str, effect: FaultEffect) -> None:
        """Hear what the injector does: for the experiment's journal and its log."""
        del data, effect
        self._notes.append((action, text))
        logger.debug(f"{action}: {text}")

    def inject(self, *faults: Fault) -> list[str]:
        """Inject faults; what was done, in English. ActivityFailed if one is refused."""
        self._notes.clear()
        for fault in faults:
            self.injector.inject(fault)
        refused = [text for action, text in self._notes if action == "refused"]
        if refused:
            raise ActivityFailed("; ".join(refused))
        return [text for _, text in self._notes]

    def inject_data(self, data: Any) -> list[str]:
        """Inject a fault as a plan spells it."""
        try:
            fault = fault_from_data(data, "fault")
        except PlanError as error:
            raise ActivityFailed(str(error)) from error
        return self.inject(fault)

    def revert(self) -> list[str]:
        """Undo all that was injected and not undone yet; what was done, in English."""
        self._notes.clear()
        self.injector.clean_up()
        refused = [text for action, text in self._notes if action == "refused"]
        if refused:
            raise ActivityFailed("; ".join(refused))
        return [text for _, text in self._notes]

    def call(self, request: Request, actor: str = "user") -> Any:
        """Send a request; ActivityFailed if it is refused."""
        try:
            return self.ground.call(request, actor)
        except ApiError as error:
            raise ActivityFailed(f"{error.reason}: {error.message}") from error

    def find(self, kind: Kind, name: str) -> Object | None:
        """The object as it is stored now; None if there is none."""
        try:
            found: Object = self.ground.call(
                Get(kind, self.ground.namespace if kind.namespaced else "", name, live=True), "user"
            )
        except ApiError as error:
            if error.is_not_found:
                return None
            raise ActivityFailed(f"{error.reason}: {error.message}") from error
        return found

    def named(self, named: str) -> Object | None:
        """The object of that kind and name, `JobSet/a`; ActivityFailed if there is no such kind."""
        try:
            return self.find(*named_object(named))
        except ValueError as error:
            raise ActivityFailed(str(error)) from error

    def objects(self, kind: Kind, label_selector: str = "") -> tuple[Object, ...]:
        """The objects of a kind, in the stage's namespace if they have one."""
        namespace = self.ground.namespace if kind.namespaced else ""
        found: ObjectList = self.call(
            List(kind, namespace, label_selector=label_selector, live=True)
        )
        return tuple(found.items)

    def verdicts(self) -> list[Verdict]:
        """The verdict of every claim on the history so far."""
        return claims.judge(History(*self.history()))

    def verdict(self, claim: str) -> Verdict:
        """The verdict of one claim on the history so far; ActivityFailed if it does not exist."""
        claims.load()
        found = CLAIMS.get(claim)
        if found is None:
            raise ActivityFailed(
                f"{claim!r} is not a known claim; {meant(claim, CLAIMS)} "
                "`assay claims list` lists them"
            )
        if found.judge is None:
            raise ActivityFailed(f"{claim} cannot be evaluated on a cluster: {found.not_judged}")
        return found.judge(History(*self.history()))


_virtual: list[Stage] = []


@contextmanager
def acting_on(stage: Stage) -> Iterator[None]:
    """Have all activities in this block act on this stage, whatever their configuration says."""
    _virtual.append(stage)
    try:
        yield
    finally:
        _virtual.remove(stage)


def stage_of(configuration: Mapping[str, Any] | None, ns: str = "") -> Stage:
    """The stage that an activity is to act on; without `ns` that of the configuration.

    An experiment names its `namespace` once, in its configuration; `default` if it does not.
    """
    if _virtual:
        return _virtual[-1]
    from chaos.toolkit.kubernetes_stage import kubernetes_stage

    settings = configuration or {}
    return kubernetes_stage(settings, ns or str(settings.get("namespace") or "default"))
