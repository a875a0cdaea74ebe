"""The pods that a JobSet asks for."""

from __future__ import annotations

from vocabulary.objects import Object, get_path


def pods(job_set: Object) -> int:
    """At most so many of them run side by side."""
    return sum(
        int(each.get("replicas", 1)) * int(get_path(each, "template.spec.parallelism", 1))
        for each in get_path(job_set, "spec.replicatedJobs") or ()
    )
