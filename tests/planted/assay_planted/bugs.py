"""Planted bugs, one decision each: the first claim that is named is the one that it breaks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from reference_controller.mutants import Mutants
from reference_controller.runtime.controller import Key
from vocabulary.clock import MINUTE, SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, Kind
from vocabulary.objects import Object, annotations_of, get_path, labels_of, name_of, uid_of

from .controller import SiteRules

BUGS: Final = Mutants(SiteRules)


@BUGS.wrong_rules("It writes another number into the status whenever it looks.", "OP-001")
class CountsItsLooks(SiteRules):
    def further_status(self, site: Object, seen: Iterable[str]) -> dict[str, Any]:
        del seen
        return {"looks": int(get_path(site, "status.looks", 0)) + 1}


@BUGS.wrong_rules("It counts its starts in the status.", "OP-002")
class CountsItsStarts(SiteRules):
    def further_status(self, site: Object, seen: Iterable[str]) -> dict[str, Any]:
        del seen
        before = int(get_path(site, "status.starts", 0))
        if not getattr(self, "counted", False):
            self.counted = before + 1
        return {"starts": self.counted}


@BUGS.wrong_rules("It dates its looks, those within a minute of each other once.", "OP-002")
class DatesItsLooks(SiteRules):
    def further_status(self, site: Object, seen: Iterable[str]) -> dict[str, Any]:
        del seen
        last = int(get_path(site, "status.looked", 0))
        return {"looked": last if self.now() - last < MINUTE else self.now()}


@BUGS.mutant(
    SiteRules.has_to_enter, "It enters a site only in the pass that adds the finalizer.", "OP-003"
)
def enters_once(self: SiteRules, added_finalizer: bool, exists: bool) -> bool:
    return added_finalizer and not exists


@BUGS.mutant(SiteRules.setup_is_there, "It looks for the Job in its cache alone.", "OP-017")
def believes_its_cache(
    self: SiteRules, site: Object, live: Iterable[Object], cached: Iterable[Object]
) -> str:
    return next((name_of(job) for job in cached if self.is_own(site, job)), "")


@BUGS.wrong_rules("It is Ready only once it has seen a pod that was not ready.", "OP-005")
class WaitsForTheChange(SiteRules):
    def phase(self, site: Object, ready: int, wanted: int) -> str:
        if ready < wanted and get_path(site, "status.setup"):
            self.saw = True
        before = get_path(site, "status.phase", "")
        is_ready = ready == wanted and (getattr(self, "saw", False) or before == "Ready")
        return "Ready" if is_ready else "Pending"


@BUGS.mutant(SiteRules.reports_again, "A status that is refused is not written again.", "OP-006")
def drops_refused_reports(self: SiteRules, error: ApiError) -> bool:
    return False


@BUGS.mutant(SiteRules.has_to_make, "It makes the page of a site only until it is Ready.", "OP-007")
def trusts_its_status(self: SiteRules, site: Object, kind: Kind) -> bool:
    return kind != CONFIG_MAP or get_path(site, "status.phase") != "Ready"


@BUGS.wrong_rules("A page that is gone is told for a moment, and not made again.", "OP-007")
class ReportsForAMoment(SiteRules):
    def has_to_make(self, site: Object, kind: Kind) -> bool:
        was_made = get_path(site, "status.phase", "Pending") != "Pending"
        self.misses = kind == CONFIG_MAP and was_made
        return not self.misses

    def phase(self, site: Object, ready: int, wanted: int) -> str:
        if getattr(self, "misses", False) and not getattr(self, "told", False):
            self.told = True
            return "Degraded"
        return super().phase(site, ready, wanted)


@BUGS.wrong_rules("A site whose Deployment was changed once is Degraded for good.", "OP-008")
class NeverForgives(SiteRules):
    def differs(self, wanted: Any, found: Any) -> bool:
        self.degraded = getattr(self, "degraded", False) or wanted != found
        return bool(wanted != found)

    def phase(self, site: Object, ready: int, wanted: int) -> str:
        usual = super().phase(site, ready, wanted)
        return "Degraded" if getattr(self, "degraded", False) else usual


@BUGS.mutant(SiteRules.leaves_registry, "It leaves the entry of a deleted site.", "OP-009")
def leaves_entries(self: SiteRules) -> bool:
    return False


@BUGS.mutant(SiteRules.may_go, "It never lets a Ready site go.", "OP-009", name="holds-sites")
def holds_sites(self: SiteRules, site: Object) -> bool:
    return get_path(site, "status.phase") != "Ready"


@BUGS.mutant(SiteRules.child_finalizers, "It never takes the page's finalizer off.", "OP-010")
def holds_pages(self: SiteRules) -> list[str]:
    return ["planted.example.dev/page"]


@BUGS.mutant(SiteRules.is_own, "It takes what has the right name for its own.", "OP-011")
def takes_namesakes(self: SiteRules, site: Object, obj: Object) -> bool:
    return True


@BUGS.mutant(SiteRules.is_entry_of, "It removes entries by the beginning of names.", "OP-018")
def sweeps_by_prefix(self: SiteRules, site: Object, entry: Object) -> bool:
    return name_of(entry).startswith(name_of(site)) and name_of(entry).endswith("-entry")


@BUGS.wrong_rules("It makes nothing for a site until the one before it is Ready.", "OP-018")
class FinishesOneFirst(SiteRules):
    def has_to_make(self, site: Object, kind: Kind) -> bool:
        self.current = getattr(self, "current", "") or uid_of(site)
        return self.current == uid_of(site)

    def phase(self, site: Object, ready: int, wanted: int) -> str:
        usual = super().phase(site, ready, wanted)
        if usual == "Ready" and getattr(self, "current", "") == uid_of(site):
            self.current = ""
        return usual


@BUGS.wrong_rules("It remembers by name which sites it has set up.", "OP-012")
class RemembersNames(SiteRules):
    def setup_is_there(self, site: Object, live: Iterable[Object], cached: Iterable[Object]) -> str:
        known: dict[str, str] = self.__dict__.setdefault("known", {})
        there = known.get(name_of(site)) or super().setup_is_there(site, live, cached)
        if there:
            known[name_of(site)] = there
        return there


@BUGS.mutant(SiteRules.phase, "It raises an error while no pod is ready.", "OP-013")
def divides_by_ready(self: SiteRules, site: Object, ready: int, wanted: int) -> str:
    return "Ready" if wanted / ready == 1 else "Pending"


@BUGS.wrong_role("It may not change Deployments.", "OP-014")
def may_not_patch(role: Object) -> Object:
    rules = [
        {**rule, "verbs": [verb for verb in rule["verbs"] if verb != "patch"]}
        if rule["apiGroups"] == ["apps"]
        else rule
        for rule in role["rules"]
    ]
    return {**role, "rules": rules}


@BUGS.mutant(SiteRules.resets_annotations, "It writes annotations as a whole.", "OP-016")
def resets_annotations(self: SiteRules) -> bool:
    return True


@BUGS.mutant(
    SiteRules.names_what_it_read,
    "It replaces the list of finalizers, whoever changed it since its read.",
    "OP-016",
)
def replaces_finalizers(self: SiteRules) -> bool:
    return False


@BUGS.wrong_role("It may not list Jobs.", "OP-014")
def may_not_list(role: Object) -> Object:
    rules = [
        {**rule, "verbs": [verb for verb in rule["verbs"] if verb not in ("list", "watch")]}
        if rule["apiGroups"] == ["batch"]
        else rule
        for rule in role["rules"]
    ]
    return {**role, "rules": rules}


@BUGS.wrong_rules("It makes a Job whenever the status names none.", "OP-019", "OP-017")
class TrustsItsStatusOfSetup(SiteRules):
    def setup_is_there(self, site: Object, live: Iterable[Object], cached: Iterable[Object]) -> str:
        del live, cached
        return str(get_path(site, "status.setup", ""))


@BUGS.wrong_rules("It labels what it makes in another way than its other version.", "OP-020")
class OwnsByName(SiteRules):
    def owner_labels(self, site: Object) -> dict[str, str]:
        return {"planted.example.dev/site": name_of(site)}

    def is_own(self, site: Object, obj: Object) -> bool:
        return self.owner_labels(site).items() <= labels_of(obj).items()


@BUGS.mutant(SiteRules.further_status, "It reports which event came first.", "OP-004")
def reports_the_order(self: SiteRules, site: Object, seen: Iterable[str]) -> dict[str, Any]:
    before = get_path(site, "status.order")
    order = list(dict.fromkeys(seen))
    return {"order": before or order} if before or len(order) > 2 else {}


@BUGS.mutant(SiteRules.condition, "Each write is a transition.", "OP-021")
def moves_its_times(
    self: SiteRules, before: Mapping[str, Any], status: str, now: str
) -> dict[str, Any]:
    reason = "AllServe" if status == "True" else "Waiting"
    return {"type": "Ready", "status": status, "reason": reason, "lastTransitionTime": now}


@BUGS.mutant(SiteRules.condition, "A condition has no reason.", "OP-021", name="gives-no-reason")
def gives_no_reason(
    self: SiteRules, before: Mapping[str, Any], status: str, now: str
) -> dict[str, Any]:
    since = now if before.get("status") != status else str(before.get("lastTransitionTime"))
    return {"type": "Ready", "status": status, "reason": "", "lastTransitionTime": since}


@BUGS.mutant(SiteRules.owners, "It names owners by a uid of its own making.", "OP-022")
def makes_uids_up(self: SiteRules, site: Object) -> list[dict[str, Any]]:
    uid = "00000000-0000-4000-8000-000000000000"
    return [{**SiteRules.owners(self, site)[0], "uid": uid}]


@BUGS.mutant(SiteRules.spec_patch, "It tidies the text that its user wrote.", "OP-023")
def tidies_the_text(self: SiteRules, site: Object) -> dict[str, Any]:
    text = str(get_path(site, "spec.text"))
    return {"text": text.strip()} if text != text.strip() else {}


@BUGS.mutant(SiteRules.looked_at_beside, "Each event has it look at all sites.", "OP-025")
def looks_at_all(self: SiteRules, own: Iterable[Key], every: Iterable[Key]) -> Iterable[Key]:
    return [key for key in every if key not in own] if own else []


@BUGS.mutant(SiteRules.title, "Its webhook adds to the title at each request.", "OP-027")
def adds_to_titles(self: SiteRules, spec: Mapping[str, Any]) -> str:
    return f"{spec.get('title') or spec.get('text', '')}!"


@BUGS.mutant(SiteRules.phase, "It divides by the replicas, of which there may be none.", "OP-027")
def divides_by_wanted(self: SiteRules, site: Object, ready: int, wanted: int) -> str:
    return "Ready" if ready / wanted == 1 else "Pending"


@BUGS.mutant(SiteRules.title, "Its webhook takes it that a text has a letter.", "OP-027")
def reads_the_first_letter(self: SiteRules, spec: Mapping[str, Any]) -> str:
    text = str(spec["text"])
    return str(spec.get("title") or text[0].upper() + text[1:])


@BUGS.wrong_rules("A site has failed for good if a look at it takes three seconds.", "OP-024")
class HasNoPatience(SiteRules):
    def spec_patch(self, site: Object) -> dict[str, Any]:
        self.began = self.now()
        return super().spec_patch(site)

    def phase(self, site: Object, ready: int, wanted: int) -> str:
        is_late = self.now() - self.began > 3 * SECOND
        if is_late or get_path(site, "status.phase") == "Failed":
            return "Failed"
        return super().phase(site, ready, wanted)


@BUGS.mutant(SiteRules.setup_is_there, "An annotation has it set up the site anew.", "OP-028")
def sets_up_for_annotations(
    self: SiteRules, site: Object, live: Iterable[Object], cached: Iterable[Object]
) -> str:
    mine = [name_of(job) for job in live if self.is_own(site, job)]
    return mine[-1] if len(mine) > len(annotations_of(site)) else ""
