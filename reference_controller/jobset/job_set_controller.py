"""The controller as the runtime sees it: what wakes it, for whom, and one pass over a key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from reference_controller.jobset.config import JobSetConfig
from reference_controller.jobset.expectations import Expectations
from reference_controller.jobset.job_set import ChildId
from reference_controller.jobset.metrics import Metrics
from reference_controller.jobset.names import JOB_SET, RESTART
from reference_controller.jobset.observation import Job
from reference_controller.jobset.reconcile import Reconciliation
from reference_controller.jobset.resumption import is_at_rest
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.specs import Specs
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.events import Told
from reference_controller.shared.own_writes import OwnWrites
from vocabulary.clock import Micros
from vocabulary.kinds import JOB, SERVICE, Kind
from vocabulary.objects import Object, controller_of, meta, name_of, namespace_of
from vocabulary.requests import Reconcile

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches

_NO_CHILD: Final = ChildId("", 0)


class JobSetController:
    """One controller of JobSets. Its only memory is its own requests."""

    name: Final = "jobset"
    watches: Final = (JOB_SET, JOB, SERVICE)

    def __init__(self, config: JobSetConfig, rules: Rules) -> None:
        del config
        self.rules = rules
        self.metrics = Metrics()
        self._writes = OwnWrites()
        self._job_writes = OwnWrites()
        self._told = Told()
        self._expected = Expectations()
        self._specs = Specs(rules)

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        """Tell the time by this clock."""
        self._clock: Callable[[], Micros] = clock
        self.rules.use_clock(clock)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        """The JobSet itself, or the one that controls a Job or a Service, or did so until now: the
        names of Jobs are of one JobSet, which tries to create those that it lacks."""
        if kind == JOB_SET:
            return (key_of(obj),)
        if caches[kind].get(namespace_of(obj), name_of(obj)) is None:
            self._job_writes.forget(key_of(obj))
        elif kind == JOB and old is not None and _telling(obj) == _telling(old):
            return ()
        return _owner(old or obj)

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        del now_us
        one = Reconciliation(
            key,
            self.rules,
            self._clock,
            self.metrics,
            self._writes,
            self._job_writes,
            self._told,
            self._expected,
            self._specs,
        )
        return one.run()


def _owner(obj: Object) -> tuple[Key, ...]:
    owner = controller_of(obj)
    if owner is None or owner.get("kind") != JOB_SET.kind:
        return ()
    return (Key(namespace_of(obj), str(owner.get("name"))),)


def _telling(obj: Object) -> Any:
    """The fields of a Job that decisions depend on: the status of one with thousands of pods
    changes with each of them."""
    job = Job(obj, _NO_CHILD)
    return (
        meta(obj).get("ownerReferences"),
        job.is_terminating,
        job.annotations.get(RESTART),
        job.is_suspended,
        is_at_rest(job),
        job.is_active,
        job.is_ready,
        job.has_failed,
        job.has_succeeded,
    )
