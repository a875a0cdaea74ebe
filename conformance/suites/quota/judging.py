"""The decorators that declare a claim about reservations."""

from typing import Final

from conformance.norm import Judging
from conformance.suites.quota.view import Holding, QuotaHistory

_JUDGING: Final = Judging(QuotaHistory, Holding)
claim: Final = _JUDGING.claim
claim_of_history: Final = _JUDGING.claim_of_history
