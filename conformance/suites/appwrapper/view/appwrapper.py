"""One AppWrapper's way through a history, by uid: everything a checker asks about it.

Each part is worked out when first asked for, and once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from http import HTTPStatus
from itertools import islice
from operator import attrgetter
from typing import Any, Final

from conformance.history.outages import is_unanswered
from conformance.history.tracks import Moment, Track
from conformance.norm.templates import first_difference
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.deletions import Cause, DeleteRequest, Deletion
from conformance.suites.appwrapper.view.effective_parameters import EffectiveParameters
from conformance.suites.appwrapper.view.health import Health, HealthSweep
from conformance.suites.appwrapper.view.parameters import Value
from conformance.suites.appwrapper.view.pod_sets import Component, components_of
from conformance.suites.appwrapper.view.profile import dig
from conformance.suites.appwrapper.view.snapshots import (
    FAILED,
    QUOTA_RESERVED,
    RESETTING,
    RESOURCES_DEPLOYED,
    RESUMING,
    RUNNING,
    SUCCEEDED,
    SUSPENDING,
    UNHEALTHY,
    Change,
    Edge,
    Snapshot,
    Span,
    changes_of,
    edges_of,
    spans_of,
)
from conformance.suites.appwrapper.view.workload_index import WorkloadIndex
from vocabulary.history import Write
from vocabulary.objects import Object, controller_of, is_terminating, labels_of

NEVER: Final = 1 << 60
"""A position after every history."""
_position: Final = attrgetter("n")
_OUTSIDERS: Final = ("user", "federated-user", "service-account", "chaos", "harness")
_CAUSES: Final = {
    RESETTING: Cause.RESET,
    SUSPENDING: Cause.SUSPENSION,
    FAILED: Cause.FAILURE,
    SUCCEEDED: Cause.SUCCESS,
}


class AppWrapperRun:
    """An AppWrapper from its creation to its removal or the end of the history."""

    def __init__(self, history: WorkloadIndex, track: Track) -> None:
        self.history = history
        self.operator = history.operator
        self.track = track
        self.uid = track.uid
        self.name = track.name
        self.namespace = track.namespace
        self.removed = track.removed
        self.snapshots = [
            Snapshot(write, history.profile)
            for write in track.versions
            if write is not track.removed
        ]
        self.spans: list[Span] = spans_of(self.snapshots)
        self.answers: dict[tuple[Any, ...], Any] = {}
        """Checkers' earlier queries: see `conformance.norm.shared`."""

    def __str__(self) -> str:
        return f"appwrapper/{self.name}"

    # What it is made of.

    @cached_property
    def components(self) -> tuple[Component, ...]:
        """The components that its spec names."""
        return components_of(dig(self.track.first, self.history.profile.components))

    @property
    def was_seen_created(self) -> bool:
        """True if its first version is the one that was created, and not just the first seen."""
        return self.history.shows_every_version

    @property
    def submitted(self) -> Object | None:
        """The user's requested object, before admission; None if the history does not have it."""
        return self.track.created.submitted

    @cached_property
    def submitted_components(self) -> tuple[Component, ...]:
        """The components as its user wrote them; as they were stored where that is not known."""
        if self.submitted is None:
            return self.components
        return components_of(dig(self.submitted, self.history.profile.components))

    @cached_property
    def expected_pods(self) -> int:
        return sum(component.expected_pods for component in self.components)

    @cached_property
    def component_tracks(self) -> list[Track]:
        """Every object that was created for it and that it owns, in order of creation."""
        history = self.history
        return [
            track
            for track in history.owned.get(self.uid, ())
            if (controller_of(track.first) or {}).get("uid") == self.uid
            and track.kind != history.profile.workload_kind
            and (not history.shows_requests or history.operator.is_by(track.created.actor))
        ]

    def component_of(self, track: Track) -> Component | None:
        """The entry of the spec that an object is an instance of."""
        found = self._makers(track)
        if len(found) > 1:
            return self._told_apart.get(track.uid, found[0])
        return found[0] if found else None

    def _makers(self, track: Track) -> list[Component]:
        return [each for each in self.components if each.makes(track.kind, track.name)]

    @cached_property
    def _told_apart(self) -> Mapping[str, Component]:
        """By uid, the components of its objects whose names several could have: the first whose
        template fits, and that has no other object then."""
        found: dict[str, Component] = {}
        standing: dict[int, Track] = {}
        for kind in {each.kind for each in self.components}:
            for track in self.history.by_kind.get(kind, ()):
                makers = self._makers(track)
                if len(makers) < 2 or (controller_of(track.first) or {}).get("uid") != self.uid:
                    continue
                fits = [each for each in makers if not first_difference(each.template, track.first)]
                free = [
                    each
                    for each in fits or makers
                    if each.position not in standing
                    or not standing[each.position].exists_at(track.created.n)
                ]
                found[track.uid] = (free or fits or makers)[0]
                standing[found[track.uid].position] = track
        return found

    @cached_property
    def pods(self) -> list[Track]:
        """Every pod that carries its label, but for those that users labelled themselves."""
        return [track for track in self._labelled if not self._is_foreign(track)]

    @cached_property
    def descendant_pods(self) -> list[Track]:
        """Every pod that its components made, labelled or not, in order of creation."""
        found: dict[str, Track] = {}
        for component in self.component_tracks:
            for track in (component, *self.history.descendants(component.uid)):
                if track.kind == "Pod":
                    found[track.uid] = track
        return sorted(found.values(), key=lambda track: track.created.n)

    @cached_property
    def foreign_pods(self) -> list[Track]:
        """Pods that carry its label although nothing of its own made them."""
        return [track for track in self._labelled if self._is_foreign(track)]

    @cached_property
    def _labelled(self) -> list[Track]:
        labelled = self.history.labelled_pods.get((self.namespace, self.name), ())
        if not labelled:
            return []
        from_n = self.track.created.n
        same_name = self.history.named(self.track.kind, self.namespace, self.name)
        later = (other.created.n for other in same_name if other.created.n > from_n)
        until_n = min(later, default=NEVER)
        return [track for track in labelled if from_n < track.created.n < until_n]

    def _keeps_its_label(self, pod: Track) -> bool:
        """True if it has its label in the end, and had it whenever all was said to be gone."""
        label = self.history.profile.label
        said = (pod.version_at(turn.n) for turn in self.turns(RESOURCES_DEPLOYED, "False"))
        seen = [pod.last, *(version.object or {} for version in said if version is not None)]
        return all(labels_of(each).get(label) == self.name for each in seen)

    def _is_foreign(self, pod: Track) -> bool:
        """True if another client made it, himself or by way of what Kubernetes made for him.

        An AppWrapper of the same name is another client as well.
        """
        workload = self.history.workload_uid_of(pod)
        if workload:
            return workload != self.uid
        root = self.history.root_of(pod)
        if root is None:
            return False
        if self.history.shows_requests:
            return root.created.actor in _OUTSIDERS
        return root is pod or self.component_of(root) is None

    @cached_property
    def belongings(self) -> list[Track]:
        """Its components and pods, each once, in order of creation.

        A pod whose label was removed is out of its controller's sight, and left out.
        """
        merged = {track.uid: track for track in self.component_tracks}
        merged.update((track.uid, track) for track in self.pods if self._keeps_its_label(track))
        return sorted(merged.values(), key=lambda track: track.created.n)

    def left_at(self, n: int) -> list[Track]:
        """Its objects that are surely still stored after position n."""
        return [track for track in self.belongings if self.is_there(track, n)]

    def with_made(self, tracks: Iterable[Track]) -> list[Track]:
        """These objects and all that was made for them, ReplicaSets and such too, each once."""
        made = {track.uid: track for track in tracks}
        for uid in tuple(made):
            made.update((found.uid, found) for found in self.history.descendants(uid))
        return list(made.values())

    def is_there(self, track: Track, n: int) -> bool:
        """True if an object is surely stored after position n.

        A deletion that was found out by a later list may have come any time since the
        object's last version.
        """
        if self.history.shows_every_version:
            return track.exists_at(n)
        return track.created.n <= n < track.versions[-1].n

    # How it went.

    @cached_property
    def deleting(self) -> Snapshot | None:
        """The version that first shows a deletion timestamp."""
        for snapshot in self.snapshots:
            if snapshot.deleting:
                return snapshot
        return None

    @property
    def leaving(self) -> Moment | None:
        """The write that asks for its removal, or removes it where no finalizer holds it."""
        return self.deleting or self.removed

    @property
    def end_n(self) -> int:
        """The position at which it was removed."""
        return NEVER if self.removed is None else self.removed.n

    def in_phase(self, *phases: str) -> Iterator[Span]:
        """The stretches in one of these phases, in order."""
        return (span for span in self.spans if span.phase in phases)

    def snapshot_at(self, n: int) -> Snapshot | None:
        """The version that is stored after position n."""
        index = bisect_right(self.snapshots, n, key=_position)
        return self.snapshots[index - 1] if index and n < self.end_n else None

    @cached_property
    def edges(self) -> dict[str, list[Edge]]:
        """The turns of each condition, by its type."""
        return {
            condition: edges_of(condition, self.snapshots, self.removed)
            for condition in (QUOTA_RESERVED, RESOURCES_DEPLOYED, UNHEALTHY)
        }

    def turns(self, condition: str, status: str) -> list[Edge]:
        """The moments at which a condition turned True, or ceased to be (`False`)."""
        wants_true = status == "True"
        return [edge for edge in self.edges[condition] if (edge.status == "True") == wants_true]

    def may_have_shown(self, condition: str, n: int) -> bool:
        """True if a condition may have been True at n, in a version that was not seen.

        Only where versions may have been merged: then the next one that was seen tells. Or
        where some may be missing: then it may always have been.
        """
        if self.history.shows_requests:
            return False
        if not self.history.shows_every_version:
            return True
        following = (snapshot for snapshot in self.snapshots if snapshot.n > n)
        return any(snapshot.shows(condition) for snapshot in islice(following, 1))

    @cached_property
    def workloads(self) -> list[Track]:
        """The Workload objects that Kueue keeps for it; none where Kueue is absent."""
        kind = self.history.profile.workload_kind
        return [track for track in self.history.owned.get(self.uid, ()) if track.kind == kind]

    @cached_property
    def delete_requests(self) -> list[DeleteRequest]:
        """The controller's own deletion requests that the server accepted for what is its."""
        return self._hit_by(self.history.operator.deletes)

    @cached_property
    def refused_deletes(self) -> list[DeleteRequest]:
        """The controller's own deletion requests for what is its that were not carried out."""
        return self._hit_by(self.history.operator.refused_deletes)

    def _hit_by(
        self, deletes: Mapping[tuple[str, str, str], Iterable[Write]]
    ) -> list[DeleteRequest]:
        if not deletes:
            return []
        found = [
            DeleteRequest(write, track)
            for track in self.belongings
            for write in deletes.get((track.kind, track.namespace, track.name), ())
            if track.exists_at(write.n - 1)
        ]
        return sorted(found, key=_position)

    @cached_property
    def deletions(self) -> list[Deletion]:
        """Its deletion episodes, in order."""
        cut = NEVER if self.deleting is None else self.deleting.n
        found: list[Deletion] = []
        for span in self.spans:
            if span.phase in _CAUSES and span.begin.n < cut:
                end = span.end if span.end is None or span.end.n <= cut else self.deleting
                if end is None and self.deleting is not None:
                    end = self.deleting
                self._add_deletion(found, _CAUSES[span.phase], span.begin, end)
        if self.deleting is not None:
            self._add_deletion(found, Cause.DELETION, self.deleting, None)
        return found

    def _add_deletion(
        self, found: list[Deletion], cause: Cause, begin: Moment, end: Moment | None
    ) -> None:
        found.append(
            Deletion(
                cause=cause,
                begin=begin,
                end=end,
                end_n=NEVER if end is None else end.n,
                belongings=self.belongings,
                components=self.component_tracks,
                requests=self.delete_requests,
                refused=self.refused_deletes,
                previous=found[-1] if found else None,
                with_late_ones=self.history.shows_requests,
            )
        )

    @cached_property
    def attempts(self) -> list[Attempt]:
        """Its attempts to run, in order."""
        groups: list[tuple[str, list[Span]]] = []
        before = ""
        for span in self.spans:
            if span.phase in (RESUMING, RUNNING):
                if before in (RESUMING, RUNNING):
                    groups[-1][1].append(span)
                else:
                    groups.append((before, [span]))
            before = span.phase
        starts = [spans[0].begin.n for _, spans in groups] + [NEVER]
        # Where its first version was not seen, an attempt may seem to begin after its creations.
        froms = (
            starts
            if self.history.shows_requests
            else [0, *(spans[-1].end.n for _, spans in groups if spans[-1].end is not None)]
        )
        cut = min(self.end_n, NEVER if self.deleting is None else self.deleting.n)
        return [
            Attempt(
                number=number,
                spans=spans,
                after=after,
                until_n=min(spans[-1].end.n if spans[-1].end is not None else NEVER, cut),
                created_from_n=froms[number - 1],
                next_n=froms[number] if number < len(froms) else NEVER,
                components=self.component_tracks,
                failed_creates=self._failed_creates,
                health=self.health,
            )
            for number, (after, spans) in enumerate(groups, start=1)
        ]

    @cached_property
    def _failed_creates(self) -> list[Write]:
        """The refused creations of components. A controller that asks for one a second time, on an
        older copy, is refused with 409 as well, or with 403 where the first one has used up a
        quota, and lacks nothing. Any other refusal does not tell it that the component is there."""
        return [
            write
            for write in self.history.operator.refused_creates
            if any(_asks_for(component, write) for component in self.components)
            and not any(_has(track, write) for track in self.component_tracks)
        ]

    @cached_property
    def changes(self) -> list[Change]:
        """The versions in which its phase or conditions changed, whatever else did."""
        return changes_of(self.snapshots)

    @cached_property
    def health(self) -> list[Health]:
        """How healthy it really was, at every position at which that changed."""
        label = (self.history.profile.label, self.name)
        expected = {
            track.uid: component.expected_pods
            for track in self.component_tracks
            for component in self.components
            if component.makes(track.kind, track.name)
        }
        sweep = HealthSweep(self.history.autopilot, self.history.tracks, label, expected)
        begins = [
            span.begin
            for index, span in enumerate(self.spans)
            if span.phase in (RESUMING, RUNNING)
            and (index == 0 or self.spans[index - 1].phase not in (RESUMING, RUNNING))
        ]
        requests = [(request.write, request.track.uid) for request in self.delete_requests]
        return sweep.run(self.pods, self.component_tracks, requests, begins)

    # What was in force.

    @cached_property
    def _in_force(self) -> EffectiveParameters:
        history = self.history
        prefix = history.profile.annotation_prefix
        return EffectiveParameters(
            history.configurations, history.kept_configurations, prefix, self.snapshots
        )

    def parameter(self, name: str, at: Moment) -> Value:
        """The value of a retry-loop parameter that is in force after a position."""
        return self._in_force.at(name, at)

    def parameter_within(self, name: str, begin: Moment, end: Moment) -> tuple[Value, Value]:
        """The least and the greatest value that was in force between two moments."""
        return self._in_force.within(name, begin, end)

    def is_annotated(self, name: str) -> bool:
        """True if it ever had the annotation of a parameter."""
        return self._in_force.is_annotated(name)

    def parameter_annotations(self, name: str) -> frozenset[str | None]:
        """The texts that the annotation of a parameter ever had; None: it was absent."""
        return self._in_force.annotations(name)


def _asks_for(component: Component, refused: Write) -> bool:
    """True if a refused creation can be that of a component. An audit log has no name in a request
    that was not authorized: its body has not been read."""
    if not refused.name:
        return refused.kind == component.kind
    return component.makes(refused.kind, refused.name)


def _has(track: Track, refused: Write) -> bool:
    """True if the controller can tell that the object it was refused is there, and not about to
    go: from a conflict, or from the answer to its earlier creation."""
    wanted = (refused.kind, refused.namespace, refused.name)
    if (track.kind, track.namespace, track.name) != wanted:
        return False
    is_told = refused.code == HTTPStatus.CONFLICT or (
        refused.code == HTTPStatus.FORBIDDEN and not is_unanswered(track.created)
    )
    is_there = track.exists_at(refused.n) and not is_terminating(track.at(refused.n))
    return is_told and is_there
