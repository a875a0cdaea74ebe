"""Pod behaviour in one line, the same for fake and real kubelets.

    metadata:
      annotations:
        assay.dev/behaviour: run 5s, exit 3

`expand` turns that line into single annotations, which the simulated kubelet, KWOK's stages and
the script of real containers (`clusters.containers`) obey alike. Single annotations can also be
set directly, or patched onto a running pod, for instance to kill it with a chosen exit code.

| clause | annotation | meaning |
|---|---|---|
| `run 5s` | `run-for` | how long the containers run before they exit |
| `run forever` | | they do not exit: the default |
| `exit 3` | `exit` | the exit code; without `run` they exit at once |
| `reason OOMKilled` | `reason` | the terminated state's reason |
| `3 times` | `exit-times` | with a restart policy: exit so often, then run on |
| `restart-after 1s` | `restart-after` | instead of the kubelet's crash loop back-off |
| `ready-after 2s` | `ready-after` | stay Pending that long |
| `stay pending`, `never ready`, `init stuck`, `image missing` | `hold` | stay there |
| `stop 60s` | `term-for` | how long they need to stop after SIGTERM, unless killed before |
| `stop exit 0` | `term-exit` | their exit code then; 143 unless said |
| `never stop` | `stuck-terminating` | they cannot be stopped |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from vocabulary.clock import SECOND, Micros
from vocabulary.durations import parse_duration
from vocabulary.objects import Object, annotations_of

PREFIX: Final = "assay.dev/"
BEHAVIOUR: Final = PREFIX + "behaviour"
EXIT: Final = PREFIX + "exit"
EXIT_TIMES: Final = PREFIX + "exit-times"
REASON: Final = PREFIX + "reason"
RUN_FOR: Final = PREFIX + "run-for"
READY_AFTER: Final = PREFIX + "ready-after"
RESTART_AFTER: Final = PREFIX + "restart-after"
HOLD: Final = PREFIX + "hold"
TERM_FOR: Final = PREFIX + "term-for"
TERM_EXIT: Final = PREFIX + "term-exit"
STUCK_TERMINATING: Final = PREFIX + "stuck-terminating"

OF_BEHAVIOUR: Final = frozenset(
    (
        *(BEHAVIOUR, EXIT, EXIT_TIMES, REASON, RUN_FOR, READY_AFTER, RESTART_AFTER, HOLD),
        *(TERM_FOR, TERM_EXIT, STUCK_TERMINATING),
    )
)
"""The annotations that say how a pod behaves; others of Assay mean nothing to a kubelet."""

NOT_READY_LABEL: Final = PREFIX + "not-ready"
"""Node label: if `true`, the node's kubelet reports NotReady."""

HOLD_PENDING: Final = "pending"
HOLD_NOT_READY: Final = "notready"
HOLD_INIT: Final = "init"
HOLD_IMAGE: Final = "image"

MAX_EXIT_CODE: Final = 255
DEFAULT_GRACE_SECONDS: Final = 30
"""The grace period of a pod that does not set one."""
SPARE_SECONDS: Final = 30
"""The margin between the time that the containers take to stop and the grace period."""

_PHRASES: Final[dict[str, dict[str, str]]] = {
    "run forever": {},
    "stay pending": {HOLD: HOLD_PENDING},
    "never ready": {HOLD: HOLD_NOT_READY},
    "init stuck": {HOLD: HOLD_INIT},
    "image missing": {HOLD: HOLD_IMAGE},
    "never stop": {STUCK_TERMINATING: "true"},
}


class BehaviourError(ValueError):
    """An unknown behaviour; the message lists the known ones."""


@lru_cache(maxsize=1024)
def parse_behaviour(text: str) -> Mapping[str, str]:
    """Parse a behaviour line to single annotations. Raises BehaviourError if it is malformed."""
    annotations: dict[str, str] = {}
    for clause in text.split(","):
        for key, value in _clause(" ".join(clause.split()), text).items():
            if key in annotations:
                raise BehaviourError(
                    f"{BEHAVIOUR}: {text!r} sets {key} twice; keep one of the clauses"
                )
            annotations[key] = value
    if EXIT_TIMES in annotations and EXIT not in annotations:
        raise BehaviourError(
            f"{BEHAVIOUR}: {text!r} sets the number of exits but no exit code; add a clause "
            "`exit <code>`"
        )
    if RUN_FOR in annotations and EXIT not in annotations:
        annotations[EXIT] = "0"
    return annotations


def checked(annotations: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """Single annotations without those that are malformed, and why the first of these is."""
    kept, flaw = dict(annotations), ""
    for _, read, key in _FORMS:
        if key in annotations:
            try:
                read(annotations[key], key, annotations[key])
            except BehaviourError as error:
                del kept[key]
                flaw = flaw or str(error).removeprefix(f"{BEHAVIOUR}: ")
    return kept, flaw


def expand(obj: Object) -> dict[str, Any]:
    """Return a copy of an object, with single annotations added for every behaviour line.

    Covers the object itself if it is a pod, and every pod template inside it, however deep:
    Jobs, Deployments, PyTorchJobs, and what other kinds wrap. Existing single
    annotations take precedence over the line. An object without any line is returned equal.
    """
    expanded: dict[str, Any] = _expand(obj)
    return expanded


def with_time_to_stop(pod: Object, stuck_us: Micros = 0) -> dict[str, Any]:
    """Return the pod (template) with a grace period in which its containers stop by themselves.

    A period that the pod sets stays, and ends them. `stuck_us` is how long a kubelet that kills
    them has to wait for those that cannot be stopped.
    """
    wishes, spec = annotations_of(pod), pod["spec"]
    try:
        takes_us = parse_duration(wishes.get(TERM_FOR, "0s"))
    except ValueError as error:
        raise BehaviourError(f"{TERM_FOR}: {error}") from error
    if wishes.get(STUCK_TERMINATING) == "true":
        takes_us = stuck_us
    if not takes_us or spec.get("terminationGracePeriodSeconds") is not None:
        return dict(pod)
    seconds = max(math.ceil(takes_us / SECOND) + SPARE_SECONDS, DEFAULT_GRACE_SECONDS)
    return {**pod, "spec": {**spec, "terminationGracePeriodSeconds": seconds}}


def _expand(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        changed = {key: _expand(entry) for key, entry in value.items()}
        metadata = changed.get("metadata")
        if isinstance(metadata, dict) and BEHAVIOUR in (metadata.get("annotations") or ()):
            annotations = annotations_of(changed)
            singles = parse_behaviour(str(annotations[BEHAVIOUR]))
            changed["metadata"] = {**metadata, "annotations": {**singles, **annotations}}
        return changed
    if isinstance(value, list | tuple):
        return [_expand(entry) for entry in value]
    return value


def _clause(clause: str, text: str) -> Mapping[str, str]:
    known = _PHRASES.get(clause)
    if known is not None:
        return known
    words = clause.split(" ")
    for pattern, read, key in _FORMS:
        fixed = pattern.split(" ")
        if len(fixed) == len(words) and all(
            form in ("_", word) for form, word in zip(fixed, words, strict=True)
        ):
            argument = words[fixed.index("_")]
            return {key: read(argument, clause, text)}
    raise BehaviourError(
        f"{BEHAVIOUR}: {text!r}: {clause!r} is not a behaviour; use clauses such as "
        "`run 5s`, `exit 3`, `ready-after 2s`, `stay pending`, `never ready`, `init stuck`, "
        "`image missing`, `stop 60s`, `never stop`, separated by commas"
    )


def _duration(word: str, clause: str, text: str) -> str:
    try:
        if parse_duration(word) >= 0:
            return word
    except ValueError:
        pass
    raise BehaviourError(
        f"{BEHAVIOUR}: {text!r}: {clause!r} needs a Go duration that is not negative, "
        "for example 90s or 1m30s"
    )


def _exit_code(word: str, clause: str, text: str) -> str:
    if word.isdecimal() and int(word) <= MAX_EXIT_CODE:
        return str(int(word))
    raise BehaviourError(
        f"{BEHAVIOUR}: {text!r}: {clause!r} needs an exit code from 0 to {MAX_EXIT_CODE}"
    )


def _count(word: str, clause: str, text: str) -> str:
    if word.isdecimal() and int(word) > 0:
        return str(int(word))
    raise BehaviourError(f"{BEHAVIOUR}: {text!r}: {clause!r} needs a number of times, 1 or more")


def _word(word: str, _clause: str, _text: str) -> str:
    return word


_FORMS: Final[tuple[tuple[str, Callable[[str, str, str], str], str], ...]] = (
    ("run _", _duration, RUN_FOR),
    ("exit _", _exit_code, EXIT),
    ("reason _", _word, REASON),
    ("_ times", _count, EXIT_TIMES),
    ("restart-after _", _duration, RESTART_AFTER),
    ("ready-after _", _duration, READY_AFTER),
    ("stop _", _duration, TERM_FOR),
    ("stop exit _", _exit_code, TERM_EXIT),
)
"""Clauses with one argument, in place of the underscore."""
