"""How long a Job waits before it replaces a failed pod."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, has
from tests.differential.script import script
from tests.differential.scripts.injection import pods_of
from tests.differential.scripts.manifests import job
from vocabulary.kinds import JOB, POD
from vocabulary.objects import get_path

STATUS = ["status"]
TOLERANCE_SECONDS = 4
"""Pod events are gathered for a second, and timestamps have whole seconds."""


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _waits(c: Dialogue, *expected: int) -> None:
    """Note whether each pod but the first was created so long after the failure before it."""
    pods = sorted(
        c.peek(POD, "job-name=a"), key=lambda pod: str(pod["metadata"]["creationTimestamp"])
    )
    found = []
    for before, after in pairwise(pods):
        ended = get_path(before, "status.containerStatuses.0.state.terminated.finishedAt")
        found.append(_seconds(after["metadata"]["creationTimestamp"]) - _seconds(ended))
    right = [
        wait <= gap <= wait + TOLERANCE_SECONDS for gap, wait in zip(found, expected, strict=True)
    ]
    c.note(f"retried after {', '.join(map(str, expected))} s", right)


def _exit(c: Dialogue, code: int) -> None:
    name = pods_of(c, "a")[0]["metadata"]["name"]
    body = {"metadata": {"annotations": {"assay.dev/exit": str(code)}}}
    c.raw(
        "PATCH",
        POD.path(c.namespace, name),
        body,
        content_type="application/merge-patch+json",
        label=f"let the pod exit with {code}",
        show=["status.phase"],
    )


def _ready(c: Dialogue, **fields: int) -> None:
    wanted = has("status.ready", 1)
    for field, value in fields.items():
        wanted = wanted & has(f"status.{field}", value)
    c.until(JOB, "a", wanted, within=60, show=STATUS)


def _start(c: Dialogue, **spec: Any) -> None:
    c.create(job("a", **spec), show=["spec.backoffLimit"])
    _ready(c)


@script("The wait for a retry doubles with each failure.", ["5.4"])
def back_off_doubles(c: Dialogue) -> None:
    _start(c, backoffLimit=2)
    for failures in (1, 2):
        _exit(c, 1)
        _ready(c, failed=failures)
    _exit(c, 1)
    c.until(JOB, "a", condition("Failed"), show=STATUS)
    _waits(c, 10, 20)


@script("A success resets the wait for a retry.", ["5.4"])
def back_off_resets(c: Dialogue) -> None:
    _start(c, backoffLimit=5, completions=3)
    _exit(c, 1)
    _ready(c, failed=1)
    _exit(c, 0)
    _ready(c, succeeded=1)
    _exit(c, 1)
    _ready(c, failed=2)
    _waits(c, 10, 0, 10)


@script("Ignored failures make retries wait as long as others.", ["5.4", "5.5"])
def back_off_of_ignored(c: Dialogue) -> None:
    rule = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}
    _start(c, backoffLimit=1, podFailurePolicy={"rules": [rule]})
    _exit(c, 7)
    c.until(JOB, "a", has("status.active", None), show=["status.failed"])
    _ready(c)
    _exit(c, 1)
    _ready(c, failed=1)
    _waits(c, 10, 20)


@script("The wait of an index counts all of its failures, ignored ones too.", ["5.4", "5.6"])
def back_off_by_index(c: Dialogue) -> None:
    rule = {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [7]}}
    _start(
        c,
        completionMode="Indexed",
        completions=1,
        backoffLimitPerIndex=2,
        podFailurePolicy={"rules": [rule]},
    )
    _exit(c, 7)
    c.until(JOB, "a", has("status.active", None), show=["status.failed"])
    _ready(c)
    _exit(c, 1)
    _ready(c, failed=1)
    _waits(c, 10, 20)


@script("Suspending does not shorten the wait for a retry.", ["5.4", "5.7"])
def back_off_over_suspension(c: Dialogue) -> None:
    _start(c, backoffLimit=3)
    _exit(c, 1)
    c.until(JOB, "a", has("status.failed", 1), show=STATUS)
    c.patch(JOB, "a", {"spec": {"suspend": True}}, show=["spec.suspend"])
    c.until(JOB, "a", condition("Suspended"), show=STATUS)
    c.patch(JOB, "a", {"spec": {"suspend": False}}, show=["spec.suspend"])
    _ready(c, failed=1)
    _waits(c, 10)
