"""The end of a run in normal form: two runs of one workload are compared by it.

The end is the set of objects that are alive when the run is over, but for those by which processes
speak of themselves (Events, Leases) and those of the cluster (Nodes, definitions). The normal form
leaves out whatever differs between two runs that did the same: uids, versions, generations, times,
addresses and places. Names with a random suffix are numbered, within the kind and the owner, by
what the objects are like.

`differences` compares two ends; `volatile` decides whether a difference between two seeds looks
like one of random values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from conformance.history import object_diff
from conformance.history.history import History
from conformance.history.object_diff import ABSENT
from conformance.history.tracks import Track
from vocabulary import canonical
from vocabulary.objects import Object, controller_of, get_path, meta, owner_references

End: TypeAlias = Mapping[str, Object]
"""Objects in normal form, by `Kind namespace/name`."""

OF_PROCESSES: Final = frozenset(("Event", "Event.events.k8s.io", "Lease.coordination.k8s.io"))
"""Kinds by which processes speak of themselves."""
_OF_THE_CLUSTER: Final = frozenset(
    (
        "APIService.apiregistration.k8s.io",
        # The history of a StatefulSet or DaemonSet: nobody makes a revision again.
        "ControllerRevision.apps",
        "CustomResourceDefinition.apiextensions.k8s.io",
        "EndpointSlice.discovery.k8s.io",
        "MutatingWebhookConfiguration.admissionregistration.k8s.io",
        "Namespace",
        "Node",
        "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
    )
)
OWN_PREFIX: Final = "assay.dev/"
"""Begins annotations, labels and finalizers of Assay; copies of them are its own, too."""

MOST_CHANGES: Final = 200
MOST_FIELDS: Final = 3
"""Of one change."""

NEIGHBOUR: Final = "assay-neighbour"
"""In the names, or the namespace, of a second workload beside the one under test."""

_LEFT_OUT: Final = frozenset(
    (
        *("uid", "resourceVersion", "managedFields", "creationTimestamp", "generation"),
        *("selfLink", "generateName", "observedGeneration", "containerID", "imageID"),
        *("nodeName", "podIP", "podIPs", "hostIP", "hostIPs", "clusterIP", "clusterIPs"),
        *("deployment.kubernetes.io/revision", "deployment.kubernetes.io/revision-history"),
    )
)
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?(Z|[+-]\d\d:?\d\d))?")
_SUFFIX: Final = re.compile(
    r"-([bcdfghjklmnpqrstvwxz2456789]{5}|(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{5,16}|[0-9]{8,16})$"
)
"""As API servers and client libraries make it, without vowels, and digits like letters; or the
digits of a hash, in which letters and digits are mixed; or as many digits as a time has, and no
ordinal."""
_IN_BRACKETS: Final = re.compile(r"\[[^]]*\]")
_BY_TYPE: Final = ("conditions",)
_TIMES: Final = "(time)"


class Difference(NamedTuple):
    """A field in which two ends differ; ABSENT stands for a missing value or object."""

    object: str
    """`Kind namespace/name`."""
    path: str
    """Empty: the object as a whole."""
    expected: Any
    found: Any

    @property
    def field(self) -> str:
        """`Kind path`, without the keys of lists: the same for all objects of the kind."""
        kind, path = self.object.partition(" ")[0], _IN_BRACKETS.sub("[]", self.path)
        return f"{kind} {path}".strip()

    def __str__(self) -> str:
        what = f"{self.object}{f' {self.path}' if self.path else ''}"
        if self.expected == ABSENT:
            return f"{what} is {_shown(self.found)}, and was not there undisturbed"
        if self.found == ABSENT:
            return f"{what} is missing; undisturbed it is {_shown(self.expected)}"
        return f"{what} is {_shown(self.found)}; undisturbed it is {_shown(self.expected)}"


def is_compared(track: Track) -> bool:
    """True for an object that belongs to an end."""
    of_others = track.kind in OF_PROCESSES or track.kind in _OF_THE_CLUSTER
    return not of_others and track.created.actor != "harness"


def of_neighbour(history: History) -> dict[str, Track]:
    """By uid, the objects of the second workload and those made for it: they are named after it,
    or owned by one that is."""
    found = {
        track.uid: track
        for each in history.by_kind.values()
        for track in each
        if NEIGHBOUR in f"{track.namespace}/{track.name}"
    }
    for uid in tuple(found):
        found.update((each.uid, each) for each in history.descendants(uid))
    return {uid: track for uid, track in found.items() if is_compared(track)}


def differences(
    expected: End, found: End, ignored: Callable[[Difference], bool] = lambda _: False
) -> list[Difference]:
    """The fields in which a run's end differs from the expected one, objects in order."""
    return [
        each
        for name in sorted({*expected, *found})
        for each in _of_one(name, expected.get(name), found.get(name))
        if not ignored(each)
    ]


def _of_one(name: str, expected: Object | None, found: Object | None) -> Iterator[Difference]:
    if expected is None or found is None:
        yield Difference(name, "", expected or ABSENT, found or ABSENT)
        return
    for each in object_diff.differences(expected, found):
        yield Difference(name, each.path, each.old, each.new)


_DECIDES: Final = re.compile(r"(^spec\.replicas|phase|\]\.(status|reason|type))$")
_WITH_ADDRESS: Final = {"Pod": ("status.podIP",), "Service": ("spec.clusterIP",)}
_KEY: Final = re.compile(r"[A-Za-z0-9+/_=-]{8,}")
_ADDRESS: Final = re.compile(r"(\d{1,3}\.){3}\d{1,3}(:\d+)?|[0-9a-f:]*:[0-9a-f:]+:[0-9a-f:]*")
_WORD: Final = re.compile(r"[A-Za-z0-9._-]+")
_CLOCK: Final = re.compile(r"\d+(\.\d+)?(ms|us|µs|ns|s|m|h)([\d.]+(ms|s|m))*|\d{9,}")


def volatile(difference: Difference) -> str:
    """The sort of random value that both sides of a difference look like; empty: it is none, and
    two runs with different seeds must not differ in it."""
    texts = (difference.expected, difference.found)
    if _DECIDES.search(difference.path) or not difference.path:
        return ""
    if ABSENT in texts or not all(isinstance(text, str) for text in texts):
        return ""
    for looks, pattern in (("a time", _CLOCK), ("an address", _ADDRESS)):
        if all(pattern.fullmatch(text) for text in texts):
            return looks
    if all(_KEY.fullmatch(text) and _is_random(text) for text in texts):
        return "random text"
    first, second = map(_WORD.findall, texts)
    unlike = [
        word for pair in zip(first, second, strict=False) if pair[0] != pair[1] for word in pair
    ]
    if len(first) == len(second) > 1 and unlike and all(map(_is_random, unlike)):
        return "text with random parts"
    return ""


def _is_random(text: str) -> bool:
    """True for text in which letters and digits, or cases, are mixed as in no word."""
    kinds = [bool(re.search(pattern, text)) for pattern in (r"\d", r"[a-z]", r"[A-Z]")]
    return len(text) >= 5 and (sum(kinds) > 1 or bool(_SUFFIX.fullmatch(f"-{text}")))


def _is_superseded(track: Track) -> bool:
    """True for a ReplicaSet that a Deployment has scaled to zero, and keeps for rollbacks: how many
    there are depends on what its template has been, not on what it is."""
    owner = controller_of(track.last) or {}
    is_kept = owner.get("kind") == "Deployment" and str(owner.get("apiVersion")).startswith("apps/")
    return (
        track.kind == "ReplicaSet.apps" and is_kept and get_path(track.last, "spec.replicas") == 0
    )


class NormalForm:
    """The objects of a history, named and written as ends have them."""

    def __init__(self, history: History) -> None:
        tracks = [track for each in history.by_kind.values() for track in each]
        compared = sorted(filter(is_compared, tracks), key=lambda track: track.created.n)
        self._by_uid = {track.uid: track for track in tracks}
        self._prefix: dict[str, str] = {}
        """The names of objects without their random suffixes; empty for one that has none."""
        self._name: dict[str, str] = {}
        for track in compared:
            self._prefix[track.uid] = self._below_owners(track, _prefix(track))
            name = f"{self._prefix[track.uid]}*" if self._prefix[track.uid] else track.name
            self._name[track.uid] = self._below_owners(track, name)
        self.live = [t for t in compared if t.removed is None and not _is_superseded(t)]
        self._pattern = self._known()
        self._number()
        self._pattern = self._known()

    @cached_property
    def end(self) -> dict[str, dict[str, Any]]:
        """The live objects at the end of the history."""
        return {self.name_of(track): self.masked(track.last) for track in self.live}

    def name_of(self, track: Track) -> str:
        """`Kind namespace/name`."""
        where = f"{track.namespace}/" if track.namespace else ""
        return f"{track.kind} {where}{self._name.get(track.uid, track.name)}"

    def masked(self, value: Any, key: str = "") -> Any:
        """A value in normal form."""
        if isinstance(value, Mapping):
            kept = {
                each: self.masked(below, each)
                for each, below in value.items()
                if each not in _LEFT_OUT and not each.startswith(OWN_PREFIX)
            }
            return {each: below for each, below in kept.items() if below not in ({}, [], None)}
        if isinstance(value, list | tuple):
            if key == "finalizers":
                value = [each for each in value if not each.startswith(OWN_PREFIX)]
            items = [self.masked(each) for each in value]
            if key in _BY_TYPE:
                items.sort(key=lambda each: str(each.get("type", "")))
            return sorted(items, key=canonical.encode) if key == "ownerReferences" else items
        if isinstance(value, str):
            text = _TIME.sub(_TIMES, value)
            return self._pattern.sub(self._stand_in, text) if self._stand_ins else text
        return value

    def course(self, is_own: Callable[[str], bool]) -> list[str]:
        """The changes of objects by actors that are its own, in order, at most `MOST_CHANGES`."""
        found: list[tuple[int, str]] = []
        for track in filter(is_compared, self._by_uid.values()):
            before: Object = {}
            for version in track.versions:
                after = version.object or {}
                if is_own(version.actor):
                    found.append((version.n, self._change(track, before, after)))
                before = after
            if track.removed is not None and is_own(track.removed.actor):
                found.append((track.removed.n, f"{self.name_of(track)} deleted"))
        return [text for _, text in sorted(found)[:MOST_CHANGES]]

    def _change(self, track: Track, before: Object, after: Object) -> str:
        if not before:
            return f"{self.name_of(track)} created"
        if "deletionTimestamp" in meta(after) and "deletionTimestamp" not in meta(before):
            return f"{self.name_of(track)} deleted"
        unlike = object_diff.differences(self.masked(before), self.masked(after))
        fields = [f"{each.path} {_shown(each.new)}" for each in unlike]
        more = f" and {len(fields) - MOST_FIELDS} more" if len(fields) > MOST_FIELDS else ""
        told = ", ".join(fields[:MOST_FIELDS]) or "nothing that is compared"
        return f"{self.name_of(track)}: {told}{more}"

    def _below_owners(self, track: Track, name: str) -> str:
        """The name with the names of its owners, where these were generated, in normal form."""
        for owner in owner_references(track.first):
            uid = str(owner.get("uid", ""))
            if uid in self._name:
                name = name.replace(self._by_uid[uid].name, self._name[uid])
        return name

    def _known(self) -> re.Pattern[str]:
        """The pattern of uids and generated names in texts, longest first."""
        self._stand_ins = {
            uid: f"(uid of {self.name_of(self._by_uid[uid])})" for uid in self._prefix
        }
        # Names are used again, and in several namespaces: those that are alive go before.
        alive_last = sorted(self._name, key=lambda uid: self._by_uid[uid].removed is None)
        self._stand_ins |= {
            self._by_uid[uid].name: name
            for uid, name in ((uid, self._name[uid]) for uid in alive_last)
            if name != self._by_uid[uid].name
        }
        self._stand_ins.pop("", None)
        words = sorted(self._stand_ins, key=lambda word: (-len(word), word))
        addresses = self._addresses()
        self._stand_ins |= addresses
        alone = (rf"(?<![\d.]){re.escape(each)}(?![\d.])" for each in sorted(addresses))
        return re.compile("|".join([*map(re.escape, words), *alone]))

    def _addresses(self) -> dict[str, str]:
        """The stand-ins for addresses of pods and Services: which of them is given to whom depends
        on the order of events. An operator may copy them into fields of its own."""
        found: dict[str, str] = {}
        tracks = (each for each in self._by_uid.values() if each.kind in _WITH_ADDRESS)
        for track in sorted(tracks, key=lambda track: track.removed is None):
            for version in track.versions:
                for path in _WITH_ADDRESS[track.kind]:
                    address = get_path(version.object or {}, path, "")
                    if _ADDRESS.fullmatch(address):
                        found[address] = f"(address of {self.name_of(track)})"
        return found

    def _stand_in(self, found: re.Match[str]) -> str:
        return self._stand_ins[found.group()]

    def _number(self) -> None:
        """Number the live objects with generated names, within kind and owner."""
        groups: dict[tuple[str, ...], list[Track]] = {}
        for track in self.live:
            if prefix := self._prefix[track.uid]:
                owners = [str(owner.get("uid", "")) for owner in owner_references(track.last)]
                named = [self._stand_ins.get(owner, owner) for owner in owners]
                groups.setdefault((track.kind, track.namespace, prefix, *named), []).append(track)
        counted: dict[tuple[str, ...], int] = {}
        for group, tracks in groups.items():
            tracks.sort(key=lambda track: (canonical.encode(self.masked(track.last)), track.name))
            for track in tracks:
                number = counted[group[:3]] = counted.get(group[:3], -1) + 1
                self._name[track.uid] = f"{self._prefix[track.uid]}*{number}"


def _prefix(track: Track) -> str:
    """The name without its random suffix; empty if it has none, as those of a StatefulSet's pods:
    generateName and an ordinal."""
    if (controller_of(track.first) or {}).get("kind") == "StatefulSet":
        return ""
    prefix = str(meta(track.first).get("generateName") or "")
    if prefix and track.name.startswith(prefix):
        return prefix
    found = _SUFFIX.search(track.name)
    return track.name[: found.start() + 1] if found else ""


def _shown(value: Any) -> str:
    if isinstance(value, Mapping) and "kind" in value:
        phase = get_path(value, "status.phase", "")
        return f"there{f' ({phase})' if phase else ''}"
    text = value if isinstance(value, str) else canonical.encode(value).decode()
    return text if len(text) <= 120 else f"{text[:117]}…"


def is_custom(kind: str) -> bool:
    """True for a kind of a CRD, by its group: those of Kubernetes itself end in `.k8s.io`, or have
    no dot."""
    group = kind.partition(".")[2]
    return "." in group and (group.endswith("x-k8s.io") or not group.endswith(".k8s.io"))


def most_alive(tracks: Iterable[Track]) -> dict[str, int]:
    """The most objects that were alive at a time, by kind; one that is being deleted is not."""
    steps: dict[str, list[tuple[int, int]]] = {}
    for track in tracks:
        marked = (v.n for v in track.versions if "deletionTimestamp" in meta(v.object or {}))
        ended = next(marked, None if track.removed is None else track.removed.n)
        of_kind = steps.setdefault(track.kind, [])
        of_kind.append((track.created.n, 1))
        if ended is not None:
            of_kind.append((ended, -1))
    return {kind: _highest(of_kind) for kind, of_kind in sorted(steps.items())}


def _highest(steps: Sequence[tuple[int, int]]) -> int:
    now = highest = 0
    for _, step in sorted(steps):
        now += step
        highest = max(highest, now)
    return highest
