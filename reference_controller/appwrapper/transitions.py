"""Entering a phase: the one status write that changes phase, conditions, stamps and counter.

Pure. Whatever belongs to an episode is written together, so that no crash falls in between.
"""

from __future__ import annotations

from contextlib import suppress

from reference_controller.appwrapper.names import Condition, Phase, Reason, Stamp
from reference_controller.appwrapper.observation import Observation
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.status import (
    StatusDraft,
    attempt_of,
    component_records,
    phase_of,
    spec_of,
    with_creation_state,
    with_intent,
)
from reference_controller.appwrapper.steps import Note, Record
from reference_controller.appwrapper.templates import (
    TemplateError,
    component_name,
    initial_record,
)
from vocabulary.clock import Micros
from vocabulary.objects import Object, name_of, uid_of


def enter(aw: Object, phase: str, now_us: Micros, rules: Rules) -> StatusDraft:
    """The status with the phase, and with the conditions that its entry changes."""
    draft = StatusDraft(aw, now_us).phase(phase)
    for type_, (status, reason, message) in rules.on_entering(phase, phase_of(aw)).items():
        draft.condition(type_, status, reason, message)
    return draft


def initialise(aw: Object, now_us: Micros, rules: Rules) -> Record:
    """From nothing to Suspended."""
    records = tuple(initial_record(component) for component in spec_of(aw).get("components") or ())
    return Record(enter(aw, Phase.SUSPENDED, now_us, rules).components(records).done())


def resume(aw: Object, now_us: Micros, rules: Rules) -> Record:
    """The next attempt begins: nothing of the last one counts any more."""
    draft = enter(aw, Phase.RESUMING, now_us, rules)
    draft.attempt(attempt_of(aw) + 1).resets(rules.resets_on_resume(aw))
    draft.stamp(Stamp.ATTEMPT_STARTED, now_us)
    draft.clear(Stamp.DEPLOYED, Stamp.UNHEALTHY_SINCE)
    draft.clear(Stamp.PAUSE_STARTED, Stamp.DELETION_STARTED)
    return Record(draft.done())


def intend(aw: Object, index: int, now_us: Micros) -> Record:
    """Name the component that is about to be created; raises TemplateError."""
    record = _intended(aw, index, now_us)
    return Record(StatusDraft(aw, now_us).component(index, record).done())


def _intended(aw: Object, index: int, now_us: Micros) -> Object:
    attempt = attempt_of(aw)
    name = component_name(aw, index, attempt)
    return with_intent(component_records(aw)[index], name, attempt, now_us)


def confirm(aw: Object, index: int, created: Object, now_us: Micros, rules: Rules) -> Record:
    """The component exists: keep its uid. The same write leads on: to the next component's
    intent, or to Running."""
    records = component_records(aw)
    record = with_creation_state(
        records[index],
        "True",
        Reason.CREATED,
        now_us,
        name=name_of(created),
        uid=uid_of(created),
    )
    if index + 1 == len(records):
        draft = enter(aw, Phase.RUNNING, now_us, rules).component(index, record)
        return Record(draft.stamp(Stamp.DEPLOYED, now_us).clear(Stamp.UNHEALTHY_SINCE).done())
    draft = StatusDraft(aw, now_us).component(index, record)
    if rules.needs_intent(records[index + 1], aw):
        with suppress(TemplateError):
            draft.component(index + 1, _intended(aw, index + 1, now_us))
    return Record(draft.done())


def run(aw: Object, now_us: Micros, rules: Rules) -> Record:
    """Everything exists already: an AppWrapper without components, or one whose confirmation
    was the last thing that a crash let through."""
    draft = enter(aw, Phase.RUNNING, now_us, rules)
    return Record(draft.stamp(Stamp.DEPLOYED, now_us).clear(Stamp.UNHEALTHY_SINCE).done())


def give_up_attempt(
    seen: Observation, reason: str, message: str, rules: Rules, *, is_terminal: bool = False
) -> Record:
    """The workload is unhealthy beyond repair: Resetting or Failed, and why."""
    aw, now_us = seen.aw, seen.now_us
    phase = Phase.FAILED if is_terminal else rules.phase_after(reason, aw, seen.parameters)
    draft = enter(aw, phase, now_us, rules)
    draft.condition(Condition.UNHEALTHY, *rules.unhealthy_when_given_up(reason, message))
    if phase == Phase.RESETTING:
        draft.resets(rules.resets_after(reason, aw)).clear(Stamp.PAUSE_STARTED)
    else:
        draft.stamp(Stamp.FAILED, now_us)
    note = Note(Condition.UNHEALTHY, f"{reason}: {message}".rstrip(": "), is_warning=True)
    return Record(draft.done(), note, is_momentous=True)


def succeed(seen: Observation, rules: Rules) -> Record:
    draft = enter(seen.aw, Phase.SUCCEEDED, seen.now_us, rules)
    draft.stamp(Stamp.SUCCEEDED, seen.now_us).clear(Stamp.UNHEALTHY_SINCE)
    draft.resets(rules.resets_on_success(seen.aw))
    return Record(draft.done(), Note(Phase.SUCCEEDED, "All pods have succeeded"), is_momentous=True)


def suspend(seen: Observation, rules: Rules) -> Record:
    phase = phase_of(seen.aw)
    return Record(
        enter(seen.aw, Phase.SUSPENDING, seen.now_us, rules).done(),
        Note(Phase.SUSPENDING, f"Externally suspended while in the {phase} phase"),
    )
