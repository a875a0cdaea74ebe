"""The JSON report of a Ginkgo suite: the specs that ran, and how long each took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

_NOT_RUN = ("skipped", "pending")
_NANOSECONDS = 1e9


class Spec(NamedTuple):
    name: str
    seconds: float
    has_passed: bool


class GinkgoError(Exception):
    """The report cannot be used; the message names the file and the next action."""


def specs(report: Path) -> list[Spec]:
    """The specs that ran, in order, without those that the focus left out."""
    try:
        suites: Any = json.loads(report.read_bytes())
        nodes = [node for suite in suites for node in suite["SpecReports"] or ()]
        found = [
            Spec(node["LeafNodeText"], node["RunTime"] / _NANOSECONDS, node["State"] == "passed")
            for node in nodes
            if node["LeafNodeType"] == "It" and node["State"] not in _NOT_RUN
        ]
    except FileNotFoundError:
        raise GinkgoError(
            f"{report}: is not there, so the suite did not come to its end; its output above "
            "says why"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise GinkgoError(
            f"{report}: is no JSON report of Ginkgo ({error!r}); make one with --ginkgo.json-report"
        ) from error
    if not found:
        raise GinkgoError(f"{report}: no spec ran; look for one that --ginkgo.focus matches")
    return found
