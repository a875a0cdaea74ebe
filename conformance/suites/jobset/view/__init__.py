"""A history as checkers of JobSets see it.

- `history`: the JobSets of a history.
- `job_set`: one of them: its states, its child Jobs, the failures of these.
- `snapshots`: one state of a JobSet.
- `matching`: the rule that a failure matches.
- `status_steps`: the steps of its status that answer failures.
- `exits`: how the pods of a failed Job had ended.
- `generations`: the Jobs that a restart replaces.
- `success`: when its success policy held.
- `responses`: that each failure was answered.
- `startup`: the replicated jobs that wait for others.
- `scopes`: the Jobs that a partial restart concerns, and those that it leaves alone.
- `back_off`: the back-off of Jobs that restart alone.
- `left_failed`: the Jobs that FailJob leaves failed.
- `deletions`: deletions of Jobs that no restart asks for.
- `placement`: the topology domains in which its pods run.
- `policies`: two states of a failure policy, compared.
- `flaws`: the flaws for which a rule is refused.
- `submissions`: the JobSets that users asked for.
- `answers`: its answer to each failure, beside those that the policy allows.
"""

from conformance.suites.jobset.view.history import JobSetHistory
from conformance.suites.jobset.view.job_set import Child, Failure, JobSetRun
from conformance.suites.jobset.view.snapshots import Snapshot

__all__ = ["Child", "Failure", "JobSetHistory", "JobSetRun", "Snapshot"]
