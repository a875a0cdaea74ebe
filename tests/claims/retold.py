"""Transform recorded histories, so that checkers see cases that no recorded run has.

Each way of retelling makes of a history another one, that may be of no controller: slower, without
some of its entries, with others at work, with other values. The verdicts prove nothing of the
claims, and show all the more of the checkers: times that lie on a bound or next to it, objects
whose creation was not recorded, operators that stop and go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from conformance.suites.appwrapper.history_format1 import effect_of
from tests.claims.recorded import strict
from tests.claims.watched import Recording, from_the_middle, interrupted
from tests.headers import ROLE, with_facts
from vocabulary.clock import SECOND
from vocabulary.history import Capabilities, Entry, Fault, Process, Write

Choice = TypeVar("Choice")
Retelling: TypeAlias = Callable[[Recording, "Chance"], Recording]
OPERATORS: Final = ("appwrapper", "appwrapper/1")
OTHERS: Final = ("user", "chaos", "job-controller", "scheduler", "kubelet/n0", *OPERATORS)
CODES: Final = (0, 400, 403, 404, 409, 409, 422, 429, 500, 503)
CHANGES: Final = ("killed", "started", "paused", "resumed", "stopped", "following", "leading")
FAULTS: Final[Sequence[dict[str, Any]]] = (
    {"double_operator": {}},
    {"time_out": {"actor": "appwrapper", "after": "3s"}},
    {"lose_reply": {"times": 2, "after": "1s"}},
    {"slow_api": {"actor": "appwrapper/1", "times": 0, "by": "2s"}},
    {"slow_api": {"times": 3}},
    {"api_error": {"code": 404, "times": 0}},
    {"api_error": {"code": 503, "times": 2, "retry_after_seconds": 2}},
    {"api_error": {"actor": "scheduler", "times": 0}},
    {"time_out": {}},
    {"lose_reply": {}},
    {"api_error": {}},
    {"delay_watch": {"by": "4s"}},
    {"delay_watch": {}},
    {"break_watch": {"gap": "2s"}},
    {"break_watch": {}},
    {"kill_pod": {"pod": "a-0"}},
    {"unheard_of": {}},
)
SPANS: Final = ("0s", "-1s", "1s", "30s", "60s", "90s", "400s", "100h", "soon")
PARAMETERS: Final = (
    "admissionGracePeriod",
    "warmupGracePeriod",
    "failureGracePeriod",
    "resetPause",
    "deletionGracePeriod",
    "successTTLCeiling",
    "gracePeriodCeiling",
)
PHASES: Final[Mapping[str, Sequence[str]]] = {
    "Pod": ("Pending", "Running", "Succeeded", "Failed", "Unknown"),
    "AppWrapper.workload.codeflare.dev": (
        *("Suspended", "Resuming", "Running", "Resetting", "Suspending", "Succeeded"),
        *("Failed", "Terminating"),
    ),
}
FACTS: Final = (
    *("slack_us", "detection_latency_us", "clock_resolution_us", "request_latency_us"),
    *("poll_us", "polls_every_us", "untouched"),
)
ALWAYS: Final = {
    ("kind",),
    ("apiVersion",),
    ("metadata",),
    ("metadata", "name"),
    ("metadata", "uid"),
    ("metadata", "namespace"),
}
"""Fields of every object from an API server."""


class Chance:
    """Random decisions, the same in every version of Python."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def one_of(self, things: Sequence[Choice]) -> Choice:
        return things[int(self._random.random() * len(things))]

    def is_so(self, share: float) -> bool:
        return self._random.random() < share


def on_whole_seconds(recording: Recording, _: Chance) -> Recording:
    """All within a second at once, and nothing granted: bounds are met exactly."""
    return _at_times(recording, lambda t, _: t // SECOND * SECOND)


def beside_whole_seconds(recording: Recording, chance: Chance) -> Recording:
    """The same, some of it a microsecond later."""
    return _at_times(recording, lambda t, _: t // SECOND * SECOND + chance.is_so(0.5))


def slowly(recording: Recording, _: Chance) -> Recording:
    return _at_times(recording, lambda t, _: 3 * t)


def quickly(recording: Recording, _: Chance) -> Recording:
    return _at_times(recording, lambda t, _: t // 2)


def partly(recording: Recording, chance: Chance) -> Recording:
    """Begun in the middle, or with its watches cut; or broken off anywhere."""
    rng = Random(chance.one_of(range(1 << 16)))
    how = chance.one_of((from_the_middle, interrupted, None))
    if how is not None:
        return how(recording, rng)
    header, entries = recording
    return header, entries[: chance.one_of(range(len(entries))) + 1]


def with_losses(recording: Recording, chance: Chance) -> Recording:
    """Without some of its entries, as if they had never been."""
    header, entries = recording
    return header, numbered([entry for entry in entries if not chance.is_so(0.1)])


def by_others(recording: Recording, chance: Chance) -> Recording:
    """Some writes are attributed to another actor."""

    def retold(entry: Entry) -> Entry:
        if isinstance(entry, Write) and chance.is_so(0.2):
            return replace(entry, actor=chance.one_of(OTHERS))
        return entry

    return _each(recording, retold)


def by_two_operators(recording: Recording, chance: Chance) -> Recording:
    """Two operators act in turn; one of them may stop, and go on."""
    header, entries = recording
    turn = 0
    first = chance.one_of(range(len(entries)))
    told: list[Entry] = []
    for at, entry in enumerate(entries):
        if at == first:
            told.append(_process(entry.t, OPERATORS[1], "started"))
        if isinstance(entry, Write) and entry.actor in OPERATORS:
            turn ^= chance.is_so(0.3)
            told.append(replace(entry, actor=OPERATORS[turn]))
        else:
            told.append(entry)
        if chance.is_so(0.05):
            told.append(_process(entry.t, chance.one_of(OPERATORS), chance.one_of(CHANGES)))
    return header, numbered(told)


def with_refusals(recording: Recording, chance: Chance) -> Recording:
    """Some requests were refused, or not answered."""

    def retold(entry: Entry) -> Entry:
        if isinstance(entry, Write) and entry.verb and chance.is_so(0.12):
            return replace(entry, code=chance.one_of(CODES), event="", object=None, rv=0)
        return entry

    return _each(recording, retold)


def under_faults(recording: Recording, chance: Chance) -> Recording:
    """Processes die and come back, faults are injected and lifted; what was so is forgotten."""
    header, entries = recording
    told: list[Entry] = []
    for entry in entries:
        if not isinstance(entry, Fault | Process):
            told.append(entry)
        if chance.is_so(0.06):
            told.append(_process(entry.t, chance.one_of(OPERATORS), chance.one_of(CHANGES)))
        if chance.is_so(0.06):
            fault = chance.one_of(FAULTS)
            told.append(_fault(entry.t, "injected", fault))
            if chance.is_so(0.5):
                undone = chance.one_of(entries[entry.n :]).t
                told.append(_fault(undone, "reverted", fault))
    return header, numbered(sorted(told, key=lambda entry: entry.t))


def under_other_parameters(recording: Recording, chance: Chance) -> Recording:
    """The operator is configured otherwise, and the world granted otherwise."""
    header, entries = recording
    operator = header.first
    tolerance = dict(operator.parameters.get("faultTolerance") or {})
    for key in PARAMETERS:
        if chance.is_so(0.3):
            tolerance[key] = chance.one_of(SPANS[2:8])
    if chance.is_so(0.3):
        tolerance["retryLimit"] = chance.one_of(range(5))
    facts: dict[str, int] = {}
    for fact in FACTS:
        if chance.is_so(0.4):
            facts[fact] = chance.one_of((0, 1, SECOND // 2, SECOND, 70 * SECOND))
    capabilities = Capabilities(
        options=not chance.is_so(0.2),
        exact_times=not chance.is_so(0.2),
        versions=True if chance.is_so(0.5) else UNSET,
    )
    told = replace(
        header,
        clock=chance.one_of(("virtual", "wall")),
        operators={
            ROLE: replace(operator, parameters={**operator.parameters, "faultTolerance": tolerance})
        },
        capabilities=capabilities,
    )
    return with_facts(told, **facts), entries


def in_other_phases(recording: Recording, chance: Chance) -> Recording:
    """Pods and AppWrappers are in other phases now and then, and conditions say the contrary."""

    def retold(entry: Entry) -> Entry:
        if not isinstance(entry, Write) or entry.object is None or "status" not in entry.object:
            return entry
        status = dict(entry.object["status"])
        if entry.kind in PHASES and chance.is_so(0.15):
            status["phase"] = chance.one_of(PHASES[entry.kind])
        status["conditions"] = [
            {**each, "status": "False" if each.get("status") == "True" else "True"}
            if chance.is_so(0.04)
            else each
            for each in status.get("conditions") or ()
        ]
        return replace(entry, object={**entry.object, "status": status})

    return _each(recording, retold)


def with_other_values(recording: Recording, chance: Chance) -> Recording:
    """Some fields are absent, or say what they say elsewhere; from there on, or once."""
    header, entries = recording
    known: dict[tuple[str, ...], list[Any]] = {}
    for entry in entries:
        if isinstance(entry, Write) and entry.object is not None:
            for path, value in _leaves(entry.object):
                known.setdefault(path, []).append(value)
    standing: dict[str, dict[tuple[str | int, ...], Any]] = {}
    told: list[Entry] = []
    for entry in entries:
        if not isinstance(entry, Write) or entry.object is None:
            told.append(entry)
            continue
        now = standing.setdefault(entry.uid, {})
        once: dict[tuple[str | int, ...], Any] = {}
        for place, path in _places(entry.object):
            if path in known and chance.is_so(0.01):
                value = None if chance.is_so(0.3) else chance.one_of(known[path])
                (now if chance.is_so(0.5) else once)[place] = value
        told.append(replace(entry, object=_changed(entry.object, {**now, **once})))
    return header, told


WAYS: Final[Mapping[str, Retelling]] = {
    found.__name__.replace("_", "-"): found
    for found in (
        on_whole_seconds,
        beside_whole_seconds,
        slowly,
        quickly,
        partly,
        with_losses,
        by_others,
        by_two_operators,
        with_refusals,
        under_faults,
        under_other_parameters,
        in_other_phases,
        with_other_values,
    )
}


def numbered(entries: Sequence[Entry]) -> list[Entry]:
    """With the positions that they have."""
    return [replace(entry, n=at) for at, entry in enumerate(entries)]


def _at_times(recording: Recording, when: Callable[[int, int], int]) -> Recording:
    header, entries = recording
    told: list[Entry] = []
    for entry in entries:
        last = told[-1].t if told else 0
        told.append(replace(entry, t=max(last, when(entry.t, entry.n))))
    return strict(header), told


def _each(recording: Recording, retold: Callable[[Entry], Entry]) -> Recording:
    header, entries = recording
    return header, [retold(entry) for entry in entries]


def _process(t: int, process: str, change: Any) -> Process:
    return Process(n=0, t=t, process=process, change=change)


def _fault(t: int, action: Any, fault: dict[str, Any]) -> Fault:
    return Fault(n=0, t=t, action=action, fault=fault, text="a fault", effect=effect_of(fault))


def _places(value: Any, *at: str | int) -> Iterator[tuple[tuple[str | int, ...], tuple[str, ...]]]:
    """Where each value in an object is, and the same without the positions in lists."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _places(below, *at, key)
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from _places(below, *at, index)
    if at:
        yield at, tuple("" if isinstance(part, int) else part for part in at)


def _leaves(obj: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for place, path in _places(obj):
        value: Any = obj
        for part in place:
            value = value[part]
        if path not in ALWAYS and path[-1] != "type":
            yield path, value


def _changed(value: Any, changes: Mapping[tuple[str | int, ...], Any]) -> Any:
    """A copy with other values at those places; None: without them."""
    here = changes.get(())
    if () in changes:
        return here

    def below(part: str | int) -> dict[tuple[str | int, ...], Any]:
        return {place[1:]: found for place, found in changes.items() if place[:1] == (part,)}

    if not changes or not isinstance(value, dict | list):
        return value
    pairs = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    made = [(part, _changed(found, below(part))) for part, found in pairs]
    kept = [(part, found) for part, found in made if found is not None]
    return dict(kept) if isinstance(value, dict) else [found for _, found in kept]
