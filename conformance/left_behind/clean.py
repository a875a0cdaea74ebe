"""Find a killed run's leftovers on a cluster, by its run label, and remove them.

All objects that Assay creates for itself have the label `assay.dev/run`: namespaces, nodes, webhook
configurations, roles and their bindings, CRDs, and objects of scenarios without a namespace. Leased
nodes have it too, and so does the note beside a leased operator; these are restored. No process is
left to finish what the killed run had begun: the operator that removed its finalizers is gone with
it, pods may be annotated never to end, and a fault may have put a foreign finalizer on any object.
So everything that holds up the deletion of a labeled object is removed, and this waits until all of
them are gone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from clusters.control_plane import kwok
from conformance.leased import operator as borrowed_operator
from conformance.leased.nodes import as_before, status_before
from conformance.left_behind import LeftBehindError
from conformance.left_behind.scratch import Claim, abandoned, remove_abandoned
from conformance.stored_objects.lookup import WEBHOOK_FAILED
from conformance.stored_objects.retrying_connection import RetryingConnection
from reference_controller.runtime.connection import connect
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import (
    CONFIG_MAP,
    CUSTOM_RESOURCE_DEFINITION,
    NAMESPACE,
    NODE,
    POD,
    PRIORITY_CLASS,
    RUNTIME_CLASS,
    Kind,
)
from vocabulary.objects import (
    Object,
    condition_status,
    finalizers_of,
    is_terminating,
    labels_of,
    meta,
    name_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Delete, List, ObjectList, Patch, Request

RUN_LABEL: Final = "assay.dev/run"
_REGISTRATION: Final = "admissionregistration.k8s.io"
_RBAC: Final = "rbac.authorization.k8s.io"
_CLUSTER_WIDE: Final = (
    Kind(
        _REGISTRATION,
        "v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        namespaced=False,
    ),
    Kind(
        _REGISTRATION,
        "v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        namespaced=False,
    ),
    Kind(_RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False),
    Kind(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False),
    NAMESPACE,
    NODE,
    PRIORITY_CLASS,
    RUNTIME_CLASS,
)
"""Webhooks first: one whose server is gone would refuse the writes that follow. Then nodes:
fake kubelets end the pods of the namespaces before."""
GONE_SECONDS: Final = 120.0
EVERY_SECONDS: Final = 0.1
SEARCH_SECONDS: Final = 1.0
"""How often what holds a namespace up is looked for: some forty requests, one per kind."""
_HELD: Final = "NamespaceFinalizersRemaining"
"""A condition of a namespace that is being deleted, by the controller that empties it: something
there has finalizers. As long as pods are left it looks no further, and says nothing."""


class NotCleanError(LeftBehindError):
    """Something does not go away; the message names it."""


def clean_folders(*, remove: bool) -> list[str]:
    """The folders of control planes whose harness was killed, in words; removed if `remove`."""
    found = remove_abandoned() if remove else abandoned()
    return [f"folder {folder}" for folder in found]


class Cleaned(NamedTuple):
    """The result of a search of a cluster, in words."""

    found: list[str]
    """The leftovers."""
    spared: list[str]
    """The runs that were left alone, since they go on."""


def clean_cluster(
    kubeconfig: Path | None,
    *,
    context: str = "",
    run_label: str = "",
    remove: bool,
    alive: Iterable[Claim] = (),
) -> Cleaned:
    """Find the objects with the run label (of one run, or any), and remove them if `remove`; not
    those of the sessions that are `alive`.

    Returns when all of them are gone. Raises NotCleanError if the cluster cannot be reached, if it
    rejects a request, or if something stays.
    """
    connection = connect(
        kubeconfig,
        context or None,
        user_agent="assay-clean",
        timeout_us=30 * SECOND,
        pool_size=2,
    )
    selector = f"{RUN_LABEL}={run_label}" if run_label else RUN_LABEL
    try:
        connection.get("/version")  # without patience: a wrong address is told at once
        of_this_server = [claim for claim in alive if claim.server in ("", connection.server)]
        cleaning = _Cleaning(RetryingConnection(connection), selector, of_this_server)
        found = cleaning.remove() if remove else cleaning.found()
        return Cleaned(found, cleaning.spared())
    except ApiError as error:
        raise NotCleanError(
            f"the cluster cannot be cleaned: {error.message}; what was removed stays so: mend "
            "that, and clean again"
        ) from error
    finally:
        connection.close()


class _Cleaning:
    """One cleaning of one cluster."""

    def __init__(
        self, connection: RetryingConnection, selector: str, alive: Sequence[Claim]
    ) -> None:
        self._connection = connection
        self._selector = selector
        self._alive = alive
        self._spared: dict[str, Claim] = {}
        """By run label: the sessions whose objects are left alone."""
        self._released: dict[str, str] = {}
        """By uid: the finalizers that were taken off, in words."""
        self._searched: dict[str, float] = {}
        """By name of a namespace: when it was last searched."""
        self._hidden: set[Kind] = set()
        """The kinds that may not be looked at."""
        self._unasked = ""
        """The last error of a webhook that could not be called."""

    def found(self) -> list[str]:
        """The leftovers, and what holds them up, in words."""
        return list(self._search())

    def remove(self) -> list[str]:
        """Remove it all; what was removed, in words."""
        found = list(self._search())
        for note in self._notes():  # first: its webhooks are asked about what is removed then
            borrowed_operator.give_back(self._connection, note)
        for kind in self._cluster_wide:
            self._remove_kind(kind)
        told = set(found)
        return found + [text for text in self._released.values() if text not in told]

    def spared(self) -> list[str]:
        """The runs that were left alone, in words."""
        return [
            f"run {label}: its process {claim.pid} is alive"
            for label, claim in sorted(self._spared.items())
        ]

    @cached_property
    def _cluster_wide(self) -> tuple[Kind, ...]:
        """In the order in which they go: custom ones, such as queues, when no namespace needs them,
        and their definitions last."""
        definitions = self._listed(List(CUSTOM_RESOURCE_DEFINITION, live=True))
        custom = (kind for kind in map(defined_kind, definitions) if not kind.namespaced)
        return (*_CLUSTER_WIDE, *custom, CUSTOM_RESOURCE_DEFINITION)

    def _notes(self) -> list[Object]:
        """The notes on leased operators."""
        return [found for found in self._labelled(CONFIG_MAP) if borrowed_operator.is_note(found)]

    def _search(self) -> Iterator[str]:
        yield from map(borrowed_operator.in_words, self._notes())
        for kind in self._cluster_wide:
            for obj in self._labelled(kind):
                if kind == CUSTOM_RESOURCE_DEFINITION and self._is_used(obj):
                    continue
                lent = "loan of " if kind == NODE and not _is_made_for_a_run(obj) else ""
                yield f"{lent}{kind.kind} {name_of(obj)}"
                held = [obj]
                if kind == NAMESPACE:
                    held += [content for _, content in self._held_up(name_of(obj))]
                yield from map(_in_words, filter(_foreign, held))

    def _remove_kind(self, kind: Kind) -> None:
        """Delete what is labelled of a kind, and wait until nothing of it is left.

        However many there are, and however slow the cluster is: only if none goes any more is it
        given up.
        """
        fewest, deadline = math.inf, 0.0
        while left := [obj for obj in self._labelled(kind) if self._may_go(kind, obj)]:
            if len(left) < fewest:
                fewest, deadline = len(left), time.monotonic() + GONE_SECONDS
            elif time.monotonic() > deadline:
                names = ", ".join(map(name_of, left))
                raise NotCleanError(
                    f"{kind.kind} {names}: still there after its deletion, and none has gone for "
                    f"{GONE_SECONDS:g} s; see what its status says, and whether the controller "
                    f"manager runs{self._unasked and f'; the last was refused: {self._unasked}'}"
                )
            for obj in left:
                if kind == NODE and not _is_made_for_a_run(obj):
                    self._give_back(obj)
                elif not is_terminating(obj):
                    # Another client may have created one of that name since it was listed.
                    self._ask(Delete(kind, "", name_of(obj), uid=uid_of(obj)))
                elif kind != CUSTOM_RESOURCE_DEFINITION:  # the API server ends its objects first
                    if kind == NAMESPACE:
                        self._let_go(obj)
                    self._release(kind, obj)
            time.sleep(EVERY_SECONDS)

    def _give_back(self, node: Object) -> None:
        """Have a borrowed node offer, and be, what it did and was before."""
        name = name_of(node)
        offered = self._ask(Patch(NODE, "", name, status_before(node), subresource="status"))
        if offered is not None:
            self._ask(Patch(NODE, "", name, as_before(offered)))

    def _may_go(self, kind: Kind, obj: Object) -> bool:
        """Not a definition which another client has come to use meanwhile, and its objects."""
        return kind != CUSTOM_RESOURCE_DEFINITION or is_terminating(obj) or not self._is_used(obj)

    def _is_used(self, crd: Object) -> bool:
        """True if there are objects of the kind that are no run's."""
        kind = defined_kind(crd)
        if not kind.namespaced:
            return len(self._listed(List(kind, live=True))) > len(self._labelled(kind))
        namespaces = {name_of(found) for found in self._labelled(NAMESPACE)}
        found = self._listed(List(kind, live=True))
        return any(namespace_of(obj) not in namespaces for obj in found)

    def _let_go(self, namespace: Object) -> None:
        """Take away what might keep a namespace that is being deleted; nothing new comes there."""
        name = name_of(namespace)
        for pod in self._listed(List(POD, name, live=True)):
            self._release(POD, pod)
            self._ask(Delete(POD, name, name_of(pod), grace_period_seconds=0, uid=uid_of(pod)))
        if condition_status(namespace, _HELD) == "True" and self._is_due(name):
            for kind, obj in self._held_up(name):
                self._release(kind, obj)

    def _is_due(self, namespace: str) -> bool:
        """True if it is to be searched now: its status goes on saying what was so a while ago."""
        now = time.monotonic()
        if now - self._searched.get(namespace, -math.inf) < SEARCH_SECONDS:
            return False
        self._searched[namespace] = now
        return True

    def _release(self, kind: Kind, obj: Object) -> None:
        """Take all finalizers off."""
        if finalizers_of(obj):
            if _foreign(obj):
                self._released[uid_of(obj)] = _in_words(obj)
            version = meta(obj)["resourceVersion"]
            body = {"metadata": {"finalizers": None, "resourceVersion": version}}
            self._ask(Patch(kind, namespace_of(obj), name_of(obj), body))

    def _held_up(self, namespace: str) -> Iterator[tuple[Kind, Object]]:
        """The objects of a namespace with finalizers, of any kind that the cluster serves."""
        for kind in self._namespaced_kinds:
            if kind in self._hidden:
                continue
            for obj in self._listed(List(kind, namespace, live=True)):
                if finalizers_of(obj):
                    yield kind, obj

    @cached_property
    def _namespaced_kinds(self) -> tuple[Kind, ...]:
        return tuple(self._served())

    def _served(self) -> Iterator[Kind]:
        groups = self._connection.get("/apis")["groups"]
        versions = ["v1", *(group["preferredVersion"]["groupVersion"] for group in groups)]
        for version in versions:
            root = "/api" if version == "v1" else "/apis"
            group, _, bare = version.rpartition("/")
            try:
                resources = self._connection.get(f"{root}/{version}")["resources"]
            except ApiError as error:
                if error.is_not_found:  # a definition that is just being removed
                    continue
                raise
            for found in resources:
                if found["namespaced"] and {"list", "delete", "patch"} <= set(found["verbs"]):
                    yield Kind(group, bare, found["kind"], found["name"])

    def _labelled(self, kind: Kind) -> tuple[Object, ...]:
        """The objects with the run label, but not those of sessions that are alive."""
        found = self._listed(List(kind, label_selector=self._selector, live=True))
        return tuple(obj for obj in found if not self._is_spared(obj))

    def _is_spared(self, obj: Object) -> bool:
        label = labels_of(obj)[RUN_LABEL]
        claim = next((each for each in self._alive if each.covers(label)), None)
        if claim is not None:
            self._spared[label] = claim
        return claim is not None

    def _listed(self, request: List) -> tuple[Object, ...]:
        """The objects of a kind; none if the cluster does not serve it."""
        try:
            answer = self._connection.handle(request)
        except ApiError as error:
            if error.is_not_found or (error.code == 403 and request.kind not in (NAMESPACE, NODE)):
                # What may not be looked at was not made here: that would take more rights.
                if error.code == 403:
                    self._hidden.add(request.kind)
                return ()
            raise
        assert isinstance(answer, ObjectList)
        return tuple(answer.items)

    def _ask(self, request: Request) -> Object | None:
        """A write; that its object has gone meanwhile, or has changed, is seen the next time, and
        so is an operator whose webhooks could not be called while it was starting."""
        try:
            answer = self._connection.handle(request)
        except ApiError as error:
            if WEBHOOK_FAILED in error.message:
                self._unasked = error.message
            elif not (error.is_not_found or error.is_conflict):
                raise
            return None
        assert not isinstance(answer, ObjectList)
        return answer


def defined_kind(crd: Object) -> Kind:
    """The kind that a custom resource definition defines, in the version that is stored, which is
    that of objects in histories; in another one where that is not served."""
    spec = crd["spec"]
    served = [version for version in spec["versions"] if version["served"]]
    version = next((each for each in served if each["storage"]), served[0])["name"]
    names = spec["names"]
    namespaced = spec["scope"] == "Namespaced"
    return Kind(spec["group"], version, names["kind"], names["plural"], namespaced=namespaced)


def _is_made_for_a_run(node: Object) -> bool:
    """Only a fake node that is named after its run: no other node is ever deleted."""
    labels = labels_of(node)
    return kwok.ZONE in labels and name_of(node).startswith(f"{labels[RUN_LABEL]}-n")


def _foreign(obj: Object) -> list[str]:
    """The finalizers of an object that none of Kubernetes' own controllers takes off."""
    return [
        entry
        for entry in finalizers_of(obj)
        if "/" in entry and not entry.partition("/")[0].endswith("kubernetes.io")
    ]


def _in_words(obj: Object) -> str:
    where = "/".join(filter(None, (namespace_of(obj), name_of(obj))))
    return f"finalizer {', '.join(_foreign(obj))} of {obj['kind']} {where}"
