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
    """The pods of Jobs that have a topology to themselves, in the order of these Jobs."""
    topologies = _topologies(run)
    for child in run.children:
        topology = topologies.get(child.replicated_job, "")
        if not topology:
            continue
        for pod in run.history.owned.get(child.track.uid, ()):
            bound = next(
                (each for each in pod.versions if get_path(each.object or {}, "spec.nodeName")),
                None,
            )
            if pod.kind == "Pod" and bound is not None:
                yield Placement(pod, child, bound, topology, _domain(run, bound, topology))


def _topologies(run: JobSetRun) -> dict[str, str]:
    """The topology that each replicated job's Jobs have domains of to themselves."""
    first = run.track.first
    of_all = annotations_of(first).get(EXCLUSIVE_TOPOLOGY, "")
    return {
        each["name"]: str(
            annotations_of(each.get("template") or {}).get(EXCLUSIVE_TOPOLOGY) or of_all
        )
        for each in get_path(first, "spec.replicatedJobs") or ()
    }


def _domain(run: JobSetRun, bound: Write, topology: str) -> str:
    name = str(get_path(bound.object or {}, "spec.nodeName"))
    node = run.history.find("Node", "", name, bound.n)
    version = None if node is None else node.version_at(bound.n)
    if version is not None:
        return str(labels_of(version.object or {}).get(topology, ""))
    return name if topology == HOSTNAME else ""
