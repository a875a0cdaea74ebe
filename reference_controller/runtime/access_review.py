"""The questions of admission webhooks: what its users may create, by SubjectAccessReviews, and how
their namespaces are labelled."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from reference_controller.runtime.admission_review import Asking, UserInfo
from reference_controller.runtime.connection import Connection, connect
from reference_controller.runtime.discovery import Discovery
from reference_controller.runtime.options import OperatorOptions
from vocabulary.errors import ApiError
from vocabulary.kinds import NAMESPACE, Kind
from vocabulary.objects import get_path, labels_of
from vocabulary.requests import Create, Get, ObjectList

SUBJECT_ACCESS_REVIEW: Final = Kind(
    "authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False
)
ALL_RESOURCES: Final = "*"


def asking_server(options: OperatorOptions) -> Asking:
    """Asks the API server of a process, over connections of its own."""
    connection = connect(
        options.kubeconfig,
        options.context,
        user_agent=options.user_agent,
        timeout_us=options.request_timeout_us,
        pool_size=2,
    )
    return Asking(AccessReviewer(connection), partial(_labels_of_namespace, connection))


def _labels_of_namespace(connection: Connection, name: str) -> Mapping[str, str]:
    found = connection.handle(Get(NAMESPACE, "", name))
    assert not isinstance(found, ObjectList)
    return labels_of(found)


class AccessReviewer:
    """Asks an API server which objects the users of its requests may create."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._discovery = Discovery(connection)

    def __call__(self, user: UserInfo, kind: Kind, namespace: str) -> bool:
        """True if the user may create such an object there; raises ApiError if it is not known."""
        spec: dict[str, Any] = {
            "user": user.username,
            "uid": user.uid,
            "groups": list(user.groups),
            "extra": {key: list(values) for key, values in user.extra.items()},
            "resourceAttributes": {
                "verb": "create",
                "group": kind.group,
                "version": kind.version,
                "resource": self._resource(kind, user),
                "namespace": namespace,
            },
        }
        review = {
            "apiVersion": SUBJECT_ACCESS_REVIEW.api_version,
            "kind": SUBJECT_ACCESS_REVIEW.kind,
            "spec": spec,
        }
        try:
            answer = self._connection.handle(Create(SUBJECT_ACCESS_REVIEW, review))
        except ApiError as error:
            raise _unknown(user, error) from error
        return get_path(answer, "status.allowed") is True

    def _resource(self, kind: Kind, user: UserInfo) -> str:
        """The plural that the server gives the kind; for a kind that it does not serve, all
        resources of its group."""
        try:
            return self._discovery.served(kind).plural
        except ApiError as error:
            if error.is_not_found:
                return ALL_RESOURCES
            raise _unknown(user, error) from error


def _unknown(user: UserInfo, error: ApiError) -> ApiError:
    return ApiError(500, "InternalError", f"cannot ask what {user.username!r} may do: {error}")
