"""The decorators that make a generator the checker of a claim about AppWrappers."""

from typing import Final

from conformance.norm import Judging
from conformance.suites.appwrapper.view import AppWrapperHistory, AppWrapperRun

_JUDGING: Final = Judging(AppWrapperHistory, AppWrapperRun)
judges: Final = _JUDGING.judges
judges_history: Final = _JUDGING.judges_history
