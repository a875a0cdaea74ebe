"""A JobSet as scenarios handle it: its end, its restarts, its Jobs."""

from __future__ import annotations

from typing import ClassVar

from conformance.handle import Condition, Handle
from conformance.suites.jobset.api import JOB_SET
from conformance.suites.jobset.at_rest import is_at_rest
from vocabulary.kinds import JOB, Kind
from vocabulary.objects import Object, condition_status, get_path, is_terminating


class JobSet(Handle):
    """One JobSet of a scenario: its state now, and what a user can do to it."""

    kind: ClassVar[Kind] = JOB_SET

    @property
    def restarts(self) -> int:
        """Restarts of the whole JobSet, counted or not; absent means 0."""
        return int(get_path(self.now, "status.restarts", 0))

    @property
    def jobs(self) -> list[Object]:
        """Its Jobs in order of their names, terminating ones included."""
        return self.owned(JOB)

    # Conditions to wait for.

    def has_ended(self, state: str) -> Condition:
        """It is `Completed` or `Failed`."""
        return Condition(f"{self} is {state}", lambda: condition_status(self.now, state) == "True")

    def has_restarted(self, times: int) -> Condition:
        """It was restarted as a whole at least so many times."""
        return Condition(f"{self} restarted {times} times", lambda: self.restarts >= times)

    def is_ready(self) -> Condition:
        """All of its Jobs are ready or done, and none is on its way out."""

        def holds() -> bool:
            return is_at_rest(self.now) and not any(map(is_terminating, self.jobs))

        return Condition(f"{self} is ready", holds)

    # What a user can do to it.

    def suspend(self, value: bool = True) -> None:
        """Set `spec.suspend`, as Kueue does when it evicts (True) or admits (False)."""
        self.patch({"spec": {"suspend": value}})

    def resume(self) -> None:
        self.suspend(False)
