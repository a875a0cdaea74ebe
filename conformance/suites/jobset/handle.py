"""A JobSet as scenarios handle it: its end, its restarts, its Jobs."""

from __future__ import annotations

from typing import ClassVar, Self

from chaos.choice import PodChoice, Which
from chaos.faults import DeleteObject, KillPod
from conformance.handle import Handle
from conformance.suites.jobset.api import JOB_SET
from conformance.suites.jobset.kind import JobSetState, JobState
from conformance.world import Condition, World
from vocabulary.kinds import JOB, POD, Kind
from vocabulary.objects import (
    Object,
    condition_status,
    controller_of,
    get_path,
    name_of,
    uid_of,
)
from vocabulary.requests import PropagationPolicy


class JobSet(Handle):
    """One JobSet of a scenario: its state now, and what a user can do to it."""

    kind: ClassVar[Kind] = JOB_SET

    def __init__(self, world: World, name: str, namespace: str = "") -> None:
        super().__init__(world, name, namespace)
        self._struck: set[str] = set()
        """The uids of the Jobs that were made to fail since the last restart that was seen."""
        self._replaced: set[str] = set()
        """Those that a restart has answered. A real cluster may show them as they were before they
        failed for a moment more: it tells of each kind apart."""

    @classmethod
    def ready(cls, world: World, manifest: str | Object, behaviour: str = "") -> Self:
        """Submit it, and wait until all of its Jobs are ready."""
        its = cls.submit(world, manifest, behaviour)
        world.until(its.is_ready())
        return its

    @property
    def state(self) -> JobSetState:
        """Its fields as they are stored now."""
        return JobSetState(self.now)

    @property
    def jobs(self) -> list[Object]:
        """Its Jobs in order of their names, terminating ones included."""
        return self.owned(JOB)

    @property
    def _jobs(self) -> list[JobState]:
        return [JobState(job) for job in self.jobs]

    # Conditions to wait for.

    def has_completed(self) -> Condition:
        return Condition(f"{self} is Completed", lambda: self.state.has_completed)

    def has_failed(self) -> Condition:
        return Condition(f"{self} is Failed", lambda: self.state.has_failed)

    def has_restarted(self, times: int) -> Condition:
        """It was restarted as a whole at least so many times."""
        return Condition(
            f"{self} restarted {times} times",
            lambda: self._is_answered(self.state.restarts >= times),
        )

    def has_partly_restarted(self, times: int) -> Condition:
        """Jobs or replicated jobs of it were restarted at least so many times."""
        return Condition(
            f"{self} restarted partly {times} times",
            lambda: self._is_answered(sum(self.state.partial.values()) >= times),
        )

    def _is_answered(self, has_restarted: bool) -> bool:
        if has_restarted:
            self._replaced |= self._struck
            self._struck.clear()
        return has_restarted

    def is_ready(self) -> Condition:
        """All of its Jobs are there, ready or complete, and none is on its way out."""

        def holds() -> bool:
            jobs = self._jobs
            # Before the JobSet is seen, none of none is no readiness.
            return 0 < sum(self.state.replicas.values()) == len(jobs) and all(
                job.is_ready and (job.is_complete or uid_of(job.object) not in self._replaced)
                for job in jobs
            )

        return Condition(f"{self} is ready", holds)

    def has_started(self, name: str) -> Condition:
        """A pod of the child Job of that name is running, ready or not."""

        def holds() -> bool:
            uids = {uid_of(job) for job in self.jobs if name_of(job) == self.job(name)}
            return any(
                get_path(pod, "status.phase") == "Running"
                and (controller_of(pod) or {}).get("uid") in uids
                for pod in self.world.list(POD, namespace=self.namespace)
            )

        return Condition(f"Job {self.job(name)} has a running pod", holds)

    def has_failed_job(self, name: str) -> Condition:
        """The child Job of that name, such as `workers-1`, is Failed."""
        return self.has_job(name, "Failed")

    def has_job(self, name: str, condition: str) -> Condition:
        """The child Job of that name has a condition, such as Complete."""

        def holds() -> bool:
            found = self.world.get(JOB, self.job(name), namespace=self.namespace)
            return found is not None and condition_status(found, condition) == "True"

        return Condition(f"Job {self.job(name)} is {condition}", holds)

    def job(self, name: str) -> str:
        """The whole name of a child Job."""
        return f"{self.name}-{name}"

    def pods_of(self, name: str, which: Which = "all") -> PodChoice:
        """The pods of a child Job, for faults."""
        return PodChoice(owner=self.job(name), which=which)

    def runs(self, name: str) -> bool:
        """True if the child Job of that name is there and ready, and has not finished."""
        found = JobState(self.world.get(JOB, self.job(name), namespace=self.namespace) or {})
        return found.is_ready and not found.has_finished

    def has_settled(self) -> Condition:
        """It has ended, or all of its Jobs are there, and each has finished or is ready."""

        def holds() -> bool:
            state, jobs = self.state, self._jobs
            return state.has_ended or (
                len(jobs) == sum(state.replicas.values())
                and all(
                    not job.is_terminating and (job.has_finished or job.is_ready) for job in jobs
                )
            )

        return Condition(f"{self} has settled", holds)

    def fail(self, name: str, exit_code: int = 1) -> None:
        """End one pod of a child Job with an exit code."""
        job = self.world.get(JOB, self.job(name), namespace=self.namespace)
        self._struck.add(uid_of(job or {}))
        self.world.inject(KillPod(self.pods_of(name, "first"), exit_code=exit_code))

    def ready_again(self, times: int = 0, *, partly: int = 0) -> None:
        """Wait until it was restarted so many times, as a whole or in part, and is ready."""
        if partly:
            self.world.until(self.has_partly_restarted(partly))
        else:
            self.world.until(self.has_restarted(times))
        self.world.until(self.is_ready())

    def fail_until_restarted(self, name: str, exit_code: int = 1) -> None:
        """Have a child Job fail once all are ready, and wait for the restart of the JobSet."""
        self.world.until(self.is_ready())
        times = self.state.restarts + 1
        self.fail(name, exit_code)
        self.world.until(self.has_restarted(times))

    def fail_until_partly_restarted(self, name: str, exit_code: int = 1) -> None:
        """Have a child Job fail once all are ready, and wait for the restart of a part."""
        self.world.until(self.is_ready())
        times = sum(self.state.partial.values()) + 1
        self.fail(name, exit_code)
        self.world.until(self.has_partly_restarted(times))

    # What a user can do to it.

    def suspend(self, value: bool = True) -> None:
        """Set `spec.suspend`, as Kueue does when it evicts (True) or admits (False)."""
        self.patch({"spec": {"suspend": value}})

    def resume(self) -> None:
        self.suspend(False)

    def delete_job(self, name: str, propagation: PropagationPolicy = "Background") -> None:
        """Delete a child Job."""
        self.world.inject(DeleteObject("Job", self.job(name), propagation=propagation))
