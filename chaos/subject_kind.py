"""Kinds of objects that suites test, and what chaos has to know about each.

Most of what plans do to an object works on any kind. A suite registers its kinds with the
facts that cannot be seen from outside: how one is suspended, how its pods are labelled, which
further faults random plans may draw for it, and how plans vary it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from vocabulary.kinds import Kind
from vocabulary.kinds import register as register_kind
from vocabulary.objects import Object, get_path, with_path

if TYPE_CHECKING:
    from chaos.variation import Variation

SUSPEND: Final = "spec.suspend"
"""The field by which batch workloads are suspended, by convention."""


@dataclass(frozen=True, slots=True)
class SubjectKind:
    """A kind under test, as faults, plans and generators of plans see it."""

    kind: Kind
    label: str = ""
    """The label with its name on the pods and other parts of an object; empty: there is none."""
    suspend: str = SUSPEND
    """The path of the boolean field that suspends it; empty: it cannot be suspended."""
    implied: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By fault: fields that plans leave out which are older than the suites of other kinds."""
    role: str = ""
    """The role of the operator that works on it; empty: not known."""
    deployment: tuple[str, str] | None = None
    """Namespace and name of the operator's Deployment, as its project installs it."""
    menu: Mapping[str, Callable[[random.Random, Any], Any]] = field(default_factory=dict)
    """Further entries of `chaos.menu` for runs that test this kind."""
    variation: type[Variation] | None = None
    """How a plan's `workload` changes an object of this kind."""
    random_variation: Callable[[random.Random, str], Variation | None] = lambda _rng, _name: None
    """Draws a variation of the object of that name."""

    components: str = ""
    """The path of the list of what an object is composed of; empty: it is of one piece."""
    component_name: str = "name"
    """The path of an entry's name in that list."""

    def component_names(self, obj: Object) -> tuple[str, ...]:
        """The names of an object's components; those without one cannot be left out."""
        names = (self._component_name(entry) for entry in self._components(obj))
        return tuple(name for name in names if name)

    def with_components(self, obj: Object, kept: Collection[str]) -> Object:
        """The object with those components alone, and the nameless ones."""
        if not self.components:
            return obj
        left = [
            entry for entry in self._components(obj) if self._component_name(entry) in ("", *kept)
        ]
        return with_path(obj, self.components, left)

    def _components(self, obj: Object) -> Sequence[Object]:
        return get_path(obj, self.components, ()) if self.components else ()

    def _component_name(self, entry: Object) -> str:
        return str(get_path(entry, self.component_name, ""))

    @property
    def word(self) -> str:
        """The kind in lower case, by which plans name an object in short: `job: a`."""
        return self.kind.kind.lower()


_REGISTERED: Final[dict[str, SubjectKind]] = {}


def register(subject_kind: SubjectKind) -> None:
    """Add a suite's kind; registering equal kinds twice is fine, unequal ones a ValueError."""
    register_kind(subject_kind.kind)
    key = subject_kind.kind.group_kind
    if _REGISTERED.setdefault(key, subject_kind) != subject_kind:
        raise ValueError(f"kind {key} is registered twice, differently")


def registered() -> tuple[SubjectKind, ...]:
    """The kinds under test of all suites that have been loaded."""
    return tuple(_REGISTERED.values())


def subject_kind(kind: Kind) -> SubjectKind:
    """The registered entry of a kind, or the conventions for one that is not registered."""
    return _REGISTERED.get(kind.group_kind) or SubjectKind(kind)
