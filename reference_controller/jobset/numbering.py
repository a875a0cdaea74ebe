"""The place of each Job among all of its JobSet, and among those of its group."""

from __future__ import annotations

from reference_controller.jobset.job_set import ChildId, replicas_of, replicated_jobs
from vocabulary.objects import Object


class Numbering:
    """The numbers of a JobSet's Jobs; a pass that creates thousands of Jobs counts once."""

    def __init__(self, job_set: Object) -> None:
        self.all = 0
        """How many Jobs there are."""
        self._before: dict[str, int] = {}
        self._groups: dict[str, int] = {}
        self._before_in_group: dict[str, int] = {}
        for replicated_job in replicated_jobs(job_set):
            name, replicas = replicated_job["name"], replicas_of(replicated_job)
            group = group_of(replicated_job)
            self._before[name] = self.all
            self._before_in_group[name] = self._groups.get(group, 0)
            self.all += replicas
            self._groups[group] = self._groups.get(group, 0) + replicas

    def position(self, child: ChildId) -> int:
        """The Job's index among all Jobs of the JobSet."""
        return self._before[child.replicated_job] + child.number

    def position_in_group(self, child: ChildId) -> int:
        return self._before_in_group[child.replicated_job] + child.number

    def in_group(self, group: str) -> int:
        """How many Jobs the group has."""
        return self._groups[group]


def group_of(replicated_job: Object) -> str:
    return str(replicated_job["groupName"])
