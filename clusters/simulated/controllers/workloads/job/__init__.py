"""The Job controller (batch/v1), as Kubernetes 1.36 has it.

A tour, in reading order:

- `pods`: which pods count as what, which go first, how a new one is made.
- `indexes`: completion indexes and their compressed text.
- `failure_policy`, `success_policy`: what the policies say of a pod, of a set of indexes.
- `backoff`: the wait before a failed pod is replaced.
- `conditions`: types, reasons and messages, word for word.
- `tally`: one look at a Job and its pods, counted.
- `verdict`: whether the Job is at its end, in the order in which the causes rank.
- `accounting`: ended pods are counted in three steps, none of which may be lost or done twice.
- `controller`: what it hears, and one sync put together from the above.
"""

from clusters.simulated.controllers.workloads.job.controller import JobController

__all__ = ["JobController"]
