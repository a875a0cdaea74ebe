"""MLB-020…022: what is filled in when an AppWrapper is submitted, and when its pods are made."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from conformance.norm import Obligation, Obligations, met, undecided, violated
from conformance.norm.words import when
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.suites.appwrapper.decisions import A18
from conformance.suites.appwrapper.judging import claim, claim_of_history
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.history import AppWrapperHistory
from conformance.suites.appwrapper.view.workload_index import WorkloadIndex
from vocabulary.objects import labels_of

SECTION: Final = "AppWrappers"
_REFUSED_LABEL: Final = re.compile(r'metadata\.labels: Invalid value: "((?:[^"\\]|\\.)*)"')
_NOT_IN_LABELS: Final = re.compile(r"[^-_.\w]", re.ASCII)
MAX_LABEL_LENGTH: Final = 63
NOT_SEEN_CREATED: Final = "the history does not show how it was created"


@claim_of_history(
    "MLB-020",
    guide(SECTION, 4),
    decision=A18,
    armed_by="AppWrapper was submitted to an operator with webhooks",
    from_any_versions=True,
)
def submitting_user_is_labelled(history: AppWrapperHistory) -> Obligations:
    """An AppWrapper MUST be labelled with the name and id of the user who submitted it, whatever
    that user wrote there, and these labels MUST NOT change."""
    if not has_webhooks(history):
        return
    profile = history.profile
    users = history.header.facts.users
    for aw in history.appwrappers:
        known = users.get(aw.track.created.actor) or {}
        for label, field in ((profile.user_label, "username"), (profile.user_id_label, "uid")):
            name = known.get(field)
            may_lack = any(user.get(field) == "" for user in users.values())
            yield _is_labelled(aw, label, None if name is None else as_label(str(name)), may_lack)
    yield from _refused_for_their_labels(history, users)


def _refused_for_their_labels(history: AppWrapperHistory, users: Mapping[str, Any]) -> Obligations:
    """Submissions that came to nothing because a label was to hold what no label can: who asked
    for such a label, the API server names in its refusal."""
    for write in history.refused_as_invalid:
        if write.kind != str(APPWRAPPER) or write.verb != "create":
            continue
        asked_for = labels_of(write.submitted or {}).values()
        for field, name in (users.get(write.actor) or {}).items():
            if as_label(name) == name or name in asked_for:
                continue  # a label can hold it, or it was the user who put it into one
            quoted = json.dumps(name, ensure_ascii=False)[1:-1]
            for value in _REFUSED_LABEL.findall(write.message):
                if value in asked_for:
                    continue
                if value == quoted:
                    how = "as it is"
                elif as_label(value) == as_label(name):
                    how = f"as {value!r}"
                else:
                    continue
                yield violated(
                    write,
                    f"appwrapper/{write.name}, which {write.actor} submitted at {when(write)}, was "
                    f"refused since a label was to hold his {field} {name!r} {how}.",
                )


def _is_labelled(aw: AppWrapperRun, label: str, wanted: str | None, may_lack: bool) -> Obligation:
    """True if a label was correct from the beginning, and stayed.

    `wanted` is None if the submitting user is unknown; `may_lack`: the user may lack the property,
    as users of client certificates have no id.
    """
    created = aw.track.created
    seen = labels_of(aw.track.first).get(label, "")
    if wanted is None and not seen and may_lack:
        return undecided(created, f"the history does not say who submitted {aw}")
    if seen != wanted if wanted is not None else not seen:
        if not aw.was_seen_created:
            return undecided(created, NOT_SEEN_CREATED)
        return violated(
            created,
            f"{aw}, created at {when(created)} by {created.actor or 'somebody'}, has "
            f"{label}={seen!r}, expected {wanted or 'a value'}.",
        )
    changed = next(
        (snap for snap in aw.snapshots if labels_of(snap.object).get(label, "") != seen), None
    )
    if changed is not None:
        return violated(
            changed,
            f"{when(changed)}: {label} of {aw} went from {seen!r} to "
            f"{labels_of(changed.object).get(label)!r}.",
            created,
        )
    if wanted is None and (aw.submitted is None or labels_of(aw.submitted).get(label) == seen):
        return undecided(created, f"the history does not say that {seen!r} submitted {aw}")
    return met(created)


def as_label(text: str) -> str:
    """A user's name as a label can hold it: cut, other characters replaced, ends trimmed."""
    return _NOT_IN_LABELS.sub("_", text[:MAX_LABEL_LENGTH]).strip("-_.")


def has_webhooks(history: WorkloadIndex) -> bool:
    return bool(history.operator.under_test.parameters.get("webhooksEnabled", True))


@claim(
    "MLB-021",
    guide(SECTION, 5),
    armed_by="AppWrapper was submitted to an operator with a default queue",
    from_any_versions=True,
)
def queue_is_filled_in(aw: AppWrapperRun) -> Obligations:
    """An AppWrapper without a queue MUST get the default queue; one with its own keeps it."""
    queue = aw.history.operator.under_test.parameters.get("defaultQueueName")
    if not queue or not has_webhooks(aw.history):
        return
    created = aw.track.created
    label = aw.history.profile.queue_label
    seen = labels_of(aw.track.first).get(label)
    if not aw.was_seen_created:
        yield undecided(created, NOT_SEEN_CREATED)
    elif not seen:
        yield violated(
            created,
            f"{aw}, created at {when(created)}, has no label {label}; the default queue is "
            f"{queue}.",
        )
    elif aw.submitted is None:
        yield undecided(created, f"the history does not hold {aw} as it was submitted")
    else:
        own = labels_of(aw.submitted).get(label)
        if seen == (own or queue):
            yield met(created)
        else:
            yield violated(
                created,
                f"{aw}, created at {when(created)}, has {label}={seen!r}; it was submitted "
                f"{f'with {own!r}' if own else 'without one'}, and the default queue is "
                f"{queue!r}.",
            )


@claim(
    "MLB-022",
    guide(SECTION, 5),
    armed_by="pod was created under a configured scheduler",
    from_any_versions=True,
)
def scheduler_is_filled_in(aw: AppWrapperRun) -> Obligations:
    """The pods of an AppWrapper MUST get the configured scheduler, unless their template names
    its own."""
    scheduler = aw.history.operator.under_test.parameters.get("schedulerName")
    if not scheduler:
        return
    named = [
        spec.get("schedulerName")
        for component in aw.submitted_components
        for spec in component.pod_specs
    ]
    own = [name for name in named if name]
    allowed = own if own and len(own) == len(named) else [scheduler, *own]
    for pod in aw.pods:
        seen = (pod.first.get("spec") or {}).get("schedulerName")
        if seen in allowed:
            yield met(pod.created)
        else:
            yield violated(
                pod.created,
                f"{pod} of {aw}, created at {when(pod.created)}, has schedulerName {seen!r}, "
                f"expected {allowed[0]!r}.",
            )
