"""The decorators that declare a claim about AppWrappers."""

from typing import Final

from conformance.norm import Judging
from conformance.suites.appwrapper.view import AppWrapperHistory, AppWrapperRun

_JUDGING: Final = Judging(AppWrapperHistory, AppWrapperRun)
claim: Final = _JUDGING.claim
claim_of_history: Final = _JUDGING.claim_of_history
