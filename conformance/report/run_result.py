"""The results of one run and of one suite of runs, for the report: plain data, no behavior.

The runner produces these; everything in this package reads them. A `RunResult` is one
scenario under one plan. The runs of a campaign (the same scenario, killed after its first
write, its second, …) differ in `variant` and are counted together in the report.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import msgspec

from conformance import suite
from conformance.norm.verdict import Outcome, Verdict
from vocabulary.history import Counterpart, Entry, Header

if TYPE_CHECKING:
    from conformance.report.uneventful import Uneventful

NOT_REACHED: Final = "not reached: "
REFUSED: Final = "a step was refused: "
TRIPPED: Final = "a step raised an error: "
BROKE_OFF: Final = (NOT_REACHED, REFUSED, TRIPPED)
"""How the mark begins, and the error, that say why a run's steps ended early."""
GIVEN_UP: Final = "given up after "
"""How the text of the mark `not-stable` begins, and a part of the error, of a run that has reached
one of its bounds without settling."""


LIMIT: Final = "the limit of Assay"
"""In the error of a run that was too long for Assay to keep: it says nothing of the operators."""


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """One scenario, one plan, one history, and what the checkers said of it."""

    scenario: str
    """The scenario's id, for example `jobset/failure-policy/slow-pods`."""
    title: str
    """The scenario's title: a full sentence."""
    seed: int
    plan: dict[str, Any]
    """The plan that replays this run: seed, scenario, faults."""
    header: Header
    entries: tuple[Entry, ...]
    """The history. A campaign may drop those of its uneventful runs: then `history_sha256`
    must be given, and the history is not stored."""
    verdicts: tuple[Verdict, ...]
    wall_seconds: float
    virtual_seconds: float
    """How much time passed on the cluster's clock."""
    error: str = ""
    """Non-empty: why the run itself did not come to its end; its verdicts then miss parts."""
    began: bool = True
    """False: the implementation did not come up, and nothing was tested; `error` says why."""
    variant: str = ""
    """The variant of this run of a campaign: `crash after write 7, before the reply`."""
    state: str = ""
    """The writes that the operator had made when it was killed, where its suite counts states."""
    shrunk: str = ""
    """The result of shrinking: `plan shrunk 14 → 2 faults, 3 nodes → 1`."""
    strikes: int = 0
    """How many faults of the plan struck, beside those of the scenario's own steps."""
    struck: tuple[dict[str, Any], ...] = ()
    """Everything that went wrong in it, in order, as an exhaustive plan lists it."""
    requested: dict[str, int] = {}
    """The operators' requests, `patch deployments/scale of apps`, where the world counts them."""
    history_sha256: str = ""
    """The digest of the history, if it was computed already."""
    repeated: str | None = None
    """The first difference between this history and that of a second run, in words; empty if they
    are the same byte for byte, None if the run was not repeated."""
    stored: str = ""
    """The file that the history was read from, whose bytes are kept; it may be of format 1."""
    counted: int = 1
    """How many runs it stands for; `wall_seconds` is the time of all of them."""
    is_reported: bool = True
    """False: another shard reports it. It was made here to know the runs that follow from it."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling: a hundred verdicts in one piece, not one by one."""
        rest = msgspec.structs.replace(self, entries=())
        return _from_process, (msgspec.msgpack.encode(rest), self.entries)


@cache
def _decoder() -> msgspec.msgpack.Decoder[RunResult]:
    return msgspec.msgpack.Decoder(RunResult)


_COUNTERPARTS: Final[dict[str, Counterpart]] = {}
"""By digest, of results from other processes: a campaign has thousands of runs, and compares them
with a few others."""
_MOST_COUNTERPARTS: Final = 64


def _from_process(rest: bytes, entries: tuple[Entry, ...]) -> RunResult:
    result = msgspec.structs.replace(_decoder().decode(rest), entries=entries)
    counterpart = result.header.counterpart
    if isinstance(counterpart, msgspec.UnsetType):
        return result
    if len(_COUNTERPARTS) > _MOST_COUNTERPARTS:
        _COUNTERPARTS.clear()
    known = _COUNTERPARTS.setdefault(counterpart.sha256, counterpart)
    if known is counterpart or known != counterpart:
        return result
    shared = msgspec.structs.replace(result.header, counterpart=known)
    return msgspec.structs.replace(result, header=shared)


def test_name(run: RunResult) -> str:
    """The scenario's id, and the variant in brackets where the run is one of a campaign."""
    return f"{run.scenario} [{run.variant}]" if run.variant else run.scenario


def is_telling(verdict: Verdict) -> bool:
    """True if the verdict says anything: a claim that was never armed there says nothing."""
    return bool(verdict.armed or verdict.accepted or verdict.outcome is not Outcome.INCONCLUSIVE)


class Implementation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The controller under test and its author; the keys are those of Gateway API's reports."""

    organization: str
    project: str
    url: str
    version: str
    contact: tuple[str, ...] = ()


def ours(roles: Collection[str], name: str, version: str) -> Implementation:
    """References or mutants of them, which come with the suite of that version.

    One operator's project is called after what it reconciles: `JobSet reference`.
    """
    product = ""
    if len(roles) == 1:
        (role,) = roles
        found = suite.load().get(role)
        product = f"{found.kinds[0].kind.kind if found and found.kinds else role} "
    return Implementation(organization="Assay", project=product + name, url="", version=version)


OperatorPlace: TypeAlias = Literal["simulated", "process", "deployed", "installed"]
"""The place of the controller under test: in the simulation, a process beside the cluster, pods
created by the suite, or installed pods."""


class SuiteResult(msgspec.Struct, frozen=True, kw_only=True):
    """All runs of one `assay run`, and the circumstances that they share."""

    runs: tuple[RunResult, ...]
    """Those that are kept one by one."""
    implementation: Implementation
    cluster: str
    kubernetes_version: str
    clock: str
    """`virtual` or `wall`."""
    operator: OperatorPlace | None = None
    """None: an older report does not say it."""
    seed: int
    command: str
    """The command line that reproduces this suite."""
    wall_seconds: float
    claims: tuple[str, ...] = ()
    """The claims that were asked for by id; empty means all. Others count only if violated."""
    fault_classes: tuple[str, ...] = ()
    """The names of all fault classes that exist; coverage is counted against them."""
    crash_points: tuple[int, int] = (0, 0)
    """(tried, existing): how many points between two requests the operator was killed at."""
    plans: int = 0
    """How many plans were run, generated ones included."""
    random_plans: int = 0
    """How many of the runs were made under faults drawn at random."""
    shrunk: dict[str, RunResult] = {}
    """By claim, the smallest run that violates it, where one smaller than those was found."""
    rerun: int = 0
    """How many runs were repeated to compare their histories byte by byte."""
    mismatches: int = 0
    """How many of those produced a different history."""
    notes: tuple[str, ...] = ()
    """Notes for readers on the circumstances, as sentences."""
    left_behind: str = ""
    """Why the cluster is not as it was before, if it is not; the runs are whole all the same."""
    interrupted: str = ""
    """How far a campaign had come when it was interrupted: the runs are those that ended before."""
    uneventful: Uneventful | None = None
    """All other runs, of which nothing has to be reported."""
    out_of_reach: dict[str, str] = {}
    """Claims that no scenario can arm on this cluster, each with the reason."""
    supported_features: tuple[str, ...] = ()
    unsupported_features: tuple[str, ...] = ()
    skipped_features: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.runs) + (self.uneventful.count if self.uneventful else 0)

    @property
    def standing(self) -> tuple[RunResult, ...]:
        """The runs that are kept, and of each scenario one of the others: they have the headers of
        all."""
        return (*self.runs, *(self.uneventful.standing() if self.uneventful else ()))
