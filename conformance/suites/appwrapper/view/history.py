"""A history as checkers of AppWrappers see it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from conformance.history import History, Track, doubled_since
from conformance.history.operator import OperatorView
from conformance.norm.claim import Claim
from conformance.norm.obligations import Obligation, undecided
from conformance.norm.words import when
from conformance.suites.appwrapper.view.appwrapper import AppWrapperRun
from conformance.suites.appwrapper.view.autopilot import Autopilot
from conformance.suites.appwrapper.view.concurrent_operators import overtaken
from conformance.suites.appwrapper.view.parameters import OperatorParameters
from conformance.suites.appwrapper.view.profile import profile_of
from vocabulary.history import Write
from vocabulary.kinds import kind_of
from vocabulary.objects import controller_of, labels_of

ROLE: Final = "appwrapper"
TWO_OPERATORS: Final = "A20"
"""The decision by which what two operators did at once decides nothing."""
MAX_CHAIN: Final = 8
"""More controllers one above the other than any chain has that is not a circle."""


class AppWrapperHistory(History):
    """The index of a history, and what it shows of AppWrappers and of their operator."""

    def __init__(self, history: History) -> None:
        vars(self).update(vars(history))
        self.profile = profile_of(self.header)
        self.operator = self.operators.get(ROLE) or OperatorView(self, ROLE)

    def close(self) -> None:
        for aw in self.appwrappers:
            aw.answers.clear()
        vars(self).clear()

    @property
    def subjects(self) -> tuple[AppWrapperRun, ...]:
        return self.appwrappers

    def excused(self, claim: Claim, broken: Obligation) -> Obligation | None:
        """Undecided by decision A20 if the violation's evidence was created by one of two operators
        when the other had just ended the attempt."""
        if not claim.cites(TWO_OPERATORS):
            return None
        late = next((self.overtaken[n] for n in broken.evidence if n in self.overtaken), None)
        if late is None:
            return None
        why = (
            f"two operators acted at once, and one created {late} at {when(late.created)}, "
            "when the other had just ended the attempt"
        )
        return undecided(broken.at, why, decision=TWO_OPERATORS)

    @cached_property
    def labelled_pods(self) -> Mapping[tuple[str, str], list[Track]]:
        """Pods by namespace and the AppWrapper's name on their label."""
        found: dict[tuple[str, str], list[Track]] = {}
        for track in self.by_kind.get("Pod", ()):
            name = labels_of(track.first).get(self.profile.label)
            if name is not None:
                found.setdefault((track.namespace, name), []).append(track)
        return found

    @cached_property
    def refused_appwrappers(self) -> list[Write]:
        """AppWrappers that users and chaos requested to store, and that were not stored."""
        return [write for write in self.refused_submissions if write.kind == self.profile.kind]

    @cached_property
    def overtaken(self) -> Mapping[int, Track]:
        """Objects that one of two concurrent operators created when the other had just ended the
        attempt, by the positions of all their changes, and those of objects created for them."""
        since = doubled_since(self.operator.processes)
        if since is None:
            return {}
        return {
            version.n: track
            for aw in self.appwrappers
            for track in overtaken(aw, since)
            for made in aw.with_made([track])
            for version in (*made.versions, made.removed)
            if version is not None
        }

    @cached_property
    def operator_parameters(self) -> OperatorParameters:
        """The configuration that the operator began with."""
        return OperatorParameters(self.operator.under_test.parameters)

    @cached_property
    def configurations(self) -> tuple[tuple[int, OperatorParameters], ...]:
        """The operator's configurations, each with the position from which it was in force."""
        return tuple(
            (since, OperatorParameters(parameters))
            for since, parameters in self.operator.configurations
        )

    @cached_property
    def kept_configurations(self) -> tuple[tuple[int, int, OperatorParameters], ...]:
        """Those that replicas have until a position, though another has a newer one."""
        return tuple(
            (since, until, OperatorParameters(parameters))
            for since, until, parameters in self.operator.kept_configurations
        )

    @cached_property
    def autopilot(self) -> Autopilot:
        return Autopilot(self.operator.under_test.parameters, self.by_kind.get("Node", ()))

    @cached_property
    def appwrappers(self) -> tuple[AppWrapperRun, ...]:
        """Every AppWrapper that the history shows, by order of creation."""
        return tuple(
            AppWrapperRun(self, track) for track in self.by_kind.get(self.profile.kind, ())
        )

    def root_of(self, track: Track) -> Track | None:
        """The top of an object's chain of controllers; the object itself if it has none.

        None if that is an AppWrapper, or is not known.
        """
        for _ in range(MAX_CHAIN):
            if track.kind == self.profile.kind:
                return None
            owner = controller_of(track.first) or controller_of(track.last)
            if owner is None:
                return track
            found = self.tracks.get(str(owner.get("uid", "")))
            if found is None:
                return None
            track = found
        return None

    def workload_uid_of(self, track: Track) -> str:
        """The uid of the AppWrapper at the top of an object's chain of controllers, which may have
        been gone when the history began; empty if there is none, or the chain is not known."""
        for _ in range(MAX_CHAIN):
            owner = controller_of(track.first) or controller_of(track.last)
            if owner is None:
                return ""
            uid = str(owner.get("uid", ""))
            if kind_of(owner).group_kind == self.profile.kind:
                return uid
            found = self.tracks.get(uid)
            if found is None:
                return ""
            track = found
        return ""
