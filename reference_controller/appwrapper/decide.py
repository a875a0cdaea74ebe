"""The state machine: from what was observed to the one next step. Pure.

    ""  ->  Suspended  ->  Resuming  ->  Running  ->  Succeeded
                ^             ^  |          |
                |             |  +----+-----+--> Failed
             Suspending   Resetting <-+
                ^             |
                +--- suspend -+  (from Resuming, Running, Resetting: at any time)

    deletion of the AppWrapper: any -> Terminating -> gone

`decide` is what runs first. A step that deletes leads to `deleting`, which judges a look at
what is left, a live one for a step that `hangs_on_what_is_left`; a creation that failed leads to
`creation_failed`.
"""

from __future__ import annotations

from typing import Final

from reference_controller.appwrapper import transitions
from reference_controller.appwrapper.names import FINALIZER, Condition, Phase, Reason, Stamp
from reference_controller.appwrapper.observation import Observation
from reference_controller.appwrapper.rules import Rules
from reference_controller.appwrapper.running import running
from reference_controller.appwrapper.status import (
    PERHAPS_CREATED,
    StatusDraft,
    component_records,
    creation_state,
    phase_of,
    stamp_of,
    with_creation_state,
)
from reference_controller.appwrapper.steps import (
    CreateComponent,
    DeleteEverything,
    Hold,
    LetGo,
    Note,
    Record,
    Remove,
    Stay,
    Step,
)
from reference_controller.appwrapper.templates import TemplateError
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.objects import condition_status, finalizers_of, is_terminating

RETRY_MIN_US: Final = 1 * SECOND
RETRY_MAX_US: Final = 30 * SECOND
REFUSED_PART: Final = 5
"""A refused creation is sent again after a fifth of the time that it has been refused: however
often it was refused, the next one comes no later than that of a client that doubles its waits
from 5 ms on, or of one that always waits two seconds."""


def decide(seen: Observation, rules: Rules) -> Step:
    """Return the next step for a managed AppWrapper."""
    aw = seen.aw
    if is_terminating(aw) and rules.honours_deletion(aw):
        return DeleteEverything() if FINALIZER in finalizers_of(aw) else Stay()
    phase = phase_of(aw)
    is_deployed = condition_status(aw, Condition.RESOURCES_DEPLOYED) == "True"
    if is_deployed and rules.restores_finalizer() and _lacks_finalizer(seen, rules):
        return Hold()
    if rules.honours_suspend(phase, aw):
        return transitions.suspend(seen, rules)
    if rules.may_resume(phase, aw):
        return _resume(seen, rules)
    match phase:
        case Phase.EMPTY:
            return transitions.initialise(aw, seen.now_us, rules)
        case Phase.RESUMING:
            return _resuming(seen, rules)
        case Phase.RUNNING:
            return running(seen, rules)
        case Phase.RESETTING:
            return _resetting(seen, rules)
        case Phase.SUSPENDING:
            return _delete(seen, rules.deletion_starts_at(aw, seen.parameters))
        case Phase.FAILED if is_deployed:
            return _delete(seen, rules.failed_deletion_starts_at(aw, seen.parameters))
        case Phase.SUCCEEDED if is_deployed:
            return _delete(seen, rules.success_ttl_ends_at(aw, seen.parameters))
    return Stay()


def _resume(seen: Observation, rules: Rules) -> Step:
    """Begin an attempt; our finalizer has to stand before anything may exist."""
    if _lacks_finalizer(seen, rules):
        return Hold()
    return transitions.resume(seen.aw, seen.now_us, rules)


def _resuming(seen: Observation, rules: Rules) -> Step:
    aw = seen.aw
    lost = rules.missing(seen)
    if lost:
        message = f"{lost[0].kind} {lost[0].record['name']} was deleted by somebody else"
        return transitions.give_up_attempt(seen, Reason.MISSING_COMPONENT, message, rules)
    for index, record in enumerate(component_records(aw)):
        if rules.needs_intent(record, aw):
            try:
                return transitions.intend(aw, index, seen.now_us)
            except TemplateError as error:
                return fatal_creation(seen, str(error), rules)
        if creation_state(record) != "True":
            return CreateComponent(index)
    return transitions.run(aw, seen.now_us, rules)


def _resetting(seen: Observation, rules: Rules) -> Step:
    pause_ends_us = rules.pause_ends_at(seen.aw, seen.parameters)
    if pause_ends_us is None:
        return _delete(seen, rules.deletion_starts_at(seen.aw, seen.parameters))
    if seen.now_us < pause_ends_us:
        return Stay(pause_ends_us)
    return _resume(seen, rules)


def _delete(seen: Observation, starts_us: Micros) -> Step:
    """Delete the leftovers of an attempt when it is time; continue a deletion in progress."""
    if stamp_of(seen.aw, Stamp.DELETION_STARTED) is None and seen.now_us < starts_us:
        return Stay(starts_us)
    return DeleteEverything()


def deleting(seen: Observation, rules: Rules) -> Step:
    """One pass of a deletion, on an observation of what is left."""
    aw, now_us = seen.aw, seen.now_us
    if rules.is_all_gone(seen):
        return _deleted(seen, rules)
    if is_terminating(aw) and not rules.waits_for_cleanup(aw):
        return LetGo()
    if is_terminating(aw) and phase_of(aw) != Phase.TERMINATING:
        return Record(transitions.enter(aw, Phase.TERMINATING, now_us, rules).done())
    forceful_us = rules.forceful_from(aw, seen.parameters)
    if forceful_us is not None and now_us >= forceful_us:
        # Soon again, at first: whom a broken watch keeps from hearing that it worked has to look.
        wake_at_us = _retry_at(forceful_us, now_us)
        return Remove(rules.forceful_deletes(seen), starts=False, wake_at_us=wake_at_us)
    started_us = stamp_of(aw, Stamp.DELETION_STARTED)
    deletes = rules.orderly_deletes(seen)
    if started_us is not None and not deletes and all(part.is_watched for part in seen.components):
        return Remove((), starts=False, wake_at_us=forceful_us)  # the rest will be heard of
    wake_at_us = _earliest(_retry_at(started_us, now_us), forceful_us)
    return Remove(deletes, starts=started_us is None, wake_at_us=wake_at_us)


def hangs_on_what_is_left(step: Step, seen: Observation) -> bool:
    """True if a deletion pass may take the step only on a live observation.

    That is a step that reports nothing left, or that deletes leftovers of the first round of
    deletes; and a first round that would miss something, since a cache that lacks a created
    object may stay behind for long.
    """
    match step:
        case Record():
            return step.is_momentous
        case Remove(starts=True):
            return any(
                component.found is None and creation_state(component.record) in PERHAPS_CREATED
                for component in seen.components
            )
        case Remove():
            return bool(step.deletes)
    return True


def _deleted(seen: Observation, rules: Rules) -> Step:
    """Nothing is left: say so, and go where the phase leads."""
    aw, now_us, phase = seen.aw, seen.now_us, phase_of(seen.aw)
    if is_terminating(aw):
        held = (Condition.RESOURCES_DEPLOYED, Condition.QUOTA_RESERVED)
        if not any(condition_status(aw, type_) == "True" for type_ in held):
            goes_us = rules.finalizer_goes_at(aw, seen.parameters)
            return Stay(goes_us) if now_us < goes_us else LetGo()
        phase = Phase.TERMINATING
    draft = StatusDraft(aw, now_us)
    if phase == Phase.SUSPENDING and not is_terminating(aw):
        phase = Phase.SUSPENDED
        draft = transitions.enter(aw, phase, now_us, rules)
    for type_, (status, reason, message) in rules.on_deleted(phase).items():
        draft.condition(type_, status, reason, message)
    draft.components(
        tuple(
            with_creation_state(record, "False", Reason.COMPONENT_DELETED, now_us)
            for record in component_records(aw)
        )
    )
    draft.clear(Stamp.DELETION_STARTED, Stamp.UNHEALTHY_SINCE)
    if phase == Phase.RESETTING:
        draft.stamp(Stamp.PAUSE_STARTED, rules.pause_starts_at(aw, now_us))
    return Record(draft.done(), is_momentous=True)


def deletion_started(seen: Observation) -> Record:
    """The first delete was accepted: from now on the forceful deletion grace period runs."""
    draft = StatusDraft(seen.aw, seen.now_us).stamp(Stamp.DELETION_STARTED, seen.now_us)
    draft.condition(Condition.DELETING_RESOURCES, "True", Reason.DELETION_INITIATED)
    return Record(draft.done())


def creation_failed(seen: Observation, error: ApiError, rules: Rules) -> Step:
    """A component could not be created: for good, or try again for a while."""
    aw, now_us = seen.aw, seen.now_us
    if rules.is_fatal(error):
        return fatal_creation(seen, error.message, rules)
    retry_us = _retry_at(stamp_of(aw, Stamp.ATTEMPT_STARTED), now_us, part=REFUSED_PART)
    overdue_us = rules.admission_ends_at(aw, seen.parameters)
    if seen.looked_us < overdue_us:
        return Stay(min(retry_us, overdue_us))
    reason = Reason.CREATE_FAILED
    since_us = stamp_of(aw, Stamp.UNHEALTHY_SINCE)
    if since_us is None:
        draft = StatusDraft(aw, now_us).stamp(Stamp.UNHEALTHY_SINCE, now_us)
        draft.condition(Condition.UNHEALTHY, "True", reason, error.message)
        note = Note(Condition.UNHEALTHY, f"{reason}: {error.message}", is_warning=True)
        return Record(draft.done(), note)
    grace_ends_us = rules.failure_grace_ends_at(since_us, reason, seen.parameters)
    if seen.looked_us < grace_ends_us:
        return Stay(min(retry_us, grace_ends_us))
    return transitions.give_up_attempt(seen, reason, error.message, rules)


def fatal_creation(seen: Observation, message: str, rules: Rules) -> Record:
    """A component can never be created: Failed, whatever the retry limit."""
    return transitions.give_up_attempt(seen, Reason.CREATE_FAILED, message, rules, is_terminal=True)


def _lacks_finalizer(seen: Observation, rules: Rules) -> bool:
    return rules.needs_finalizer() and FINALIZER not in finalizers_of(seen.aw)


def _earliest(at_us: Micros, other_us: Micros | None) -> Micros:
    return at_us if other_us is None else min(at_us, other_us)


def _retry_at(since_us: Micros | None, now_us: Micros, *, part: int = 2) -> Micros:
    """When to look again at what takes its time: the longer it has taken, the later."""
    waited_us = 0 if since_us is None else now_us - since_us
    return now_us + min(max(waited_us // part, RETRY_MIN_US), RETRY_MAX_US)
