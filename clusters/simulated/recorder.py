"""The recorder: writes down every mutating request, fault and process change, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from clusters.simulated.loop import Loop
from vocabulary import history
from vocabulary.fault_effect import FaultEffect
from vocabulary.objects import Object
from vocabulary.requests import Create, Delete, DeleteCollection, Update, Write, verb_of


class Recorder:
    """Collects the entries of one run's history; positions are assigned here."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self.entries: list[history.Entry] = []
        self.listener: Callable[[history.Write], None] | None = None
        """Hears of every write once it is recorded: where faults wait for a commit."""
        self.unrecorded: set[tuple[str, str]] = set()
        """Kinds and names of objects that are the harness's own."""

    def write(
        self,
        actor: str,
        request: Write,
        *,
        code: int = 200,
        reason: str = "",
        message: str = "",
        event: history.Event = "",
        rv: int = 0,
        uid: str = "",
        obj: Object | None = None,
        name: str = "",
    ) -> None:
        """A mutating request and its outcome."""
        if self.unrecorded and (request.kind.group_kind, getattr(request, "name", "")) in (
            self.unrecorded
        ):
            return
        entry = history.Write(
            n=len(self.entries),
            t=self._loop.elapsed_us,
            actor=actor,
            verb=verb_of(request),
            kind=request.kind.group_kind,
            namespace=request.namespace,
            name=name or getattr(request, "name", ""),
            subresource=getattr(request, "subresource", ""),
            options=delete_options(request),
            code=code,
            reason=reason,
            message=message,
            event=event,
            rv=rv,
            uid=uid,
            object=obj,  # type: ignore[arg-type]  # a snapshot: shared, never mutated
            submitted=_submitted(actor, request),  # type: ignore[arg-type]
        )
        self.entries.append(entry)
        if self.listener is not None:
            self.listener(entry)

    def fault(
        self,
        action: Literal["injected", "reverted", "refused"],
        fault: dict[str, Any],
        text: str,
        effect: FaultEffect,
    ) -> None:
        """Something that chaos did or undid."""
        self.entries.append(
            history.Fault(
                n=len(self.entries),
                t=self._loop.elapsed_us,
                action=action,
                fault=fault,
                text=text,
                effect=effect,
            )
        )

    def process(self, process: str, change: Any) -> None:
        """A change in the life of a process."""
        self.entries.append(
            history.Process(
                n=len(self.entries), t=self._loop.elapsed_us, process=process, change=change
            )
        )

    def call(self, process: str, protocol: Any, to: str, answer: str) -> None:
        """Record a call to another machine."""
        self.entries.append(
            history.OutgoingCall(
                n=len(self.entries),
                t=self._loop.elapsed_us,
                process=process,
                protocol=protocol,
                to=to,
                answer=answer,
            )
        )

    def mark(
        self, mark: Any, text: str = "", role: str = "", parameters: Object | None = None
    ) -> None:
        """Record a mark of the run itself."""
        self.entries.append(
            history.Mark(
                n=len(self.entries),
                t=self._loop.elapsed_us,
                mark=mark,
                text=text,
                role=role,
                parameters=dict(parameters or {}),
            )
        )


def _submitted(actor: str, request: Write) -> Object | None:
    """The object in a request of an actor that is not a controller."""
    if actor not in history.SUBMITTERS or not isinstance(request, Create | Update):
        return None
    return None if request.subresource else request.object


def delete_options(request: Write) -> dict[str, Any]:
    """Delete options by their API names, and dryRun; only what was given."""
    options: dict[str, Any] = {}
    if isinstance(request, Delete | DeleteCollection):
        if request.grace_period_seconds is not None:
            options["gracePeriodSeconds"] = request.grace_period_seconds
        if request.propagation_policy is not None:
            options["propagationPolicy"] = request.propagation_policy
        preconditions = {
            key: value
            for key, value in (
                ("uid", getattr(request, "uid", None)),
                ("resourceVersion", getattr(request, "resource_version", None)),
            )
            if value is not None
        }
        if preconditions:
            options["preconditions"] = preconditions
    if getattr(request, "dry_run", False):
        options["dryRun"] = "All"
    return options
