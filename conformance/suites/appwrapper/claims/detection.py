"""AW-003, 021, 022, 030, 033, 034: what makes a workload unhealthy is noticed, at any time."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.history import earliest
from conformance.norm import Obligation, Obligations, eventually
from conformance.suites.appwrapper.claims.noticing import (
    component_failed,
    component_missing,
    given_up,
    is_noticed,
    later,
    node_tagged,
    noticed,
    overtaken,
    pods_failed,
    sicknesses,
)
from conformance.suites.appwrapper.decisions import A6, A7, A14
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import ADMISSION_GRACE, FAILURE_GRACE, WARMUP_GRACE
from conformance.suites.appwrapper.sources import detailed_description, overview
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.health import Health, Spell
from conformance.suites.appwrapper.view.snapshots import UNHEALTHY
from vocabulary.clock import Micros


@claim(
    "AW-003",
    overview(3),
    name="resources-and-pods-are-monitored-throughout",
    armed_by="resource or pod failed while the workload was Running",
)
def everything_is_monitored(aw: AppWrapperRun) -> Obligations:
    """Throughout the execution of a workload, the status of its top-level resources and of all
    its pods MUST be monitored: whenever one of them fails, it is noticed."""
    yield from is_noticed(aw, "a failed pod", pods_failed)
    yield from is_noticed(aw, "a failed component", component_failed)
    if aw.history.header.capabilities.writers:
        yield from is_noticed(aw, "a missing component", component_missing)


@claim(
    "AW-021",
    detailed_description(2),
    name="number-and-health-of-pods-are-monitored",
    decision=A7,
    armed_by="pod failed or went missing while the workload was Running",
)
def number_and_health_are_monitored(aw: AppWrapperRun) -> Obligations:
    """While a workload is Running, a labelled pod that fails, or pods that go missing or, after
    warm-up, no longer run, MUST make it unhealthy, and MUST end the attempt when that outlasts
    the failure grace period."""
    yield from is_noticed(aw, "a failed pod", pods_failed)
    for attempt, since, healed in sicknesses(aw, pods_failed):
        yield _ends_the_attempt(aw, attempt, Spell(since, healed), "a failed pod", since.t)
    expected = aw.expected_pods
    for attempt in aw.attempts:
        if attempt.running is None:
            continue
        missing = attempt.spells(lambda health: lacks_pods(health, expected))
        yield from _are_noticed(aw, attempt, missing, "missing pods")
        grace = aw.parameter_within(WARMUP_GRACE, attempt.begin, attempt.left or aw.history.end)[1]
        warm_us = attempt.running.t + grace.value
        idle = attempt.spells(lambda health: lacks_running_pods(health, expected))
        late = [spell for spell in idle if spell.begin.t > warm_us]
        yield from _are_noticed(aw, attempt, late, "pods that no longer run")


def _are_noticed(
    aw: AppWrapperRun, attempt: Attempt, spells: Iterable[Spell], what: str
) -> Obligations:
    """Unhealthy, or given up, within the failure grace period of each spell while Running.

    Pods that go missing while the admission grace period runs may come again until its end.
    """
    assert attempt.running is not None
    until = attempt.left or aw.history.end
    admission = aw.parameter_within(ADMISSION_GRACE, attempt.begin, until)[1]
    admitted_us = attempt.running.t + admission.value
    for spell in spells:
        before = aw.snapshot_at(spell.begin.n)
        # The first spell is that before the pods came; what follows is pods that went.
        if (
            spell.begin.n == attempt.begin.n
            or spell.begin.n < attempt.running.n
            or before is None
            or before.shows(UNHEALTHY)
        ):
            continue
        yield eventually(
            aw,
            f"Unhealthy=True for {what}",
            since=spell.begin,
            within_us=max(
                aw.parameter_within(FAILURE_GRACE, spell.begin, until)[1].value,
                admitted_us - spell.begin.t,
            ),
            happened=noticed(attempt, spell.begin, spell.end),
            unless=earliest(spell.end, overtaken(aw, attempt)),
            steps=2,
        )
        admission = aw.parameter_within(ADMISSION_GRACE, attempt.begin, spell.begin)[1]
        from_us = attempt.last_start_us + admission.value
        yield _ends_the_attempt(aw, attempt, spell, what, from_us)


def _ends_the_attempt(
    aw: AppWrapperRun, attempt: Attempt, spell: Spell, what: str, from_us: Micros
) -> Obligation:
    """Resetting or Failed when a spell outlasts the failure grace period (A7), which counts from
    `from_us` at the earliest: pods that never came have their admission grace period before."""
    until = spell.end or attempt.left or aw.history.end
    grace = aw.parameter_within(FAILURE_GRACE, spell.begin, until)[1]
    return eventually(
        aw,
        f"Resetting or Failed for {what}",
        since=later(spell.begin, from_us),
        within_us=grace.value,
        happened=given_up(attempt),
        unless=earliest(spell.end, overtaken(aw, attempt)),
        steps=2,
        origin=grace.origin,
    )


def lacks_running_pods(health: Health, expected: int) -> bool:
    """True if pods do not run, have not succeeded, and have not failed either."""
    return health.running_least + health.failed_all + health.needless < expected


def lacks_pods(health: Health, expected: int) -> bool:
    """True if pods are missing; one that is being deleted is on its way out. The pods of a complete
    component need not be there (A14, A22)."""
    return health.present_least + health.failed_all + health.needless < expected


@claim(
    "AW-022",
    detailed_description(3),
    armed_by="component failed or went missing while the workload was Running",
)
def top_level_resources_are_watched(aw: AppWrapperRun) -> Obligations:
    """Top-level resources MUST be watched, and the status of a Job or PyTorchJob MUST be
    understood."""
    yield from is_noticed(aw, "a failed component", component_failed)
    if aw.history.header.capabilities.writers:
        yield from is_noticed(aw, "a missing component", component_missing)


@claim(
    "AW-030",
    detailed_description(6),
    decision=A14,
    armed_by="pod failed while the workload was Running",
)
def failed_pods_are_unhealthy(aw: AppWrapperRun) -> Obligations:
    """A workload with a pod in phase Failed MUST be found unhealthy."""
    yield from is_noticed(aw, "a failed pod", pods_failed)


@claim(
    "AW-033",
    detailed_description(9),
    decision=A6,
    armed_by="node of a Running pod was tagged NoExecute for what it uses",
)
def pods_on_tagged_nodes_are_unhealthy(aw: AppWrapperRun) -> Obligations:
    """A workload with a Running pod that uses a resource which Autopilot has tagged NoExecute
    MUST be found unhealthy."""
    yield from is_noticed(aw, "a running pod on a node tagged NoExecute", node_tagged)


@claim(
    "AW-034",
    detailed_description(10),
    armed_by="Job or PyTorchJob failed while the workload was Running",
)
def failed_jobs_are_unhealthy(aw: AppWrapperRun) -> Obligations:
    """A workload of which a batch/v1 Job or a PyTorchJob says that it has failed MUST be found
    unhealthy."""
    yield from is_noticed(aw, "a failed component", component_failed)
