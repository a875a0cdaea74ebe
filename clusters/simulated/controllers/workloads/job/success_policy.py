"""successPolicy: an Indexed Job may succeed before all of its indexes have."""

from __future__ import annotations

from clusters.simulated.controllers.workloads.job.indexes import parse_indexes
from vocabulary.objects import Object


def matched_rule(policy: Object | None, completions: int, succeeded: frozenset[int]) -> int | None:
    """The position of the first rule that the succeeded indexes satisfy; None if none is."""
    if not succeeded:
        return None
    for position, rule in enumerate((policy or {}).get("rules") or ()):
        count = rule.get("succeededCount")
        named = rule.get("succeededIndexes")
        if named is None:
            if count is not None and len(succeeded) >= count:
                return position
            continue
        required = parse_indexes(named, completions)
        if not required:
            continue
        reached = len(required & succeeded)
        if reached == len(required) or (count is not None and reached >= count):
            return position
    return None
