"""Rights of an operator's roles that none of its runs used: what least privilege could take away.

A report, and never a failure: runs with one workload do not show all that an operator is for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clusters.simulated.access.rules import ALL, covers
from vocabulary.objects import Object

Used = Mapping[str, int]
"""Requests as `conformance.world.World.requested` names them."""


def unused_rights(roles: Iterable[Object], used: Iterable[Used]) -> list[str]:
    """`deployments of apps: delete, update`; a rule with an asterisk is named with what it was used
    for."""
    asked = [_part(request) for request in sorted({name for each in used for name in each})]
    verbs_of: dict[str, list[str]] = {}
    for right in _rights(roles):
        (group,), (resource,), (verb,) = right["apiGroups"], right["resources"], right["verbs"]
        named = f"{resource} of {group}" if group else resource
        uses = [each for each in asked if covers(right, each)]
        if ALL in (group, resource, verb) and uses:
            verbs = sorted({f"{each['verbs'][0]} {each['resources'][0]}" for each in uses})
            verbs_of.setdefault(named, []).append(f"{verb} (only {', '.join(verbs)} was used)")
        elif not uses:
            verbs_of.setdefault(named, []).append(verb)
    return [f"{named}: {', '.join(verbs)}" for named, verbs in verbs_of.items()]


def _rights(roles: Iterable[Object]) -> Iterator[Object]:
    """The rules of roles, cut into rules of one verb and one resource, each once."""
    seen: set[tuple[str, str, str]] = set()
    for role in roles:
        for rule in role.get("rules") or ():
            for group in rule.get("apiGroups") or ():
                for resource in rule.get("resources") or ():
                    for verb in rule.get("verbs") or ():
                        if (group, resource, verb) not in seen:
                            seen.add((group, resource, verb))
                            yield {"apiGroups": [group], "resources": [resource], "verbs": [verb]}


def _part(request: str) -> Object:
    verb, _, of = request.partition(" ")
    resource, _, group = of.partition(" of ")
    return {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
