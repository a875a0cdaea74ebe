"""MLB-015: the slack queue lends what nodes can offer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

from conformance.history import History, Moment, Track
from conformance.history.operator import OperatorView
from conformance.history.tracks import Instant
from conformance.norm import Obligations, eventually, violated
from conformance.norm.words import when
from conformance.suites.appwrapper.judging import claim_of_history
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view.autopilot import Autopilot
from conformance.suites.appwrapper.view.history import AppWrapperHistory
from vocabulary.objects import Object, get_path
from vocabulary.quantities import parse_quantity

_CLOSING: Final = ("NoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class _SlackQueue:
    """The slack queue of a history, and the nodes beside it."""

    history: History
    operator: OperatorView
    track: Track
    autopilot: Autopilot
    answers: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return str(self.track)

    @property
    def _nodes(self) -> list[Track]:
        return self.history.by_kind.get("Node", [])

    def changes(self) -> Iterator[Moment]:
        """The moments at which what it has to lend may have changed."""
        end = self.track.removed
        moments: dict[int, Moment] = {each.n: each for each in self.track.versions}
        for node in self._nodes:
            moments |= {each.n: each for each in (*node.versions, *filter(None, (node.removed,)))}
        for n in sorted(moments):
            if n >= self.track.created.n and (end is None or n < end.n):
                yield Instant(n, moments[n].t)

    def lends(self, n: int) -> dict[str, Fraction]:
        """The amount of each resource that it lends after position n."""
        return {
            str(each["name"]): parse_quantity(each.get("lendingLimit", each["nominalQuota"]))
            for each in self._resources(n)
        }

    def has_to_lend(self, n: int) -> dict[str, Fraction]:
        """Its nominal quota less what stands on nodes that cannot be used, and nothing at least."""
        nodes = [node.at(n) for node in self._nodes if node.exists_at(n)]
        return {
            name: max(
                Fraction(0),
                parse_quantity(each["nominalQuota"])
                - sum((self._unusable(node, name) for node in nodes), Fraction(0)),
            )
            for each in self._resources(n)
            for name in [str(each["name"])]
        }

    def _resources(self, n: int) -> Iterator[Object]:
        for group in get_path(self.track.at(n), "spec.resourceGroups") or ():
            resources = group["flavors"][0]["resources"]
            yield from (each for each in resources if each["name"] != "pods")

    def _unusable(self, node: Object, resource: str) -> Fraction:
        taints = get_path(node, "spec.taints") or ()
        is_closed = bool(get_path(node, "spec.unschedulable")) or any(
            taint.get("effect") in _CLOSING for taint in taints
        )
        marks = self.autopilot.taints.get(resource, ()) if self.autopilot.monitors else ()
        is_marked = any(mark.effect in _CLOSING for mark in self.autopilot.tags(node, marks))
        capacity = get_path(node, "status.capacity") or {}
        return parse_quantity(capacity.get(resource, 0)) if is_closed or is_marked else Fraction(0)


@claim_of_history(
    "MLB-015",
    guide("Cluster Checker", 6),
    armed_by="change of what the slack queue has to lend",
)
def slack_follows_the_nodes(view: AppWrapperHistory) -> Obligations:
    """The slack queue MUST lend of a resource its nominal quota less the part on nodes that cannot
    be used, and no less than nothing."""
    parameters = view.operator.under_test.parameters
    for track in view.by_kind.get("ClusterQueue.kueue.x-k8s.io", ()):
        if track.name != parameters.get("slackQueueName"):
            continue
        queue = _SlackQueue(view, view.operator, track, view.autopilot)
        wanted: dict[str, Fraction] = {}
        moments = list(queue.changes())
        for position, moment in enumerate(moments):
            before, wanted = wanted, queue.has_to_lend(moment.n)
            if wanted == before:
                continue
            later = moments[position:]
            until = next((at for at in later if queue.has_to_lend(at.n) != wanted), None)
            reached = next((at for at in later if queue.lends(at.n) == wanted), None)
            amounts = ", ".join(f"{wanted[name]} {name}" for name in wanted)
            yield eventually(
                queue,
                f"a lending limit of {amounts}",
                since=moment,
                happened=reached,
                unless=until,
            )
            if reached is not None:
                yield from _stays(queue, reached, until, wanted)


def _stays(
    queue: _SlackQueue, reached: Moment, until: Moment | None, wanted: dict[str, Fraction]
) -> Obligations:
    """The controller does not change what is right."""
    for version in queue.track.versions:
        is_then = reached.n < version.n and (until is None or version.n < until.n)
        is_known = queue.operator.timing.seen_us(version.t) >= reached.t
        if (
            is_then
            and is_known
            and queue.operator.is_by(version.actor)
            and queue.lends(version.n) != wanted
        ):
            yield violated(
                version,
                f"{when(version)}: the lending limits of {queue} are changed, and nodes offer as "
                f"much as at {when(reached)}.",
                reached,
            )
