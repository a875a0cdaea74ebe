"""Wrong restarts of Jobs and of replicated jobs, and Jobs that are left failed wrongly."""

from __future__ import annotations

from collections.abc import Collection

from reference_controller.jobset.job_set import (
    ChildId,
    counted_restarts_of,
    is_suspended,
    partial_restarts_of,
)
from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.names import Action
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from reference_controller.jobset.rules.restarts import FIRST_BACKOFF_US
from vocabulary.clock import SECOND, Micros, parse_rfc3339
from vocabulary.objects import Object, meta


@MUTANTS.mutant(
    Rules.scope_of_partial, "RestartJob restarts all Jobs of the replicated job.", "JS-071"
)
def one_takes_all(self: Rules, action: str, job: Job) -> str:
    return ""


@MUTANTS.mutant(
    Rules.scope_of_partial,
    "RestartJob restarts the first Job of the replicated job, whichever has failed.",
    "JS-071",
)
def first_one_is_counted(self: Rules, action: str, job: Job) -> str:
    found = Rules.scope_of_partial(self, action, job)
    return found and f"{job.name.rpartition('-')[0]}-0"


@MUTANTS.mutant(
    Rules.scope_of_partial, "RestartReplicatedJob restarts the failed Job alone.", "JS-070"
)
def all_mean_one(self: Rules, action: str, job: Job) -> str:
    return job.name


@MUTANTS.mutant(
    Rules.attempt,
    "It counts partial restarts into the restart attempt of Jobs.",
    "JS-071",
    "JS-070",
)
def partial_restarts_are_attempts(self: Rules, job_set: Object, partial_restarts: int) -> int:
    return Rules.attempt(self, job_set, partial_restarts) + partial_restarts


@MUTANTS.mutant(Rules.needs_budget, "Partial restarts go on without a budget.", "JS-073", "JS-111")
def partial_restarts_need_no_budget(self: Rules, action: str) -> bool:
    return action == Action.RESTART_JOB_SET


@MUTANTS.mutant(
    Rules.budget_used, "Each Job has a budget of maxRestarts of its own.", "JS-073", "JS-111"
)
def each_part_has_a_budget(self: Rules, job_set: Object) -> int:
    used = (int(record.get("restarts", 0)) for record in partial_restarts_of(job_set))
    return max((counted_restarts_of(job_set), *used))


@MUTANTS.mutant(Rules.backoff_us, "Its back-off grows by a second each time.", "JS-073")
def linear_back_off(self: Rules, streak: int) -> Micros:
    return streak * FIRST_BACKOFF_US


@MUTANTS.mutant(Rules.backoff_us, "Its back-off doubles beyond a minute.", "JS-073")
def endless_back_off(self: Rules, streak: int) -> Micros:
    return FIRST_BACKOFF_US << (streak - 1)


@MUTANTS.mutant(Rules.streak_after, "Its back-off grows however long Jobs ran.", "JS-073")
def lasting_back_off(self: Rules, record: Object, ran_us: Micros) -> int:
    return int(record.get("streak", 0)) + 1


@MUTANTS.mutant(Rules.streak_after, "A second of running resets its back-off.", "JS-073")
def hasty_back_off(self: Rules, record: Object, ran_us: Micros) -> int:
    return 1 if ran_us >= SECOND else Rules.streak_after(self, record, ran_us)


@MUTANTS.mutant(
    Rules.partial_restarts_kept,
    "It forgets how often a Job has failed when the whole JobSet restarts.",
    "JS-073",
)
def restart_of_all_ends_the_back_off(self: Rules, job_set: Object) -> tuple[Object, ...]:
    return tuple({**record, "streak": 0} for record in Rules.partial_restarts_kept(self, job_set))


@MUTANTS.mutant(Rules.ran_us, "It takes the age of a Job for the time that it ran.", "JS-073")
def age_is_running(self: Rules, job: Job) -> Micros:
    return job.failed_at_us - parse_rfc3339(meta(job.object)["creationTimestamp"])


@MUTANTS.wrong_rules(
    "Once it is started again, it does not know how often a Job has failed.",
    "JS-073",
)
class BackOffIsForgotten(Rules):
    def __init__(self) -> None:
        super().__init__()
        self._streaks: dict[tuple[str, str], int] = {}

    def streak_after(self, record: Object, ran_us: Micros) -> int:
        key = (record["replicatedJob"], record["job"])
        known = {"streak": self._streaks.get(key, 0)}
        self._streaks[key] = super().streak_after(known, ran_us)
        return self._streaks[key]


@MUTANTS.mutant(
    Rules.default_action,
    "A failure that no rule matches restarts its replicated job alone.",
    "JS-074",
    "JS-003",
)
def default_restarts_a_part(self: Rules) -> str:
    return Action.RESTART_REPLICATED_JOB


@MUTANTS.mutant(Rules.is_left_failed, "FailJob restarts the replicated job.", "JS-072")
def fail_job_restarts(self: Rules, action: str) -> bool:
    return False


@MUTANTS.mutant(
    Rules.has_completed,
    "A JobSet with a Job that is left failed completes before the others have finished.",
    "JS-072",
)
def completes_beside_failed(
    self: Rules, operator: str, wanted: int, targets: Collection[Job], gone: int, unfinished: int
) -> bool:
    return Rules.has_completed(self, operator, wanted, targets, gone, 0)


@MUTANTS.mutant(
    Rules.is_out_of_reach, "A JobSet fails with the first Job that is left failed.", "JS-072"
)
def left_failed_fails(self: Rules, operator: str, wanted: int, hopeless: int) -> bool:
    return True


@MUTANTS.mutant(
    Rules.is_out_of_reach, "A JobSet of which all Jobs are left failed never ends.", "JS-072"
)
def never_out_of_reach(self: Rules, operator: str, wanted: int, hopeless: int) -> bool:
    return False


@MUTANTS.mutant(Rules.is_exclusive, "It ignores the exclusive topology.", "JS-076")
def no_domain_is_exclusive(self: Rules, partial_restarts: int) -> bool:
    return False


@MUTANTS.mutant(
    Rules.is_exclusive, "A Job that was restarted alone has no domain to itself any more.", "JS-076"
)
def domains_are_shared_later(self: Rules, partial_restarts: int) -> bool:
    return not partial_restarts


@MUTANTS.mutant(
    Rules.stays_left_failed,
    "It starts a Job again that FailJob left failed, once its TTL has it deleted.",
    "JS-072",
)
def left_failed_comes_back(self: Rules, child: ChildId, job_set: Object) -> bool:
    return False


@MUTANTS.mutant(
    Rules.waits_for_back_off,
    "It creates the Jobs of a suspended JobSet before their back-off is over, and resumes them.",
    "JS-073",
    "JS-097",
)
def suspension_ends_the_back_off(self: Rules, job_set: Object) -> bool:
    return not is_suspended(job_set)
