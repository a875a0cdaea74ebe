"""Deletes finished Jobs once their `ttlSecondsAfterFinished` has passed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from clusters.simulated.controllers.base import Controller, Work
from clusters.simulated.controllers.workloads.job.conditions import COMPLETE, FAILED
from clusters.simulated.store import Change
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB
from vocabulary.objects import Object, get_path, is_terminating, name_of, namespace_of, uid_of
from vocabulary.requests import Delete, Get


class TtlAfterFinished(Controller):
    """`ttl-after-finished-controller` of the real controller manager."""

    name = "ttl-after-finished"

    def listen(self) -> None:
        self.on(JOB, self._job_changed)

    def everything(self) -> Iterable[Hashable]:
        for job in self.informers.all_of(JOB):
            if _expiry_us(job) is not None:
                yield namespace_of(job), name_of(job)

    def _job_changed(self, change: Change) -> None:
        if change.event != "DELETED" and _expiry_us(change.object) is not None:
            self.enqueue((change.key.namespace, change.key.name))

    def sync(self, key: Any) -> Work:
        job = self.informers.get(JOB, *key)
        expiry_us = None if job is None else _expiry_us(job)
        if expiry_us is None or self.loop.now_us < expiry_us:
            return expiry_us
        # The copy at hand may be old: what is about to be deleted is looked at once more.
        try:
            fresh: Object = yield Get(JOB, key[0], key[1], live=True)
            expiry_us = _expiry_us(fresh)
            if expiry_us is None or self.loop.now_us < expiry_us:
                return expiry_us
            yield Delete(JOB, key[0], key[1], propagation_policy="Foreground", uid=uid_of(fresh))
        except ApiError as refused:
            if not refused.is_not_found:
                raise
        return None


def _expiry_us(job: Object) -> Micros | None:
    """When a Job is to go; None if it is not finished, has no limit, or goes already."""
    ttl = job["spec"].get("ttlSecondsAfterFinished")
    if ttl is None or is_terminating(job):
        return None
    for entry in get_path(job, "status.conditions") or ():
        if entry["type"] in (COMPLETE, FAILED) and entry["status"] == "True":
            at_us: Micros = parse_rfc3339(entry["lastTransitionTime"]) + ttl * SECOND
            return at_us
    return None
