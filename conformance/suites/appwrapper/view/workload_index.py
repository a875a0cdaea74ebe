"""The index of a history, with what is looked up for each of its AppWrappers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from conformance.history import History, Track
from conformance.history.operator import OperatorView
from conformance.suites.appwrapper.view.autopilot import Autopilot
from conformance.suites.appwrapper.view.parameters import OperatorParameters
from conformance.suites.appwrapper.view.profile import profile_of
from vocabulary.history import Write
from vocabulary.kinds import kind_of
from vocabulary.objects import controller_of, labels_of

ROLE: Final = "appwrapper"
MAX_CHAIN: Final = 8
"""More controllers one above the other than any chain has that is not a circle."""


class WorkloadIndex(History):
    """Pods, owners, nodes and configurations, by what an AppWrapper asks for."""

    def __init__(self, history: History) -> None:
        vars(self).update(vars(history))
        self.profile = profile_of(self.header)
        self.operator = self.operators.get(ROLE) or OperatorView(self, ROLE)

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
