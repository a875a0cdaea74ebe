"""Queues that admit what they should not, and say what is not so."""

from __future__ import annotations

from reference_controller.kueue.mutants.registry import MUTANTS
from reference_controller.kueue.names import Condition, StopPolicy
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Usage, Workload
from vocabulary.objects import Object, with_path


@MUTANTS.mutant(Rules.admits, "Queues that are stopped admit.", "KQ-044")
def stopped_queues_admit(self: Rules, stop_policy: str) -> bool:
    return True


@MUTANTS.mutant(Rules.drains, "It never drains a queue.", "KQ-044")
def queues_are_not_drained(self: Rules, stop_policy: str) -> bool:
    return False


@MUTANTS.mutant(Rules.drains, "It drains queues that only hold.", "KQ-044")
def holding_queues_are_drained(self: Rules, stop_policy: str) -> bool:
    return stop_policy != StopPolicy.NONE


@MUTANTS.mutant(Rules.serves, "It ignores namespaceSelectors.", "KQ-046")
def every_namespace_is_served(self: Rules, is_matched: bool) -> bool:
    return True


@MUTANTS.mutant(Rules.is_blocked, "What is not ready blocks nothing.", "KQ-042")
def unready_ones_block_nothing(self: Rules, blocks_admission: bool, not_ready: int) -> bool:
    return False


@MUTANTS.mutant(Rules.pending, "It does not count those that do not fit.", "KQ-053")
def refused_ones_are_not_counted(self: Rules, active: int, aside: int, asleep: int) -> int:
    return active + asleep


@MUTANTS.mutant(Rules.tells, "It sends no Event of evictions.", "KQ-050", "MLB-082")
def evictions_are_kept_quiet(self: Rules, type_: str) -> bool:
    return type_ in {Condition.ADMITTED, Condition.PREEMPTED}


@MUTANTS.mutant(Rules.in_use, "Its LocalQueues show the quota of pods that are done.", "QL-011")
def done_pods_are_in_use(self: Rules, workload: Workload) -> Usage:
    return Workload(with_path(workload.object, "status.reclaimablePods", None)).usage


@MUTANTS.mutant(
    Rules.looks_again, "It does not look again at what a changed queue would admit.", "KQ-105"
)
def changed_queues_are_missed(self: Rules) -> bool:
    return False


@MUTANTS.mutant(Rules.lacking, "It does not say which resource is lacking.", "MLB-081")
def lacking_resource_is_not_named(self: Rules, resource: str, flavor: str, exceeds: bool) -> str:
    return f"insufficient quota in flavor {flavor}"


@MUTANTS.mutant(Rules.companion, "The names of Workloads end in no hash.", "MLB-055")
def names_have_no_hash(self: Rules, workload: Object) -> Object:
    return with_path(workload, "metadata.name", workload["metadata"]["name"][:-6])


@MUTANTS.mutant(
    Rules.companion, "Its Workloads have the default priority, whatever pods ask for.", "MLB-061"
)
def pods_have_no_priority(self: Rules, workload: Object) -> Object:
    is_of_pods = workload["spec"].get("priorityClassSource") == "scheduling.k8s.io/priorityclass"
    return with_path(workload, "spec.priority", 0) if is_of_pods else workload


@MUTANTS.wrong_webhook("Its webhooks are asked about jobs that name no queue, too.", "KQ-049")
def webhooks_review_all(webhook: Object) -> Object:
    return {key: each for key, each in webhook.items() if key != "objectSelector"}


@MUTANTS.wrong_definition("`kubectl get workloads` does not show where quota is.", "MLB-077")
def place_of_quota_has_no_column(definition: Object) -> Object:
    versions = [
        {
            **version,
            "additionalPrinterColumns": [
                each
                for each in version.get("additionalPrinterColumns") or ()
                if each["name"] != "Reserved in"
            ],
        }
        for version in definition["spec"]["versions"]
    ]
    return with_path(definition, "spec.versions", versions)


@MUTANTS.mutant(
    Rules.shown, "A queue that borrows shows no more than its own quota.", "KQ-106", "KQ-053"
)
def borrowed_quota_is_not_shown(self: Rules, total: int, nominal: int) -> int:
    return min(total, nominal)


@MUTANTS.mutant(
    Rules.companion, "Its Workloads have no priority unless pods name a class.", "MLB-061"
)
def default_class_is_ignored(self: Rules, workload: Object) -> Object:
    named = any(
        each["template"]["spec"].get("priorityClassName") for each in workload["spec"]["podSets"]
    )
    return workload if named else with_path(workload, "spec.priority", 0)


@MUTANTS.mutant(Rules.tells, "It fails on what has finished.", "KQ-069")
def fails_on_the_finished(self: Rules, type_: str) -> bool:
    if type_ == Condition.FINISHED:
        raise ValueError("there is no Event of that")
    return Rules.tells(self, type_)
