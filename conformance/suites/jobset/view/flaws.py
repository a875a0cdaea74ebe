"""The flaws for which a rule of a failure policy is refused; none is an empty text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from typing import Final

from conformance.suites.jobset import api as names
from conformance.suites.jobset.view.submissions import texts
from vocabulary.objects import Object

ACTIONS: Final = frozenset(
    {
        names.FAIL_JOB_SET,
        names.RESTART_JOB_SET,
        names.RESTART_UNCOUNTED,
        names.RESTART_REPLICATED_JOB,
        names.RESTART_JOB,
        names.FAIL_JOB,
    }
)
"""Those of the norm."""
REASONS: Final = frozenset(
    {
        "PodFailurePolicy",
        "BackoffLimitExceeded",
        "DeadlineExceeded",
        "MaxFailedIndexesExceeded",
        "FailedIndexes",
    }
)


def unknown_action(rule: Object, edition: str) -> str:
    """An action that is missing, or that the API of that edition does not define: released
    controllers have one that the norm does not have."""
    action = rule.get("action")
    if action is None:
        return "a rule has no action"
    is_known = action in ACTIONS or (
        edition == names.RELEASED and action == names.RESTART_JOB_UNCOUNTED
    )
    return "" if is_known else f"a rule has the action {action!r}"


def unknown_reason(rule: Object) -> str:
    unknown = [each for each in texts(rule.get("onJobFailureReasons")) if each not in REASONS]
    return f"a rule lists the reason {unknown[0]!r}" if unknown else ""


def unknown_target(rule: Object, known: Container[str]) -> str:
    missing = [name for name in texts(rule.get("targetReplicatedJobs")) if name not in known]
    return f"a rule targets {missing[0]!r}, which it does not have" if missing else ""


def repeated(rule: Object, field: str) -> str:
    """A list with a value twice."""
    counts = Counter(texts(rule.get(field)))
    twice = next((value for value, count in counts.items() if count > 1), None)
    return "" if twice is None else f"{field} of a rule has {twice!r} {counts[twice]} times"
