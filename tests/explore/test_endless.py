"""OP-027: runs of objects that an operator never finishes, and runs that Assay could not keep."""

from __future__ import annotations

import msgspec
import pytest

from conformance.explore.campaign import SUBMITTED_AGAIN, _is_endless
from tests.report.sample_run import passing_run


@pytest.mark.parametrize(
    ("bound", "is_endless"),
    [
        ("40001 events, the limit of Assay", True),
        ("41501 events, the limit of Assay for 1 pods", True),
        ("1550 entries in the history, the limit of Assay for 1 pods", False),
        ("calls of tcp b:80, the limit of Assay: pods and Services do not answer", False),
    ],
)
def test_only_events_without_writes_are_retries_without_end(bound: str, is_endless: bool) -> None:
    error = f"not reached: the end of Site a; given up after {bound}"
    run = msgspec.structs.replace(passing_run(), scenario=SUBMITTED_AGAIN, error=error)
    assert _is_endless(run) is is_endless
    assert not _is_endless(msgspec.structs.replace(run, scenario="operator/workload/created"))
