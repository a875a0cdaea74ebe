"""Why an attempt ended in Resetting or Failed, as far as the store can tell.

A controller acts on what it saw a moment ago, so every cause that held at some time in the
window that it may have looked at counts as present. A cause is ripe if its grace periods
had passed, counted in the way that lets it ripen earliest. So a attempt_end without a ripe
cause was too early by every reading, and one without any present cause has no reason at all.

These two acquit, and grow with what the controller is allowed. What accuses a attempt_end of a
cause is another set, that of the certain ones, and nothing of the kind bears on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final

from conformance.history.tracks import Moment
from conformance.norm.shared import shared
from conformance.suites.appwrapper.parameters import ADMISSION_GRACE, FAILURE_GRACE, WARMUP_GRACE
from conformance.suites.appwrapper.view.appwrapper import AppWrapperRun
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.health import Health, Spell, spells
from conformance.suites.appwrapper.view.snapshots import (
    FAILED,
    RESETTING,
    RUNNING,
    UNHEALTHY,
    Snapshot,
)
from vocabulary.clock import MILLISECOND, Micros


class Why(StrEnum):
    FAILED_PODS = "failed pods"
    FEW_PODS = "fewer pods than expected"
    NOT_RUNNING = "fewer running pods than expected"
    NODE_TAGGED = "a running pod on a node tagged NoExecute"
    COMPONENT_FAILED = "a component whose status says that it failed"
    COMPONENT_MISSING = "a component that was deleted externally"
    CREATION_FAILED = "a component that could not be created"


POD_LEVEL: Final = frozenset({Why.FAILED_PODS, Why.FEW_PODS, Why.NOT_RUNNING})
"""The first three conditions of the source: the failure grace period applies to them."""
COUNTED: Final = POD_LEVEL | {Why.COMPONENT_FAILED, Why.CREATION_FAILED}
"""Causes of resets that count towards the retry limit."""

MERGED_US: Final = 100 * MILLISECOND
"""Versions that follow one another within this may be seen as one in a history of watches."""

TRANSIENT_CODES: Final = frozenset({0, 403, 408, 429, 500, 502, 503, 504})
"""Refusals after which the same creation may succeed: no answer, a quota, an outage."""


class AttemptEnd:
    """An attempt that ended in Resetting or Failed, with the causes that may explain it."""

    __slots__ = ("at", "attempt", "certain", "present", "ripe", "seen_us", "since", "timing")

    def __init__(self, aw: AppWrapperRun, attempt: Attempt, at: Snapshot) -> None:
        self.attempt = attempt
        self.at = at
        self.timing = aw.history.operator.timing
        self.seen_us: Micros = self.timing.seen_us(at.t)
        self.present: dict[Why, Micros] = {}
        """Each cause that held in the window, with the earliest time at which it is ripe."""
        self.since: dict[Why, Moment] = {}
        """Since when each of them held; gaps that may not have been seen are left out."""
        for why, since, ripe_us in self._causes(aw, attempt):
            if why not in self.present or ripe_us < self.present[why]:
                self.present[why] = ripe_us
                self.since[why] = since

        self.ripe = frozenset(why for why, ripe_us in self.present.items() if ripe_us <= at.t)
        """The causes whose time had come."""
        self.certain = frozenset(self._certain_causes(aw))
        """The causes that held by every reading when it was entered."""

    @property
    def to(self) -> str:
        """Resetting or Failed."""
        return self.at.phase

    @property
    def increments(self) -> tuple[int, int]:
        """The least and the most that a reset for these causes adds to the counter."""
        may_not_count = self.ripe & {Why.NODE_TAGGED, Why.COMPONENT_MISSING}
        counts = bool(self.certain & COUNTED) and not may_not_count
        return int(counts), int(not self.is_only_for(Why.NODE_TAGGED))

    def is_only_for(self, why: Why) -> bool:
        """True if it had this one reason, for certain, and no other can be meant."""
        return self.ripe == {why} and why in self.certain

    def is_too_early_for(self, why: Why) -> bool:
        """True if it had this reason, for certain, and nothing that it may be for was ripe."""
        return not self.ripe and why in self.certain and POD_LEVEL.issuperset(self.present)

    def _certain_causes(self, aw: AppWrapperRun) -> Iterator[Why]:
        """The causes that held at that very moment, by the strictest reading.

        Pods that are not there or do not run yet are no cause while their grace period lasts,
        unless the controller itself called that unhealthy in this attempt. Those that are
        gone, or no longer run, are one at any time.
        """
        attempt, health = self.attempt, self.attempt.health[-1]
        if health.failed_least:
            yield Why.FAILED_PODS
        if health.evicted_least:
            yield Why.NODE_TAGGED
        if health.broken:
            yield Why.COMPONENT_FAILED
        if health.missing:
            yield Why.COMPONENT_MISSING
        if any(write.code not in TRANSIENT_CODES for write in attempt.failed_creates):
            yield Why.CREATION_FAILED
        expected = aw.expected_pods
        if health.present_most + health.failed_all < expected:
            why, parameter = Why.FEW_PODS, ADMISSION_GRACE
            had_come = any(point.present_least >= expected for point in attempt.health)
        elif health.running_most + health.failed_all < expected:
            why, parameter = Why.NOT_RUNNING, WARMUP_GRACE
            had_come = any(point.running_least >= expected for point in attempt.health)
        else:
            return
        grace = aw.parameter_within(parameter, attempt.begin, self.at)[1]
        is_over = self.at.t >= attempt.begin.t + grace.value
        if had_come or is_over or self._was_called_unhealthy():
            yield why

    def _was_called_unhealthy(self) -> bool:
        """True if Unhealthy turned True in the attempt, at the latest as it was given up."""
        shown = [snapshot.shows(UNHEALTHY) for snapshot in (*self.attempt.snapshots, self.at)]
        return any(now and not before for before, now in pairwise(shown))

    def _causes(self, aw: AppWrapperRun, attempt: Attempt) -> Iterator[tuple[Why, Moment, Micros]]:
        yield from self._pod_level(aw, attempt)
        after = self._just_after(aw, attempt)
        for spell in self._held(lambda health: health.evicted_most > 0, after):
            yield Why.NODE_TAGGED, spell.begin, spell.begin.t
        for spell in self._held(lambda health: health.broken > 0, after):
            yield Why.COMPONENT_FAILED, spell.begin, spell.begin.t
        for spell in self._held(lambda health: health.missing > 0):
            yield Why.COMPONENT_MISSING, spell.begin, spell.begin.t
        yield from self._creation_failed(aw, attempt)

    def _pod_level(
        self, aw: AppWrapperRun, attempt: Attempt
    ) -> Iterator[tuple[Why, Moment, Micros]]:
        """The causes that the failure grace period applies to.

        It runs from when the workload became unhealthy, as long as it stays so: one of these
        causes may take over from another, and the period is not waited for anew.
        """
        begin: Moment = attempt.begin
        timing = aw.history.operator.timing
        begun_us = timing.stamped_us(begin.t)
        failure_us = aw.parameter_within(FAILURE_GRACE, begin, self.at)[0].value
        expected = aw.expected_pods
        found = [
            (spell.begin.t, Why.FAILED_PODS, spell)
            for spell in self._seen(lambda health: health.failed_most > 0)
        ]
        if expected:
            # A failed pod has come and gone: it is not one that never came.
            admission_us = aw.parameter_within(ADMISSION_GRACE, begin, self.at)[0].value
            found += [
                (max(begun_us + admission_us, spell.begin.t), Why.FEW_PODS, spell)
                for spell in self._seen(
                    lambda health: health.present_least + health.failed_most < expected
                )
            ]
            warmup_us = aw.parameter_within(WARMUP_GRACE, begin, self.at)[0].value
            found += [
                (max(begun_us + warmup_us, spell.begin.t), Why.NOT_RUNNING, spell)
                for spell in self._seen(
                    lambda health: health.running_least + health.failed_most < expected
                )
            ]
        found.sort(key=lambda cause: cause[0])
        gap_us = self.at.t - self.seen_us
        unhealthy_from_us = unhealthy_to_us = -1
        for from_us, why, spell in found:
            to_us = self.at.t if spell.end is None else spell.end.t
            if self.seen_us <= to_us and timing.hindered(to_us, self.at.t):
                to_us = self.at.t  # a controller that is kept from looking has not seen it end
            if to_us < from_us:
                continue  # it was over before its own grace period was
            if unhealthy_from_us < 0 or from_us - unhealthy_to_us > gap_us:
                unhealthy_from_us = from_us
            unhealthy_to_us = max(unhealthy_to_us, to_us)
            if to_us >= self.seen_us:
                ripe_us = max(unhealthy_from_us + failure_us, from_us)
                yield why, spell.begin, ripe_us - timing.slack_us

    def _creation_failed(
        self, aw: AppWrapperRun, attempt: Attempt
    ) -> Iterator[tuple[Why, Moment, Micros]]:
        """Creations that were refused for good, or again and again for the admission grace period.

        One that got no answer, or never reached the server, leaves no entry.
        """
        for write in attempt.failed_creates:
            if write.code not in TRANSIENT_CODES:
                yield Why.CREATION_FAILED, write, write.t
                return
        timing, begin = aw.history.operator.timing, attempt.begin
        outages = timing.hindered(begin.t, self.at.t)
        if any(outage.refuses_for_good for outage in outages):
            yield Why.CREATION_FAILED, begin, begin.t
        elif not aw.history.header.capabilities.options:
            if attempt.spans[-1].phase != RUNNING:
                yield Why.CREATION_FAILED, begin, begin.t
        elif attempt.failed_creates or (outages and attempt.spans[-1].phase != RUNNING):
            admission = aw.parameter_within(ADMISSION_GRACE, begin, self.at)[0]
            ripe_us = timing.stamped_us(begin.t) + admission.value
            # What is created in time never made it unhealthy.
            created = attempt.all_created
            if created is None or created.t >= min(ripe_us, self.seen_us):
                yield Why.CREATION_FAILED, begin, ripe_us

    def _just_after(self, aw: AppWrapperRun, attempt: Attempt) -> list[Health]:
        """Changes so soon that the first version may have been merged with the second."""
        if aw.history.shows_requests:
            return []
        until_us = self.at.t + MERGED_US
        return [point for point in aw.health if point.n >= attempt.until_n and point.t <= until_us]

    def _held(
        self, holds: Callable[[Health], bool], after: Sequence[Health] = ()
    ) -> Iterator[Spell]:
        """The spells that the controller may have seen as it acted."""
        return (
            spell
            for spell in self._seen(holds, after)
            if spell.end is None or spell.end.t >= self.seen_us
        )

    def _seen(self, holds: Callable[[Health], bool], after: Sequence[Health] = ()) -> list[Spell]:
        """All spells of the attempt, those merged whose gap the controller may not have seen."""
        gap_us = self.at.t - self.seen_us
        merged: list[Spell] = []
        for spell in spells([*self.attempt.health, *after], holds, self.attempt.begin):
            last = merged[-1] if merged else None
            repaired_us = spell.begin.t if last is None or last.end is None else last.end.t
            # One that is away from before the repair until after the next failure sees no repair.
            since_us = min(spell.begin.t - gap_us, self.timing.seen_us(spell.begin.t))
            if last is not None and since_us <= repaired_us:
                merged[-1] = Spell(last.begin, spell.end)
            else:
                merged.append(spell)
        return merged


@shared
def attempt_ends(aw: AppWrapperRun) -> Iterator[AttemptEnd]:
    """The attempts that ended in Resetting or Failed, with what may explain it."""
    for attempt in aw.attempts:
        left = attempt.left
        if left is not None and left.n == attempt.until_n and left.phase in (RESETTING, FAILED):
            yield AttemptEnd(aw, attempt, left)
