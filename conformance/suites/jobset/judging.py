"""The decorators that declare a claim about JobSets."""

from typing import Final

from conformance.norm import Judging
from conformance.suites.jobset.view import JobSetHistory, JobSetRun

_JUDGING: Final = Judging(JobSetHistory, JobSetRun)
claim: Final = _JUDGING.claim
claim_of_history: Final = _JUDGING.claim_of_history
