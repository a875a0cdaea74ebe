"""The roles and bindings that every cluster has from the start, as far as they matter here.

They are not stored, so that the revisions of a cluster begin with its own objects.
"""

from __future__ import annotations

from typing import Any, Final

from clusters.simulated.access.users import (
    AUTHENTICATED,
    MASTERS,
    SERVICE_ACCOUNTS,
    UNAUTHENTICATED,
)
from vocabulary.objects import Object

GROUP: Final = "rbac.authorization.k8s.io"
_PUBLIC: Final = ["/healthz", "/livez", "/readyz", "/version", "/version/"]
_DISCOVERY: Final = [
    *("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez"),
    *("/openapi", "/openapi/*", "/readyz", "/version", "/version/"),
]
_ISSUER: Final = [
    "/.well-known/openid-configuration",
    "/.well-known/openid-configuration/",
    "/openid/v1/jwks",
    "/openid/v1/jwks/",
]


def _rule(group: str, resources: list[str], *verbs: str) -> dict[str, Any]:
    return {"verbs": list(verbs), "apiGroups": [group], "resources": resources}


def _paths(paths: list[str]) -> dict[str, Any]:
    return {"verbs": ["get"], "nonResourceURLs": paths}


_REVIEWS_OF_ONESELF: Final = ["selfsubjectaccessreviews", "selfsubjectrulesreviews"]
CLUSTER_ROLES: Final[dict[str, tuple[Object, ...]]] = {
    "cluster-admin": (
        _rule("*", ["*"], "*"),
        {"verbs": ["*"], "nonResourceURLs": ["*"]},
    ),
    "system:auth-delegator": (
        _rule("authentication.k8s.io", ["tokenreviews"], "create"),
        _rule("authorization.k8s.io", ["subjectaccessreviews"], "create"),
    ),
    "system:basic-user": (
        _rule("authorization.k8s.io", _REVIEWS_OF_ONESELF, "create"),
        _rule("authentication.k8s.io", ["selfsubjectreviews"], "create"),
    ),
    "system:discovery": (_paths(_DISCOVERY),),
    "system:public-info-viewer": (_paths(_PUBLIC),),
    "system:service-account-issuer-discovery": (_paths(_ISSUER),),
}
"""The rules of the roles, by name."""
BOUND: Final[tuple[tuple[str, str], ...]] = (
    ("cluster-admin", MASTERS),
    ("system:basic-user", AUTHENTICATED),
    ("system:discovery", AUTHENTICATED),
    ("system:public-info-viewer", AUTHENTICATED),
    ("system:public-info-viewer", UNAUTHENTICATED),
    ("system:service-account-issuer-discovery", SERVICE_ACCOUNTS),
)
"""Roles, each bound to a group by a ClusterRoleBinding of the role's name."""
