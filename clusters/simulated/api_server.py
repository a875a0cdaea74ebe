"""The API server: everything that stands between a client and the store.

`handle` takes one request of one actor and answers as a real API server would: with the
object, an `ObjectList`, or an `ApiError`. It is synchronous; latency belongs to clients.

What happens to a write, in order: the patch is applied, defaults are filled in, admission
may change or refuse it, the kind's strategy clears what the writer cannot decide, metadata
and fields are validated, and it is stored unless it changes nothing. The steps themselves
live in the modules beside this one; this one only puts them in order.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

import msgspec

from clusters.simulated import object_meta
from clusters.simulated.access.authorization import Authorizer
from clusters.simulated.access.bootstrap import GROUP as RBAC_GROUP
from clusters.simulated.access.escalation import require_no_escalation
from clusters.simulated.access.impersonation import Impersonation
from clusters.simulated.access.rbac import Rbac
from clusters.simulated.access.reviews import REVIEW_GROUPS, Reviews
from clusters.simulated.access.tokens import Tokens
from clusters.simulated.admission import Admission
from clusters.simulated.aggregation import Aggregation
from clusters.simulated.asked_for import asked_for
from clusters.simulated.builtin.pods import with_tolerations
from clusters.simulated.builtin.registry import built_in_strategies
from clusters.simulated.builtin.wire_form import drop_optional_zeros
from clusters.simulated.custom_resources.conversion import Exchange, not_reached
from clusters.simulated.custom_resources.establishing import Definitions
from clusters.simulated.deletion import delete, removes
from clusters.simulated.field_errors import invalid
from clusters.simulated.identities import Identities
from clusters.simulated.limit_ranges import default_resources, require_limits
from clusters.simulated.loop import Loop
from clusters.simulated.namespaces import FIRST_NAMESPACES, require_mortal, require_namespace
from clusters.simulated.patches.applied import applied_object
from clusters.simulated.patches.apply import apply
from clusters.simulated.patches.field_managers import FieldManagers
from clusters.simulated.patches.ownership import Manager, Ownership, Stamp
from clusters.simulated.patches.typed_patch import convertible, require_typed
from clusters.simulated.pod_subresources import bind, evict
from clusters.simulated.priority import resolve_priority
from clusters.simulated.quota import require_quota
from clusters.simulated.reading import (
    Reader,
    in_version,
    method_not_allowed,
    no_such_subresource,
)
from clusters.simulated.recorder import Recorder
from clusters.simulated.request_checks import (
    check_preconditions,
    check_type,
    other_namespace,
    said_kind,
    uid_conflict,
)
from clusters.simulated.request_timeout import (
    REQUEST_TIMEOUT_US,
    RequestTimeoutError,
    is_over,
)
from clusters.simulated.runtime_classes import apply_runtime_class, require_overhead
from clusters.simulated.scale import require_replicas, scale_of
from clusters.simulated.store import Change, Key, Store
from clusters.simulated.strategy import Strategy
from clusters.simulated.watches import Deliver, Watch, WatchRequest
from vocabulary import requests as rq
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.errors import ApiError, already_exists, conflict, kept_message, not_found
from vocabulary.kinds import NAMESPACE, POD, Kind
from vocabulary.objects import Object, is_terminating, meta, name_of, uid_of

SingleWrite: TypeAlias = rq.Create | rq.Update | rq.Patch | rq.Delete
Outcome: TypeAlias = tuple[Change | None, Any]
"""The change a write made to the store (None: no change), and its response."""
Send: TypeAlias = Callable[[rq.Write], Any]
"""Carries a write out. Returns an `Outcome`; of a deletion of a collection, what it chose."""
Interposed: TypeAlias = Callable[[rq.Write, Send, Send], Any]
"""Stands between one client and the server. It is given a write, a function that carries one out,
and a function that answers one as if it were carried out: nothing is stored or recorded."""


class _ChangedMeanwhileError(Exception):
    """The object is another one than the write began with."""


class ApiServer:
    """The front of one simulated cluster."""

    def __init__(self, loop: Loop, store: Store, recorder: Recorder) -> None:
        self.loop = loop
        self.store = store
        self.recorder = recorder
        self.strategies: dict[str, Strategy] = built_in_strategies()
        self.kinds: dict[str, Kind] = {
            name: strategy.kind for name, strategy in self.strategies.items()
        }
        self.admission = Admission()
        self.interposed: dict[str, Interposed] = {}
        """By the actors whose writes do not arrive as they were sent."""
        self.conversion: Exchange = not_reached
        """Calls the conversion webhooks of definitions."""
        self.access = Authorizer(Rbac(store))
        self.impersonation = Impersonation(self.access.rbac)
        self.tokens = Tokens(store, self._now, lambda: loop.rng("token key").randbytes(32))
        self._reviews = Reviews(self.access, self.tokens, self._now)
        self._reader = Reader(store, self.strategies)
        self._definitions = Definitions(
            loop, store, self.serve_kind, self.withdraw_kind, self.handle, self._call_converter
        )
        self._field_managers = FieldManagers()
        self._identities = Identities(loop, store)
        self.aggregation = Aggregation(loop, store, self.strategies, self._identities, self.handle)
        for name in FIRST_NAMESPACES:
            self._create_namespace(name)

    def _call_converter(self, definition: Object, review: bytes) -> bytes:
        return self.conversion(definition, review)

    def _now(self) -> Micros:
        return self.loop.now_us

    def serve_kind(self, strategy: Strategy) -> None:
        """Serve one more kind, or serve a kind by another strategy from now on."""
        self.strategies[strategy.kind.group_kind] = strategy
        self.kinds[strategy.kind.group_kind] = strategy.kind

    def withdraw_kind(self, kind: Kind) -> None:
        """Serve a kind no longer."""
        self.strategies.pop(kind.group_kind, None)
        self.kinds.pop(kind.group_kind, None)

    def served(self, kind: Kind) -> Kind:
        """The kind with the plural and scope that it is served with, as clients learn them by
        discovery; unchanged if it is not served."""
        known = self.kinds.get(kind.group_kind)
        if known is None or known == kind:
            return kind
        if known.plural == kind.plural and known.namespaced == kind.namespaced:
            return kind
        return msgspec.structs.replace(kind, plural=known.plural, namespaced=known.namespaced)

    def handle(
        self, request: rq.Request, actor: str, timeout_us: Micros = REQUEST_TIMEOUT_US
    ) -> Any:
        """Answer one request; raises ApiError as the server would. Writes are recorded."""
        if isinstance(request, rq.Get | rq.List):
            self.access.authorize(request, actor)
            if isinstance(request, rq.Get):
                return self._reader.get(request)
            return self._reader.list(request)
        if isinstance(request, rq.DeleteCollection):
            if (between := self.interposed.get(actor)) is not None:
                return between(request, *self._ways(actor, timeout_us))
            return self._delete_collection(request, actor, timeout_us)
        return self.carry_out(request, actor, timeout_us)[1]

    def carry_out(
        self,
        request: SingleWrite,
        actor: str,
        timeout_us: Micros = REQUEST_TIMEOUT_US,
        decode: Callable[[], None] = lambda: None,
    ) -> Outcome:
        """Answer a write, and say what it did: the last change it made to the store, if any.

        `decode` is called once the write is authorized: it may refuse what the client has sent.
        Reviews write nothing, and are not recorded.
        """
        if request.kind.group in REVIEW_GROUPS:
            return None, self._review(request, actor, decode)
        if (between := self.interposed.get(actor)) is not None:
            outcome: Outcome = between(request, *self._ways(actor, timeout_us, decode))
            return outcome
        return self._carried_out(request, actor, timeout_us, decode)

    def _carried_out(
        self, request: SingleWrite, actor: str, timeout_us: Micros, decode: Callable[[], None]
    ) -> Outcome:
        try:
            self.access.authorize(request, actor)
            decode()
            change, answer = self._write(request, actor, timeout_us)
        except ApiError as error:
            self.recorder.write(
                actor,
                request,
                code=error.code,
                reason=error.reason,
                message=kept_message(error.reason, error.message),
            )
            raise
        self._record(request, actor, change, answer)
        return change, answer

    def _ways(
        self, actor: str, timeout_us: Micros, decode: Callable[[], None] = lambda: None
    ) -> tuple[Send, Send]:
        """Both functions that an `Interposed` is given."""

        def send(request: rq.Write) -> Any:
            if isinstance(request, rq.DeleteCollection):
                return self._delete_collection(request, actor, timeout_us)
            return self._carried_out(request, actor, timeout_us, decode)

        def rehearse(request: rq.Write) -> Any:
            self.access.authorize(request, actor)
            if isinstance(request, rq.DeleteCollection):
                return rq.ObjectList((), str(self.store.revision))
            decode()
            rehearsed = msgspec.structs.replace(request, dry_run=True)
            return None, self._write(rehearsed, actor, timeout_us)[1]

        return send, rehearse

    def watch(self, request: WatchRequest, deliver: Deliver, actor: str = "") -> Watch:
        """A watch that is not begun yet: its `start` delivers what is past.

        Without an actor, no rights are missing.
        """
        if actor:
            self.access.authorize(request, actor)
        return Watch(self.store, self._reader, request, deliver)

    def scale(self, request: rq.Get) -> Object:
        """The `/scale` of an object whose kind has one."""
        strategy = self._reader.strategy(request.kind)
        obj = self._reader.get(request)
        require_replicas(obj, strategy)
        return scale_of(obj, strategy)

    def _record(self, request: rq.Write, actor: str, change: Change | None, answer: Object) -> None:
        if change is None:
            self.recorder.write(actor, request, uid=uid_of(answer))
            return
        if change.event == "DELETED":
            self._field_managers.forget(uid_of(change.object))
        self.recorder.write(
            actor,
            request,
            code=201 if isinstance(request, rq.Create) or change.event == "ADDED" else 200,
            event=change.event,
            rv=change.rv,
            uid=uid_of(change.object),
            obj=change.object,
            name=change.key.name,
        )

    def _write(self, request: SingleWrite, actor: str, timeout_us: Micros) -> Outcome:
        strategy = self._strategy(request)
        if isinstance(request, rq.Create):
            if request.subresource == "binding":
                return bind(self.store, request, self.loop.now_us)
            if request.subresource == "token":
                token_id = self._identities.token_id()
                body = request.object
                return None, self.tokens.issue(request.namespace, request.name, body, token_id)
            if request.subresource == "eviction":
                return evict(self.store, strategy, request, self.loop.now_us)
            return self._create(request, actor, strategy)
        key = Key(request.kind.group_kind, request.namespace, request.name)
        attempts = 0
        while True:
            try:
                return self._write_to(request, actor, strategy, key, self.store.get(key))
            except _ChangedMeanwhileError:
                attempts += 1
                if is_over(attempts, timeout_us):
                    raise RequestTimeoutError from None

    def _write_to(
        self,
        request: rq.Update | rq.Patch | rq.Delete,
        actor: str,
        strategy: Strategy,
        key: Key,
        old: Object | None,
    ) -> Outcome:
        """Write to an object as it is now; `_ChangedMeanwhileError` if it was another by then."""
        if isinstance(request, rq.Patch) and request.patch_type == "apply":
            return self._apply(request, actor, strategy, key, old)
        if old is None:
            if isinstance(request, rq.Update) and strategy.creates_on_update:
                return self._create_by_update(request, actor, strategy)
            raise not_found(request.kind, key.name)
        if isinstance(request, rq.Delete):
            require_mortal(request.kind, key.name)
            change, answer = self._delete(request, request, actor, strategy, key, old)
            return change, in_version(answer, request.kind, strategy)
        new = asked_for(request, old, strategy)
        return self._update(request, actor, strategy, key, old, new)

    def _create_by_update(self, request: rq.Update, actor: str, strategy: Strategy) -> Outcome:
        uid = uid_of(request.object)
        if uid:
            raise uid_conflict(request, strategy, uid, "")
        metadata = {**meta(request.object), "name": request.name}
        metadata.pop("resourceVersion", None)
        creation = rq.Create(
            request.kind,
            {**request.object, "metadata": metadata},
            request.namespace,
            dry_run=request.dry_run,
            field_manager=request.field_manager,
        )
        authorize = partial(self.access.authorize, request, actor, "create")
        return self._create(creation, actor, strategy, authorize)

    def _delete(
        self,
        request: rq.Delete | rq.DeleteCollection,
        one: rq.Delete,
        actor: str,
        strategy: Strategy,
        key: Key,
        old: Object,
    ) -> tuple[Change | None, Object]:
        """Delete one of the objects that a request is about."""

        def admit(deleted: Object) -> None:
            self.admission.validate(request, actor, None, deleted)
            self._require_unchanged(key, old)

        return delete(self.store, strategy, key, old, one, self.loop.now_us, admit)

    def _require_unchanged(self, key: Key, old: Object) -> None:
        """A webhook's program may write while it is called: a write is then begun again, as a real
        server does where the transaction finds another revision."""
        if self.store.get(key) is not old:
            raise _ChangedMeanwhileError

    def _apply(
        self,
        request: rq.Patch,
        actor: str,
        strategy: Strategy,
        key: Key,
        old: Object | None,
    ) -> Outcome:
        """Server-side apply; it creates the object if there is none yet."""
        config = applied_object(request)
        require_typed(config, request, strategy)
        if strategy.is_built_in:
            config = convertible(config, request)
        if old is None and request.subresource:
            raise not_found(request.kind, key.name)
        # What the (sub)resource does not write, its manager does not own.
        if request.subresource in ("status", "approval"):
            config.pop("spec", None)
        elif "status" in strategy.subresources_in(request.kind.version):
            config.pop("status", None)
        before = Ownership() if old is None else self._field_managers.of(uid_of(old))
        wanted, after = apply(
            {} if old is None else in_version(old, request.kind, strategy),
            config,
            Manager(request.field_manager, request.subresource),
            before,
            strategy,
            Stamp(request.kind.api_version, self.loop.now_us),
            force=request.force,
        )
        if old is None:
            if uid_of(wanted):
                because = (
                    f"uid mismatch: the provided object specified uid {uid_of(wanted)}, and no "
                    "existing object was found"
                )
                raise conflict(request.kind, request.name, because)
            if strategy.is_built_in:
                drop_optional_zeros(wanted, request.kind)
            creation = rq.Create(request.kind, wanted, request.namespace, dry_run=request.dry_run)
            authorize = partial(self.access.authorize, request, actor, "create")
            outcome = self._create(creation, actor, strategy, authorize)
        else:
            outcome = self._update(request, actor, strategy, key, old, wanted)
        if request.dry_run:
            return outcome
        self._field_managers.applied(uid_of(outcome[1]), after)
        if old is not None and outcome[0] is None and after.fields != before.fields:
            # A real server stores the managers in the object, so this is a new version of it.
            stored = {**old, "metadata": dict(old["metadata"])}
            return self.store.put(key, stored), in_version(stored, request.kind, strategy)
        return outcome

    def is_applied(self, obj: Object) -> bool:
        """True if server-side apply has written a stored object."""
        return self._field_managers.has_applied(uid_of(obj))

    def managed_fields(self, obj: Object) -> list[dict[str, Any]]:
        """The `metadata.managedFields` of a stored object."""
        return self._field_managers.of(uid_of(obj)).managed_fields()

    def _review(self, request: SingleWrite, actor: str, decode: Callable[[], None]) -> Object:
        strategy = self._strategy(request)
        if not isinstance(request, rq.Create):
            raise method_not_allowed()
        self.access.authorize(request, actor)
        decode()
        check_type(dict(request.object), request.kind, strategy, self.kinds, request)
        return self._reviews.answer(request, self.access.user(actor))

    def _strategy(self, request: rq.Write) -> Strategy:
        strategy = self._reader.addressed(request)
        subresource = getattr(request, "subresource", "")
        if subresource and subresource not in strategy.subresources_in(request.kind.version):
            name = getattr(request, "name", "")
            raise no_such_subresource(strategy, request.kind, name)
        return strategy

    def _create(
        self,
        request: rq.Create,
        actor: str,
        strategy: Strategy,
        authorize: Callable[[], None] | None = None,
    ) -> Outcome:
        """`authorize` is called between validation and validating admission."""
        kind = request.kind
        obj = dict(request.object)
        check_type(obj, kind, strategy, self.kinds, request)
        given = meta(obj)
        if strategy.has_other_versions:
            obj = _stored(request, obj, None, strategy)
            given = meta(obj)
        namespace = (given.get("namespace") or request.namespace) if kind.namespaced else ""
        if request.namespace and namespace and namespace != request.namespace:
            raise other_namespace()
        metadata = obj["metadata"] = object_meta.for_create(given, namespace)
        strategy.default(obj, None)
        if namespace:
            require_namespace(self.store, kind, namespace, metadata.get("name", ""))
        wanted = dict(obj)
        if kind == POD:
            default_resources(self.store, obj)
            resolve_priority(self.store, obj)
            obj["spec"] = with_tolerations(obj["spec"])
            apply_runtime_class(self.store, obj)
            metadata = obj["metadata"]
        uid = metadata["uid"] = self._identities.uid()
        metadata["creationTimestamp"] = to_rfc3339(self.loop.now_us)
        with self._identities.return_if_refused(uid):
            obj = self.admission.mutate(request, actor, strategy, obj, None)
            if kind.group == RBAC_GROUP:
                named = name_of(obj) if authorize is not None else ""
                self._require_no_escalation(kind, named, namespace, actor, obj, None)
        metadata = obj["metadata"]
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = self._identities.name(kind, namespace, metadata["generateName"])
        if strategy.has_generation:
            metadata["generation"] = 1
        strategy.prepare_for_create(obj, self.loop.now_us)
        if strategy.notes_requester:
            strategy.note_requester(obj, self.access.user(actor))
        name = metadata.get("name", "")
        errors = object_meta.validate_new(metadata, kind.namespaced, strategy.check_name)
        if strategy.is_built_in:
            errors += object_meta.validate_finalizers_qualified(metadata)
        errors += strategy.validate(obj)
        if errors:
            raise invalid(said_kind(kind, obj), name, errors)
        with self._identities.return_if_refused(uid):
            if authorize is not None:
                authorize()
            require_limits(self.store, kind, obj)
            if kind == POD:
                require_overhead(self.store, obj)
            self.admission.validate(request, actor, obj, None)
        if namespace:
            require_quota(self.store, kind, obj)
        if given.get("resourceVersion") not in (None, "", "0") and not request.dry_run:
            raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
        key = Key(kind.group_kind, namespace, name)
        standing = self.store.get(key)
        if standing is not None:
            raise already_exists(kind, name, being_deleted=is_terminating(standing))
        if request.dry_run:
            return None, in_version(obj, kind, strategy)
        change = self.store.put(key, obj)
        self._field_managers.note((change, request, actor, self.loop.now_us, wanted, strategy))
        return change, in_version(obj, kind, strategy)

    def _require_no_escalation(
        self, kind: Kind, named: str, namespace: str, actor: str, new: Object, old: Object | None
    ) -> None:
        user = self.access.user(actor)
        require_no_escalation(self.access.rbac, user, kind, named, namespace, new, old)

    def _update(
        self,
        request: rq.Update | rq.Patch,
        actor: str,
        strategy: Strategy,
        key: Key,
        old: Object,
        new: Object,
    ) -> Outcome:
        obj = dict(new)
        check_type(obj, request.kind, strategy, self.kinds, request, old)
        old_meta, given = old["metadata"], obj["metadata"]
        check_preconditions(request, strategy, old_meta, given)
        if strategy.has_other_versions:
            obj = _stored(request, obj, old, strategy)
            given = meta(obj)
        metadata = obj["metadata"] = object_meta.for_update(given, old_meta)
        strategy.default(obj, old)
        # What the strategy restores below, the managers of fields do not look at.
        wanted = dict(obj) if self.admission.mutating else obj
        obj = self.admission.mutate(request, actor, strategy, obj, old)
        if request.kind.group == RBAC_GROUP:
            self._require_no_escalation(request.kind, key.name, key.namespace, actor, obj, old)
        metadata = obj["metadata"]
        if request.subresource in ("status", "approval"):
            strategy.prepare_for_status_update(obj, old)
            errors = strategy.validate_status_update(obj, old)
        elif request.subresource == "finalize":
            obj["status"] = old.get("status") or {}
            if not (obj.get("spec") or {}).get("finalizers"):
                obj["spec"] = {}
            errors = strategy.validate_finalize(obj)
        else:
            strategy.prepare_for_update(obj, old)
            if strategy.has_generation and strategy.desires_other(obj, old):
                metadata["generation"] = old_meta["generation"] + 1
            errors = strategy.validate_update(obj, old)
        errors = [
            *object_meta.validate_changed(
                obj["metadata"],
                old_meta,
                strategy.check_name,
                qualified_finalizers=strategy.is_built_in,
            ),
            *errors,
        ]
        if errors:
            raise invalid(request.kind, key.name, errors)
        self.admission.validate(request, actor, obj, old)
        self._require_unchanged(key, old)
        if removes(strategy, obj, old):
            change = None if request.dry_run else self.store.remove(key)
        elif obj == old:
            change, obj = None, dict(old)
        elif request.dry_run:
            change = None
        else:
            change = self.store.put(key, obj)
            self._field_managers.note((change, request, actor, self.loop.now_us, wanted, strategy))
        return change, in_version(obj, request.kind, strategy)

    def _delete_collection(
        self, request: rq.DeleteCollection, actor: str, timeout_us: Micros
    ) -> rq.ObjectList:
        """Delete what the selectors choose, in order; one entry in the history for each."""
        self.access.authorize(request, actor)
        strategy = self._strategy(request)
        chosen = self._reader.list(
            rq.List(request.kind, request.namespace, request.label_selector, request.field_selector)
        )
        attempts = 0
        for obj in chosen.items:
            metadata = obj["metadata"]
            one = rq.Delete(
                request.kind,
                metadata.get("namespace", ""),
                metadata["name"],
                request.grace_period_seconds,
                request.propagation_policy,
            )
            key = Key(request.kind.group_kind, one.namespace, one.name)
            while (old := self.store.get(key)) is not None:
                with suppress(_ChangedMeanwhileError):
                    change, answer = self._delete(request, one, actor, strategy, key, old)
                    self._record(request, actor, change, answer)
                    break
                attempts += 1
                if is_over(attempts, timeout_us):
                    raise RequestTimeoutError
        return chosen

    def _create_namespace(self, name: str) -> None:
        """Put one of the first namespaces into the store, as the server does when it starts."""
        obj: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": name,
                "uid": self._identities.uid(),
                "creationTimestamp": to_rfc3339(self.loop.now_us),
            },
        }
        strategy = self.strategies[str(NAMESPACE)]
        strategy.default(obj, None)
        strategy.prepare_for_create(obj, self.loop.now_us)
        self.store.put(Key(str(NAMESPACE), "", name), obj)


def _stored(
    request: rq.Create | rq.Update | rq.Patch,
    obj: dict[str, Any],
    old: Object | None,
    strategy: Strategy,
) -> dict[str, Any]:
    """A written object in the stored version, once its own version allows it: a conversion may
    hide what that refuses."""
    kind = request.kind
    if kind.version != strategy.kind.version and not request.subresource:
        shaped = dict(obj)
        strategy.default(shaped, None)
        errors = (
            strategy.validate(shaped)
            if old is None
            else strategy.validate_update(shaped, in_version(old, kind, strategy))
        )
        if errors:
            raise invalid(said_kind(kind, obj), meta(obj).get("name", ""), errors)
    return strategy.to_stored(obj)
