"""The flaws for which a JobSet is refused, most of them of a rule; none is an empty text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping
from typing import Any, Final

from conformance.suites.jobset import api as names
from conformance.suites.jobset.view.submissions import texts
from vocabulary.objects import Object, get_path

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
    """An action that is missing, or that the API of that edition does not define: later
    texts have one that the first has not."""
    action = rule.get("action")
    if action is None:
        return "a rule has no action"
    is_known = action in ACTIONS or (
        edition in names.WITH_JOB_RESTARTS and action == names.RESTART_JOB_UNCOUNTED
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


_LABEL_KEY: Final = re.compile(
    r"(?=[^/]{1,253}(/|$))([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_OF_PODS: Final = ("cpu", "memory")
_HUGE_PAGES: Final = "hugepages-"


def unknown_topology(annotated: Any) -> str:
    """An exclusive topology that is no label key, of a JobSet or of the template of Jobs."""
    found = get_path(annotated, "metadata.annotations")
    key = found.get(names.EXCLUSIVE_TOPOLOGY) if isinstance(found, Mapping) else None
    if not key or _LABEL_KEY.fullmatch(str(key)):
        return ""
    return f"its exclusive topology is {key!r}"


def unknown_resource(replicated_job: Object) -> str:
    """A resource that a pod as a whole asks for, and that containers alone have."""
    for field in ("limits", "requests"):
        asked = get_path(replicated_job, f"template.spec.template.spec.resources.{field}")
        for name in asked if isinstance(asked, Mapping) else ():
            if name not in _OF_PODS and not name.startswith(_HUGE_PAGES):
                return f"pods as a whole ask for {name}"
    return ""
