"""Suites: the claims, scenarios and view of one norm each, found by entry point.

A suite is a `Suite` literal in a package, registered in the group `assay.suites` of any
installed distribution:

    [project.entry-points."assay.suites"]
    toy = "assay_toy:SUITE"

`load` imports what has not been imported yet. Importing any module of a suite's package first,
in a fresh interpreter, works as well: its package holds the literal, and Python imports that
before the module.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from conformance.manifests.pod_templates import pods_of
from vocabulary.clock import HOUR, SECOND, Micros
from vocabulary.entry_points import EntryPoints, where_raised
from vocabulary.kinds import Kind, register
from vocabulary.objects import Object, get_path

if TYPE_CHECKING:
    from msgspec import Struct

    from conformance.history import History, Track
    from conformance.history.lanes import Lane, Sheet, Tone

ACTORS: Final = frozenset(
    {
        "user",
        "federated-user",
        "service-account",
        "chaos",
        "harness",
        "kubelet",
        "scheduler",
    }
)
"""Names of other actors in histories and plans: no suite has one of them."""
_CONTROLLERS: Final = frozenset(
    {
        "deployment-controller",
        "disruption-controller",
        "endpointslice-controller",
        "garbage-collector",
        "job-controller",
        "kube-controller-manager",
        "kube-scheduler",
        "namespace-controller",
        "node-lifecycle",
        "pod-gc",
        "pvc-protection",
        "pytorchjob-controller",
        "raycluster-controller",
        "rayjob-controller",
        "replicaset-controller",
        "resourcequota-controller",
        "statefulset-controller",
        "taint-manager",
        "ttl-after-finished",
        "uncontrolled-teller",
    }
)
"""Those of the cluster's own: no suite has the name of one, either."""
AUDIT_LOG: Final = "audit-log"
"""The suite in the scenario's id of a recorded audit log: it is of none."""
_NAME: Final = re.compile(r"[a-z][a-z0-9-]*")
_PARTS: Final = ("claims", "faults", "scenarios")
_INSTALLED: Final = EntryPoints("assay.suites", "suite")


class SuiteError(Exception):
    """A suite cannot be loaded; the message names it and the next action."""


class Durations(Protocol):
    """How long a run's workload may take, at the configuration in force."""

    @property
    def patience_us(self) -> Micros:
        """The longest wait of a scenario's step."""

    @property
    def maximum_us(self) -> Micros:
        """The longest of all timers."""

    @property
    def attempt_bound_us(self) -> Micros:
        """The longest that one attempt can take, from creation to the next creation."""


@dataclass(frozen=True, slots=True)
class PlainDurations:
    """Durations of an operator without timers."""

    patience_us: Micros = HOUR
    maximum_us: Micros = HOUR
    attempt_bound_us: Micros = 20 * SECOND


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of a suite's operators, nested as in their configuration files."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    """The norm's defaults. None of them is written: claims about defaults require that an
    operator uses its own."""
    written: Mapping[str, Any] = field(default_factory=dict)
    """Written into every configuration."""
    short: Callable[[Micros, int], Mapping[str, Any]] = lambda _late_us, _stretch: {}
    """Written where time is real: shorter durations, for an operator that may be so late, all of
    them that many times as long."""
    durations: Callable[[Mapping[str, Any]], Durations] = lambda _config: PlainDurations()
    """The durations that follow from a configuration in which nothing is missing."""
    whole: frozenset[str] = frozenset()
    """Keys of mappings that a change replaces as a whole."""
    spans: str = ""
    """The section whose texts are durations; empty: there is none."""
    read: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda data: data
    """The configuration that an operator's own file holds. Raises ValueError, which says which
    field is wrong."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Settings in `spans` that an object's own annotation overrides, by name; for operators
    whose configuration cannot be changed."""

    def overlay(self, base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
        """`base` with `changes` laid over it, section by section; a new dict."""
        merged = dict(base)
        for key, value in changes.items():
            below = merged.get(key)
            if (
                key in self.whole
                or not isinstance(value, Mapping)
                or not isinstance(below, Mapping)
            ):
                merged[key] = dict(value) if isinstance(value, Mapping) else value
            else:
                merged[key] = self.overlay(below, value)
        return merged

    def durations_at(self, config: Mapping[str, Any]) -> Durations:
        """The durations in force with that configuration."""
        return self.durations(self.overlay(self.defaults, config))


@dataclass(frozen=True, slots=True)
class KindUse:
    """A kind that a suite's operators reconcile, as worlds see it."""

    kind: Kind
    is_at_rest: Callable[[Object], bool]
    """True if an object may stay as it is indefinitely: where time is real, a run waits for it
    once its faults have stopped."""
    probe: Callable[[str], Object] | None = None
    """Makes an object, in a namespace, that every operator's webhooks admit and that no operator
    acts on: where time is real, dry runs show by it that the webhooks are reached."""
    progress: Callable[[Object], object] = lambda obj: get_path(obj, "status.phase")
    """A value that changes with each step towards the object's goal: an operator that writes on
    while no object's changes makes none."""
    begins_again: Callable[[Object], bool] = lambda _obj: False
    """True while an object is on its way back to its beginning, for another attempt."""
    pods: Callable[[Object], int] = pods_of
    """How many pods an object asks for, at most."""


def _no_table(_histories: Sequence[History]) -> Iterable[str]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """The claims, scenarios and vocabulary of one norm."""

    name: str
    """As in `assay run NAME`; the first part of its scenarios' ids."""
    title: str
    prefixes: tuple[str, ...]
    """Of its claims' ids, in the order in which reports list them: `AW` of `AW-001`."""
    package: str
    """The package with `claims`, `scenarios`, `faults`, `crash_states` and `argument`, modules or
    packages, and the folders `profiles` and `designs`, each optional."""
    roles: tuple[str, ...] = ()
    """The operators under test in its scenarios; empty: the suite has none of its own."""
    editions: tuple[str, ...] = ()
    """The readings of the norm that a run can be judged by; the first is the default. Empty: there
    is one only, without a name."""
    kinds: tuple[KindUse, ...] = ()
    """The kinds that its operators reconcile."""
    settings: Settings = field(default_factory=Settings)
    """How its operators are configured."""
    fields: type[Struct] | None = None
    """The names in an implementation's API that the claims refer to: the type of `fields` in its
    profile, whose defaults are those of the norm. None: an implementation cannot rename any."""
    counts_requests: bool = False
    """Its operators count what pods ask for, which stays as written on real nodes, too."""
    need_webhooks: tuple[str, ...] = ()
    """Claims that no operator keeps unless its admission webhooks are called."""
    lanes: Callable[[History, Track], Iterable[Lane]] = lambda _history, _object: ()
    """The lanes of an object of these kinds on failure pages, beside its conditions; a suite
    without kinds of its own may add lanes to those of others."""
    sheets: Callable[[History, int], Iterable[Sheet]] = lambda _history, _n: ()
    """Tables on failure pages: objects as they were after that position."""
    table: Callable[[Sequence[History]], Iterable[str]] = _no_table
    """Lines below the claims of a run of its scenarios, and in its report, from the histories."""
    condition_tones: Mapping[str, Tone] = field(default_factory=dict)
    """The tone of a condition's lane while it is True; `good` for those that are not named."""
    by_edition: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    """By edition and role: further settings that are written into an operator's configuration in
    its scenarios, where operators behave otherwise by another reading of the norm."""
    fails_in: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """By edition and claim that it is known not to keep: the scenarios that show it."""
    judged_with: tuple[str, ...] = ()
    """Further suites, on whose runs its claims are judged, too."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise SuiteError(
                f"suite {self.name!r}: a name has lower-case letters, digits and dashes, and "
                "begins with a letter"
            )
        if self.name in ACTORS | _CONTROLLERS:
            raise SuiteError(f"suite {self.name!r}: histories use that name for another actor")
        for use in self.kinds:
            register(use.kind)
        known = _SUITES.setdefault(self.name, self)
        if known != self:
            raise SuiteError(
                f"suite {self.name!r} is defined twice, in {known.package} and in {self.package}; "
                "rename one of them, or uninstall its distribution"
            )

    @property
    def scenarios(self) -> str:
        """The package or module of its scenarios."""
        return f"{self.package}.scenarios"

    def load(self) -> None:
        """Import its modules: that registers claims, scenarios and faults."""
        for part in _PARTS:
            name = f"{self.package}.{part}"
            if find_spec(name) is None:
                continue
            below = pkgutil.walk_packages(
                getattr(importlib.import_module(name), "__path__", ()), f"{name}."
            )
            for module in sorted(info.name for info in below):
                importlib.import_module(module)

    @property
    def activities(self) -> str:
        """The module of its activities for the Chaos Toolkit; empty: it has none."""
        name = f"{self.package}.activities"
        return name if find_spec(name) else ""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where its manifests stand."""
        return tuple(map(Path, importlib.import_module(self.package).__path__))


_SUITES: Final[dict[str, Suite]] = {}
"""The suites whose packages have been imported."""


def names() -> tuple[str, ...]:
    """The names of all installed suites; imports none of them."""
    return _INSTALLED.names()


def of_others() -> frozenset[str]:
    """The names of the suites that do not come with Assay's own distribution."""
    own = {name for name, distribution in _INSTALLED.distributions() if distribution == "assay"}
    return frozenset(names()) - own


def shipped_profiles() -> Mapping[str, Path]:
    """The profiles that installed suites bring, by name: `profiles/NAME.yaml` in their packages.

    Imports no suite.
    """
    return _profiles_in(_INSTALLED.modules(), tuple(sys.path))


@cache
def _profiles_in(
    modules: tuple[str, ...],
    path: tuple[str, ...],  # noqa: ARG001  # `sys.path`, where they are found
) -> Mapping[str, Path]:
    found = {
        path.stem: path
        for module in modules
        if (spec := find_spec(module)) is not None
        for folder in spec.submodule_search_locations or ()
        for path in Path(folder, "profiles").glob("*.yaml")
    }
    return {name: found[name] for name in sorted(found)}


@cache
def load() -> Mapping[str, Suite]:
    """Import every installed suite with its modules; the suites by name, sorted.

    Raises SuiteError if one cannot be imported.
    """
    for name in names():
        _load(name)
    return {name: _SUITES[name] for name in sorted(_SUITES)}


def packages() -> tuple[str, ...]:
    """The packages of the suites that this process has imported."""
    return tuple(suite.package for suite in _SUITES.values())


def load_from(wanted: Iterable[str]) -> None:
    """Load the suites in these packages, too, whether or not they were installed when this process
    began: a worker has the suites of the process that it works for."""
    missing = set(wanted).difference(packages())
    for package in sorted(missing):
        importlib.import_module(package)
    for suite in tuple(_SUITES.values()):
        if suite.package in missing:
            suite.load()
            load.cache_clear()


def suite_of_module(module: str) -> tuple[Suite, str] | None:
    """The suite whose scenarios a module holds, and the module's name below these."""
    for suite in _SUITES.values():
        if module == suite.scenarios:
            return suite, ""
        if module.startswith(f"{suite.scenarios}."):
            return suite, module.removeprefix(f"{suite.scenarios}.")
    return None


def of_module(module: str) -> Suite:
    """The suite whose package holds a module. Raises SuiteError if there is none."""
    for suite in _SUITES.values():
        if module == suite.package or module.startswith(f"{suite.package}."):
            return suite
    raise SuiteError(
        f"{module} declares a claim, and is in no suite's package; move it into that of its suite, "
        "whose Suite literal is defined before its modules are imported"
    )


def of_scenario(scenario: str) -> Suite:
    """The suite of a scenario by its id."""
    return load()[scenario.partition("/")[0]]


def judged_on(scenario: str, roles: Iterable[str]) -> Iterator[Suite]:
    """The suites whose claims are judged on a run: the scenario's, those of its operators, and
    those that are judged with one of these; on an audit log, all that its operators suffice for."""
    of = scenario.partition("/")[0]
    ran = {of, *roles}
    for suite in load().values():
        is_of_log = of == AUDIT_LOG and suite.roles and ran.issuperset(suite.roles)
        if suite.name in ran or not ran.isdisjoint(suite.judged_with) or is_of_log:
            yield suite


def makes_table(scenario: str) -> bool:
    """True if the suite of a scenario makes a table of its histories."""
    found = load().get(scenario.partition("/")[0])
    return found is not None and found.table is not _no_table


def _load(name: str) -> None:
    suite = _INSTALLED.load(name)
    if not isinstance(suite, Suite):
        raise SuiteError(f"suite {name!r}: its entry point is no Suite; let it name the literal")
    if suite.name != name:
        raise SuiteError(
            f"suite {name!r}: its literal is named {suite.name!r}; give both the same name"
        )
    with _naming(suite, f"{suite.package} cannot be imported"):
        suite.load()
    with _naming(suite, "its settings have no durations"):
        durations = suite.settings.durations_at(suite.settings.written)
        _ = durations.patience_us, durations.maximum_us, durations.attempt_bound_us


@contextmanager
def _naming(suite: Suite, what: str) -> Iterator[None]:
    """Have what a suite's code raises end in SuiteError: it may be of anybody."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        raise SuiteError(
            f"suite {suite.name!r}: {what}: {where_raised(error, suite.package)}"
        ) from error
