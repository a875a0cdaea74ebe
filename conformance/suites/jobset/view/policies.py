"""Two states of a failure policy, compared."""

from __future__ import annotations

from typing import Any, Final

from conformance.suites.jobset.view.submissions import rules_of, texts
from vocabulary.objects import Object


def is_another(before: Any, after: Any) -> bool:
    """True if a policy is not what it was; fields that were filled in or left out, and decide
    nothing, change nothing."""
    if _in_force(before) != _in_force(after):
        return True
    if before is None:
        return False
    pairs = [(before, after), *zip(rules_of(before), rules_of(after), strict=True)]
    return any(
        key not in _IN_FORCE and old[key] != new[key]
        for old, new in pairs
        for key in old.keys() & new.keys()
    )


RECREATE: Final = "Recreate"
"""The strategy of a policy that names none."""
_IN_FORCE: Final = (
    "maxRestarts",
    "restartStrategy",
    "rules",
    "onJobFailureReasons",
    "onJobFailureMessagePatterns",
    "targetReplicatedJobs",
)
"""Fields whose absence, or the order of whose values, means nothing."""


def _in_force(policy: Any) -> tuple[Any, ...] | None:
    """The part of a policy that decides; defaults that were filled in later change nothing."""
    if policy is None:
        return None
    rules = [
        (
            rule.get("action"),
            sorted(texts(rule.get("onJobFailureReasons"))),
            sorted(texts(rule.get("onJobFailureMessagePatterns"))),
            sorted(texts(rule.get("targetReplicatedJobs"))),
        )
        for rule in rules_of(policy)
    ]
    return policy.get("maxRestarts") or 0, policy.get("restartStrategy") or RECREATE, rules


def in_words(policy: Object | None) -> str:
    if policy is None:
        return "none"
    actions = [str(rule.get("action")) for rule in rules_of(policy)]
    names = [str(rule.get("name", "-")) for rule in rules_of(policy)]
    return (
        f"maxRestarts {policy.get('maxRestarts', 0)} with the rules {', '.join(actions) or '-'}, "
        f"their names {', '.join(names) or '-'}, restartStrategy {policy.get('restartStrategy')}"
    )
