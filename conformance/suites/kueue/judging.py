"""The decorators that declare a claim about Workloads."""

from typing import Final

from conformance.norm import Judging
from conformance.suites.kueue.view import KueueHistory, WorkloadRun

_JUDGING: Final = Judging(KueueHistory, WorkloadRun)
claim: Final = _JUDGING.claim
claim_of_history: Final = _JUDGING.claim_of_history
