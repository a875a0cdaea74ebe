"""Odd values of any field of Kueue's kinds, of all that its reference reads of jobs, and of its
configuration.

Each is refused with the path of its field, or the reference lives with it: it raises nothing, comes
to rest, admits what others queue, and keeps the claims. ASSAY_ODD_VALUES is how many values of each
field are tried at each moment; the default is one.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Final, NamedTuple

import pytest

from conformance import claims
from conformance.implementations.ours import implementation
from conformance.manifests.pod_templates import with_behaviour
from conformance.norm.verdict import Outcome
from conformance.report.run_result import RunResult
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.suites.kueue.handle import (
    QueuedJob,
    app_wrapper,
    job,
    job_set,
    pod,
    queue,
    serving,
)
from conformance.world import World
from reference_controller.kueue import names
from reference_controller.kueue.config import FRAMEWORKS, KueueConfig
from reference_controller.kueue.names import (
    IN_USE,
    KINDS,
    LOCAL_QUEUE,
    VERSION,
    WORKLOAD,
)
from reference_controller.kueue.rules import Rules
from reference_controller.runtime.options import ConfigError
from tests.odd_values import changed
from vocabulary.clock import MINUTE, SECOND
from vocabulary.errors import ApiError
from vocabulary.history import Mark
from vocabulary.kinds import DEPLOYMENT, JOB, STATEFUL_SET, Kind, kind_of
from vocabulary.objects import Object, annotations_of, finalizers_of, get_path, name_of, with_path
from vocabulary.requests import Create, Update

from .made import PREFIX, with_all_fields
from .odd_fields import ABSENT, Case, Field, cases, odd_values, path_of, put

claims.load()
COUNT: Final = int(os.environ.get("ASSAY_ODD_VALUES", "1"))
SIDE_BY_SIDE: Final = 24
"""How many cases share a run, each with queues of its own."""
UNDER_TEST: Final = {
    role: implementation("reference", role) for role in ("kueue", "jobset", "appwrapper")
}
ANY: Final = SCENARIOS["kueue/kinds/pod-is-never-ready"]
SCHEMAS: Final = {
    crd["spec"]["names"]["kind"]: version["schema"]["openAPIV3Schema"]
    for crd in UNDER_TEST["kueue"].crds()
    for version in crd["spec"]["versions"]
    if version["name"] == VERSION
}
WORDS: Final = tuple(
    value
    for of in (names.Condition, names.Reason)
    for name, value in vars(of).items()
    if not name.startswith("_")
)
MARKS: Final = tuple(
    value
    for value in vars(names).values()
    if isinstance(value, str) and value.startswith(f"{names.GROUP}/")
)
"""The labels and annotations of jobs, pods and Workloads."""
HOLD: Final = "example.com/hold"


class Moment(NamedTuple):
    """When an odd value is written."""

    name: str
    target: Callable[[World, int], Object]
    """The object of a case that is changed."""
    is_deleted: bool = False

    def __str__(self) -> str:
        return self.name


def _standing(kind: Kind) -> Callable[[World, int], Object]:
    return lambda world, number: world.get(kind, name_of(with_all_fields(number)[kind])) or {}


def _workload_of(job_name: str) -> Callable[[World, int], Object]:
    """`a` is admitted, and `b` waits until it has ended."""
    return lambda world, number: QueuedJob(world, f"{job_name}{number}").workload


@dataclass(slots=True)
class Batch:
    """Cases that share a run."""

    kind: Kind
    moment: Moment | None
    """None: the objects are created so."""
    cases: Sequence[Case]
    accepted: list[Case] = field(default_factory=list)
    refused: list[tuple[Case, ApiError]] = field(default_factory=list)

    def steps(self, world: World) -> None:
        queue(world, "sound")
        self.begin(world)
        if self.moment is not None:
            self._change(world, self.moment)
        world.wait(30 * SECOND)
        self._clean(world)
        sound = QueuedJob.of(world, "sound", "run 10s", queue="sound")
        world.until(sound.is_finished(), 5 * MINUTE)

    def begin(self, world: World) -> None:
        """One job of each case is admitted, and one waits."""
        for number, case in enumerate(self.cases):
            for kind, obj in with_all_fields(number).items():
                is_odd = self.moment is None and kind == self.kind
                if is_odd and self._tried(case, _creation(world, kind, put(obj, case)), world):
                    continue
                if kind != WORKLOAD:
                    world.call(_creation(world, kind, obj))
        world.wait(2 * SECOND)
        for name in "ab":  # equal ones created in one second have no order
            for number in range(len(self.cases)):
                made = job(f"{name}{number}", f"q{number}", cpu=2, priority=f"{PREFIX}p{number}")
                QueuedJob.submit(world, made, "run 1m")
            world.wait(3 * SECOND)

    def _change(self, world: World, moment: Moment) -> None:
        if moment.is_deleted:
            for number in range(len(self.cases)):
                name = name_of(moment.target(world, number))
                world.patch(self.kind, name, {"metadata": {"finalizers": [IN_USE, HOLD]}})
                world.delete(self.kind, name)
            world.wait(2 * SECOND)
        for number, case in enumerate(self.cases):
            subresource = "status" if case.field.path[0] == "status" else ""
            obj = put(moment.target(world, number), case)
            self._tried(case, Update(self.kind, obj, subresource=subresource), world)

    def _tried(self, case: Case, request: Create | Update, world: World) -> bool:
        try:
            world.call(request)
        except ApiError as refused:
            self.refused.append((case, refused))
            return False
        self.accepted.append(case)
        return True

    def _clean(self, world: World) -> None:
        """Delete the Workloads that no controller brings to rest."""
        for number in range(len(self.cases)):
            for name in "ab":
                world.delete_if_there(str(JOB), f"{name}{number}")
        for each in world.list(WORKLOAD):
            if HOLD in finalizers_of(each):
                world.patch(WORKLOAD, name_of(each), {"metadata": {"finalizers": None}})
            world.delete_if_there(str(WORKLOAD), name_of(each))


def _creation(world: World, kind: Kind, obj: Object) -> Create:
    return Create(kind, obj, world.namespace if kind.namespaced else "", name_of(obj))


def run_of(steps: Callable[[World], None]) -> RunResult:
    """A run of these steps to their end."""
    scenario = replace(
        ANY, id="kueue/kinds/of-a-test", steps=steps, arms=(), roles=tuple(UNDER_TEST)
    )
    return run_one(scenario, UNDER_TEST, DEFAULT_SEED)


def wrong_with(batch: Batch | Marked, *, keeps_claims: bool = True) -> list[str]:
    """The flaws of the run of a batch; empty if it has none."""
    run = run_of(batch.steps)
    found = [run.error] if run.error else []
    found += [e.text for e in run.entries if isinstance(e, Mark) and " raised " in e.text]
    if keeps_claims:
        failed = (each for each in run.verdicts if each.outcome is Outcome.FAILED)
        found += (f"{each.claim}: {each.because}" for each in failed)
    for case, refused in batch.refused:
        if refused.code not in (400, 422) or not _names(refused.message, case.field):
            found.append(f"{case} is refused with {refused.code}: {refused.message}")
    return found


_IN_ANY_REFUSAL: Final = frozenset({"key", "kind", "name", "type", "value", "values"})
"""Names of fields that are words of refusals, too."""


def _names(message: str, field: Field) -> bool:
    """True if a refusal has the name of the field, or the path of one that it is a part of."""
    paths = (field.path[:length] for length in range(min(2, len(field.path)), len(field.path) + 1))
    own = next(step for step in reversed(field.path) if isinstance(step, str))
    before = r"\." if own in _IN_ANY_REFUSAL else r"\b"
    is_named = re.search(rf"{before}{re.escape(own)}\b", message) is not None
    return is_named or any(path_of(path) in message for path in paths)


DELETED: Final = "while it is being deleted"
MOMENTS: Final[Mapping[Kind, Sequence[Moment | None]]] = {
    **{
        kind: (
            None,
            Moment("while one is admitted, and one waits", _standing(kind)),
            Moment(DELETED, _standing(kind), is_deleted=True),
        )
        for kind in KINDS
    },
    WORKLOAD: (
        None,
        Moment("while it is suspended", _workload_of("b")),
        Moment("while it is admitted", _workload_of("a")),
        Moment(DELETED, _workload_of("a"), is_deleted=True),
    ),
}


@cache
def stored() -> Mapping[tuple[Kind, str], Object]:
    """The objects of a case as they are stored at each moment."""
    found: dict[tuple[Kind, str], Object] = {}

    def keep(world: World) -> None:
        Batch(LOCAL_QUEUE, None, [Case(Field(("spec", "stopPolicy"), {}), "None")]).begin(world)
        for kind, moments in MOMENTS.items():
            found.update({(kind, at.name): at.target(world, 0) for at in moments if at})

    run_of(keep)
    return found


@pytest.mark.parametrize(
    ("kind", "moment"), [(kind, each) for kind in KINDS for each in MOMENTS[kind]], ids=str
)
def test_an_odd_value_is_refused_with_its_field_or_lived_with(
    kind: Kind, moment: Moment | None
) -> None:
    standing = with_all_fields(0)[kind] if moment is None else stored()[kind, moment.name]
    drawn = cases(SCHEMAS[kind.kind], standing, COUNT, f"{kind} {moment}", WORDS)
    written = [each for each in drawn if each.field.path[0] != "status"]
    told = [each for each in drawn if each.field.path[0] == "status"]
    assert tried(kind, moment, written) == []
    if moment is not None:  # claims are about what the controller says, not what others do
        assert tried(kind, moment, told, keeps_claims=False) == []


def tried(
    kind: Kind, moment: Moment | None, drawn: Sequence[Case], *, keeps_claims: bool = True
) -> list[str]:
    """The flaws of runs of these cases, which are tried one by one where a batch has some."""
    found: list[str] = []
    for first in range(0, len(drawn), SIDE_BY_SIDE):
        some = drawn[first : first + SIDE_BY_SIDE]
        batch = Batch(kind, moment, some)
        wrong = wrong_with(batch, keeps_claims=keeps_claims)
        if wrong and len(some) > 1:
            alone = (
                (each, tried(kind, moment, [each], keeps_claims=keeps_claims)) for each in some
            )
            wrong = [f"{each}: {why}" for each, why in alone if why] or wrong
        found += wrong
    return found


JOBS: Final[Mapping[str, Callable[..., Object]]] = {
    "Job": job,
    "JobSet": job_set,
    "AppWrapper": app_wrapper,
    "Pod": pod,
    "StatefulSet": partial(serving, STATEFUL_SET),
    "Deployment": partial(serving, DEPLOYMENT),
}


@dataclass(slots=True)
class Marked:
    """Jobs of one kind that have an odd label or annotation, from the start or later."""

    make: Callable[..., Object]
    cases: Sequence[Case]
    refused: list[tuple[Case, ApiError]] = field(default_factory=list)

    def steps(self, world: World) -> None:
        queue(world, quota={"cpu": "100"})
        kind = kind_of(self.make("a"))
        for number, case in enumerate(self.cases):
            world.create(with_behaviour(self.make(f"later{number}"), "run 30s"))
            odd = put(with_path(self.make(f"odd{number}"), "metadata.annotations", {}), case)
            self._tried(case, partial(world.create, with_behaviour(odd, "run 30s")))
        world.wait(10 * SECOND)
        for number, case in enumerate(self.cases):
            standing = world.get(kind, f"later{number}") or {}
            noted = with_path(standing, "metadata.annotations", annotations_of(standing))
            self._tried(case, partial(world.call, Update(kind, put(noted, case))))
        world.wait(MINUTE)
        for each in world.list(kind):
            world.delete(kind, name_of(each))
        sound = QueuedJob.of(world, "sound", "run 10s")
        world.until(sound.is_finished(), 5 * MINUTE)

    def _tried(self, case: Case, act: Callable[[], Any]) -> None:
        try:
            act()
        except ApiError as refused:
            self.refused.append((case, refused))


@pytest.mark.parametrize("of", JOBS)
@pytest.mark.parametrize("part", ["labels", "annotations"])
def test_an_odd_label_or_annotation_of_a_job_is_refused_or_lived_with(of: str, part: str) -> None:
    drawn: list[Case] = []
    for mark in MARKS:
        text = Field(("metadata", part, mark), {"type": "string", "maxLength": 63})
        odd = odd_values(text.schema, "", ("0", "-1", "2", "true", "false"))
        values = [each for each in odd if each is ABSENT or isinstance(each, str)]
        rng = random.Random(f"{of} {text}")
        drawn += [Case(text, each) for each in rng.sample(values, min(COUNT, len(values)))]
    for first in range(0, len(drawn), SIDE_BY_SIDE):
        assert wrong_with(Marked(JOBS[of], drawn[first : first + SIDE_BY_SIDE])) == []


CONFIGURATION: Final = {
    "featureGates": {"QuotaReleaseStrategy": True, "FastQuotaReleaseInPodIntegration": True},
    "integrations": {"quotaReleaseStrategy": dict.fromkeys(FRAMEWORKS, "OnQuotaReleased")},
    "manageJobsWithoutQueueName": True,
    "managedJobsNamespaceSelector": {
        "matchLabels": {"a": "b"},
        "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}],
    },
    "quotaHeldUntilTerminal": True,
    "waitForPodsReady": {
        "blockAdmission": True,
        "enable": True,
        "recoveryTimeout": "5m",
        "requeuingStrategy": {
            "backoffBaseSeconds": 1,
            "backoffFactor": 2.0,
            "backoffJitter": 0.1,
            "backoffLimitCount": 3,
            "backoffMaxSeconds": 60,
            "timestamp": "Creation",
        },
        "timeout": "5m",
    },
}


def _sections(data: Mapping[str, Any], path: str = "") -> Iterator[str]:
    yield path
    for key, value in data.items():
        if isinstance(value, dict) and key not in ("matchLabels", "quotaReleaseStrategy"):
            yield from _sections(value, f"{path}.{key}".removeprefix("."))


@pytest.mark.parametrize("section", [*_sections(CONFIGURATION)])
def test_the_configuration_here_has_every_setting(section: str) -> None:
    odd = with_path(CONFIGURATION, f"{section}.odd".removeprefix("."), 1)
    with pytest.raises(ConfigError) as refused:
        KueueConfig.from_data(odd)
    known = str(refused.value).partition("there may be ")[2]
    found = get_path(CONFIGURATION, section) if section else CONFIGURATION
    assert sorted(known.split(", ")) == sorted(found)


def test_an_odd_value_of_a_setting_is_refused_with_its_path_or_means_something() -> None:
    refusals = 0
    for odd in changed(CONFIGURATION):
        try:
            read = KueueConfig.from_data(odd)
        except ConfigError as refused:
            refusals += 1
            key = str(refused).partition(":")[0].partition("[")[0]
            assert key.partition(".")[0] in CONFIGURATION, refused
        else:
            manages = read.manages({"a": "b"})
            assert isinstance(manages, bool)
            Rules().back_off_us(3, read.requeuing, 1.0)
    assert refusals > 100
