"""Read a profile; errors have file, line and field."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from itertools import chain, starmap
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from clusters.behaviour import BEHAVIOUR, BehaviourError, parse_behaviour
from conformance import claims, suite
from conformance.implementations.under_test import MUTATING, VALIDATING
from conformance.profiles.configuration import settings_in
from conformance.profiles.placeholders import PLACEHOLDERS, placeholders_in, unknown
from conformance.profiles.profile import (
    RUN_NAMESPACE,
    Difference,
    ImplementationProfile,
    Lack,
    Manifests,
    Process,
    Webhooks,
)
from conformance.scenarios import SCENARIOS
from conformance.suite import shipped_profiles
from vocabulary.clock import MILLISECOND, MINUTE, SECOND, Micros
from vocabulary.durations import format_duration, parse_duration
from vocabulary.history import OPERATOR
from vocabulary.mistakes import Mistake, mistakes_in
from vocabulary.nearest import meant
from vocabulary.safe_yaml import load_yaml_file
from vocabulary.selectors import parse_selector
from vocabulary.typed_yaml import field_error, field_errors, some

T = TypeVar("T")
Problem: TypeAlias = tuple[str, str]
"""(the field, what is wrong with it and what to do)."""

SUFFIXES: Final = (".yaml", ".yml")
KIND: Final = "ImplementationProfile"
_PARTS: Final = frozenset(("process", "deployment", "pods", "detection", "knownDifferences"))
"""Fields that no other kind of file has."""
CONFIGURATIONS: Final = ("{mutating_webhooks}", "{validating_webhooks}")
DURATIONS: Final[Mapping[str, tuple[Micros, Micros, str]]] = {
    "latency": (0, MINUTE, "later than that, a default failure grace period is over unnoticed"),
    "requestLatency": (0, 10 * SECOND, "what takes longer has failed, and is asked for again"),
    "pokeEvery": (100 * MILLISECOND, MINUTE, "more often loads the cluster, less often is latency"),
    "pollsEvery": (100 * MILLISECOND, MINUTE, "what it notices later than that is latency"),
    "clockResolution": (0, SECOND, "no time of Kubernetes is coarser"),
}
"""The least and the most that a profile may ask for, and why: what is allowed without bounds makes
any operator right."""


def find(name: str) -> Path | None:
    """The file of a shipped profile's name, or a profile's file itself; None for other names."""
    if name in shipped_profiles():
        return shipped_profiles()[name]
    return Path(name) if name.endswith(SUFFIXES) else None


def read_profile(
    path: Path, also: Callable[[ImplementationProfile, Path], Iterable[Problem]] = lambda *_: ()
) -> ImplementationProfile:
    """The profile in a file; YamlError says which field of which line to change, and how, and has
    all further mistakes as its notes. `also` looks for more in a profile of the right types."""
    data = load_yaml_file(path)
    if not _looks_like_one(data):
        raise field_error(
            path,
            "kind",
            f"expected {KIND}; is this a profile? assay profile schema prints what one holds",
        )
    try:
        profile = msgspec.convert(data, ImplementationProfile)
    except msgspec.ValidationError as error:
        of_types = mistakes_in(data, ImplementationProfile)
        others = chain(_mistakes_of_suite(data), starmap(Mistake, _problems_of_sound_parts(data)))
        raise field_errors(path, chain(of_types, others)) from error
    problems = chain(_problems(profile, data), also(profile, path))
    if mistakes := some(chain(_mistakes_of_suite(data), starmap(Mistake, problems))):
        raise field_errors(path, mistakes)
    return profile


def _looks_like_one(data: Any) -> bool:
    """True if its mistakes are worth telling: of any other file all fields would be missing."""
    return isinstance(data, dict) and (data.get("kind") == KIND or not _PARTS.isdisjoint(data))


def _problems_of_sound_parts(data: Any) -> Iterator[Problem]:
    """Problems of the sound parts of a profile with type errors elsewhere, each part by
    itself. Consistency between parts is checked once all types are correct."""
    if not isinstance(data, dict):
        return
    if isinstance(detection := data.get("detection"), dict):
        yield from _bad_allowances(detection)
    yield from _unknown_names(
        _sound(data, "lacks", Lack), _sound(data, "knownDifferences", Difference)
    )


def _sound(data: Mapping[str, Any], name: str, type_: type[T]) -> Iterator[tuple[int, T]]:
    """The items of a list that are of the type, each with its index."""
    items = data.get(name)
    for index, item in enumerate(items if isinstance(items, list) else ()):
        with suppress(msgspec.ValidationError):
            yield index, msgspec.convert(item, type_)


def _mistakes_of_suite(data: Any) -> Iterator[Mistake]:
    """The suite of its operator, and the names that it chose where that leaves a choice."""
    if not isinstance(data, dict) or not isinstance(name := data.get("suite"), str):
        return
    with_operators = [each for each in suite.load().values() if each.roles]
    found = next((each for each in with_operators if each.name == name), None)
    names = [each.name for each in with_operators]
    yield from starmap(Mistake, _missing("suite", "suite with operators", name, names))
    fields = data.get("fields")
    if found is None or not isinstance(fields, dict):
        return
    if found.fields is None:
        what = f"claims of {name} let an operator choose no names; leave it out"
        yield Mistake("fields", what)
        return
    for mistake in mistakes_in(fields, found.fields):
        at = f"fields.{mistake.at}" if mistake.at else ""
        yield Mistake(f"fields.{mistake.field}".rstrip("."), mistake.what, at)


def _problems(profile: ImplementationProfile, data: Any) -> Iterator[Problem]:
    """Problems that types cannot express."""
    ways = (profile.process, profile.deployment, profile.pods)
    if sum(way is not None for way in ways) != 1:
        yield "name", "is run in no way, or in several; add one of process, deployment and pods"
    elif profile.process is not None:
        yield from _problems_of_process(profile, profile.process, data)
    else:
        yield from _problems_of_installed(profile, data)
    yield from _outside(profile)
    for setting in settings_in(profile.configuration, _settings(profile)):
        yield f"configuration.document.{setting}", "is for runs to decide; leave it out"
    yield from _bad_allowances(data["detection"])
    yield from _unknown_names(enumerate(profile.lacks), enumerate(profile.known_differences))
    # Other suites know no findings that are wanted: there, an entry would have no effect.
    ids = {claim.id for claim in claims.load() if claim.suite == OPERATOR}
    for index, accepted in enumerate(profile.accepts):
        what = f"claim of suite {OPERATOR}"
        yield from _missing(f"accepts[{index}].claim", what, accepted.claim, ids)
    for index, declared in enumerate(profile.behaviours):
        try:
            parse_behaviour(declared.behaviour)
        except BehaviourError as error:
            yield f"behaviours[{index}].behaviour", str(error).removeprefix(f"{BEHAVIOUR}: ")
    yield from _claims_of_others(profile)


def _outside(profile: ImplementationProfile) -> Iterator[Problem]:
    """Patterns beside a Go module, or in it, that lead elsewhere: what is tested is the module and
    what is handed in with the profile."""
    if profile.program.go_module is None:
        return
    for field in ("crds", "rbac", "webhooks"):
        for index, pattern in enumerate(getattr(profile.manifests, field)):
            if ".." in Path(pattern).parts or Path(pattern).is_absolute():
                yield (
                    f"manifests.{field}[{index}]",
                    f"{pattern} leads out of the module, or out of the profile's folder; put the "
                    "files beside the profile, and let the pattern begin with ./",
                )


def _problems_of_process(
    profile: ImplementationProfile, process: Process, data: Any
) -> Iterator[Problem]:
    if (profile.program.go_module is None) == (not profile.program.path):
        yield "program", "needs one of goModule and path, and not both"
    if profile.program.folder and profile.program.go_module is None:
        yield "program.folder", "is the source of a goModule; add its path and package"
    texts = (*_texts(data["process"], "process"), *_document(data))
    misspelled = [each for field, text in texts for each in _unknown_placeholders(field, text)]
    # What is misspelled is not missing besides.
    yield from misspelled or _missing_placeholders(profile, process)
    heard = " ".join(text for field, text in texts if not field.startswith("process.webhooks"))
    yield from _problems_of_webhooks(profile, process.webhooks, heard)
    if profile.configuration.fixed is not None:
        yield (
            "configuration.fixed",
            "is of what is installed; a process is configured; leave it out",
        )


def _missing_placeholders(profile: ImplementationProfile, process: Process) -> Iterator[Problem]:
    told = " ".join((*process.command, *process.environment.values()))
    configured = profile.configuration
    if by_flags_alone(profile):
        known = ", ".join(_settings(profile).defaults)
        if configured.document or configured.settings_under:
            what = "tells it no {config} file, nor is there a configMap; add one, or leave out "
            yield "process.command", f"{what}configuration.document and settingsUnder"
        elif known:
            what = f"tells it no {{config}} file, nor is there a configMap, and runs set {known}"
            yield "process.command", f"{what}; add one"
    if "{kubeconfig}" not in told:
        yield "process", "hands it no {kubeconfig}, so it would look for another cluster; add it"


def by_flags_alone(profile: ImplementationProfile) -> bool:
    """True for a process whose command and environment are all that configures it."""
    process = profile.process
    if process is None or profile.configuration.config_map is not None:
        return False
    return not any("{config}" in text for text in (*process.command, *process.environment.values()))


def _problems_of_webhooks(
    profile: ImplementationProfile, webhooks: Webhooks | None, told: str
) -> Iterator[Problem]:
    """`told` is everything passed to the process, placeholders included."""
    if webhooks is None:
        if profile.manifests.webhooks:
            yield "manifests.webhooks", "is served by nobody; say where: add process.webhooks"
        elif missing := _claims_without_webhooks(profile):
            yield (
                "process",
                f"runs without admission webhooks, so {', '.join(missing)} would fail for the "
                "suite's sake: add process.webhooks, or list that claim under lacks",
            )
        return
    field = "process.webhooks"
    if not profile.manifests.webhooks:
        yield field, "is called by nobody; name the configurations: add manifests.webhooks"
    certificates = webhooks.certificates
    mount_path = certificates.mount_path
    is_constant = mount_path.startswith("/") and "{" not in mount_path
    is_own = mount_path.startswith("{folder}")
    if ".." in Path(mount_path).parts or not (is_constant or is_own):
        yield (
            f"{field}.certificates.mountPath",
            f"{mount_path} is no folder of its own; let it begin with {{folder}}, or write the "
            "absolute path that the program always uses",
        )
    if not certificates.secret_namespace.startswith(RUN_NAMESPACE):
        yield (
            f"{field}.certificates.secretNamespace",
            f"{certificates.secret_namespace} is not the run's own: begin with {RUN_NAMESPACE}",
        )
    if isinstance(webhooks.port, str) and webhooks.port not in told:
        yield f"{field}.port", f"is told to nobody; put {webhooks.port} into what configures it"
    is_named = any(name in told for name in CONFIGURATIONS) or installed_as(webhooks)
    if certificates.secret_name and not is_named:
        yield (
            f"{field}.certificates.secretName",
            "makes its certificates, and cannot have anybody trust them: put "
            f"{' and '.join(CONFIGURATIONS)} into what configures it, or add installedAs with the "
            "names that it always uses",
        )


def installed_as(webhooks: Webhooks) -> dict[str, str]:
    """The constant names of its webhook configurations, by kind."""
    told = webhooks.installed_as
    names = {MUTATING: told.mutating, VALIDATING: told.validating}
    return {kind: name for kind, name in names.items() if name}


def _settings(profile: ImplementationProfile) -> suite.Settings:
    """The settings of its suite; those of one that is not known have no names."""
    found = suite.load().get(profile.suite)
    return suite.Settings() if found is None else found.settings


def _claims_without_webhooks(profile: ImplementationProfile) -> list[str]:
    """The claims that cannot hold without webhooks, and that the profile does not list."""
    found = suite.load().get(profile.suite)
    listed = {claim for lack in profile.lacks for claim in lack.claims}
    return [] if found is None else [c for c in found.need_webhooks if c not in listed]


def _problems_of_installed(profile: ImplementationProfile, data: Any) -> Iterator[Problem]:
    configured = profile.configuration
    if profile.program.path:
        yield "program.path", "is of a process; what is installed has an image; leave it out"
    if profile.watches == "namespace":
        yield (
            "watches",
            "what is installed serves all runs, whose namespaces it cannot know; say cluster",
        )
    if profile.manifests != Manifests(crds=profile.manifests.crds):
        yield "manifests", "what is installed has the rights it was given; name but its crds"
    if profile.pods is not None and configured.config_map is not None:
        yield (
            "configuration.configMap",
            "is read at a start, and pods are never started by the suite; say what is fixed",
        )
    elif (configured.config_map is None) == (configured.fixed is None):
        yield (
            "configuration",
            "needs one of configMap and fixed: how runs configure it, or how it is",
        )
    if configured.fixed is not None:
        known = _settings(profile)
        yield from _problems_of_settings(
            configured.fixed, known.defaults, known.spans, "configuration.fixed"
        )
    if profile.pods is not None:
        yield from _problems_of_selector(profile.pods.selector)
    for field, text in _document(data):
        for word in placeholders_in(text):
            yield field, f"{{{word}}} stands for nothing in what is installed; write what is meant"


def _problems_of_settings(
    settings: Mapping[str, Any], known: Mapping[str, Any], spans: str, field: str
) -> Iterator[Problem]:
    """A setting that the suite does not know would be one that it does not heed; `spans` is the
    section whose texts are durations."""
    for name, value in settings.items():
        if name not in known:
            yield from _missing(f"{field}.{name}", "setting", name, known)
        elif name == spans:
            yield from _problems_of_settings(value, known[name], spans, f"{field}.{name}")
        elif field.endswith(f".{spans}") and isinstance(known[name], str):
            yield from _bad_duration(f"{field}.{name}", str(value))


def _problems_of_selector(selector: str) -> Iterator[Problem]:
    try:
        parse_selector(selector)
    except ValueError as error:
        yield "pods.selector", f"{error}; write one such as app=operator"
    if not selector:
        yield "pods.selector", "chooses every pod of the namespace; write one such as app=operator"


def _document(data: Any) -> Iterator[tuple[str, str]]:
    return _texts(data["configuration"].get("document", {}), "configuration.document")


def _unknown_names(
    lacks: Iterable[tuple[int, Lack]], differences: Iterable[tuple[int, Difference]]
) -> Iterator[Problem]:
    ids = {claim.id for claim in claims.load()}
    for index, lack in lacks:
        for n, claim in enumerate(lack.claims):
            yield from _missing(f"lacks[{index}].claims[{n}]", "claim", claim, ids)
        for n, pattern in enumerate(lack.scenarios):
            if "*" not in pattern:
                yield from _missing(
                    f"lacks[{index}].scenarios[{n}]", "scenario", pattern, SCENARIOS
                )
            else:
                yield from _unmatched(f"lacks[{index}].scenarios[{n}]", pattern)
    for index, known in differences:
        for n, claim in enumerate(known.claims):
            yield from _missing(f"knownDifferences[{index}].claims[{n}]", "claim", claim, ids)
        for n, pattern in enumerate(known.scenarios):
            yield from _unmatched(f"knownDifferences[{index}].scenarios[{n}]", pattern)


def _unmatched(field: str, pattern: str) -> Iterator[Problem]:
    if not any(fnmatchcase(scenario, pattern) for scenario in SCENARIOS):
        yield field, f"no scenario matches {pattern!r}; see assay claims scenarios"


def _claims_of_others(profile: ImplementationProfile) -> Iterator[Problem]:
    """Claims that no run of the profile's operator is judged by."""
    together = [each for each in suite.load().values() if profile.suite in each.roles]
    roles = {profile.suite, *(role for each in together for role in each.roles)}
    judged = {each.name for each in (*together, *suite.judged_on("", roles))}
    others = {each.id: each.suite for each in claims.load() if each.suite not in judged}
    parts: Mapping[str, Sequence[Lack | Difference]] = {
        "lacks": profile.lacks,
        "knownDifferences": profile.known_differences,
    }
    for part, items in parts.items():
        for index, item in enumerate(items):
            for n, claim in enumerate(item.claims):
                if claim in others:
                    yield (
                        f"{part}[{index}].claims[{n}]",
                        f"{claim} is a claim of {others[claim]}, not of {profile.suite}; "
                        "leave it out",
                    )


def _texts(value: Any, field: str) -> Iterator[tuple[str, str]]:
    """All texts in some data, each with the field that it stands in."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{field}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{field}[{index}]")


def _unknown_placeholders(field: str, text: str) -> Iterator[Problem]:
    for word in unknown(text):
        there = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        yield field, f"{{{word}}} stands for nothing; use {there}"


def _bad_allowances(detection: Mapping[str, Any]) -> Iterator[Problem]:
    for name in DURATIONS:
        if isinstance(text := detection.get(name), str):
            yield from _bad_allowance(name, text)


def _bad_allowance(name: str, text: str) -> Iterator[Problem]:
    field = f"detection.{name}"
    bad = list(_bad_duration(field, text))
    yield from bad
    if bad or not text:
        return
    least_us, most_us, why = DURATIONS[name]
    if not least_us <= parse_duration(text) <= most_us:
        least, most = format_duration(least_us), format_duration(most_us)
        yield field, f"{text} is not within {least} and {most}: {why}; write one that is"


def _bad_duration(field: str, text: str) -> Iterator[Problem]:
    if not text:
        return
    try:
        parse_duration(text)
    except ValueError:
        yield field, f"{text!r} is no duration; write one as Go does, 500ms or 2s"


def _missing(field: str, what: str, name: str, among: Collection[str]) -> Iterator[Problem]:
    if name not in among:
        yield field, f"there is no {what} {name!r}; {meant(name, sorted(among))}"
