"""Reading what a pass decides on, from the caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reference_controller.jobset.job_set import children_of, succeeded_of
from reference_controller.jobset.network import subdomain_of
from reference_controller.jobset.observation import Job, Observation
from reference_controller.jobset.rules import Rules
from reference_controller.runtime.controller import key_of
from reference_controller.shared.own_writes import OwnWrites
from reference_controller.shared.reading import Reading, read
from vocabulary.clock import Micros
from vocabulary.kinds import JOB, SERVICE
from vocabulary.objects import Object, namespace_of


def observe(
    job_set: Object, now_us: Micros, job_writes: OwnWrites, rules: Rules
) -> Reading[Observation]:
    """Look each Job up by its name: labels can be changed by any client, and a namespace may be
    full of Jobs of others."""
    namespace = namespace_of(job_set)
    service_name = rules.service_name(subdomain_of(job_set))
    service = yield from read(SERVICE, namespace, service_name, live=False)
    has_service = service is not None and rules.is_ours(service, job_set)
    jobs: list[Job] = []
    for child, _ in children_of(job_set):
        name = rules.job_name(job_set, child)
        found = yield from read(JOB, rules.looks_in(job_set), name, live=False)
        if found is not None and rules.is_ours(found, job_set):
            # A cache that is behind on our own marks and deletes must not have them sent again.
            jobs.append(Job(job_writes.later(key_of(found), found), child))
    return sorted_out(Observation(job_set, now_us, has_service), tuple(jobs), rules)


def under(seen: Observation, job_set: Object, rules: Rules) -> Observation:
    """The same Jobs, under the status that was written meanwhile."""
    return sorted_out(replace(seen, job_set=job_set), (*seen.stale, *seen.current), rules)


def sorted_out(seen: Observation, jobs: Sequence[Job], rules: Rules) -> Observation:
    """The Jobs as the status has them: stale or current, or gone, left failed or succeeded."""
    standing = {job.child for job in jobs}
    stale: list[Job] = []
    current_of: dict[str, list[Job]] = {}
    for job in jobs:
        if rules.is_stale(job, seen.job_set):
            stale.append(job)
        else:
            current_of.setdefault(job.child.replicated_job, []).append(job)
    return replace(
        seen,
        stale=tuple(stale),
        current=tuple(job for some in current_of.values() for job in some),
        left_failed=frozenset(
            child
            for child, _ in children_of(seen.job_set)
            if child not in standing and rules.stays_left_failed(child, seen.job_set)
        ),
        succeeded=frozenset(
            child
            for child in rules.stays_succeeded(succeeded_of(seen.job_set))
            if child not in standing
        ),
        current_of={name: tuple(some) for name, some in current_of.items()},
    )
