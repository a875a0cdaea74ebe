"""Choosing what a fault hits: by name, or by what it is, decided when the fault strikes.

Names of pods are made up by controllers, so a plan says `pod: {of: JobSet/a, which: random}`
instead: the pods that the object owns, however many owners lie between. Candidates are put in
order of their names and a random choice comes from the run's own seeded stream, so a replay
hits the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from msgspec import Meta

from chaos.fields import Spelling, write_fields
from chaos.ground import FaultRefusedError, Ground
from chaos.subject_kind import subject_kind
from vocabulary.errors import ApiError
from vocabulary.kinds import NODE, POD, Kind, kind_of, known_kinds
from vocabulary.objects import (
    Object,
    controller_of,
    get_path,
    is_terminating,
    labels_of,
    name_of,
    owner_references,
)
from vocabulary.requests import Get, List
from vocabulary.selectors import parse_selector

T = TypeVar("T")


def named_kind(name: Any) -> Kind:
    """The kind of that name; ValueError if it is neither known nor spelled in full."""
    for known in known_kinds():
        if name in (str(known), known.kind):
            return known
    api_version, _, kind = str(name).rpartition("/")
    if not api_version or not kind:
        known_names = ", ".join(sorted({str(known) for known in known_kinds()}))
        raise ValueError(
            f"{name!r} is not a known kind ({known_names}); "
            "write others in full, for example jobset.x-k8s.io/v1alpha2/JobSet"
        )
    return kind_of({"apiVersion": api_version, "kind": kind})


def named_object(named: Any) -> tuple[Kind, str]:
    """Kind and name of an object such as `Job/a`; ValueError if the kind is not known."""
    kind, _, name = str(named).rpartition("/")
    if not kind or not name:
        raise ValueError(f"is {named!r}, expected a kind and a name, such as Job/a")
    return named_kind(kind), name


def _checked(check: Callable[[Any], Any]) -> Spelling:
    """A text that is kept as it is once the check has raised no ValueError."""

    def read(data: Any) -> Any:
        check(data)
        return data

    return Spelling(read)


Which: TypeAlias = (
    Annotated[int, Meta(ge=0, le=1_000_000)] | Literal["first", "last", "random", "all"]
)
Selector: TypeAlias = Annotated[str, _checked(lambda data: parse_selector(str(data)))]
KindName: TypeAlias = Annotated[str, _checked(named_kind)]
ObjectName: TypeAlias = Annotated[str, _checked(named_object)]


@dataclass(frozen=True, slots=True)
class PodChoice:
    """Some pods of the namespace. Empty criteria fit all; deleted pods only where asked for."""

    of: ObjectName = ""
    """The object that they belong to, for example `JobSet/a`."""
    owner: str = ""
    """Name of the controller that owns it, for example its Job."""
    labels: Selector = ""
    node: str = ""
    phase: str = ""
    terminating: bool = False
    which: Which = "first"

    object_field: ClassVar[str] = "of"


@dataclass(frozen=True, slots=True)
class ObjectChoice:
    """Some objects of a kind."""

    of: ObjectName = ""
    """The object that they belong to."""
    labels: Selector = ""
    terminating: bool = False
    which: Which = "first"

    object_field: ClassVar[str] = "of"


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """Some nodes; `hosting` means those where the chosen pods run."""

    labels: Selector = ""
    hosting: PodChoice | None = None
    which: Which = "first"


Choice: TypeAlias = PodChoice | ObjectChoice | NodeChoice


def chosen(ground: Ground, choice: Choice, kind: str) -> tuple[str, ...]:
    """The names of the objects that are meant; raises FaultRefusedError if there are none.

    `kind` is that of an ObjectChoice, as plans spell it.
    """
    if not isinstance(choice, NodeChoice):
        return tuple(map(name_of, _objects(ground, choice, kind)))
    listed = ground.call(List(NODE, label_selector=choice.labels, live=True)).items
    names = sorted(name_of(found) for found in listed)
    if choice.hosting is not None:
        pods = _objects(ground, choice.hosting)
        hosts = {get_path(pod, "spec.nodeName") for pod in pods}
        names = [name for name in names if name in hosts]
    return _pick(ground, names, choice.which, f"no node fits {_criteria(choice)}")


def described(noun: str, chosen: str | Choice) -> str:
    """The target in English: `pod a-0`, `the first pod of JobSet a on node n0`."""
    if isinstance(chosen, str):
        return f"{noun} {chosen}"
    which = chosen.which
    if which == "all":
        words = [f"every {noun}"]
    elif isinstance(which, int):
        words = [f"{noun} number {which + 1} (by name)"]
    else:
        words = [f"a random {noun}" if which == "random" else f"the {which} {noun}"]
    if isinstance(chosen, NodeChoice):
        if chosen.hosting is not None:
            words.append(f"that hosts {described('pod', chosen.hosting)}")
    elif chosen.of:
        words.append(f"of {' '.join(chosen.of.rsplit('/', 1))}")
    if isinstance(chosen, PodChoice):
        words += [f"of {chosen.owner}"] * bool(chosen.owner)
        words += [f"on node {chosen.node}"] * bool(chosen.node)
        words += [f"in phase {chosen.phase}"] * bool(chosen.phase)
    if chosen.labels:
        words.append(f"with labels {chosen.labels}")
    return " ".join(words)


def current(ground: Ground, kind: Kind, name: str) -> Object:
    """The object as it is stored now; raises ApiError 404 if there is none."""
    namespace = ground.namespace if kind.namespaced else ""
    found: Object = ground.call(Get(kind, namespace, name, live=True))
    return found


def _objects(
    ground: Ground, choice: PodChoice | ObjectChoice, kind: str = ""
) -> tuple[Object, ...]:
    of_kind = POD if isinstance(choice, PodChoice) else named_kind(kind)
    namespace = ground.namespace if of_kind.namespaced else ""
    listed = ground.call(List(of_kind, namespace, label_selector=choice.labels, live=True)).items
    belonging = Belonging(ground, choice.of)
    fitting = [
        found
        for found in listed
        if is_terminating(found) <= choice.terminating
        and (not isinstance(choice, PodChoice) or _fits(found, choice))
        and found in belonging
    ]
    noun = "pod" if isinstance(choice, PodChoice) else str(of_kind)
    none = f"no {noun} fits {_criteria(choice)}"
    return _pick(ground, sorted(fitting, key=name_of), choice.which, none)


def _fits(pod: Object, choice: PodChoice) -> bool:
    owner = controller_of(pod)
    return (
        (not choice.owner or (owner is not None and owner.get("name") == choice.owner))
        and (not choice.node or get_path(pod, "spec.nodeName") == choice.node)
        and (not choice.phase or get_path(pod, "status.phase") == choice.phase)
    )


class Belonging:
    """The objects that belong to one: by its kind's label, or by owner references up to it."""

    def __init__(self, ground: Ground, of: str) -> None:
        """An empty `of` stands for anything: every object belongs to it."""
        self._ground = ground
        self._of = named_object(of) if of else None
        self._label = subject_kind(self._of[0]).label if self._of else ""
        self._owners: dict[tuple[str, str], bool] = {}

    def __contains__(self, obj: Object) -> bool:
        return (
            self._of is None
            or (bool(self._label) and labels_of(obj).get(self._label) == self._of[1])
            or any(self._leads_there(owner) for owner in owner_references(obj))
        )

    def _leads_there(self, reference: Object) -> bool:
        assert self._of is not None
        kind, name = kind_of(reference), str(reference.get("name"))
        key = (kind.group_kind, name)
        if key == (self._of[0].group_kind, self._of[1]):
            return True
        if key not in self._owners:
            self._owners[key] = False  # an owner that owns itself leads nowhere
            with suppress(ApiError):
                self._owners[key] = current(self._ground, kind, name) in self
        return self._owners[key]


def _pick(ground: Ground, found: Sequence[T], which: str | int, none: str) -> tuple[T, ...]:
    if not found:
        raise FaultRefusedError(f"{none}; strike later, or choose more widely")
    if which == "all":
        return tuple(found)
    if which == "random":
        return (found[ground.rng("chaos/choice").randrange(len(found))],)
    index = -1 if which == "last" else 0 if which == "first" else int(which)
    if index >= len(found):
        raise FaultRefusedError(f"{none} at index {index}: there are {len(found)}")
    return (found[index],)


def _criteria(choice: Any) -> str:
    return str(write_fields(choice) or "{}")
