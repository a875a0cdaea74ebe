"""Effective parameters of an AppWrapper, whose annotations may change.

So may the operator's configuration, when it is restarted. Both change rarely, and most AppWrappers
have no annotations: what never changed is answered once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.history.tracks import Moment
from conformance.suites.appwrapper.view.parameters import OperatorParameters, Value
from conformance.suites.appwrapper.view.snapshots import Snapshot
from vocabulary.objects import annotations_of


class EffectiveParameters:
    """The parameters of the retry loop as they hold for one AppWrapper."""

    def __init__(
        self,
        configurations: Sequence[tuple[int, OperatorParameters]],
        kept: Sequence[tuple[int, int, OperatorParameters]],
        prefix: str,
        snapshots: Iterable[Snapshot],
    ) -> None:
        """`configurations` are the operator's from each position on, `kept` those that replicas
        have until a position, though another has a newer one; `prefix` and a parameter's name make
        the key of its annotation."""
        self._configurations = configurations
        self._kept = kept
        self._prefix = prefix
        self._sets: list[tuple[int, Mapping[str, str]]] = []
        """The annotations of the AppWrapper, each time that they changed."""
        for snapshot in snapshots:
            annotations = annotations_of(snapshot.object)
            if not self._sets or annotations != self._sets[-1][1]:
                self._sets.append((snapshot.n, annotations))
        self._texts: dict[str, list[tuple[int, str | None]]] = {}
        self._constant: dict[str, tuple[Value, Value]] = {}
        """The parameters that never changed, as `within` answers."""

    def is_annotated(self, name: str) -> bool:
        """True if the AppWrapper ever had the annotation of a parameter."""
        key = self._prefix + name
        return any(key in annotations for _, annotations in self._sets)

    def annotations(self, name: str) -> frozenset[str | None]:
        """The texts that the annotation of a parameter ever had; None: it was absent."""
        return frozenset(text for _, text in self._texts_of(name))

    def at(self, name: str, at: Moment) -> Value:
        """The value of a parameter that is in force after a position."""
        return self._value_at(name, at.n)

    def within(self, name: str, begin: Moment, end: Moment) -> tuple[Value, Value]:
        """The least and the greatest value that was in force between two moments."""
        constant = self._constant.get(name)
        if constant is not None:
            return constant
        texts = self._texts_of(name)
        if len(texts) == len(self._configurations) == 1:
            value = self._configurations[0][1].of(name, texts[0][1])
            self._constant[name] = value, value
            return value, value
        changes = (n for n, _ in (*texts, *self._configurations) if begin.n < n <= end.n)
        values = [self._value_at(name, n) for n in (begin.n, *changes)]
        for since, until, operator in self._kept:
            if since <= end.n and begin.n <= until:
                values.append(operator.of(name, self._text_at(name, max(since, begin.n))))
        return min(values), max(values)

    def _value_at(self, name: str, n: int) -> Value:
        operator = next(found for since, found in reversed(self._configurations) if since <= n)
        return operator.of(name, self._text_at(name, n))

    def _texts_of(self, name: str) -> list[tuple[int, str | None]]:
        """The texts of an annotation from each position on at which it changed; None: absent."""
        found = self._texts.get(name)
        if found is None:
            key = self._prefix + name
            found = self._texts[name] = []
            for n, annotations in self._sets:
                text = annotations.get(key)
                if not found or text != found[-1][1]:
                    found.append((n, text))
        return found

    def _text_at(self, name: str, n: int) -> str | None:
        found: str | None = None
        for position, text in self._texts_of(name):
            if position > n:
                break
            found = text
        return found
