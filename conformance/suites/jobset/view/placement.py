"""The topology domains in which a JobSet's pods run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from conformance.history import Track
from conformance.suites.jobset.api import EXCLUSIVE_TOPOLOGY
from conformance.suites.jobset.view.job_set import Child, JobSetRun
from vocabulary.history import Write
from vocabulary.objects import annotations_of, get_path, labels_of

HOSTNAME: Final = "kubernetes.io/hostname"
"""The topology of which each node is a domain, as every kubelet labels its own."""
_DONE: Final = ("Succeeded", "Failed")


class Placement(NamedTuple):
    """A pod of a child Job that asks for a topology of its own, and the node that it got."""

    pod: Track
    child: Child
    bound: Write
    """The write that assigned it."""
    topology: str
    domain: str
    """Empty: the history does not show it."""

    @property
    def job(self) -> tuple[str, str]:
        """The namespace and name of its Job, which a restart leaves as they are."""
        return self.child.track.namespace, self.child.name

    def is_there(self, n: int) -> bool:
        """True if it is on its node after position n, and its containers may run."""
        version = self.pod.version_at(n) if self.bound.n <= n and self.pod.exists_at(n) else None
        return version is not None and (get_path(version.object or {}, "status.phase") not in _DONE)


def placements(run: JobSetRun) -> Iterator[Placement]:
    """The pods of Jobs that have a topology to themselves, in the order of these Jobs. What the
    JobSet asks for as a Job is created counts."""
    for child in run.children:
        topology = _topology(run, child)
        if not topology:
            continue
        for pod in run.history.owned.get(child.track.uid, ()):
            bound = next(
                (each for each in pod.versions if get_path(each.object or {}, "spec.nodeName")),
                None,
            )
            if pod.kind == "Pod" and bound is not None:
                yield Placement(pod, child, bound, topology, _domain(run, bound, topology))


def _topology(run: JobSetRun, child: Child) -> str:
    """The topology that the Job has a domain of to itself."""
    job_set = run.track.at(child.track.created.n)
    own = next(
        (
            annotations_of(each.get("template") or {}).get(EXCLUSIVE_TOPOLOGY)
            for each in get_path(job_set, "spec.replicatedJobs") or ()
            if each["name"] == child.replicated_job
        ),
        None,
    )
    return str(own or annotations_of(job_set).get(EXCLUSIVE_TOPOLOGY, ""))


def _domain(run: JobSetRun, bound: Write, topology: str) -> str:
    name = str(get_path(bound.object or {}, "spec.nodeName"))
    node = run.history.find("Node", "", name, bound.n)
    version = None if node is None else node.version_at(bound.n)
    if version is not None:
        return str(labels_of(version.object or {}).get(topology, ""))
    return name if topology == HOSTNAME else ""
