"""Escalation checks: users grant only the rights that they have themselves.

A role can also be written with the verb `escalate` on it, and a binding with `bind` on its role.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from clusters.simulated.access.rbac import Rbac
from clusters.simulated.access.rules import Attributes, covers
from clusters.simulated.access.users import MASTERS, User
from vocabulary.errors import ApiError, not_found
from vocabulary.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING, Kind
from vocabulary.objects import Object, meta, name_of

_ROLES: Final = (ROLE, CLUSTER_ROLE)
_BINDINGS: Final = (ROLE_BINDING, CLUSTER_ROLE_BINDING)
_COLLECTED: Final = frozenset({"ownerReferences", "finalizers"})
"""Fields of metadata that the garbage collector has to write without any of these rights."""
_SHOWN: Final = {
    "apiGroups": "APIGroups",
    "resources": "Resources",
    "nonResourceURLs": "NonResourceURLs",
    "resourceNames": "ResourceNames",
    "verbs": "Verbs",
}


def require_no_escalation(
    rbac: Rbac, user: User, kind: Kind, named: str, namespace: str, new: Object, old: Object | None
) -> None:
    """Raise the 403 for a role or binding that gives what its writer does not have.

    `named` is the object's name as the request's path has it: that of a creation has none.
    """
    if MASTERS in user.groups or (old is not None and _rest_of(new) == _rest_of(old)):
        return
    if kind in _ROLES:
        asked = Attributes("escalate", kind.group, kind.plural, namespace, named)
        if rbac.decide(user, asked).allowed:
            return
        _require_covered(rbac, user, kind, namespace, new, new.get("rules") or ())
        aggregates = any(
            ((obj or {}).get("aggregationRule") or {}).get("clusterRoleSelectors")
            for obj in (new, old)
        )
        if aggregates:  # and who may do everything may escalate, too
            because = "must have cluster-admin privileges to use the aggregationRule"
            raise _forbidden(kind, new, because)
    elif kind in _BINDINGS:
        reference = new.get("roleRef") or {}
        role = next((one for one in _ROLES if one.kind == reference.get("kind")), None)
        if role is None:
            sort = json.dumps(reference.get("kind", ""))
            raise ApiError(500, "", f"unsupported role reference kind: {sort}")
        name = reference.get("name", "")
        asked = Attributes("bind", reference.get("apiGroup", ""), role.plural, namespace, name)
        if rbac.decide(user, asked).allowed:
            return
        rules = rbac.rules_of_role(role.kind, name, namespace)
        if rules is None:
            raise not_found(kind, name)
        _require_covered(rbac, user, kind, namespace, new, rules)


def _rest_of(obj: Object) -> dict[str, Any]:
    metadata = {name: value for name, value in meta(obj).items() if name not in _COLLECTED}
    return {**obj, "metadata": metadata}


def _require_covered(
    rbac: Rbac, user: User, kind: Kind, namespace: str, obj: Object, rules: Iterable[Object]
) -> None:
    missing = _missing(rbac, user, namespace, rules)
    if not missing:
        return
    lines = "\n".join(sorted(set(map(_in_go, _compact(missing)))))
    groups = _strings(user.groups)
    message = (
        f"user {json.dumps(user.name)} (groups={groups}) is attempting to grant RBAC permissions "
        f"not currently held:\n{lines}"
    )
    _, errors = rbac.rules_of(user, namespace)
    if errors:
        message += f"; resolution errors: [{errors}]"
    raise _forbidden(kind, obj, message)


def _missing(rbac: Rbac, user: User, namespace: str, rules: Iterable[Object]) -> list[Object]:
    own, _ = rbac.rules_of(user, namespace)
    return [
        part
        for rule in rules
        for part in _parts(rule)
        if not any(covers(owned, part) for owned in own)
    ]


def _parts(rule: Object) -> Iterator[Object]:
    """A rule as rules of one verb on one resource, one object or one path each."""
    verbs = rule.get("verbs") or ()
    names: Sequence[str | None] = rule.get("resourceNames") or (None,)
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            for verb in verbs:
                for name in names:
                    one = {"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                    yield one if name is None else {**one, "resourceNames": [name]}
    for path in rule.get("nonResourceURLs") or ():
        for verb in verbs:
            yield {"nonResourceURLs": [path], "verbs": [verb]}


def _compact(parts: Iterable[Object]) -> list[Object]:
    """The parts, those that differ by their verb only as one."""
    found: dict[str, dict[str, Any]] = {}
    for number, part in enumerate(parts):
        rest = {name: value for name, value in part.items() if name != "verbs"}
        key = str(number) if "nonResourceURLs" in part else json.dumps(rest, sort_keys=True)
        one = found.setdefault(key, {**rest, "verbs": []})
        one["verbs"] = [*one["verbs"], *part["verbs"]]
    return list(found.values())


def _in_go(rule: Object) -> str:
    shown = [f"{name}:{_strings(rule[field])}" for field, name in _SHOWN.items() if rule.get(field)]
    return f"{{{', '.join(shown)}}}"


def _strings(texts: Iterable[str]) -> str:
    return f"[{' '.join(json.dumps(text, ensure_ascii=False) for text in texts)}]"


def _forbidden(kind: Kind, obj: Object, because: str) -> ApiError:
    name = name_of(obj)
    details = {"name": name, "group": kind.group, "kind": kind.plural}
    named = f' "{name}"' if name else ""
    message = f"{kind.plural}.{kind.group}{named} is forbidden: {because}"
    return ApiError(403, "Forbidden", message, {key: one for key, one in details.items() if one})
