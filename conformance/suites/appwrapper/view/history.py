"""A history as checkers of AppWrappers see it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from conformance.history import Track, doubled_since
from conformance.norm.claim import Claim
from conformance.norm.obligations import Obligation, undecided
from conformance.norm.words import when
from conformance.suites.appwrapper.view.appwrapper import AppWrapperRun
from conformance.suites.appwrapper.view.concurrent_operators import overtaken
from conformance.suites.appwrapper.view.workload_index import WorkloadIndex

TWO_OPERATORS: Final = "A20"
"""The decision by which what two operators did at once decides nothing."""


class AppWrapperHistory(WorkloadIndex):
    """AppWrappers in a history, and their operator."""

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
    def appwrappers(self) -> tuple[AppWrapperRun, ...]:
        """Every AppWrapper that the history shows, by order of creation."""
        return tuple(
            AppWrapperRun(self, track) for track in self.by_kind.get(self.profile.kind, ())
        )
