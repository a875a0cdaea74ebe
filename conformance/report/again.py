"""The command that shows a run again: what failures are printed with."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

from conformance.editions import told_by
from conformance.report.run_result import RunResult
from conformance.suite import shipped_profiles
from vocabulary import suite_path
from vocabulary.implementations import REFERENCE

REPLAYED: Final = {"simulated": "", "control-plane": " --cluster control-plane"}
"""The clusters that plans are replayed on, and the option for each."""


def replay_command(run: RunResult, plan: Path, implementation: str = "") -> str:
    """The command for a run whose plan stands in a file; empty if there is none.

    `implementation` is another than the plan's, if one is to be named. Plans are not replayed on a
    cluster that is another client's.
    """
    where = REPLAYED.get(run.header.cluster)
    if where is None:
        return run_command(run)
    other = ["--implementation", implementation] if implementation else []
    words = shlex.join(["assay", *suite_path.options(), "replay", str(plan), *other])
    return f"{words}{where}"


def run_command(run: RunResult) -> str:
    """The command for a run whose plan is not stored; empty if there is none: a campaign's faults
    are only in a plan, and a custom profile only in its file."""
    header = run.header
    implementation = header.implementation
    names = {operator.implementation for operator in header.operators.values()}
    theirs = {name for name in names if name != REFERENCE and not name.startswith("mutant:")}
    if run.variant or not theirs <= shipped_profiles().keys():
        return ""
    parts = ["assay", *suite_path.options(), "run", header.scenario]
    if header.cluster != "simulated":
        parts += ["--cluster", header.cluster]
    if header.cluster == "existing":
        parts += ["--kubeconfig", "FILE"]
    if implementation != REFERENCE:
        parts += ["--implementation", implementation]
    edition = told_by(header).get(header.scenario.partition("/")[0])
    if edition is not None:
        parts += ["--edition", edition]
    return shlex.join([*parts, "--seed", str(header.seed)])
