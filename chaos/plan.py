"""Plans: which faults strike when, as a file that replays.

    seed: 1729
    scenario: jobset/restarts/slow-pods
    faults:
    - kill: {actor: operator}
      when: {after: commit, by: operator, kind: JobSet, field: {status.restarts: 1}}
    - taint: {node: n0, key: example.com/broken, effect: NoExecute}
      when: {at: 12s}
      for: 30s

A fault lasts until the faults of the run stop, or for the span `for`, or `until` a trigger.

The steps of a scenario inject faults of their own, beside these. A plan that says `exhaustive:
true` lists them too, `when: {injection: 1}`, and what it does not list does not happen. It may
also make the scenario smaller: `scale: {nodes: 1}`. That is what shrinking writes. It may give an
object another shape, name and parameters: `workload` (see `chaos.variation`). A scenario that is
written for any operator takes its objects from `manifests`. `recorded:
{sha256: …, assay: …}` names the history that it was written beside, for a replay to be compared
with; `story` tells of a bug that others had (see `chaos.story`).

Reading is exact: what is not understood is an error that names its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Final

import yaml
from msgspec import Meta

import chaos.faults  # noqa: F401  # registers every fault
from chaos.fault import Fault, fault_from_data
from chaos.faults.create_object import Manifest
from chaos.fields import Name, PlanError, Span, at, mapping, read_fields, read_value
from chaos.recorded import Recorded
from chaos.scale import AS_WRITTEN, Scale
from chaos.story import Story
from chaos.trigger import AtInjection, Combined, Named, Trigger, trigger_from_data
from chaos.variation import Variation, variation_from_data
from vocabulary import canonical
from vocabulary.clock import Micros, format_seconds
from vocabulary.durations import format_duration
from vocabulary.objects import Object, name_of
from vocabulary.safe_yaml import load_yaml, load_yaml_file
from vocabulary.seeds import MAX_SEED
from vocabulary.typed_yaml import field_error

MAX_FAULTS: Final = 1000
MAX_TRIGGERS: Final = 100
MAX_UNFOLDED: Final = 10_000
_STEP_KEYS: Final = ("when", "for", "until")


@dataclass(frozen=True, slots=True)
class Step:
    """One fault of a plan, when it strikes, and when it ends before all faults do."""

    fault: Fault
    when: Trigger | AtInjection
    lasts_us: Micros | None = None
    """How long it lasts (`for` in YAML)."""
    until: Trigger | None = None

    def to_data(self) -> dict[str, Any]:
        data = {**self.fault.to_data(), "when": self.when.to_data()}
        if self.lasts_us is not None:
            data["for"] = format_duration(self.lasts_us)
        if self.until is not None:
            data["until"] = self.until.to_data()
        return data

    def describe(self) -> str:
        """One sentence without its full stop: when, what, how long."""
        sentence = f"{self.when.describe()}: {self.fault.describe()}"
        if self.lasts_us is not None:
            sentence += f", for {format_seconds(self.lasts_us)}"
        if self.until is not None:
            sentence += f", until {self.until.describe()}"
        return sentence


@dataclass(frozen=True, slots=True)
class Plan:
    """The scenario, seed and faults of a run. Equal plans give equal runs."""

    scenario: str
    seed: int = 0
    faults: tuple[Step, ...] = ()
    triggers: Mapping[str, Trigger] = field(default_factory=dict)
    """Triggers that faults refer to by name."""
    implementation: str = ""
    """The implementation to run; empty: the one that the command names, or the reference."""
    edition: str = ""
    """The edition of the norm to judge by; empty: the one that the command names, or the
    default."""
    scale: Scale = AS_WRITTEN
    workload: Variation | None = None
    """The changes to an object under test; None: it is as the scenario wrote it."""
    manifests: tuple[Object, ...] = ()
    """The objects of a scenario that is written for any operator; others have their own."""
    exhaustive: bool = False
    """True if nothing else goes wrong: the scenario's steps inject only what is listed here."""
    recorded: Recorded | None = None
    """The history that it gave; decides nothing of a run."""
    story: Story | None = None
    """The bug that it tells of; decides nothing of a run, either."""

    def to_data(self) -> dict[str, Any]:
        """The plan as its YAML holds it."""
        told = {} if self.story is None else {"story": self.story.to_data()}
        data: dict[str, Any] = {**told, "seed": self.seed, "scenario": self.scenario}
        if self.implementation:
            data["implementation"] = self.implementation
        if self.edition:
            data["edition"] = self.edition
        if self.scale:
            data["scale"] = self.scale.to_data()
        if self.workload is not None:
            data["workload"] = self.workload.to_data()
        if self.manifests:
            data["manifests"] = list(self.manifests)
        if self.exhaustive:
            data["exhaustive"] = True
        if self.triggers:
            data["triggers"] = {name: trigger.to_data() for name, trigger in self.triggers.items()}
        data["faults"] = [step.to_data() for step in self.faults]
        if self.recorded is not None:
            data["recorded"] = self.recorded.to_data()
        return data

    def to_yaml(self) -> str:
        """YAML that reads back equal, one line per fault's part."""
        return yaml.dump(
            _for_people(self.to_data()),
            Dumper=_Dumper,
            sort_keys=False,
            allow_unicode=True,
            width=10_000,
        )

    @property
    def deciding(self) -> Plan:
        """The same without what decides nothing of a run."""
        return replace(self, recorded=None, story=None)

    def digest(self) -> str:
        """SHA-256 of the canonical bytes of what decides a run, in hex."""
        return canonical.digest(self.deciding.to_data())

    def describe(self) -> str:
        """The plan in plain English, a line per fault."""
        count = len(self.faults)
        what = {0: "no faults", 1: "1 fault"}.get(count, f"{count} faults")
        lines = [f"Scenario {self.scenario} with seed {self.seed} and {what}."]
        if self.implementation:
            lines.append(f"The controller under test is {self.implementation}.")
        if self.edition:
            lines.append(f"It is judged by the edition {self.edition}.")
        if self.scale:
            lines.append(f"It has {self.scale.describe()}.")
        if self.workload is not None:
            lines.append(f"{self.workload.describe()}.")
        if self.manifests:
            named = (f"{each['kind']} {name_of(each)}" for each in self.manifests)
            lines.append(f"Its user creates {', '.join(named)}.")
        if self.exhaustive:
            lines.append("Of the faults that its steps inject, only those listed here happen.")
        lines += [f"When {name}: {trigger.describe()}." for name, trigger in self.triggers.items()]
        for number, step in enumerate(self.faults, start=1):
            sentence = step.describe()
            lines.append(f"{number}. {sentence[0].upper()}{sentence[1:]}.")
        if self.story is not None:
            lines.append(self.story.describe())
        if self.recorded is not None and self.recorded.decisive:
            lines.append(f"Decisive: {self.recorded.decisive}.")
        return "\n".join(lines)


def load_plan(path: Path) -> Plan:
    """The plan in a file; raises YamlError, which names file, line and field."""
    data = load_yaml_file(path)
    try:
        return plan_from_data(data)
    except PlanError as error:
        raise field_error(path, error.path, error.problem) from error


def parse_plan(text: str, source: str = "plan") -> Plan:
    """The plan in a YAML text; raises YamlError or PlanError."""
    return plan_from_data(load_yaml(text, source))


@dataclass(frozen=True, slots=True)
class _Spelled:
    """The fields of a plan as YAML holds them."""

    scenario: Name
    seed: Annotated[int, Meta(ge=0, le=MAX_SEED)] = 0
    implementation: str = ""
    edition: str = ""
    scale: Scale = AS_WRITTEN
    workload: Any = None
    manifests: list[Manifest] = field(default_factory=list)
    exhaustive: bool = False
    triggers: dict[str, Any] = field(default_factory=dict)
    faults: list[Any] = field(default_factory=list)
    recorded: Recorded | None = None
    story: Story | None = None


def plan_from_data(data: Any) -> Plan:
    """The plan that plain data spells; raises PlanError."""
    if "scenario" not in mapping(data, "plan"):
        raise PlanError("scenario", "is missing; assay claims scenarios lists them")
    spelled = read_fields(_Spelled, data, "")
    triggers = _triggers(spelled.triggers)
    if len(spelled.faults) > MAX_FAULTS:
        problem = f"has {len(spelled.faults)} entries, at most {MAX_FAULTS} are read"
        raise PlanError("faults", problem)
    return Plan(
        scenario=spelled.scenario,
        seed=spelled.seed,
        faults=tuple(
            step_from_data(entry, f"faults[{number}]", frozenset(triggers))
            for number, entry in enumerate(spelled.faults)
        ),
        triggers=triggers,
        implementation=spelled.implementation,
        edition=spelled.edition,
        scale=spelled.scale,
        workload=variation_from_data(spelled.workload, "workload"),
        manifests=tuple(spelled.manifests),
        exhaustive=spelled.exhaustive,
        recorded=spelled.recorded,
        story=spelled.story,
    )


def step_from_data(data: Any, path: str = "", names: frozenset[str] = frozenset()) -> Step:
    """One fault with its `when`; `names` are the triggers it may refer to."""
    spelled = dict(mapping(data, path))
    timing = {key: spelled.pop(key) for key in _STEP_KEYS if key in spelled}
    fault = fault_from_data(spelled, path)
    if "when" not in timing:
        raise PlanError(at(path, "when"), "is missing; for example {at: 12s}")
    if "for" in timing and "until" in timing:
        raise PlanError(at(path, "until"), "stands beside for; a fault ends in one way")
    return Step(
        fault=fault,
        when=_when(timing["when"], at(path, "when"), names),
        lasts_us=read_value(Span, timing["for"], at(path, "for")) if "for" in timing else None,
        until=(
            trigger_from_data(timing["until"], at(path, "until"), names)
            if "until" in timing
            else None
        ),
    )


def _when(data: Any, path: str, names: frozenset[str]) -> Trigger | AtInjection:
    if isinstance(data, Mapping) and "injection" in data:
        return read_fields(AtInjection, data, path)
    return trigger_from_data(data, path, names)


def _triggers(spelled: Mapping[str, Any]) -> dict[str, Trigger]:
    if len(spelled) > MAX_TRIGGERS:
        raise PlanError("triggers", f"has {len(spelled)} entries, at most {MAX_TRIGGERS} are read")
    names = frozenset(spelled)
    found = {
        name: trigger_from_data(entry, at("triggers", name), names)
        for name, entry in spelled.items()
    }
    sizes: dict[str, int] = {}
    for name in found:
        _size(Named(name), found, sizes, ())
    return found


def _size(
    trigger: Trigger, named: Mapping[str, Trigger], sizes: dict[str, int], above: tuple[str, ...]
) -> int:
    """How many events and times a trigger unfolds to; refuses circles and what grows too large."""
    if isinstance(trigger, Combined):
        return sum(_size(part, named, sizes, above) for part in trigger.parts)
    if not isinstance(trigger, Named):
        return 1
    name = trigger.name
    if name in above:
        circle = " → ".join((*above, name))
        raise PlanError(at("triggers", name), f"refers to itself: {circle}; break the circle")
    if name not in sizes:
        sizes[name] = _size(named[name], named, sizes, (*above, name))
        if sizes[name] > MAX_UNFOLDED:
            raise PlanError(
                at("triggers", name),
                f"unfolds to more than {MAX_UNFOLDED} events and times; refer to names less often",
            )
    return sizes[name]


class _Flow(dict[str, Any]):
    """A mapping that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes `_Flow` mappings in braces and never an anchor."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # PyYAML's signature
        return True


_Dumper.add_representer(
    _Flow,
    lambda dumper, data: dumper.represent_mapping(
        "tag:yaml.org,2002:map", data.items(), flow_style=True
    ),
)


def _for_people(data: dict[str, Any]) -> dict[str, Any]:
    """The same with what stands inside a fault, a trigger or the scale on one line each."""
    shaped = dict(data)
    for name in ("scale", "workload", "recorded"):
        if name in shaped:
            shaped[name] = _flow(shaped[name])
    if "manifests" in shaped:
        shaped["manifests"] = [_flow(each) for each in shaped["manifests"]]
    if "triggers" in shaped:
        shaped["triggers"] = {name: _flow(value) for name, value in shaped["triggers"].items()}
    shaped["faults"] = [
        {key: _flow(value) for key, value in step.items()} for step in shaped["faults"]
    ]
    return shaped


def _flow(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _Flow({key: _flow(each) for key, each in value.items()})
    return [_flow(each) for each in value] if isinstance(value, list | tuple) else value
