"""The decorators that make a generator the checker of a claim about JobSets."""

from typing import Final

from conformance.norm import Judging
from conformance.suites.jobset.view import JobSetHistory, JobSetRun

_JUDGING: Final = Judging(JobSetHistory, JobSetRun)
judges: Final = _JUDGING.judges
judges_history: Final = _JUDGING.judges_history
