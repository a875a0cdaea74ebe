"""MLB-080: workloads that users create themselves."""

from __future__ import annotations

from typing import Final

from conformance.norm import Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.kueue.api import QUEUE_LABEL
from conformance.suites.kueue.claims.jobs import pods_wait
from conformance.suites.kueue.judging import claim_of_history
from conformance.suites.kueue.sources import guide
from conformance.suites.kueue.view import KueueHistory
from vocabulary.kinds import PYTORCH_JOB, RAY_CLUSTER, RAY_JOB
from vocabulary.objects import controller_of, labels_of

_DIRECT: Final = (str(PYTORCH_JOB), str(RAY_CLUSTER), str(RAY_JOB))


@claim_of_history(
    "MLB-080",
    guide("Quotas", 7),
    level=Level.DERIVED,
    armed_by="PyTorchJob, RayJob or RayCluster that a user created",
)
def users_own_workloads_wait(view: KueueHistory) -> Obligations:
    """No pod of a PyTorchJob, RayJob or RayCluster that a user creates in a team's namespace MUST
    run before it is admitted, whatever queue it names; elsewhere those without a queue MUST be left
    alone."""
    for kind in _DIRECT:
        for job in view.history.by_kind.get(kind, ()):
            if controller_of(job.first):
                continue
            if view.manages_unqueued(job.namespace, job.created.n):
                yield from pods_wait(view, job)
            elif all(QUEUE_LABEL not in labels_of(each.object or {}) for each in job.versions):
                touched = next((v for v in job.versions if view.operator.is_by(v.actor)), None)
                if touched is None:
                    yield met(job.created)
                else:
                    yield violated(touched, f"{when(touched)}: {job}, of no team, is changed.")
