"""The options of a run, from `assay run`, pytest or a script, and its progress callbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from conformance.worlds.names import ClusterName
from vocabulary.objects import Object

if TYPE_CHECKING:
    from conformance.norm.verdict import Outcome
    from conformance.running.campaigns import UnderWay
    from conformance.running.journal import Kept, Shard
    from conformance.worlds.existing.preflight import Undertaking
    from conformance.worlds.kind.node_containers import NodeContainers

DEFAULT_SEED: Final = 1729


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Everything about a suite but which scenarios it has."""

    cluster: ClusterName = "simulated"
    implementation: str = "reference"
    """`reference`, `mutant:<name>`, or the path of an implementation profile."""
    edition: str = ""
    """The edition of the norm to judge by; empty: the default of each suite."""
    seed: int = DEFAULT_SEED
    jobs: int = 0
    """How many scenarios run side by side; 0 means as many as the machine has cores."""
    one_case: bool = False
    """Of scenarios that differ in their case alone, run only the first."""
    large: bool = False
    """Also run the scenarios of thousands of pods."""
    crash_points: bool = False
    """Also repeat each scenario with the operator killed at each of its crash points."""
    sample: int = 0
    """How many crash points at most; 0: all in the simulation, some minutes' worth elsewhere."""
    manifests: tuple[Object, ...] = ()
    """The objects of scenarios that are written for any operator."""
    further: tuple[Callable[[UnderWay], None], ...] = ()
    """Campaigns of a caller's own, after the others."""
    random_plans: int = 0
    """So many times repeat each scenario under faults drawn at random; of a program so many such
    runs in all."""
    fault_pairs: bool = False
    """Also repeat each scenario under each fault and each pair of faults; only simulated."""
    shrink: bool = True
    """Search for the smallest plan that still violates each claim; on a control plane each that
    only a campaign violates."""
    rerun: bool = False
    """Make every run twice, those of campaigns too, and compare the histories byte by byte; only
    simulated."""
    exit_first: bool = False
    """Start no further run after the first that violates a claim."""
    undertaking: Undertaking | None = None
    """The findings on an existing cluster or one of kind, and the changes agreed to."""
    nodes: NodeContainers | None = None
    """The nodes of a kind cluster, where they may be stopped."""
    cluster_folder: Path | None = None
    """The control plane that `assay cluster up` left running there; None starts a new one."""
    shard: Shard | None = None
    """Only this part of the runs is made and reported; only simulated."""
    kept: Kept | None = None
    """Runs that ended before, and where those that end now are kept."""
    out: Path | None = None
    """Where the report will go; until then, on real clusters, histories as far as they are."""
    command: str = ""
    """The command line that reproduces this run, for the report."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """A suite's progress; reported after each run."""

    done: int
    total: int
    """How many runs the suite has; may grow while it runs (a campaign, a shrink)."""
    scenario: str
    """The scenario that has just ended."""
    outcome: Outcome | None
    """The worst outcome among the claims which that run armed; None: a failure was shrunk."""


OnProgress: TypeAlias = Callable[[Progress], None]
