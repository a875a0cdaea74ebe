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


@MUTANTS.wrong_rules(
    "one-takes-all", "RestartJob restarts all Jobs of the replicated job.", "JS-071"
)
class OneTakesAll(Rules):
    def scope_of_partial(self, action: str, job: Job) -> str:
        del action, job
        return ""


@MUTANTS.wrong_rules(
    "first-one-is-counted",
    "RestartJob restarts the first Job of the replicated job, whichever has failed.",
    "JS-071",
)
class FirstOneIsCounted(Rules):
    def scope_of_partial(self, action: str, job: Job) -> str:
        found = super().scope_of_partial(action, job)
        return found and f"{job.name.rpartition('-')[0]}-0"


@MUTANTS.wrong_rules(
    "all-mean-one", "RestartReplicatedJob restarts the failed Job alone.", "JS-070"
)
class AllMeanOne(Rules):
    def scope_of_partial(self, action: str, job: Job) -> str:
        del action
        return job.name


@MUTANTS.wrong_rules(
    "partial-restarts-are-attempts",
    "It counts partial restarts into the restart attempt of Jobs.",
    "JS-071",
    "JS-070",
)
class PartialRestartsAreAttempts(Rules):
    def attempt(self, job_set: Object, partial_restarts: int) -> int:
        return super().attempt(job_set, partial_restarts) + partial_restarts


@MUTANTS.wrong_rules(
    "partial-restarts-need-no-budget",
    "Partial restarts go on without a budget.",
    "JS-073",
    "JS-111",
)
class PartialRestartsNeedNoBudget(Rules):
    def needs_budget(self, action: str) -> bool:
        return action == Action.RESTART_JOB_SET


@MUTANTS.wrong_rules(
    "each-part-has-a-budget",
    "Each Job has a budget of maxRestarts of its own.",
    "JS-073",
    "JS-111",
)
class EachPartHasABudget(Rules):
    def budget_used(self, job_set: Object) -> int:
        used = (int(record.get("restarts", 0)) for record in partial_restarts_of(job_set))
        return max((counted_restarts_of(job_set), *used))


@MUTANTS.wrong_rules("linear-back-off", "Its back-off grows by a second each time.", "JS-073")
class LinearBackOff(Rules):
    def backoff_us(self, streak: int) -> Micros:
        return streak * FIRST_BACKOFF_US


@MUTANTS.wrong_rules("endless-back-off", "Its back-off doubles beyond a minute.", "JS-073")
class EndlessBackOff(Rules):
    def backoff_us(self, streak: int) -> Micros:
        return FIRST_BACKOFF_US << (streak - 1)


@MUTANTS.wrong_rules("lasting-back-off", "Its back-off grows however long Jobs ran.", "JS-073")
class LastingBackOff(Rules):
    def streak_after(self, record: Object, ran_us: Micros) -> int:
        del ran_us
        return int(record.get("streak", 0)) + 1


@MUTANTS.wrong_rules("hasty-back-off", "A second of running resets its back-off.", "JS-073")
class HastyBackOff(Rules):
    def streak_after(self, record: Object, ran_us: Micros) -> int:
        return 1 if ran_us >= SECOND else super().streak_after(record, ran_us)


@MUTANTS.wrong_rules(
    "restart-of-all-ends-the-back-off",
    "It forgets how often a Job has failed when the whole JobSet restarts.",
    "JS-073",
)
class RestartOfAllEndsTheBackOff(Rules):
    def partial_restarts_kept(self, job_set: Object) -> tuple[Object, ...]:
        return tuple({**record, "streak": 0} for record in super().partial_restarts_kept(job_set))


@MUTANTS.wrong_rules(
    "age-is-running", "It takes the age of a Job for the time that it ran.", "JS-073"
)
class AgeIsRunning(Rules):
    def ran_us(self, job: Job) -> Micros:
        return job.failed_at_us - parse_rfc3339(meta(job.object)["creationTimestamp"])


@MUTANTS.wrong_rules(
    "back-off-is-forgotten",
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


@MUTANTS.wrong_rules(
    "default-restarts-a-part",
    "A failure that no rule matches restarts its replicated job alone.",
    "JS-074",
    "JS-003",
)
class DefaultRestartsAPart(Rules):
    def default_action(self) -> str:
        return Action.RESTART_REPLICATED_JOB


@MUTANTS.wrong_rules("fail-job-restarts", "FailJob restarts the replicated job.", "JS-072")
class FailJobRestarts(Rules):
    def is_left_failed(self, action: str) -> bool:
        del action
        return False


@MUTANTS.wrong_rules(
    "completes-beside-failed",
    "A JobSet with a Job that is left failed completes before the others have finished.",
    "JS-072",
)
class CompletesBesideFailed(Rules):
    def has_completed(
        self, operator: str, wanted: int, targets: Collection[Job], unfinished: int
    ) -> bool:
        del unfinished
        return super().has_completed(operator, wanted, targets, 0)


@MUTANTS.wrong_rules(
    "left-failed-fails", "A JobSet fails with the first Job that is left failed.", "JS-072"
)
class LeftFailedFails(Rules):
    def is_out_of_reach(self, operator: str, wanted: int, hopeless: int) -> bool:
        del operator, wanted, hopeless
        return True


@MUTANTS.wrong_rules(
    "never-out-of-reach", "A JobSet of which all Jobs are left failed never ends.", "JS-072"
)
class NeverOutOfReach(Rules):
    def is_out_of_reach(self, operator: str, wanted: int, hopeless: int) -> bool:
        del operator, wanted, hopeless
        return False


@MUTANTS.wrong_rules("no-domain-is-exclusive", "It ignores the exclusive topology.", "JS-076")
class NoDomainIsExclusive(Rules):
    def is_exclusive(self, partial_restarts: int) -> bool:
        del partial_restarts
        return False


@MUTANTS.wrong_rules(
    "domains-are-shared-later",
    "A Job that was restarted alone has no domain to itself any more.",
    "JS-076",
)
class DomainsAreSharedLater(Rules):
    def is_exclusive(self, partial_restarts: int) -> bool:
        return not partial_restarts


@MUTANTS.wrong_rules(
    "left-failed-comes-back",
    "It starts a Job again that FailJob left failed, once its TTL has it deleted.",
    "JS-072",
)
class LeftFailedComesBack(Rules):
    def stays_left_failed(self, child: ChildId, job_set: Object) -> bool:
        del child, job_set
        return False


@MUTANTS.wrong_rules(
    "suspension-ends-the-back-off",
    "It creates the Jobs of a suspended JobSet before their back-off is over, and resumes them.",
    "JS-073",
    "JS-097",
)
class SuspensionEndsTheBackOff(Rules):
    def waits_for_back_off(self, job_set: Object) -> bool:
        return not is_suspended(job_set)
