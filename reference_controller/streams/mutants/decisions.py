"""Single decisions made wrongly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from reference_controller.streams.mutants.registry import MUTANTS
from reference_controller.streams.names import ATTEMPT, HOST_POOL, PROCESSING_ELEMENT, Phase
from reference_controller.streams.rules import Rules
from vocabulary.kinds import CONFIG_MAP, POD, SERVICE, Kind
from vocabulary.objects import Object, labels_of

MANY: Final = 5


@MUTANTS.mutant(Rules.precondition, "It deletes whichever Job has the name.", "ST-046")
def any_job_of_the_name(self: Rules, uid: str) -> str | None:
    return None


@MUTANTS.mutant(
    Rules.keeps_record, "It only remembers that it has to recreate a Job.", "ST-038", "ST-001"
)
def keeps_no_record(self: Rules) -> bool:
    return False


@MUTANTS.mutant(Rules.successor, "It copies the Job with all its metadata.", "ST-036")
def copies_metadata(self: Rules, clean: Object, interrupted: Object | None) -> Object:
    if interrupted is None:
        return clean
    left_out = ("resourceVersion", "uid", "deletionTimestamp", "deletionGracePeriodSeconds")
    metadata = {key: value for key, value in interrupted["metadata"].items() if key not in left_out}
    return {**clean, "metadata": metadata}


@MUTANTS.mutant(Rules.successor, "It carries the id over.", "ST-036")
def carries_the_id(self: Rules, clean: Object, interrupted: Object | None) -> Object:
    if interrupted is None:
        return clean
    return {**clean, "spec": {**clean["spec"], "id": interrupted["spec"]["id"]}}


@MUTANTS.mutant(Rules.waits_for, "It waits for nothing that is left.", "ST-034")
def waits_for_nothing(self: Rules, left: int) -> bool:
    return False


@MUTANTS.mutant(Rules.is_cancelled, "It replaces a Job that its user has deleted.", "ST-039")
def never_cancels(self: Rules, was_asked: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.brings_back, "It brings back what a user deletes.", "ST-039")
def brings_back_the_deleted(self: Rules, is_submitted: bool) -> bool:
    return not is_submitted


@MUTANTS.mutant(Rules.successor, "It forgets what its user has asked for.", "ST-029")
def forgets_the_spec(self: Rules, clean: Object, interrupted: Object | None) -> Object:
    spec = {key: clean["spec"][key] for key in clean["spec"] if key != "parallelRegions"}
    return {**clean, "spec": spec}


@MUTANTS.mutant(Rules.successor, "It takes each attempt for the first one.", "ST-049")
def attempts_are_not_counted(self: Rules, clean: Object, interrupted: Object | None) -> Object:
    labels = {key: value for key, value in labels_of(clean).items() if key != ATTEMPT}
    return {**clean, "metadata": {**clean["metadata"], "labels": labels}}


@MUTANTS.mutant(Rules.successor, "It forgets labels and annotations.", "ST-029")
def forgets_the_labels(self: Rules, clean: Object, interrupted: Object | None) -> Object:
    kept = ("name", "namespace", "finalizers")
    metadata = {key: clean["metadata"][key] for key in kept if key in clean["metadata"]}
    return {**clean, "metadata": metadata}


@MUTANTS.mutant(Rules.is_interrupted, "It tells by time in whole seconds.", "ST-037")
def tells_by_time(
    self: Rules, is_driven: bool, is_whole: bool, created_s: int, started_s: int
) -> bool:
    return not is_driven and created_s < started_s


@MUTANTS.mutant(Rules.is_interrupted, "It goes on where all parts are there.", "ST-008")
def whole_ones_are_fine(
    self: Rules, is_driven: bool, is_whole: bool, created_s: int, started_s: int
) -> bool:
    return not is_driven and not is_whole


@MUTANTS.mutant(Rules.is_interrupted, "It recovers what it submits itself.", "ST-005")
def interrupts_itself(
    self: Rules, is_driven: bool, is_whole: bool, created_s: int, started_s: int
) -> bool:
    return True


@MUTANTS.wrong_rules("It waits until something happens to a Job.", "ST-004")
class WaitsForEvents(Rules):
    def __init__(self) -> None:
        super().__init__()
        self._looks: Counter[str] = Counter()

    def begins_at_once(self, uid: str, attempt: str) -> bool:
        self._looks[uid] += 1
        return self._looks[uid] > MANY


@MUTANTS.mutant(Rules.begins_at_once, "It recovers a Job once.", "ST-012")
def second_attempts_stay_interrupted(self: Rules, uid: str, attempt: str) -> bool:
    return attempt == "1"


@MUTANTS.mutant(Rules.is_fresh, "It replaces Jobs that nobody has begun to submit.", "ST-013")
def fresh_ones_are_replaced(self: Rules, has_id: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.is_submitted, "It submits again what was submitted.", "ST-011", "ST-042")
def submits_again(self: Rules, phase: str) -> bool:
    return False


@MUTANTS.mutant(Rules.is_submitted, "It takes unknown phases for Submitted.", "ST-012")
def unknown_phases_are_fine(self: Rules, phase: str) -> bool:
    return phase not in ("", Phase.SUBMISSION)


@MUTANTS.mutant(Rules.first_phase, "It keeps the phase in memory until the end.", "ST-010")
def phase_is_not_stored(self: Rules) -> str:
    return ""


@MUTANTS.mutant(Rules.next_id, "It forgets the ids of other Jobs at a restart.", "ST-044")
def ids_are_used_again(self: Rules, known: Sequence[int], last: int) -> int:
    return last + 1


@MUTANTS.mutant(Rules.reference, "HostPools have no owner.", "ST-027")
def host_pools_have_no_owner(self: Rules, kind: Kind, reference: Object) -> Object | None:
    return None if kind == HOST_POOL else reference


@MUTANTS.mutant(Rules.reference, "ProcessingElements do not hold their Job back.", "ST-033")
def elements_block_nothing(self: Rules, kind: Kind, reference: Object) -> Object | None:
    if kind != PROCESSING_ELEMENT:
        return reference
    return {**reference, "blockOwnerDeletion": False}


@MUTANTS.mutant(Rules.reference, "ProcessingElements have no owner.", "ST-027")
def elements_have_no_owner(self: Rules, kind: Kind, reference: Object) -> Object | None:
    return None if kind == PROCESSING_ELEMENT else reference


@MUTANTS.mutant(Rules.reference, "Parts of the core group have no owner.", "ST-027")
def core_parts_have_no_owner(self: Rules, kind: Kind, reference: Object) -> Object | None:
    return None if kind.group == "" else reference


@MUTANTS.mutant(Rules.reference, "Only ProcessingElements hold their Job back.", "ST-033")
def only_elements_block(self: Rules, kind: Kind, reference: Object) -> Object | None:
    return {**reference, "blockOwnerDeletion": kind == PROCESSING_ELEMENT}


@MUTANTS.mutant(Rules.next_id, "It does not remember the ids that it has given.", "ST-044")
def ids_follow_the_cache(self: Rules, known: Sequence[int], last: int) -> int:
    return max((*known, -1)) + 1


@MUTANTS.mutant(Rules.counts, "It counts all that bears the Job's name.", "ST-009")
def counts_by_name(self: Rules, kind: Kind, is_owned: bool, is_terminating: bool) -> bool:
    return True


@MUTANTS.mutant(Rules.is_complete, "It does not wait for pods.", "ST-007")
def pods_are_left_out(self: Rules, kind: Kind, found: int, wanted: int) -> bool:
    return kind == POD or found >= wanted


@MUTANTS.mutant(Rules.is_complete, "It waits for pods alone.", "ST-009", "ST-007")
def parts_are_left_out(self: Rules, kind: Kind, found: int, wanted: int) -> bool:
    return kind != POD or found >= wanted


@MUTANTS.wrong_rules("It does not notice what is lost.", "ST-006")
class LossesGoUnnoticed(Rules):
    def __init__(self) -> None:
        super().__init__()
        self._created: set[tuple[str, Kind, str]] = set()

    def creates(self, uid: str, kind: Kind, name: str) -> bool:
        was_created = (uid, kind, name) in self._created
        self._created.add((uid, kind, name))
        return not was_created


@MUTANTS.mutant(Rules.is_current, "It creates pods without their ConfigMaps.", "ST-023")
def pods_need_no_config(self: Rules, content: str | None, wanted: str) -> bool:
    return True


@MUTANTS.mutant(Rules.is_current, "It takes the ConfigMap as it is.", "ST-022")
def stale_content_is_fine(self: Rules, content: str | None, wanted: str) -> bool:
    return content is not None


@MUTANTS.mutant(Rules.launches, "It launches nothing.", "ST-024")
def nothing_is_launched(self: Rules, count: int) -> bool:
    return False


@MUTANTS.mutant(Rules.may_launch, "It makes pods for interrupted Jobs.", "ST-021")
def launches_the_interrupted(self: Rules, is_submitted: bool, is_driven: bool) -> bool:
    return True


@MUTANTS.mutant(Rules.has_host_pools, "It creates pods without HostPools.", "ST-050")
def pods_need_no_host_pools(self: Rules, found: int, wanted: int) -> bool:
    return True


@MUTANTS.mutant(Rules.restarts_deleted, "It does not restart deleted pods.", "ST-019")
def deleted_pods_stay_away(self: Rules, setting: bool) -> bool:
    return False


@MUTANTS.mutant(Rules.restarts_deleted, "It restarts pods against their user's wish.", "ST-019")
def settings_are_ignored(self: Rules, setting: bool) -> bool:
    return True


@MUTANTS.mutant(Rules.restarts_failed, "It does not restart failed pods.", "ST-048")
def failed_pods_stay_away(self: Rules, setting: bool | None) -> bool:
    return False


@MUTANTS.mutant(Rules.restarts_failed, "It restarts failed pods always.", "ST-048")
def failures_are_always_restarted(self: Rules, setting: bool | None) -> bool:
    return True


@MUTANTS.mutant(Rules.is_lost, "It takes a pod that its cache lacks for lost.", "ST-047")
def caches_are_trusted(self: Rules, is_gone: bool) -> bool:
    return True


@MUTANTS.mutant(
    Rules.may_restore, "It restores what is being deleted with its owner.", "ST-040", "ST-020"
)
def restores_below_the_dying(self: Rules, is_owner_alive: bool) -> bool:
    return True


@MUTANTS.mutant(Rules.restores, "It does not restore Services.", "ST-045")
def services_stay_away(self: Rules, kind: Kind) -> bool:
    return kind != SERVICE


@MUTANTS.mutant(Rules.restores, "It does not restore ConfigMaps.", "ST-045")
def config_maps_stay_away(self: Rules, kind: Kind) -> bool:
    return kind != CONFIG_MAP


@MUTANTS.mutant(Rules.restarts_deleted, "It fails on pods that stay deleted.", "ST-052")
def fails_on_the_lost(self: Rules, setting: bool) -> bool:
    if not setting:
        raise ValueError("it has no pod")
    return True
