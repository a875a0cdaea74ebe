"""The pods of a large workload: a sequence, and their numbers by the traits rules decide by.

Pods come and go one by one, and each of these events leads to a look at all of them. What only
depends on traits costs no more for ten thousand pods than for a hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import overload

from reference_controller.appwrapper.names import (
    APPWRAPPER_LABEL,
    ATTEMPT_LABEL,
    COMPONENT_LABEL,
    OWNER_UID_LABEL,
)
from reference_controller.runtime.cached_list import CachedList
from vocabulary.clock import SECOND, parse_rfc3339
from vocabulary.objects import (
    Object,
    annotations_of,
    controller_of,
    get_path,
    is_terminating,
    labels_of,
)


class Pods(Sequence[Object]):
    """Those of the listed objects that belong to a workload."""

    def __init__(self, listed: CachedList, belongs: Callable[[Object], bool]) -> None:
        """`belongs` decides by the traits below."""
        self.counted = [pair for pair in listed.counted(traits) if belongs(pair[0])]
        """One pod of each group that shares its traits, and the number of its pods."""
        self._listed = listed
        self._belongs = belongs
        self._items: tuple[Object, ...] | None = None

    def __len__(self) -> int:
        return sum(count for _, count in self.counted)

    def __iter__(self) -> Iterator[Object]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Object: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Object]: ...
    def __getitem__(self, index: int | slice) -> Object | Sequence[Object]:
        return self._all()[index]

    def _all(self) -> tuple[Object, ...]:
        if self._items is None:
            self._items = tuple(filter(self._belongs, self._listed))
        return self._items


def traits(obj: Object) -> Hashable:
    """The part of a pod that ownership and the census depend on; its node and spec are none."""
    labels = labels_of(obj)
    owner = controller_of(obj) or {}
    return (
        labels.get(APPWRAPPER_LABEL),
        labels.get(OWNER_UID_LABEL),
        labels.get(ATTEMPT_LABEL),
        annotations_of(obj).get(ATTEMPT_LABEL),
        labels.get(COMPONENT_LABEL),
        owner.get("kind"),
        owner.get("name"),
        owner.get("uid"),
        is_terminating(obj),
        has_completed(obj),
        get_path(obj, "status.phase"),
        get_path(obj, "status.reason"),
    )


def has_completed(pod: Object) -> bool:
    """True if a pod succeeded, and not because it was deleted: then its owner replaces it.

    The API shows the deletion, and the end of containers, in whole seconds. Within one second the
    deletion counts as the earlier: the pod is replaced, and a workload that is taken for complete
    gives up its quota for good.
    """
    if get_path(pod, "status.phase") != "Succeeded":
        return False
    if not is_terminating(pod):
        return True
    ends = [
        str(get_path(container, "state.terminated.finishedAt", ""))
        for container in get_path(pod, "status.containerStatuses") or ()
    ]
    restarts = get_path(pod, "spec.restartPolicy", "Always") == "Always"
    if restarts or not ends or not all(ends):
        return False
    metadata = pod["metadata"]
    grace_us = int(metadata.get("deletionGracePeriodSeconds") or 0) * SECOND
    return max(map(parse_rfc3339, ends)) < parse_rfc3339(metadata["deletionTimestamp"]) - grace_us


def counted_pods(pods: Sequence[Object]) -> Sequence[tuple[Object, int]]:
    """One pod of each group that shares its traits, and the number of its pods."""
    return pods.counted if isinstance(pods, Pods) else [(pod, 1) for pod in pods]
