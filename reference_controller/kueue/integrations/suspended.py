"""The part of an integration that all kinds which can be suspended have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Final

from reference_controller.kueue.integrations import PodSetInfo
from reference_controller.kueue.names import JOB_UID
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.reading import Reading, read
from vocabulary.canonical import digest
from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path, name_of, namespace_of, uid_of, with_path
from vocabulary.requests import Patch, Request

_NAME_MAX: Final = 63


def head_of(kind: Kind, prefix: str, job: Object, *, is_awaited: bool = True) -> Object:
    """The metadata of the Workload that one object controls, and whose end its deletion in the
    foreground awaits unless that is said."""
    uid = uid_of(job)
    ending = digest([kind.group_kind, name_of(job), uid])[:5]
    owner = {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(job),
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": is_awaited,
    }
    return {
        "name": f"{f'{prefix}-{name_of(job)}'[: _NAME_MAX - 6]}-{ending}",
        "namespace": namespace_of(job),
        "labels": {JOB_UID: uid},
        "ownerReferences": [owner],
    }


class SuspendedKind(ABC):
    """Jobs that are one object. Patches are merge patches."""

    kind: ClassVar[Kind]
    prefix: ClassVar[str]
    switch: ClassVar[str] = "spec.suspend"
    follows_changes: Final = True
    is_joined: Final = False

    @property
    def watches(self) -> tuple[Kind, ...]:
        return (self.kind,)

    def job_of(self, obj: Object) -> Key | None:
        return key_of(obj)

    def find(self, key: Key, workload: Object | None, *, live: bool) -> Reading[Object | None]:
        del workload
        return (yield from read(self.kind, *key, live=live))

    def head(self, job: Object) -> Object:
        return head_of(self.kind, self.prefix, job)

    def is_suspended(self, job: Object) -> bool:
        return bool(get_path(job, self.switch))

    def may_restart(self, job: Object) -> bool:
        del job
        return False

    def stop(self, job: Object) -> Sequence[Request]:
        if self.is_suspended(job):
            return ()
        return [self._patch(job, with_path({}, self.switch, True))]

    def start(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Sequence[Request]:
        if not self.is_suspended(job):
            return ()
        return [self._patch(job, self._started(job, pod_sets, infos))]

    def restore(self, job: Object, pod_sets: Sequence[Object]) -> Sequence[Request]:
        body = self._restored(job, pod_sets)
        return () if body is None else [self._patch(job, body)]

    @abstractmethod
    def _started(
        self, job: Object, pod_sets: Sequence[Object], infos: Sequence[PodSetInfo]
    ) -> Object: ...

    @abstractmethod
    def _restored(self, job: Object, pod_sets: Sequence[Object]) -> Object | None:
        """None: it cannot be changed yet."""

    def _patch(self, job: Object, body: Object) -> Request:
        return Patch(self.kind, *key_of(job), body)
