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


@MUTANTS.mutant(Rules.is_within_budget, "It restarts once more than it may.", "JS-022")
def one_more(self: Rules, job_set: Object) -> bool:
    return self.budget_used(job_set) <= max_restarts(job_set)


@MUTANTS.mutant(Rules.counted_after, "It counts restarts that do not count.", "JS-023")
def counts_ignored(self: Rules, job_set: Object, action: str) -> int:
    return counted_restarts_of(job_set) + 1


@MUTANTS.mutant(
    Rules.counted_after, "It gives the counted restarts back at one that does not count.", "JS-092"
)
def ignored_restart_refunds(self: Rules, job_set: Object, action: str) -> int:
    return Rules.counted_after(self, job_set, action) if action == Action.RESTART_JOB_SET else 0


@MUTANTS.mutant(
    Rules.needs_budget,
    "It fails at the end of the budget a JobSet whose restart does not count.",
    "JS-023",
)
def ignored_needs_budget(self: Rules, action: str) -> bool:
    return action == Action.RESTART_UNCOUNTED or Rules.needs_budget(self, action)


@MUTANTS.mutant(Rules.restarts_after, "It adds two to the restarts for one failure.", "JS-022")
def two_at_once(self: Rules, job_set: Object) -> int:
    return Rules.restarts_after(self, job_set) + 1


@MUTANTS.mutant(Rules.is_stale, "It restarts the Jobs alone that have failed.", "JS-001", "JS-026")
def only_failed_jobs_restart(self: Rules, job: Job, job_set: Object) -> bool:
    return job.has_failed and Rules.is_stale(self, job, job_set)


@MUTANTS.mutant(Rules.is_stale, "It restarts all but the first replicated job.", "JS-026")
def first_replicated_job_stays(self: Rules, job: Job, job_set: Object) -> bool:
    first = replicated_jobs(job_set)[0]["name"]
    stays = job.child.replicated_job == first and not job.has_failed
    return not stays and Rules.is_stale(self, job, job_set)


@MUTANTS.mutant(
    Rules.is_stale, "It answers a failed Job again while it is being deleted.", "JS-090"
)
def failed_job_counts_until_gone(self: Rules, job: Job, job_set: Object) -> bool:
    return not job.has_failed and Rules.is_stale(self, job, job_set)


@MUTANTS.mutant(Rules.job_name, "It names Jobs after the number of restarts.", "JS-094", "JS-091")
def names_with_restarts(self: Rules, job_set: Object, child: ChildId) -> str:
    name, restarts = Rules.job_name(self, job_set, child), restarts_of(job_set)
    return f"{name}-{restarts}" if restarts else name


@MUTANTS.mutant(Rules.propagation, "It deletes Jobs and leaves their pods.", "JS-091")
def pods_are_orphaned(self: Rules) -> PropagationPolicy:
    return "Orphan"


@MUTANTS.mutant(Rules.budget_used, "It spends no budget on partial restarts.", "JS-097", "JS-111")
def partial_restarts_are_free(self: Rules, job_set: Object) -> int:
    return counted_restarts_of(job_set)


@MUTANTS.mutant(Rules.backoff_us, "It starts a Job again at once that restarts alone.", "JS-097")
def no_back_off(self: Rules, streak: int) -> Micros:
    return 0


@MUTANTS.mutant(Rules.streak_after, "It forgets how often a Job has restarted alone.", "JS-097")
def back_off_stays_short(self: Rules, record: Object, ran_us: Micros) -> int:
    return 1


@MUTANTS.mutant(Rules.needs_delete, "It deletes Jobs again that are on their way out.", "JS-047")
def deletes_in_each_pass(self: Rules, job: Job) -> bool:
    return True


@MUTANTS.mutant(
    Rules.is_missing, "It asks in each pass for all Jobs, also for those that stand.", "JS-047"
)
def creates_what_stands(self: Rules, stands: bool) -> bool:
    return True


@MUTANTS.mutant(
    Rules.is_stale,
    "It has Jobs of a restart that have completed run again and again while others start.",
    "JS-047",
)
def completed_run_again(self: Rules, job: Job, job_set: Object) -> bool:
    runs_again = job.restarts > 0 and job.has_succeeded and not _are_all_ready(job_set)
    return runs_again or Rules.is_stale(self, job, job_set)


def _are_all_ready(job_set: Object) -> bool:
    """True if the status shows no other Jobs than those that are ready or have finished."""
    counts = get_path(job_set, "status.replicatedJobsStatus") or ()
    there = sum(int(each["ready"]) + int(each["succeeded"]) for each in counts)
    return there >= sum(map(replicas_of, replicated_jobs(job_set)))


@MUTANTS.mutant(Rules.is_news, "It writes the status in each pass, also as it stands.", "JS-047")
def status_in_each_pass(self: Rules, status: Object, standing: Object) -> bool:
    return True


@MUTANTS.mutant(
    Rules.is_to_resume, "It resumes Jobs in each pass that are not suspended.", "JS-047"
)
def resumes_in_each_pass(self: Rules, job: Job) -> bool:
    return True


@MUTANTS.mutant(Rules.is_sent_again, "It asks for no deletion again that was refused.", "JS-091")
def refused_deletes_are_forgotten(self: Rules, error: ApiError) -> bool:
    return False


@MUTANTS.mutant(
    Rules.needs_mark, "It deletes Jobs without a mark whose restart does not count.", "JS-024"
)
def no_marks(self: Rules, job: Job, job_set: Object) -> bool:
    return False


@MUTANTS.mutant(Rules.attempt, "It increments the attempt by every restart.", "JS-025", "JS-045")
def attempt_counts_all(self: Rules, job_set: Object, partial_restarts: int) -> int:
    return restarts_of(job_set)


@MUTANTS.mutant(Rules.waits_for_stale, "It waits for stale Jobs never.", "JS-001")
def creates_before_all_are_gone(self: Rules, strategy: str) -> bool:
    return False


@MUTANTS.mutant(Rules.waits_for_pods, "It waits for Jobs to go, and not for their pods.", "JS-115")
def pods_are_not_awaited(self: Rules, strategy: str) -> bool:
    return False


@MUTANTS.mutant(
    Rules.partial_restarts_kept,
    "It gives partial restarts back when the whole JobSet restarts.",
    "JS-092",
    "JS-097",
)
def restart_of_all_refunds_parts(self: Rules, job_set: Object) -> tuple[Object, ...]:
    return ()


@MUTANTS.mutant(
    Rules.satisfies,
    "After a restart it never creates the Jobs that wait for others.",
    "JS-001",
    "JS-091",
)
def waiting_jobs_stay_away(self: Rules, job: Job, status: str) -> bool:
    return job.restarts == 0 and Rules.satisfies(self, job, status)


@MUTANTS.mutant(
    Rules.is_stale,
    "It replaces the first Jobs once they are ready, though none has failed.",
    "JS-090",
)
def first_jobs_are_replaced(self: Rules, job: Job, job_set: Object) -> bool:
    began_us, created_us = (
        parse_rfc3339(meta(each)["creationTimestamp"]) for each in (job_set, job.object)
    )
    is_first = job.is_ready and created_us <= began_us + SECOND
    return is_first or Rules.is_stale(self, job, job_set)
