"""Wrong counts, and Jobs that stay as they are."""

from __future__ import annotations

from reference_controller.jobset.job_set import (
    ChildId,
    counted_restarts_of,
    max_restarts,
    replicas_of,
    replicated_jobs,
    restarts_of,
)
from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.names import Action
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.errors import ApiError
from vocabulary.objects import Object, get_path, meta
from vocabulary.requests import PropagationPolicy


@MUTANTS.wrong_rules("one-more", "It restarts once more than it may.", "JS-022")
class OneMore(Rules):
    def is_within_budget(self, job_set: Object) -> bool:
        return self.budget_used(job_set) <= max_restarts(job_set)


@MUTANTS.wrong_rules("counts-ignored", "It counts restarts that do not count.", "JS-023")
class CountsIgnored(Rules):
    def counted_after(self, job_set: Object, action: str) -> int:
        del action
        return counted_restarts_of(job_set) + 1


@MUTANTS.wrong_rules(
    "ignored-restart-refunds",
    "It gives the counted restarts back at one that does not count.",
    "JS-092",
)
class IgnoredRestartRefunds(Rules):
    def counted_after(self, job_set: Object, action: str) -> int:
        return super().counted_after(job_set, action) if action == Action.RESTART_JOB_SET else 0


@MUTANTS.wrong_rules(
    "ignored-needs-budget",
    "It fails at the end of the budget a JobSet whose restart does not count.",
    "JS-023",
)
class IgnoredNeedsBudget(Rules):
    def needs_budget(self, action: str) -> bool:
        return action == Action.RESTART_UNCOUNTED or super().needs_budget(action)


@MUTANTS.wrong_rules("two-at-once", "It adds two to the restarts for one failure.", "JS-022")
class TwoAtOnce(Rules):
    def restarts_after(self, job_set: Object) -> int:
        return super().restarts_after(job_set) + 1


@MUTANTS.wrong_rules(
    "only-failed-jobs-restart", "It restarts the Jobs alone that have failed.", "JS-001", "JS-026"
)
class OnlyFailedJobsRestart(Rules):
    def is_stale(self, job: Job, job_set: Object) -> bool:
        return job.has_failed and super().is_stale(job, job_set)


@MUTANTS.wrong_rules(
    "first-replicated-job-stays", "It restarts all but the first replicated job.", "JS-026"
)
class FirstReplicatedJobStays(Rules):
    def is_stale(self, job: Job, job_set: Object) -> bool:
        first = replicated_jobs(job_set)[0]["name"]
        stays = job.child.replicated_job == first and not job.has_failed
        return not stays and super().is_stale(job, job_set)


@MUTANTS.wrong_rules(
    "failed-job-counts-until-gone",
    "It answers a failed Job again while it is being deleted.",
    "JS-090",
)
class FailedJobCountsUntilGone(Rules):
    def is_stale(self, job: Job, job_set: Object) -> bool:
        return not job.has_failed and super().is_stale(job, job_set)


@MUTANTS.wrong_rules(
    "names-with-restarts", "It names Jobs after the number of restarts.", "JS-094", "JS-091"
)
class NamesWithRestarts(Rules):
    def job_name(self, job_set: Object, child: ChildId) -> str:
        name, restarts = super().job_name(job_set, child), restarts_of(job_set)
        return f"{name}-{restarts}" if restarts else name


@MUTANTS.wrong_rules("pods-are-orphaned", "It deletes Jobs and leaves their pods.", "JS-091")
class PodsAreOrphaned(Rules):
    def propagation(self) -> PropagationPolicy:
        return "Orphan"


@MUTANTS.wrong_rules(
    "partial-restarts-are-free",
    "It spends no budget on partial restarts.",
    "JS-097",
    "JS-111",
)
class PartialRestartsAreFree(Rules):
    def budget_used(self, job_set: Object) -> int:
        return counted_restarts_of(job_set)


@MUTANTS.wrong_rules("no-back-off", "It starts a Job again at once that restarts alone.", "JS-097")
class NoBackOff(Rules):
    def backoff_us(self, streak: int) -> Micros:
        del streak
        return 0


@MUTANTS.wrong_rules(
    "back-off-stays-short", "It forgets how often a Job has restarted alone.", "JS-097"
)
class BackOffStaysShort(Rules):
    def streak_after(self, record: Object, ran_us: Micros) -> int:
        del record, ran_us
        return 1


@MUTANTS.wrong_rules(
    "deletes-in-each-pass", "It deletes Jobs again that are on their way out.", "JS-047"
)
class DeletesInEachPass(Rules):
    def needs_delete(self, job: Job) -> bool:
        del job
        return True


@MUTANTS.wrong_rules(
    "creates-what-stands", "It asks in each pass for all Jobs, also for those that stand.", "JS-047"
)
class CreatesWhatStands(Rules):
    def is_missing(self, stands: bool) -> bool:
        del stands
        return True


@MUTANTS.wrong_rules(
    "completed-run-again",
    "It has Jobs of a restart that have completed run again and again while others start.",
    "JS-047",
)
class CompletedRunAgain(Rules):
    def is_stale(self, job: Job, job_set: Object) -> bool:
        runs_again = job.restarts > 0 and job.has_succeeded and not _are_all_ready(job_set)
        return runs_again or super().is_stale(job, job_set)


def _are_all_ready(job_set: Object) -> bool:
    """True if the status shows no other Jobs than those that are ready or have finished."""
    counts = get_path(job_set, "status.replicatedJobsStatus") or ()
    there = sum(int(each["ready"]) + int(each["succeeded"]) for each in counts)
    return there >= sum(map(replicas_of, replicated_jobs(job_set)))


@MUTANTS.wrong_rules(
    "status-in-each-pass", "It writes the status in each pass, also as it stands.", "JS-047"
)
class StatusInEachPass(Rules):
    def is_news(self, status: Object, standing: Object) -> bool:
        del status, standing
        return True


@MUTANTS.wrong_rules(
    "resumes-in-each-pass", "It resumes Jobs in each pass that are not suspended.", "JS-047"
)
class ResumesInEachPass(Rules):
    def is_to_resume(self, job: Job) -> bool:
        del job
        return True


@MUTANTS.wrong_rules(
    "refused-deletes-are-forgotten", "It asks for no deletion again that was refused.", "JS-091"
)
class RefusedDeletesAreForgotten(Rules):
    def is_sent_again(self, error: ApiError) -> bool:
        del error
        return False


@MUTANTS.wrong_rules(
    "no-marks", "It deletes Jobs without a mark whose restart does not count.", "JS-024"
)
class NoMarks(Rules):
    def needs_mark(self, job: Job, job_set: Object) -> bool:
        del job, job_set
        return False


@MUTANTS.wrong_rules(
    "attempt-counts-all", "It increments the attempt by every restart.", "JS-025", "JS-045"
)
class AttemptCountsAll(Rules):
    def attempt(self, job_set: Object, partial_restarts: int) -> int:
        del partial_restarts
        return restarts_of(job_set)


@MUTANTS.wrong_rules("creates-before-all-are-gone", "It waits for stale Jobs never.", "JS-001")
class NeverWaits(Rules):
    def waits_for_stale(self, strategy: str) -> bool:
        del strategy
        return False


@MUTANTS.wrong_rules(
    "restart-of-all-refunds-parts",
    "It gives partial restarts back when the whole JobSet restarts.",
    "JS-092",
    "JS-097",
)
class RestartOfAllRefundsParts(Rules):
    def partial_restarts_kept(self, job_set: Object) -> tuple[Object, ...]:
        del job_set
        return ()


@MUTANTS.wrong_rules(
    "waiting-jobs-stay-away",
    "After a restart it never creates the Jobs that wait for others.",
    "JS-001",
    "JS-091",
)
class WaitingJobsStayAway(Rules):
    def satisfies(self, job: Job, status: str) -> bool:
        return job.restarts == 0 and super().satisfies(job, status)


@MUTANTS.wrong_rules(
    "first-jobs-are-replaced",
    "It replaces the first Jobs once they are ready, though none has failed.",
    "JS-090",
)
class FirstJobsAreReplaced(Rules):
    def is_stale(self, job: Job, job_set: Object) -> bool:
        began_us, created_us = (
            parse_rfc3339(meta(each)["creationTimestamp"]) for each in (job_set, job.object)
        )
        is_first = job.is_ready and created_us <= began_us + SECOND
        return is_first or super().is_stale(job, job_set)
