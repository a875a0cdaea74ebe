"""MLB-074, 075: what is refused when an AppWrapper is submitted, and when it is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.norm import Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.appwrapper.decisions import A24
from conformance.suites.appwrapper.judging import claim, claim_of_history
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.history import AppWrapperHistory
from conformance.suites.appwrapper.view.pod_sets import inferred_pod_sets
from conformance.suites.appwrapper.view.profile import dig
from conformance.suites.mlbatch.claims.submission import SECTION, has_webhooks
from vocabulary.history import Write
from vocabulary.kinds import kind_of
from vocabulary.objects import Object, get_path, namespace_of

_CHECKS: Final = guide(SECTION, 2)
_MOST_POD_SETS: Final = 8
_REFUSALS: Final = (400, 403, 422)
_STEP: Final = re.compile(r"\.([^.\[\]]+)|\[([0-9]+)\]")


@claim_of_history(
    "MLB-074",
    _CHECKS,
    level=Level.PROVISIONAL,
    decision=A24,
    armed_by="flawed AppWrapper was submitted to an operator with webhooks",
    from_any_versions=True,
)
def flawed_submissions_are_refused(history: AppWrapperHistory) -> Obligations:
    """An AppWrapper MUST be refused when it is submitted if it wraps an AppWrapper, if a
    component of it names another namespace, if it has no pod set or more than eight, or if a pod
    set leads to no pod template or says otherwise than its template."""
    if not has_webhooks(history):
        return
    for write in history.refused_appwrappers:
        if write.verb == "create" and write.code in _REFUSALS and flaw(history, write):
            yield met(write)
    for aw in history.appwrappers:
        found = flaw(history, aw.track.created)
        if found:
            created = aw.track.created
            yield violated(
                created,
                f"{when(created)}: {aw} was admitted, although {found}.",
            )


def flaw(history: AppWrapperHistory, write: Write) -> str:
    """Why what was submitted should be refused; empty if nothing is known against it."""
    aw = write.submitted or write.object or {}
    total = 0
    for index, component in enumerate(dig(aw, history.profile.components) or ()):
        template = component.get("template") or {}
        namespace = namespace_of(template)
        if str(kind_of(template)) == history.profile.kind:
            return f"component {index} is an AppWrapper"
        if namespace not in ("", write.namespace):
            return f"component {index} is to be in namespace {namespace!r}"
        try:
            pod_sets = _pod_sets(component, template)
        except ValueError as error:
            return f"of component {index} {error}"
        total += len(pod_sets)
    return "" if 1 <= total <= _MOST_POD_SETS else f"it has {total} pod sets"


def _pod_sets(component: Object, template: Object) -> list[tuple[str, int]]:
    """(path, replicas) of each pod set; ValueError says what is wrong with them."""
    declared = [
        (str(pod_set.get("path", "")), int(pod_set.get("replicas", 1)))
        for pod_set in component.get("podSets") or ()
    ]
    for path, replicas in declared:
        _require_pod_template(template, path)
        if replicas < 0:
            raise ValueError(f"{path} is to make {replicas} pods")
    if any(isinstance(count, str) for count in _counts(template)):
        raise ValueError("the number of pods is a text")
    inferred = [(pod_set.path, pod_set.replicas) for pod_set in inferred_pod_sets(template)]
    for path, _ in inferred:
        _require_pod_template(template, path)
    if declared and inferred and sorted(declared) != sorted(inferred):
        raise ValueError(f"the pod sets are {declared}, and its template means {inferred}")
    return declared or inferred


def _counts(template: Object) -> Iterator[Any]:
    for field in ("replicas", "parallelism", "completions"):
        yield get_path(template, f"spec.{field}")


def _require_pod_template(template: Object, path: str) -> None:
    """Raise ValueError unless the path leads from the template to something with a pod's spec."""
    nowhere = f"the path {path!r} leads to no pod template"
    if not path.startswith("template"):
        raise ValueError(nowhere)
    value: Any = template
    position = len("template")
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            raise ValueError(nowhere)
        position = step.end()
        try:
            value = value[int(step[2]) if step[1] is None else step[1]]
        except (KeyError, IndexError, TypeError):
            raise ValueError(nowhere) from None
    spec = value.get("spec") if isinstance(value, Mapping) else None
    containers = spec.get("containers", ()) if isinstance(spec, Mapping) else None
    if not isinstance(containers, list | tuple) or not all(
        isinstance(container, Mapping) for container in containers
    ):
        raise ValueError(nowhere)


@claim(
    "MLB-075",
    _CHECKS,
    level=Level.PROVISIONAL,
    decision=A24,
    armed_by="change of what an AppWrapper is made of was asked for",
)
def what_was_submitted_stays(aw: AppWrapperRun) -> Obligations:
    """The templates and pod sets of an AppWrapper, and who manages it, MUST NOT change once it
    was submitted."""
    if not has_webhooks(aw.history):
        return
    for write in aw.history.refused_appwrappers:
        standing = aw.snapshot_at(write.n)
        if (
            standing is not None
            and (write.verb, write.namespace, write.name) == ("update", aw.namespace, aw.name)
            and write.code in _REFUSALS
            and _made_of(write.submitted or {}, aw) != _made_of(standing.object, aw)
        ):
            yield met(write)
    first = _made_of(aw.track.first, aw)
    for snapshot in aw.snapshots:
        now = _made_of(snapshot.object, aw)
        changed = [name for name, was in first.items() if now[name] != was]
        if changed:
            yield violated(
                snapshot,
                f"{when(snapshot)}: {changed[0]} of {aw} are others than those that it was "
                "submitted with.",
                aw.track.created,
            )
            return


def _made_of(obj: Object, aw: AppWrapperRun) -> dict[str, Any]:
    components = dig(obj, aw.history.profile.components) or ()
    return {
        "the templates": [component.get("template") for component in components],
        "the pod sets": [
            [(each.get("path"), each.get("replicas")) for each in component.get("podSets") or ()]
            for component in components
        ],
        "the managers": get_path(obj, "spec.managedBy"),
    }
