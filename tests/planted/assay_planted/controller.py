"""The sound operator of Sites. Its decisions are methods of `SiteRules`, which bugs override."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, Final

from reference_controller.rules import Rules
from reference_controller.runtime.admission_review import Operation, UserInfo, Webhook
from reference_controller.runtime.caches import Caches
from reference_controller.runtime.controller import Key, key_of
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT, JOB, Kind
from vocabulary.objects import (
    Object,
    controller_of,
    finalizers_of,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    uid_of,
)
from vocabulary.requests import Create, Delete, Get, List, Patch, Reconcile

SITE: Final = Kind("planted.example.dev", "v1", "Site", "sites")
FINALIZER: Final = "planted.example.dev/registry"
OWNER: Final = "planted.example.dev/site-uid"
IMAGE: Final = "registry.k8s.io/pause:3.10"
Requests = Generator[Any, Any, Any]


class SiteRules(Rules):
    """The decisions of the operator."""

    def __init__(self) -> None:
        self.now: Callable[[], Micros] = lambda: 0

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        self.now = clock

    def has_to_enter(self, added_finalizer: bool, exists: bool) -> bool:
        """True if the registry's entry has to be created in this pass."""
        del added_finalizer
        return not exists

    def is_own(self, site: Object, obj: Object) -> bool:
        """True if an object with an expected name was made for this site."""
        return labels_of(obj).get(OWNER) == uid_of(site)

    def owner_labels(self, site: Object) -> dict[str, str]:
        """The labels by which it knows what was made for a site."""
        return {OWNER: uid_of(site)}

    def has_to_make(self, site: Object, kind: Kind) -> bool:
        """True if an object that is missing has to be created."""
        del site, kind
        return True

    def differs(self, wanted: Any, found: Any) -> bool:
        """True if a field that was changed has to be put back."""
        return bool(wanted != found)

    def setup_is_there(self, site: Object, live: Iterable[Object], cached: Iterable[Object]) -> str:
        """The name of the Job that set the site up; empty if one has to be created."""
        del cached
        return next((name_of(job) for job in live if self.is_own(site, job)), "")

    def reports_again(self, error: ApiError) -> bool:
        """True if a status that was refused is written again."""
        del error
        return True

    def survives(self, error: ApiError) -> bool:
        """True for an error after which the pass goes on."""
        return error.is_already_exists

    def owners(self, site: Object) -> list[dict[str, Any]]:
        return [
            {
                "apiVersion": SITE.api_version,
                "kind": SITE.kind,
                "name": name_of(site),
                "uid": uid_of(site),
                "controller": True,
            }
        ]

    def child_finalizers(self) -> list[str]:
        """Finalizers of the page."""
        return []

    def is_entry_of(self, site: Object, entry: Object) -> bool:
        """True if an entry is removed as the site goes."""
        return name_of(entry) == _entry(name_of(site)) and self.is_own(site, entry)

    def leaves_registry(self) -> bool:
        """True if the entry is removed as the site goes."""
        return True

    def may_go(self, site: Object) -> bool:
        """True if the finalizer is taken off."""
        del site
        return True

    def phase(self, site: Object, ready: int, wanted: int) -> str:
        del site
        return "Ready" if ready == wanted else "Pending"

    def condition(self, before: Mapping[str, Any], status: str, now: str) -> dict[str, Any]:
        """The condition Ready; `before` is the one that stands, if any."""
        moved = before.get("status") != status
        since = now if moved else str(before.get("lastTransitionTime"))
        reason = "AllServe" if status == "True" else "Waiting"
        return {"type": "Ready", "status": status, "reason": reason, "lastTransitionTime": since}

    def further_status(self, site: Object, seen: Iterable[str]) -> dict[str, Any]:
        """Further fields of the status; `seen` are the kinds of the events so far, in order."""
        del site, seen
        return {}

    def names_what_it_read(self) -> bool:
        """True if finalizers are written only to the version of the site that was read."""
        return True

    def resets_annotations(self) -> bool:
        """True if annotations are written as the operator knows them: it knows none."""
        return False

    def title(self, spec: Mapping[str, Any]) -> str:
        """The title that the webhook gives a site."""
        return str(spec.get("title") or spec.get("text", ""))

    def looked_at_beside(self, own: Iterable[Key], every: Iterable[Key]) -> Iterable[Key]:
        """Further sites that an event has it look at."""
        del own, every
        return ()

    def spec_patch(self, site: Object) -> dict[str, Any]:
        """A change of the subject's own spec; empty: none."""
        del site
        return {}


def with_title(rules: SiteRules) -> Webhook:
    """The mutating webhook of Sites."""

    def mutate(operation: Operation, new: Object, old: Object | None, user: UserInfo) -> Object:
        del operation, old, user
        spec = new.get("spec") or {}
        return {**new, "spec": {**spec, "title": rules.title(spec)}}

    return Webhook(mutate)


class SiteController:
    name = "site"
    watches = (SITE, CONFIG_MAP, DEPLOYMENT, JOB)

    def __init__(self, rules: SiteRules) -> None:
        self._rules = rules
        self._seen: list[str] = []

    def use_clock(self, clock: Callable[[], Micros]) -> None:
        self._rules.use_clock(clock)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        del old
        own = self._key_of(kind, obj)
        every = (key_of(site) for site in caches[SITE])
        return [*own, *self._rules.looked_at_beside(own, every)]

    def _key_of(self, kind: Kind, obj: Object) -> list[Key]:
        if kind == SITE:
            return [key_of(obj)]
        owner = controller_of(obj) or {}
        name = owner.get("name") if owner.get("kind") == SITE.kind else None
        entry = labels_of(obj).get("planted.example.dev/entry-of")
        if name or entry:
            self._seen.append(kind.kind)
        return [Key(key_of(obj).namespace, str(name or entry))] if name or entry else []

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        rules = self._rules
        site = yield from _or_none(Get(SITE, *key))
        if site is None:
            return None
        if is_terminating(site):
            yield from self._leave(site, key)
            return None
        added = FINALIZER not in finalizers_of(site)
        if added:
            site = yield Patch(
                SITE, *key, self._with_finalizers(site, [*finalizers_of(site), FINALIZER])
            )
            if rules.resets_annotations():
                body = [{"op": "add", "path": "/metadata/annotations", "value": {}}]
                site = yield Patch(SITE, *key, body, patch_type="json")
        if patch := rules.spec_patch(site):
            site = yield Patch(SITE, *key, {"spec": patch})
        taken = yield from self._enter(site, key, added)
        replicas = int(get_path(site, "spec.replicas", 1))
        page = self._child(site, f"{key.name}-page", {"data": {"text": site["spec"]["text"]}})
        page["metadata"]["finalizers"] = rules.child_finalizers()
        taken += yield from self._make(site, CONFIG_MAP, page, "data.text")
        web = self._child(site, f"{key.name}-web", {"spec": _deployment(key.name, replicas)})
        taken += yield from self._make(site, DEPLOYMENT, web, "spec.replicas")
        setup = "" if taken else (yield from self._set_up(site, key))
        served = yield from _or_none(Get(DEPLOYMENT, key.namespace, f"{key.name}-web"))
        ready = int(get_path(served or {}, "status.readyReplicas", 0))
        phase = "Blocked" if taken else rules.phase(site, ready, replicas)
        yield from self._report(site, key, phase, setup, now_us)
        return None

    def _leave(self, site: Object, key: Key) -> Requests:
        if FINALIZER not in finalizers_of(site) or not self._rules.may_go(site):
            return
        live = yield List(CONFIG_MAP, key.namespace, live=True)
        for entry in live.items:
            if self._rules.is_entry_of(site, entry) and self._rules.leaves_registry():
                yield from _or_none(Delete(CONFIG_MAP, key.namespace, name_of(entry)))
        kept = [each for each in finalizers_of(site) if each != FINALIZER]
        yield from _or_none(Patch(SITE, *key, self._with_finalizers(site, kept)))

    def _with_finalizers(self, site: Object, finalizers: list[str]) -> Object:
        patch: Object = {"metadata": {"finalizers": finalizers or None}}
        if self._rules.names_what_it_read():
            patch["metadata"]["resourceVersion"] = meta(site)["resourceVersion"]
        return patch

    def _enter(self, site: Object, key: Key, added: bool) -> Requests:
        """Enter the site into the registry; the names that others have taken."""
        found = yield from _or_none(Get(CONFIG_MAP, key.namespace, _entry(key.name), live=True))
        if found is not None:
            return [] if self._rules.is_own(site, found) else [name_of(found)]
        if self._rules.has_to_enter(added, exists=False):
            entry = self._child(site, _entry(key.name), {"data": {"site": key.name}})
            del entry["metadata"]["ownerReferences"]
            entry["metadata"]["labels"]["planted.example.dev/entry-of"] = key.name
            yield from self._create(CONFIG_MAP, entry)
        return []

    def _make(self, site: Object, kind: Kind, wanted: Object, field: str) -> Requests:
        name, namespace = name_of(wanted), meta(site)["namespace"]
        found = yield from _or_none(Get(kind, namespace, name, live=True))
        if found is None:
            if self._rules.has_to_make(site, kind):
                yield from self._create(kind, wanted)
            return []
        if not self._rules.is_own(site, found):
            return [name]
        if self._rules.differs(get_path(wanted, field), get_path(found, field)):
            head, _, tail = field.partition(".")
            yield Patch(kind, namespace, name, {head: {tail: get_path(wanted, field)}})
        return []

    def _set_up(self, site: Object, key: Key) -> Requests:
        live = yield List(JOB, key.namespace, live=True)
        cached = yield List(JOB, key.namespace)
        there = self._rules.setup_is_there(site, live.items, cached.items)
        if there:
            return there
        job = self._child(site, "", {"spec": _job()})
        del job["metadata"]["name"]
        job["metadata"]["generateName"] = f"{key.name}-setup-"
        made = yield from self._create(JOB, job)
        return name_of(made) if made else "unknown"

    def _create(self, kind: Kind, obj: Object) -> Requests:
        namespace = meta(obj)["namespace"]
        try:
            return (yield Create(kind, obj, namespace, str(meta(obj).get("name", ""))))
        except ApiError as error:
            if not self._rules.survives(error):
                raise
            return None

    def _report(self, site: Object, key: Key, phase: str, setup: str, now_us: Micros) -> Requests:
        before = site.get("status") or {}
        conditions = get_path(before, "conditions") or [{}]
        status = "True" if phase == "Ready" else "False"
        wanted = {
            "phase": phase,
            "observedGeneration": meta(site)["generation"],
            "conditions": [self._rules.condition(conditions[0], status, to_rfc3339(now_us))],
            **({"setup": setup} if setup else {}),
            **self._rules.further_status(site, self._seen),
        }
        if any(before.get(field) != value for field, value in wanted.items()):
            version = {"resourceVersion": meta(site)["resourceVersion"]}
            body = {"metadata": version, "status": wanted}
            try:
                yield Patch(SITE, *key, body, subresource="status")
            except ApiError as error:
                if self._rules.reports_again(error):
                    raise

    def _child(self, site: Object, name: str, body: Object) -> dict[str, Any]:
        metadata = {
            "name": name,
            "namespace": meta(site)["namespace"],
            "labels": self._rules.owner_labels(site),
            "ownerReferences": self._rules.owners(site),
        }
        return {**body, "metadata": metadata}


def _or_none(request: Any) -> Requests:
    """The answer; None if the object is not there."""
    try:
        return (yield request)
    except ApiError as error:
        if error.is_not_found:
            return None
        raise


def _entry(site: str) -> str:
    return f"{site}-entry"


def _deployment(site: str, replicas: int) -> Object:
    labels = {"site": site}
    pod = {"containers": [{"name": "web", "image": IMAGE}]}
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}


def _job() -> Object:
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": "setup", "image": IMAGE, "command": ["true"]}],
    }
    return {"template": {"spec": pod}}
