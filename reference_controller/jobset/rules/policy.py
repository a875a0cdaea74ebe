"""The rule of the failure policy that a failed Job matches, and its action."""

from __future__ import annotations

from collections.abc import Sequence

from reference_controller.jobset.job_set import (
    ChildId,
    job_name,
    left_failed_of,
    partial_restarts_of_child,
    restarts_of,
)
from reference_controller.jobset.names import Action
from reference_controller.jobset.observation import Job
from vocabulary.objects import Object
from vocabulary.patterns import compile_pattern


class PolicyRules:
    """JS-002, 003, 005, 008, 010, 020, 022, 023, 027, 072."""

    def in_order_of_failure(self, failed: Sequence[Job]) -> list[Job]:
        """The failed Jobs in the order in which they are judged; ties by name."""
        return sorted(failed, key=lambda job: (job.failed_at_us, job.name))

    def action_for(self, rules: Sequence[Object], job: Job) -> str:
        """The action of the first rule that matches; RestartJobSet if there is none."""
        for rule in rules:
            if (
                self.reason_matches(rule, job)
                and self.target_matches(rule, job)
                and self.message_matches(rule, job)
            ):
                return str(rule["action"])
        return self.default_action()

    def reason_matches(self, rule: Object, job: Job) -> bool:
        reasons = rule.get("onJobFailureReasons")
        return not reasons or job.failure_reason in reasons

    def target_matches(self, rule: Object, job: Job) -> bool:
        targets = rule.get("targetReplicatedJobs")
        return not targets or job.child.replicated_job in targets

    def message_matches(self, rule: Object, job: Job) -> bool:
        """True if one of the rule's expressions is found in the message, or it has none."""
        patterns = rule.get("onJobFailureMessagePatterns")
        return not patterns or any(
            compile_pattern(each).search(job.failure_message) for each in patterns
        )

    def default_action(self) -> str:
        return Action.RESTART_JOB_SET

    def action_without_policy(self) -> str:
        """A JobSet without a failure policy fails with its first Job."""
        return Action.FAIL_JOB_SET

    def acts_while_suspended(self) -> bool:
        """A failure is acted on once the JobSet is resumed."""
        return False

    def failure_goes_first(self) -> bool:
        """True if a success beside a failure that is acted on later waits for that, too."""
        return True

    def is_left_failed(self, action: str) -> bool:
        """True if the Job stays as it is, and the next failed one is looked at."""
        return action == Action.FAIL_JOB

    def stays_left_failed(self, child: ChildId, job_set: Object) -> bool:
        """True if the Job was left failed, and no restart since has concerned it: it is not
        created again when its TTL or a user has it deleted."""
        partial = partial_restarts_of_child(job_set, child, job_name(job_set, child))
        return any(
            (record["replicatedJob"], record["index"]) == child
            and int(record["restarts"]) >= restarts_of(job_set)
            and int(record["partialRestarts"]) >= partial
            for record in left_failed_of(job_set)
        )
