"""How the pods of a failed Job had ended."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.norm import shared
from conformance.suites.jobset.view.job_set import Failure, JobSetRun
from vocabulary.objects import get_path


@shared
def exits(run: JobSetRun, failure: Failure) -> Iterator[int | None]:
    """The exit code of each container of the Job's pods that had failed by then; None of a pod
    none of whose containers says that it has terminated."""
    for pod in run.history.owned.get(failure.child.track.uid, ()):
        version = [each for each in pod.versions if each.n < failure.n][-1:]
        state = version[0].object or {} if version else {}
        if get_path(state, "status.phase") != "Failed":
            continue
        codes = [
            get_path(status, "state.terminated.exitCode")
            for status in get_path(state, "status.containerStatuses") or ()
        ]
        found: list[int | None] = [int(code) for code in codes if code is not None]
        yield from found or [None]
