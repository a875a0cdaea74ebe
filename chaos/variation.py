"""Another workload than the scenario wrote: what a plan changes about one object.

    workload: {jobset: a, replicas: 3}

A failure may need a shape that no scenario has. Like faults, what is changed is written into the
plan, so that a replay gives the same run, and is taken away again by shrinking. Each suite
registers the variations of its own kinds (`chaos.subject_kind`): the key that names the object
says of which kind it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chaos.fields import PlanError, mapping, read_fields, write_fields
from chaos.subject_kind import registered
from vocabulary.objects import Object


@dataclass(frozen=True, slots=True)
class Variation(ABC):
    """How an object differs from the scenario's. Its first field, named after the kind in lower
    case, holds the name that the scenario gives the object."""

    @property
    @abstractmethod
    def new_name(self) -> str:
        """The name that the object has instead; empty: its own."""

    @property
    @abstractmethod
    def is_as_written(self) -> bool:
        """True if it changes nothing."""

    @abstractmethod
    def applied(self, obj: Object) -> Object:
        """The manifest, changed if it is of the object that the plan names."""

    @abstractmethod
    def simpler(self) -> Iterator[Variation]:
        """Variants that change less, one after the other."""

    @abstractmethod
    def describe(self) -> str:
        """The changes in English, without a full stop."""

    def to_data(self) -> dict[str, Any]:
        return write_fields(self)


def variation_from_data(data: Any, path: str) -> Variation | None:
    """The variation that plain data spells; None if it changes nothing. Raises PlanError."""
    if data is None:
        return None
    spelled = mapping(data, path)
    known = {each.word: each.variation for each in registered() if each.variation is not None}
    for word, cls in known.items():
        if word in spelled:
            found = read_fields(cls, spelled, path)
            return None if found.is_as_written else found
    raise PlanError(path, f"names no object to change; begin with one of {', '.join(known)}")
