"""The decorators that declare a claim about Jobs."""

from typing import Final

from conformance.norm import Judging
from conformance.suites.streams.view import JobRun, StreamsHistory

_JUDGING: Final = Judging(StreamsHistory, JobRun)
claim: Final = _JUDGING.claim
claim_of_history: Final = _JUDGING.claim_of_history
