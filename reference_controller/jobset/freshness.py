"""A read that tells if a JobSet is still the one that was decided on, where a cache may be behind.

An informer may be behind at any time, so a controller may act on what it has not seen to be over.
This read makes that rare.
"""

from __future__ import annotations

from reference_controller.jobset.names import JOB_SET
from reference_controller.shared.own_writes import revision_of
from reference_controller.shared.reading import Reading, read
from vocabulary.objects import Object, name_of, namespace_of


def is_current(job_set: Object) -> Reading[bool]:
    """Read the JobSet live; False if it is another one by now."""
    standing = yield from read(JOB_SET, namespace_of(job_set), name_of(job_set), live=True)
    return standing is not None and revision_of(standing) == revision_of(job_set)
