"""Pod ownership: a controller adopts and releases pods by its label selector.

A pod that it controls but no longer selects is released; one without a controller that it selects
is adopted. So a user who edits labels or owner references moves pods between controllers, as on a
real cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from clusters.simulated.controllers.informers import Informers
from clusters.simulated.controllers.workloads.pods import controller_reference
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, Kind
from vocabulary.objects import (
    Object,
    finalizers_of,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    owner_references,
    uid_of,
)
from vocabulary.requests import Get, Patch, Request
from vocabulary.selectors import matches


def claim(
    informers: Informers,
    owner: Object,
    kind: Kind,
    *,
    finalizer: str = "",
    may_adopt: Callable[[Object], bool] = lambda _: True,
) -> Generator[Request, Any, list[Object]]:
    """Return an owner's pods, after releasing and adopting pods by its selector.

    `finalizer` is added to adopted pods, and removed from released ones.
    """
    selector = owner["spec"].get("selector")
    uid, namespace = uid_of(owner), namespace_of(owner)
    own: list[Object] = []
    for pod in informers.controlled_by(uid):
        if matches(selector, labels_of(pod)):
            own.append(pod)
        elif not is_terminating(pod) and not is_terminating(owner):
            yield from _tolerant(_release(pod, uid, finalizer))
    if is_terminating(owner):
        return own
    for pod in informers.orphan_pods(namespace):
        if not matches(selector, labels_of(pod)) or is_terminating(pod) or not may_adopt(pod):
            continue
        # What is at hand may be old: nobody adopts for an owner that is going.
        fresh: Object = yield Get(kind, namespace, name_of(owner), live=True)
        if uid_of(fresh) != uid or is_terminating(fresh):
            return own
        adopted = yield from _tolerant(_adopt(pod, owner, kind, finalizer))
        if adopted is not None:
            own.append(adopted)
    return own


def _tolerant(patch: Patch) -> Generator[Request, Any, Object | None]:
    """Send a patch; None if the pod is gone, or has become another, in the meantime."""
    try:
        patched: Object = yield patch
    except ApiError as refused:
        if refused.is_not_found or refused.is_conflict or refused.is_invalid:
            return None
        raise
    return patched


def _release(pod: Object, owner_uid: str, finalizer: str) -> Patch:
    left = [entry for entry in owner_references(pod) if entry["uid"] != owner_uid]
    metadata: dict[str, Any] = {"uid": uid_of(pod), "ownerReferences": left or None}
    if finalizer in finalizers_of(pod):
        kept = [entry for entry in finalizers_of(pod) if entry != finalizer]
        metadata["finalizers"] = kept or None
    return Patch(POD, namespace_of(pod), name_of(pod), {"metadata": metadata})


def _adopt(pod: Object, owner: Object, kind: Kind, finalizer: str) -> Patch:
    references = [*owner_references(pod), controller_reference(owner, kind)]
    metadata: dict[str, Any] = {
        "uid": uid_of(pod),
        "resourceVersion": meta(pod)["resourceVersion"],
        "ownerReferences": references,
    }
    if finalizer and finalizer not in finalizers_of(pod):
        metadata["finalizers"] = [*finalizers_of(pod), finalizer]
    return Patch(POD, namespace_of(pod), name_of(pod), {"metadata": metadata})
