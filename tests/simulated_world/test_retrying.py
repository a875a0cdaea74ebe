"""A run of an operator that retries for ever comes to rest, unless what it waits for may come."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.implementation import implementation
from conformance.norm.verdict import Outcome
from conformance.report.run_result import RunResult
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from vocabulary.history import RETRIES, Mark

