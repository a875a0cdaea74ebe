"""Parked pods whose affinity asks for a pod that is not bound yet."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from clusters.simulated.controllers.informers import Informers
from clusters.simulated.controllers.scheduling.pod_affinity import Term, affinity_terms, place_of
from clusters.simulated.store import Change
from vocabulary.canonical import encode
from vocabulary.objects import Object, labels_of


class AwaitedPods:
    """Waiting pods by what they wait for: those with the same terms, as of one Job, together."""

    def __init__(self, informers: Informers) -> None:
        self._informers = informers
        self._waiting: dict[bytes, tuple[tuple[Term, ...], dict[Hashable, None]]] = {}
        self._where: dict[Hashable, bytes] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def park(self, key: Hashable, pod: Object) -> None:
        """A pod was parked; it waits here if it has affinity to others."""
        terms = affinity_terms(pod)
        if terms:
            text = encode([[term.home, term.term] for term in terms])
            self.unpark(key)
            self._where[key] = text
            self._waiting.setdefault(text, (terms, {}))[1][key] = None

    def unpark(self, key: Hashable) -> None:
        """It is parked no more."""
        text = self._where.pop(key, None)
        if text is not None:
            del self._waiting[text][1][key]
            if not self._waiting[text][1]:
                del self._waiting[text]

    def clear(self) -> None:
        self._waiting.clear()
        self._where.clear()

    def woken_by(self, change: Change) -> Iterator[Hashable]:
        """The pods that have waited for this one to be bound, or to be labelled so."""
        pod, old = change.object, change.old
        if change.event == "DELETED" or not place_of(pod):
            return
        if old is not None and place_of(old) and labels_of(old) == labels_of(pod):
            return
        for terms, keys in list(self._waiting.values()):
            if all(term.matches(pod, self._informers) for term in terms):
                yield from list(keys)
