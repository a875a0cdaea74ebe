"""Failure policies and changes of JobSets that are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.scenario_type import scenario
from conformance.suites.jobset.api import (
    EXCLUSIVE_TOPOLOGY,
    FAIL_JOB,
    FAIL_JOB_SET,
    JOB_SET,
    RESTART_JOB,
    RESTART_JOB_SET,
    RESTART_JOB_UNCOUNTED,
    RESTART_REPLICATED_JOB,
    RESTART_UNCOUNTED,
)
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    BY_BACKOFF,
    BY_POLICY,
    job_set,
    replicated_job,
    rule,
)
from conformance.suites.jobset.view.flaws import REASONS
from conformance.suites.jobset.view.placement import HOSTNAME
from conformance.suites.jobset.view.submissions import REFUSED_AS_FLAWED
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.objects import without_path
from vocabulary.requests import Update

NO_ACTION: Final = {"onJobFailureReasons": [BY_POLICY]}


@scenario(
    arms=["JS-004"],
    kills="no-action",
    cases={
        "of-another-api": rule("Ignore"),
        "in-lower-case": rule("failJobSet"),
        "empty": {"action": ""},
        "of-released-controllers": rule(RESTART_JOB_UNCOUNTED),
        "missing": NO_ACTION,
    },
)
def action_is_unknown(world: World, wrong: Mapping[str, Any]) -> None:
    """A rule with an action that the API does not define is refused."""
    _submit_and_delete(world, job_set([replicated_job("w")], [rule(FAIL_JOB_SET), wrong]))


@scenario(
    arms=["JS-007"],
    kills="any-case",
    cases={
        "of-a-pod": ["Evicted"],
        "in-lower-case": ["podFailurePolicy"],
        "of-a-named-rule": [BY_POLICY, "PodFailurePolicy_0"],
        "empty": [""],
    },
)
def reason_is_unknown(world: World, reasons: list[str]) -> None:
    """A rule for a reason that no Job fails with is refused."""
    _submit_and_delete(world, job_set([replicated_job("w")], [rule(FAIL_JOB_SET, reasons)]))


@scenario(arms=["JS-006"], kills="reasons-repeat")
def reason_is_listed_twice(world: World) -> None:
    """The reasons of a rule are a set: one that stands there twice is refused."""
    reasons = [BY_POLICY, BY_BACKOFF, BY_POLICY]
    _submit_and_delete(world, job_set([replicated_job("w")], [rule(FAIL_JOB_SET, reasons)]))


@scenario(arms=["JS-009"], kills="targets-repeat")
def target_is_listed_twice(world: World) -> None:
    """The targets of a rule are a set: one that stands there twice is refused."""
    jobs = [replicated_job("w"), replicated_job("driver")]
    rules = [rule(FAIL_JOB_SET, targets=["w", "driver", "w"])]
    _submit_and_delete(world, job_set(jobs, rules))


@scenario(arms=["JS-046"], cases={"another-name": "v", "the-name-of-a-job": "w-0"})
def target_is_missing(world: World, target: str) -> None:
    """A rule for a replicated job that is not there is refused."""
    _submit_and_delete(
        world, job_set([replicated_job("w")], [rule(FAIL_JOB_SET, targets=[target])])
    )


@scenario(arms=["JS-046"], kills="any-target-is-admitted")
def story4_as_it_is_written(world: World) -> None:
    """The manifest of story 4 is refused as the norm has it."""
    _submit_and_delete(world, JobSet.manifest(world, "story4_with_one_image.yaml"))


@scenario(arms=["JS-110"])
def future1_as_it_is_written(world: World) -> None:
    """The manifest of the first future story is refused as the norm has it."""
    _submit_and_delete(world, JobSet.manifest(world, "future1_as_written.yaml"))


def _of_the_first_future_story(
    topology: str = HOSTNAME, of_jobs: str = "", resources: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A JobSet like it, with one flaw of it or none."""
    workers = replicated_job("w", 2)
    if of_jobs:
        workers["template"]["metadata"]["annotations"] = {EXCLUSIVE_TOPOLOGY: of_jobs}
    if resources is not None:
        workers["template"]["spec"]["template"]["spec"]["resources"] = resources
    # Released controllers, which ask for neither, refuse this action: they are not judged.
    asked = job_set([replicated_job("driver"), workers], [rule(RESTART_REPLICATED_JOB)])
    asked["metadata"]["annotations"] = {EXCLUSIVE_TOPOLOGY: topology}
    return asked


@scenario(
    arms=["JS-110"],
    kills="any-resource-is-admitted",
    cases={
        "placeholder": _of_the_first_future_story("{{topologyDomain}}"),
        "domain-of-two-names": _of_the_first_future_story("example.com/rack/row"),
        "name-of-64-letters": _of_the_first_future_story("a" * 64),
        "of-some-jobs": _of_the_first_future_story(of_jobs="the rack"),
        "gpus-of-a-pod": _of_the_first_future_story(resources={"limits": {"nvidia.com/gpu": 1}}),
        "disk-of-a-pod": _of_the_first_future_story(
            resources={"requests": {"cpu": 1, "ephemeral-storage": "1Gi"}}
        ),
    },
)
def pods_cannot_be_created(world: World, asked: Mapping[str, Any]) -> None:
    """A JobSet of which no pod could be created is refused, for either flaw of that manifest."""
    _submit_and_delete(world, asked)


@scenario(arms=["JS-007", "JS-075"])
def future2_as_it_is_written(world: World) -> None:
    """The manifest of the second future story is refused as the norm has it."""
    _submit_and_delete(world, JobSet.manifest(world, "future2_as_written.yaml"))


@scenario(
    arms=["JS-107"],
    cases={
        "without-rules": {"maxRestarts": 1},
        "most-restarts": {"maxRestarts": 2**31 - 1, "rules": []},
        "each-reason": {"rules": [rule(FAIL_JOB_SET, [each]) for each in sorted(REASONS)]},
        "all-reasons": {"rules": [rule(RESTART_JOB_SET, sorted(REASONS))]},
        "all-targets": {"rules": [rule(RESTART_UNCOUNTED, targets=["w", "driver"])]},
        "empty-lists": {
            "rules": [{**rule(FAIL_JOB_SET), "onJobFailureReasons": [], "targetReplicatedJobs": []}]
        },
        "one-rule-twice": {"rules": [rule(RESTART_JOB_SET, [BY_POLICY], ["w"])] * 2},
        "future-actions": {
            "rules": [rule(each) for each in (RESTART_REPLICATED_JOB, RESTART_JOB, FAIL_JOB)]
        },
    },
)
def policy_is_valid(world: World, policy: Mapping[str, Any]) -> None:
    """A failure policy in which nothing is wrong is admitted."""
    jobs = [replicated_job("w"), replicated_job("driver")]
    _submit_and_delete(world, job_set(jobs, None, failurePolicy=policy))


@scenario(arms=["JS-011"], cases={"one": 1, "several": 3})
def rules_have_no_names(world: World, count: int) -> None:
    """Rules are admitted without names, as the norm has them, and are obeyed."""
    rules = [rule(FAIL_JOB_SET, [BY_POLICY])] * (count - 1)
    its = JobSet.submit(world, job_set([replicated_job("w")], [*rules, rule(RESTART_UNCOUNTED)]))
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())


COUNTED: Final = rule(RESTART_JOB_SET)
BY_RULE: Final = {"maxRestarts": 1, "rules": [COUNTED]}
CHANGES: Final[Mapping[str, Any]] = {
    "more-restarts": (BY_RULE, {**BY_RULE, "maxRestarts": 9}),
    "another-action": (BY_RULE, {**BY_RULE, "rules": [rule(RESTART_UNCOUNTED)]}),
    "a-further-rule": (
        BY_RULE,
        {**BY_RULE, "rules": [rule(RESTART_UNCOUNTED, [BY_BACKOFF]), COUNTED]},
    ),
    "another-order": (
        {**BY_RULE, "rules": [{**COUNTED, "name": "a"}, {**rule(RESTART_UNCOUNTED), "name": "b"}]},
        {**BY_RULE, "rules": [{**rule(RESTART_UNCOUNTED), "name": "b"}, {**COUNTED, "name": "a"}]},
    ),
    "another-strategy": (
        {**BY_RULE, "restartStrategy": "Recreate"},
        {**BY_RULE, "restartStrategy": "BlockingRecreate"},
    ),
    "no-rules": (BY_RULE, {"maxRestarts": 1}),
    "removed": (BY_RULE, None),
}


@scenario(arms=["JS-022", "JS-096"], kills="policy-is-removed", cases=CHANGES)
def policy_is_changed(world: World, case: tuple[dict[str, Any], dict[str, Any] | None]) -> None:
    """The policy of a running JobSet stays what it is, whatever its user asks for, and decides."""
    before, after = case
    its = JobSet.submit(world, job_set([replicated_job("w", 2)], None, failurePolicy=before))
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())
    _change_policy(world, its, after)
    its.fail("w-1")
    world.until(its.has_failed())


@scenario(arms=["JS-022", "JS-096"])
def policy_is_changed_while_suspended(world: World) -> None:
    """The policy of a suspended JobSet stays what it is, and decides once that is resumed."""
    workers = [replicated_job("w", 2)]
    its = JobSet.submit(world, job_set(workers, None, failurePolicy=BY_RULE, suspend=True))
    world.wait(5 * SECOND)
    _change_policy(world, its, {**BY_RULE, "maxRestarts": 9})
    its.resume()
    world.wait(5 * SECOND)
    its.fail_until_restarted("w-0")
    world.until(its.is_ready())
    its.fail("w-1")
    world.until(its.has_failed())


@scenario(arms=["JS-027", "JS-096"], kills="policy-is-added")
def policy_is_added(world: World) -> None:
    """A JobSet that was created without a policy gets none later, and fails by its first Job."""
    its = JobSet.ready(world, job_set([replicated_job("w", 2)], None))
    # Without rules, which a released API refuses in updates for want of their names.
    _change_policy(world, its, {"maxRestarts": 1})
    its.fail("w-1")
    world.until(its.has_failed() | its.has_restarted(1))


def _without_limit() -> dict[str, Any]:
    found = replicated_job("w", 2)
    return without_path(found, "template.spec.backoffLimit")


def _with_image(image: str) -> dict[str, Any]:
    found = replicated_job("w", 2)
    found["template"]["spec"]["template"]["spec"]["containers"][0]["image"] = image
    return found


OTHER_JOBS: Final[Mapping[str, Any]] = {
    "fewer-jobs": [replicated_job("w", 1), replicated_job("v")],
    "more-jobs": [replicated_job("w", 3), replicated_job("v")],
    "parallelism": [replicated_job("w", 2, parallelism=2), replicated_job("v")],
    "completions": [replicated_job("w", 2, completions=2), replicated_job("v")],
    "another-image": [_with_image("docker.io/library/bash:4"), replicated_job("v")],
    "no-limit": [_without_limit(), replicated_job("v")],
    "another-limit": [replicated_job("w", 2, backoffLimit=5), replicated_job("v")],
    "removed": [replicated_job("w", 2)],
    "added": [replicated_job("w", 2), replicated_job("v"), replicated_job("u")],
}


@scenario(arms=["JS-109"], cases=OTHER_JOBS)
def replicated_jobs_are_changed(world: World, asked: list[dict[str, Any]]) -> None:
    """A running JobSet keeps its Jobs, also those that it creates again, whatever its user asks
    for."""
    its = JobSet.ready(world, job_set([replicated_job("w", 2), replicated_job("v")], None))
    _change(world, its, replicatedJobs=asked)
    world.wait(5 * SECOND)
    its.delete_job("w-0")
    world.until(its.has_started("w-0"))


@scenario(arms=["JS-109"], kills="suspended-ones-are-open", cases=OTHER_JOBS)
def replicated_jobs_are_changed_while_suspended(world: World, asked: list[dict[str, Any]]) -> None:
    """A JobSet that is suspended is resumed with the Jobs that it had."""
    jobs = [replicated_job("w", 2), replicated_job("v")]
    its = JobSet.submit(world, job_set(jobs, None, suspend=True))
    world.wait(5 * SECOND)
    _change(world, its, replicatedJobs=asked)
    its.resume()
    world.wait(5 * SECOND)
    world.until(its.is_ready())


def _submit_and_delete(world: World, manifest: Mapping[str, Any]) -> None:
    """Submit what may be refused; what is admitted is deleted, large as it may be."""
    try:
        its = JobSet.submit(world, manifest)
    except ApiError as refused:
        if refused.code not in REFUSED_AS_FLAWED:
            raise
    else:
        its.delete()
    world.wait(SECOND)


def _change_policy(world: World, its: JobSet, policy: Mapping[str, Any] | None) -> None:
    _change(world, its, failurePolicy=policy)


def _change(world: World, its: JobSet, **asked: Any) -> None:
    """Ask for other fields of the spec, None for their removal; again if the JobSet was another
    one by then."""
    for _ in range(5):
        now = its.now
        if not now:
            return  # a fault has deleted it
        spec = {key: value for key, value in {**now["spec"], **asked}.items() if value is not None}
        try:
            world.call(Update(JOB_SET, {**now, "spec": spec}))
        except ApiError as refused:
            if refused.is_conflict:
                continue
            if refused.code not in REFUSED_AS_FLAWED:
                raise
        return
