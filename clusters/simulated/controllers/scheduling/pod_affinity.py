"""Required pod affinity and anti-affinity: the topologies that a pod may or may not go to.

A pod to be placed is compared with the pods that are bound and have not ended. Three rules
hold, in this order:

1. Affinity: the node is in the topology of a pod that matches all of the terms. If no such
   pod exists, the first of a series may go anywhere, provided it matches its own terms.
2. Anti-affinity: the node is in no topology of a pod that matches one of the terms.
3. The anti-affinity of bound pods: the node is in no topology from which one of them
   excludes this pod.

Clusters without such pods pay for none of this: what is not asked about is not counted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from clusters.simulated.controllers.informers import Informers
from clusters.simulated.store import Change, Key
from vocabulary.canonical import encode
from vocabulary.kinds import NAMESPACE, NODE, POD
from vocabulary.objects import Object, get_path, labels_of, name_of, namespace_of
from vocabulary.selectors import matches

APART_FROM_WANTED: Final = "node(s) didn't match pod affinity rules"
BESIDE_UNWANTED: Final = "node(s) didn't match pod anti-affinity rules"
UNWANTED_BESIDE: Final = "node(s) didn't satisfy existing pods anti-affinity rules"

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_ENDED: Final = ("Succeeded", "Failed")
_MOST_SEARCHES: Final = 64
"""Searches kept up to date; beyond that the one not asked for longest is forgotten."""

Values = frozenset[str]


@dataclass(frozen=True, slots=True)
class Term:
    """One required term of a pod in `home`."""

    home: str
    term: Object

    @property
    def topology_key(self) -> str:
        return str(self.term["topologyKey"])

    def matches(self, pod: Object, informers: Informers) -> bool:
        return matches(self.term.get("labelSelector"), labels_of(pod)) and self._covers(
            namespace_of(pod), informers
        )

    def _covers(self, namespace: str, informers: Informers) -> bool:
        """True if pods of a namespace are meant; without any choice only those of its own."""
        named, selector = self.term.get("namespaces") or (), self.term.get("namespaceSelector")
        if not named and selector is None:
            return namespace == self.home
        if namespace in named:
            return True
        found = None if selector is None else informers.get(NAMESPACE, "", namespace)
        return found is not None and matches(selector, labels_of(found))


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for one pod: by topology key, the values that are required or excluded."""

    required: tuple[tuple[str, Values], ...] = ()
    excluded: tuple[tuple[str, Values], ...] = ()
    excluded_by_others: tuple[tuple[str, Values], ...] = ()
    begins_series: bool = False
    """No pod matches the affinity yet, and this one would: only the keys are required."""

    def refusal(self, node: Object) -> str:
        """The reason why a node is refused; empty if it is not."""
        labels = labels_of(node)
        if any(key not in labels for key, _ in self.required) or not (
            self.begins_series or all(labels[key] in values for key, values in self.required)
        ):
            return APART_FROM_WANTED
        for rules, reason in (
            (self.excluded, BESIDE_UNWANTED),
            (self.excluded_by_others, UNWANTED_BESIDE),
        ):
            if any(labels.get(key) in values for key, values in rules):
                return reason
        return ""


@dataclass(slots=True)
class _Search:
    """The bound pods that match all of some terms, by node."""

    terms: tuple[Term, ...]
    found: dict[Key, str] = field(default_factory=dict)
    by_node: dict[str, int] = field(default_factory=dict)

    def look_at(self, key: Key, pod: Object, node: str, informers: Informers) -> None:
        """Take in a pod as it is now; `node` is empty if it is not bound any more."""
        before = self.found.pop(key, "")
        now = node and all(term.matches(pod, informers) for term in self.terms) and node
        if now:
            self.found[key] = now
        if before != now:
            _count(self.by_node, before, -1)
            _count(self.by_node, now or "", +1)


class PodAffinity:
    """The bound pods, as far as affinity asks about them."""

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._searches: dict[bytes, _Search] = {}
        self._held: dict[bytes, tuple[Term, dict[str, int]]] = {}
        """Anti-affinity terms of bound pods, and the number of their holders by node."""
        self._holders: dict[Key, tuple[str, dict[bytes, Term]]] = {}
        informers.on(NAMESPACE, self._namespace_changed)

    def concerns(self, pod: Object) -> bool:
        """True if the pod's labels and those of others may matter for its place."""
        return bool(self._held) or bool(pod["spec"].get("affinity"))

    def pod_changed(self, change: Change) -> None:
        """A pod was bound, relabelled, ended or removed."""
        key, pod = change.key, change.object
        if not self._searches and not pod["spec"].get("affinity"):
            return
        node = "" if change.event == "DELETED" else place_of(pod)
        old = change.old
        if old is None or node != place_of(old) or labels_of(old) != labels_of(pod):
            for search in self._searches.values():
                search.look_at(key, pod, node, self._informers)
        if pod["spec"].get("affinity"):
            self._keep_held(key, pod, node)

    def _keep_held(self, key: Key, pod: Object, node: str) -> None:
        holds = self._holders.get(key)
        if bool(node) == (holds is not None):
            return
        if holds is not None:
            del self._holders[key]
            for text in holds[1]:
                counts = self._held[text][1]
                _count(counts, holds[0], -1)
                if not counts:
                    del self._held[text]
            return
        terms = {encode([term.home, term.term]): term for term in _terms(pod, "podAntiAffinity")}
        if terms:
            self._holders[key] = node, terms
            for text, term in terms.items():
                _count(self._held.setdefault(text, (term, {}))[1], node, +1)

    def _namespace_changed(self, change: Change) -> None:
        """Its labels decide which pods a term means."""
        if change.old is None or labels_of(change.old) != labels_of(change.object):
            self._searches.clear()

    def rules_for(self, pod: Object, without: Collection[Key] = ()) -> Rules | None:
        """The rules for placing a pod, as if some bound pods were gone; None if there are none."""
        if not self.concerns(pod):
            return None
        near = affinity_terms(pod)
        apart = _terms(pod, "podAntiAffinity")
        required = self._where(near, without)
        rules = Rules(
            required,
            tuple(rule for term in apart for rule in self._where((term,), without)),
            tuple(self._excluding(pod, without)),
            begins_series=not any(values for _, values in required)
            and all(term.matches(pod, self._informers) for term in near),
        )
        return rules if rules.required or rules.excluded or rules.excluded_by_others else None

    def _where(
        self, terms: tuple[Term, ...], without: Collection[Key]
    ) -> tuple[tuple[str, Values], ...]:
        """For each term's topology key, where pods are that match all of the terms."""
        if not terms:
            return ()
        search = self._search(terms)
        gone = [search.found[key] for key in without if key in search.found]
        nodes = _left(search.by_node, gone)
        return tuple((term.topology_key, self._topologies(term, nodes)) for term in terms)

    def _excluding(self, pod: Object, without: Collection[Key]) -> Iterator[tuple[str, Values]]:
        for text, (term, by_node) in self._held.items():
            if term.matches(pod, self._informers):
                holders = [self._holders[key] for key in without if key in self._holders]
                gone = [node for node, terms in holders if text in terms]
                yield term.topology_key, self._topologies(term, _left(by_node, gone))

    def _topologies(self, term: Term, nodes: Iterable[str]) -> Values:
        found = (self._informers.get(NODE, "", name) for name in nodes)
        values = (labels_of(node).get(term.topology_key) for node in found if node is not None)
        return frozenset(value for value in values if value is not None)

    def _search(self, terms: tuple[Term, ...]) -> _Search:
        text = encode([[term.home, term.term] for term in terms])
        search = self._searches.pop(text, None)
        if search is None:
            search = _Search(terms)
            for pod in self._informers.all_of(POD):
                node = place_of(pod)
                if node:
                    key = Key(str(POD), namespace_of(pod), name_of(pod))
                    search.look_at(key, pod, node, self._informers)
            if len(self._searches) >= _MOST_SEARCHES:
                del self._searches[next(iter(self._searches))]
        self._searches[text] = search
        return search


def place_of(pod: Object) -> str:
    """The node that a pod occupies a place on; empty if it is not bound, or has ended."""
    if get_path(pod, "status.phase") in _ENDED:
        return ""
    return str(pod["spec"].get("nodeName", ""))


def affinity_terms(pod: Object) -> tuple[Term, ...]:
    """The terms of a pod's required affinity to other pods."""
    return _terms(pod, "podAffinity")


def _terms(pod: Object, kind: str) -> tuple[Term, ...]:
    rules = (pod["spec"].get("affinity") or {}).get(kind) or {}
    return tuple(Term(namespace_of(pod), term) for term in rules.get(_REQUIRED) or ())


def _left(by_node: dict[str, int], gone: list[str]) -> dict[str, int]:
    """The numbers of pods by node, after one has gone from each of the nodes named."""
    left = dict(by_node)
    for node in gone:
        _count(left, node, -1)
    return left


def _count(counts: dict[str, int], node: str, by: int) -> None:
    if not node:
        return
    counts[node] = counts.get(node, 0) + by
    if not counts[node]:
        del counts[node]
