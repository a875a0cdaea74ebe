"""Lanes of a JobSet on failure pages: its attempts, its restarts against their limit, its Jobs."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import History, Track
from conformance.history.lanes import Lane, State, Tone, bar_height
from conformance.suites.jobset.api import WITH_JOB_RESTARTS
from conformance.suites.jobset.job_lanes import job_lanes
from conformance.suites.jobset.view import JobSetHistory, JobSetRun, Snapshot
from conformance.suites.jobset.view.answers import Answer, answers
from conformance.suites.jobset.view.matching import Matched


def lanes(history: History, job_set: Track) -> Iterator[Lane]:
    """The lanes of one JobSet."""
    subjects = history.seen_by(JobSetHistory).subjects
    run = next((each for each in subjects if each.track is job_set), None)
    if run is None:
        return
    yield _attempts(run)
    yield from _budget(run)
    yield from _partial_restarts(run)
    yield from job_lanes(run)


def _attempts(run: JobSetRun) -> Lane:
    """One band for each attempt of the whole JobSet, with the restart that began it."""
    causes = {n: answer for answer in answers(run) for n in (answer.step.first.n, answer.after.n)}
    states = [State(run.snapshots[0].t, *_attempt(run.snapshots[0], None))]
    for before, after in run.changes:
        if (before.restarts, before.has_failed, before.has_completed) != (
            after.restarts,
            after.has_failed,
            after.has_completed,
        ):
            states.append(State(after.t, *_attempt(after, causes.get(after.n))))
    return Lane("attempt", [[*states, *_removal(run)]])


def _attempt(state: Snapshot, answer: Answer | None) -> tuple[Tone, str]:
    cause = "" if answer is None else f": {_cause(answer)}"
    if state.has_failed:
        return "bad", f"Failed{cause}"
    if state.has_completed:
        return "done", "Completed"
    return "warn" if state.restarts else "good", f"{state.restarts}{cause}"


def _cause(answer: Answer) -> str:
    """The action, and the failure that it answers with the rule that matches it."""
    taken = answer.taken
    fitting = [each for each in answer.candidates if each.action == taken]
    matched = next(iter([*fitting, *answer.candidates]), None)
    if matched is None:
        return taken
    is_other = "" if matched.action == taken else f" is {matched.action}"
    failure = matched.failure
    return f"{taken}, {_rule(matched)}{is_other}: {failure.child.name} {failure.reason}"


def _rule(matched: Matched) -> str:
    if matched.rule is not None:
        return f"rules[{matched.rule}]"
    return "the default action" if matched.has_policy else "no failure policy"


def _budget(run: JobSetRun) -> Iterator[Lane]:
    """The restarts that count against `maxRestarts`, for a JobSet that has a policy."""
    if not any(each.policy is not None or each.used for each in run.snapshots):
        return
    top = max(max(each.used, each.max_restarts) for each in run.snapshots)
    states = [
        State(each.t, *_used(each, run.edition), bar_height(each.used, top))
        for each in run.snapshots
    ]
    yield Lane("used of maxRestarts", [[*states, *_removal(run)]], tall=True)


def _used(state: Snapshot, edition: str) -> tuple[Tone, str]:
    # Released controllers may give restarts of single Jobs a limit of their own.
    limited = state.counted if edition in WITH_JOB_RESTARTS else state.used
    limit = max(0, state.max_restarts)
    tone: Tone = "pending"
    if limited > limit:
        tone = "bad"
    elif state.used == 0:
        tone = "off"
    elif limited == limit:
        tone = "warn"
    parts = state.used - state.counted
    free = state.restarts - state.counted
    free += sum(state.partial.values()) - sum(state.partial_counted.values())
    text = f"{limited} of {limit}"
    if parts:
        text += f", {parts} {'beside' if edition in WITH_JOB_RESTARTS else 'of them'} partial"
    if free > 0:
        text += f", {free} not counted"
    return tone, text


def _partial_restarts(run: JobSetRun) -> Iterator[Lane]:
    """The restarts of replicated jobs and of single Jobs."""
    causes = {(answer.step.after.n, answer.step.partial): answer for answer in answers(run)}
    states = []
    for before, after in run.changes:
        more = [key for key, times in after.partial.items() if times > before.partial.get(key, 0)]
        for key in more[:1]:
            told = f"{key[1] or key[0]} ×{after.partial[key]}"
            answer = causes.get((after.n, key))
            told += "" if answer is None else f": {_cause(answer)}"
            also = f", and {len(more) - 1} more" if len(more) > 1 else ""
            states.append(State(after.t, "warn", told + also))
    if states:
        yield Lane("partial restarts", [[*states, *_removal(run)]])


def _removal(run: JobSetRun) -> Iterator[State]:
    if run.track.removed is not None:
        yield State(run.track.removed.t, None, "")
