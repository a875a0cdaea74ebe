"""Admission: defaults are idempotent, and objects that are admitted are handled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.history import object_diff
from conformance.history.normal_form import is_custom
from conformance.norm import Obligation, Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.operator.judging import claim
from conformance.suites.operator.view import OperatorHistory
from vocabulary.history import OPERATOR, Write
from vocabulary.objects import Object, annotations_of, labels_of

SUBMITTED_AGAIN: Final = "operator/webhooks/submitted-again"
CRASHED: Final = (f"{OPERATOR} raised ", "webhook of ")
"""Begin the marks of errors that escaped from the operator's code."""
CONFLICT: Final = 409
SERVER_ERROR: Final = 500


@claim(27, armed_by="admitted object that is submitted again", level=Level.EXTENDED)
def admitted_objects_are_handled(run: OperatorHistory) -> Obligations:
    """An object that was admitted MUST be admitted again unchanged, and no object that schema and
    webhooks admit MUST make the operator or a webhook panic."""
    if run.history.header.scenario != SUBMITTED_AGAIN:
        return
    for mark in run.history.marks:
        if mark.text.startswith(CRASHED):
            yield violated(mark, f"{when(mark)} {mark.text}.")
            return
    seen: set[tuple[str, str]] = set()
    for entry in run.history.entries:
        is_submission = (
            isinstance(entry, Write)
            and entry.actor == "user"
            and entry.verb in ("create", "update")
            and not entry.subresource
            and is_custom(entry.kind)
        )
        if not is_submission or not isinstance(entry, Write):
            continue
        if entry.code >= SERVER_ERROR:
            named = f"{entry.verb} {entry.kind} {entry.name}"
            yield violated(entry, f"{when(entry)} {named} ended with {entry.code}.")
        elif (entry.kind, entry.name) in seen and entry.code != CONFLICT:
            yield from _again(entry)
        seen.add((entry.kind, entry.name))


def _again(write: Write) -> Iterator[Obligation]:
    """The second submission of an object, as it had been admitted."""
    named = f"{write.kind} {write.name}"
    if write.code >= 400:
        yield violated(
            write,
            f"{when(write)} {named} was refused as it had been admitted before: {write.message}.",
        )
        return
    submitted, stored = write.submitted or {}, write.object or {}
    changed = object_diff.differences(_written(submitted), _written(stored))
    # Histories have objects in the version in which they are stored.
    if write.event and changed and submitted.get("apiVersion") == stored.get("apiVersion"):
        yield violated(
            write,
            f"{when(write)} {named} was submitted as it had been admitted, and was changed once "
            f"more: {listed(f'{each.path} {each.old} → {each.new}' for each in changed[:3])}.",
        )
    else:
        yield met(write)


def _written(obj: Object) -> Mapping[str, Any]:
    """The part of an object that its user decides."""
    own = {key: value for key, value in obj.items() if key not in ("metadata", "status")}
    return {**own, "labels": labels_of(obj), "annotations": annotations_of(obj)}
