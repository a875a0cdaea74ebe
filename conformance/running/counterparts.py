"""The undisturbed run that a disturbed one is compared with, made once per process.

It has the same operator, workload and seed, and no faults. It is made a second time with another
seed: the fields that differ then and look random are volatile, and no claim compares them. What
differs otherwise is a finding by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from chaos.plan import Plan
from conformance.history import History
from conformance.history.normal_form import (
    NormalForm,
    differences,
    is_compared,
    most_alive,
    of_neighbour,
    volatile,
)
from conformance.report.run_result import RunResult
from vocabulary import canonical
from vocabulary.history import AT_REST, Counterpart, history_digest, role_of
from vocabulary.objects import owner_references
from vocabulary.seeds import MAX_SEED

RunPlan: TypeAlias = Callable[[Plan], RunResult]

MAX_KEPT: Final = 64
_MADE: Final[dict[str, Counterpart]] = {}
"""By the digest of what decides them."""


def counterpart_of(
    plan: Plan, compared_with: str, implementations: Mapping[str, str], run: RunPlan
) -> Counterpart:
    """The counterpart of a planned run; `run` makes an undisturbed one with these
    implementations."""
    base = replace(plan.deciding, scenario=compared_with, faults=(), triggers={}, exhaustive=False)
    key = canonical.digest((base.digest(), dict(implementations)))
    if key not in _MADE:
        if len(_MADE) >= MAX_KEPT:
            _MADE.clear()
        _MADE[key] = _made(base, run)
    return _MADE[key]


def next_seed(seed: int) -> int:
    """The seed of the second undisturbed run."""
    return seed + 1 if seed < MAX_SEED else 0


def _made(base: Plan, run: RunPlan) -> Counterpart:
    first, second = run(base), run(replace(base, seed=next_seed(base.seed)))
    history = History(first.header, first.entries)
    other = History(second.header, second.entries)
    made = counterpart_from(history, other, base.scenario, came_to_its_end=not first.error)
    history.close()
    other.close()
    return made


def counterpart_from(
    first: History, second: History, scenario: str, *, came_to_its_end: bool = True
) -> Counterpart:
    """The counterpart that two undisturbed runs of a workload are."""
    form = NormalForm(first)
    unlike = differences(form.end, NormalForm(second).end)
    declared = {name for each in first.header.operators.values() for name in each.facts.volatile}
    random = {
        each.field: looks
        for each in unlike
        if (looks := "declared" if each.field in declared else volatile(each))
    }
    return Counterpart(
        scenario=scenario,
        sha256=history_digest(first.header, first.entries),
        is_stable=first.is_stable and came_to_its_end,
        rested=next((mark.t for mark in first.marks if mark.text == AT_REST), None),
        end=form.end,
        subjects=_subjects(first, form),
        most=most_alive(
            track
            for each in first.by_kind.values()
            for track in each
            if is_compared(track) and role_of(track.created.actor) in first.operators
        ),
        created={
            form.name_of(track): track.created.t
            for track in sorted(of_neighbour(first).values(), key=lambda each: each.created.n)
            if role_of(track.created.actor) in first.operators
        },
        volatile=dict(sorted(random.items())),
        unequal=tuple(str(each) for each in unlike if each.field not in random),
        course=tuple(form.course(lambda actor: role_of(actor) in first.operators)),
    )


def _subjects(history: History, form: NormalForm) -> tuple[str, ...]:
    """The objects of users that an operator wrote to, or made something for."""
    tracks = [track for each in history.by_kind.values() for track in each]
    made = [track for track in tracks if role_of(track.created.actor) in history.operators]
    owners = {str(owner.get("uid")) for track in made for owner in owner_references(track.first)}
    return tuple(
        form.name_of(track)
        for track in sorted(tracks, key=lambda track: track.created.n)
        if track.created.actor == "user"
        and (
            track.uid in owners
            or any(role_of(version.actor) in history.operators for version in track.versions)
        )
    )
