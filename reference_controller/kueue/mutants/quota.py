"""Quota that is given where there is none, or not where there is; flavors in another order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reference_controller.kueue.flavors import Mode
from reference_controller.kueue.mutants.registry import MUTANTS
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Usage, Workload
from vocabulary.objects import Object, get_path, with_path


@MUTANTS.mutant(Rules.fits, "It gives a unit more than there is.", "KQ-047")
def more_is_given_than_there_is(self: Rules, asked: int, available: int) -> bool:
    return asked <= available + 1000


@MUTANTS.mutant(Rules.fits, "It never gives the last unit.", "KQ-105", "MLB-006")
def the_last_unit_is_kept(self: Rules, asked: int, available: int) -> bool:
    return asked < available


@MUTANTS.mutant(
    Rules.fits, "It takes what a queue holds beyond its quota for quota that is left.", "KQ-047"
)
def overdrawn_quota_is_left(self: Rules, asked: int, available: int) -> bool:
    return asked <= abs(available)


@MUTANTS.mutant(Rules.suffices, "It gives several resources where one of them fits.", "KQ-047")
def one_resource_is_enough(self: Rules, lacking: int, asked: int) -> bool:
    return lacking < asked or not lacking


@MUTANTS.mutant(Rules.counts_additions, "It ignores RuntimeClasses and LimitRanges.", "QL-001")
def templates_say_all(self: Rules) -> bool:
    return False


@MUTANTS.mutant(Rules.limit, "It ignores limits of borrowing and lending.", "KQ-047")
def limits_do_not_bind(self: Rules, limit: int | None) -> int | None:
    return None


@MUTANTS.mutant(Rules.is_needed, "It gives what its queues have no quota of.", "KQ-047")
def uncovered_resources_are_free(self: Rules, asked: int) -> bool:
    return False


@MUTANTS.mutant(Rules.is_sidecar, "It takes sidecars for containers that end.", "QL-001")
def sidecars_end(self: Rules, container: Object) -> bool:
    return False


@MUTANTS.mutant(
    Rules.is_counted, "Where a queue borrows, nothing more is borrowing, too.", "KQ-103"
)
def nothing_counts(self: Rules, asked: int) -> bool:
    return True


@MUTANTS.mutant(Rules.is_in_doubt, "It takes a lost answer for a refusal.", "KQ-047")
def lost_answers_are_refusals(self: Rules, may_be_stored: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.is_usable, "It never borrows.", "KQ-102", "MLB-003")
def nothing_is_borrowed(self: Rules, mode: Mode) -> bool:
    return mode in {Mode.PREEMPT, Mode.FIT}


@MUTANTS.mutant(Rules.in_order, "It tries flavors from the last.", "KQ-045", "KQ-024")
def the_last_flavor_comes_first(self: Rules, flavors: tuple[str, ...]) -> tuple[str, ...]:
    return flavors[::-1]


@MUTANTS.mutant(Rules.ends_trial, "It tries all flavors before it borrows.", "KQ-045")
def borrowing_is_put_off(
    self: Rules, mode: Mode, borrows_at_once: bool, preempts_at_once: bool
) -> bool:
    return mode == Mode.FIT


@MUTANTS.mutant(Rules.ends_trial, "It borrows before it tries the next flavor.", "KQ-045")
def borrowing_is_not_put_off(
    self: Rules, mode: Mode, borrows_at_once: bool, preempts_at_once: bool
) -> bool:
    return Rules.ends_trial(self, mode, True, preempts_at_once)


@MUTANTS.mutant(Rules.suits, "It ignores the taints of flavors.", "KQ-045")
def taints_do_not_matter(self: Rules, is_tolerated: bool, is_selected: bool) -> bool:
    return is_selected


@MUTANTS.mutant(Rules.suits, "It ignores the labels of flavors.", "KQ-045")
def labels_do_not_matter(self: Rules, is_tolerated: bool, is_selected: bool) -> bool:
    return is_tolerated


@MUTANTS.mutant(Rules.fed_by, "All LocalQueues feed one ClusterQueue.", "KQ-101")
def all_feed_one_queue(self: Rules, named: str, queues: Sequence[str]) -> str:
    return min(queues, default=named)


@MUTANTS.mutant(Rules.held, "It counts the first pod set of a Workload alone.", "KQ-047")
def first_pod_set_is_enough(self: Rules, workload: Workload) -> Usage:
    path = "status.admission.podSetAssignments"
    first = get_path(workload.object, path, ())[:1]
    return Workload(with_path(workload.object, path, first)).usage


@MUTANTS.mutant(
    Rules.node_selector, "It starts jobs without the nodeLabels of their flavors.", "KQ-068"
)
def flavors_place_nothing(self: Rules, node_labels: Mapping[str, str]) -> Mapping[str, str]:
    return {}


@MUTANTS.mutant(
    Rules.takes_back, "It leaves jobs on the nodes of flavors that they have no more.", "KQ-058"
)
def placed_for_good(self: Rules, is_placed: bool) -> bool:
    return False


@MUTANTS.mutant(
    Rules.stands_for, "It takes the Workload of an earlier job of the same name.", "QL-001"
)
def names_are_enough(self: Rules, owner_uid: str, uid: str) -> bool:
    return True


@MUTANTS.mutant(Rules.held, "It counts what evicted Workloads hold as free.", "QL-002", "KQ-047")
def evicted_ones_hold_nothing(self: Rules, workload: Workload) -> Usage:
    return {} if workload.is_evicted else workload.usage


@MUTANTS.mutant(Rules.keeps, "It takes pod sets that are done out of the admission, too.", "QL-005")
def done_ones_are_not_admitted(self: Rules, workload: Workload) -> Mapping[str, Any]:
    status = Rules.keeps(self, workload)
    assigned = workload.admission.get("podSetAssignments", ())
    left = [each for each in assigned if workload.needed[each["name"]]]
    path = "admission.podSetAssignments"
    return status if len(left) == len(assigned) else with_path(status, path, left)


@MUTANTS.mutant(
    Rules.held,
    "It takes pods that are done off an admission that is without them.",
    "QL-002",
    "KQ-047",
)
def done_pods_count_twice(self: Rules, workload: Workload) -> Usage:
    counts = [int(each["count"]) for each in workload.admission.get("podSetAssignments", ())]
    whole = [
        {**each, "count": count} for each, count in zip(workload.pod_sets, counts, strict=False)
    ]
    return Workload(with_path(workload.object, "spec.podSets", whole)).usage
