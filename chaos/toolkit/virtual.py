"""Runs an experiment in the simulation: the toolkit's own runner, and no real waiting.

The Chaos Toolkit waits with `time.sleep`. So each pause becomes an activity of its own,
`wait`, which lets virtual time pass; what is left is run by the ordinary runner, with its
hypotheses, tolerances, controls and rollbacks. `pauses: {after: 60}` is 60 virtual seconds.

The experiment's configuration may hold, besides its own keys, `nodes`, `gpus` (per node),
`seed`, `role`, `operators` and `operator_config`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from chaoslib.exceptions import ChaosException, InvalidExperiment
from chaoslib.experiment import ensure_experiment_is_valid
from chaoslib.run import Runner
from chaoslib.types import Strategy

from chaos.injector import Injector
from chaos.toolkit.kubernetes_stage import usual_deployment
from chaos.toolkit.stage import Stage, acting_on
from chaos.toolkit.trust import outside_of_simulation
from conformance import claims
from conformance.history import History
from conformance.implementations.ours import Implementation
from conformance.norm.verdict import Verdict
from conformance.scenario_type import Scenario
from conformance.worlds.simulated.world import SimulatedWorld
from reference_controller import programs
from vocabulary.clock import Micros
from vocabulary.fault_effect import FaultEffect
from vocabulary.history import Entry, Header
from vocabulary.safe_yaml import load_yaml_file
from vocabulary.seeds import MAX_SEED

MAX_NODES: Final = 10_000
MAX_GPUS: Final = 64
"""Per node."""
MAX_OPERATORS: Final = 16
_BEHAVES_AS_WRITTEN: Final = {"runtime": {"rollbacks": {"strategy": "always"}}}
"""The runner's settings: nothing from a home directory, rollbacks whatever happened."""


@dataclass(frozen=True, slots=True)
class VirtualRun:
    """One experiment that was run in the simulation."""

    journal: dict[str, Any]
    """The Chaos Toolkit's own journal; its times are real ones."""
    header: Header
    entries: tuple[Entry, ...]
    verdicts: tuple[Verdict, ...]
    """Every claim, judged on the whole history, the time after the experiment included."""

    @property
    def is_steady(self) -> bool:
        """True if the experiment was completed and its hypothesis held."""
        return self.journal["status"] == "completed" and not self.journal["deviated"]


class VirtualStage(Stage):
    """The stage in the simulation."""

    def __init__(self, world: SimulatedWorld) -> None:
        super().__init__(world)
        self._world = world
        self._injector = Injector(world, self._record)

    @property
    def injector(self) -> Injector:
        return self._injector

    def wait(self, span_us: Micros) -> None:
        self._world.wait(span_us)

    def prepare(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        return self._world.prepare(obj)

    def history(self) -> tuple[Header, Sequence[Entry]]:
        return self._world.history()

    def _record(self, action: Any, data: dict[str, Any], text: str, effect: FaultEffect) -> None:
        self.note(action, data, text, effect)
        self._world.recorder.fault(action, data, text, effect)


def load_experiment(path: Path, *, trusted: bool = False) -> dict[str, Any]:
    """The experiment in a YAML (or JSON) file; raises YamlError or InvalidExperiment.

    One that would act outside of the simulation is refused unless it is `trusted`.
    """
    experiment = load_yaml_file(path)
    if not isinstance(experiment, dict):
        raise InvalidExperiment(f"{path}: is not an experiment; expected a mapping")
    # First: validation imports the modules that an experiment names.
    outside = () if trusted else tuple(dict.fromkeys(outside_of_simulation(experiment)))
    if outside:
        raise InvalidExperiment(
            f"{path}: acts on this machine, outside of the simulation: {'; '.join(outside)}. "
            "Use --trust to run it nevertheless"
        )
    try:
        ensure_experiment_is_valid(experiment)
    except (ChaosException, AttributeError, LookupError, TypeError, ValueError) as error:
        # The toolkit checks no types: it stumbles over what is not of the shape that it expects.
        raise InvalidExperiment(
            f"{path}: is not an experiment: {error}; compare it with "
            "chaos/experiments/pod-kill.yaml"
        ) from error
    return experiment


def run_experiment(
    experiment: Mapping[str, Any], implementation: Implementation, seed: int | None = None
) -> VirtualRun:
    """Run an experiment on a simulated cluster of its own, and judge what happened by all claims.

    Raises InvalidExperiment for one that cannot be run in virtual time.
    """
    configuration = experiment.get("configuration") or {}
    chosen = _whole(configuration, "seed", 0, range(MAX_SEED + 1)) if seed is None else seed
    world = SimulatedWorld(
        _scenario(experiment, implementation.role),
        {implementation.role: implementation},
        chosen,
        None,
    )
    stage = VirtualStage(world)
    with acting_on(stage), Runner(Strategy.DEFAULT) as runner:
        journal = runner.run(in_virtual_time(experiment), _BEHAVES_AS_WRITTEN)
    stage.injector.stop()
    world.finish()
    header, entries = world.history()
    verdicts = tuple(claims.judge(History(header, entries)))
    return VirtualRun(journal, header, entries, verdicts)


def in_virtual_time(experiment: Mapping[str, Any]) -> dict[str, Any]:
    """The experiment with its pauses as activities, and nothing in the background."""
    changed = dict(experiment)
    hypothesis = experiment.get("steady-state-hypothesis")
    if hypothesis is not None:
        probes = _with_waits(hypothesis.get("probes") or [], {"type": "probe", "tolerance": True})
        changed["steady-state-hypothesis"] = {**hypothesis, "probes": probes}
    for part in ("method", "rollbacks"):
        if part in experiment:
            changed[part] = _with_waits(experiment[part] or [], {"type": "action"})
    return changed


def _with_waits(
    activities: Sequence[Mapping[str, Any]], kind: Mapping[str, Any]
) -> list[dict[str, Any]]:
    changed: list[dict[str, Any]] = []
    for activity in activities:
        pauses = activity.get("pauses") or {}
        kept = {key: activity[key] for key in activity if key not in ("pauses", "background")}
        name = activity.get("name", activity.get("ref"))
        if pauses.get("before"):
            changed.append(_wait(f"pause before {name}", pauses["before"], kind))
        changed.append(kept)
        if pauses.get("after"):
            changed.append(_wait(f"pause after {name}", pauses["after"], kind))
    return changed


def _wait(name: str, seconds: Any, kind: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **kind,
        "name": name,
        "provider": {
            "type": "python",
            "module": "chaos.toolkit.actions",
            "func": "wait",
            "arguments": {"seconds": seconds},
        },
    }


def role_of_operator(experiment: Mapping[str, Any]) -> str:
    """The role of the operator under test; raises InvalidExperiment if no reference has it."""
    configuration = experiment.get("configuration") or {}
    role = str(configuration.get("role") or usual_deployment().role)
    if role not in programs.names():
        raise InvalidExperiment(
            f"configuration.role: is {role[:40]!r}; use one of {', '.join(programs.names())}"
        )
    return role


def _scenario(experiment: Mapping[str, Any], role: str) -> Scenario:
    """The facts about the cluster that the simulation needs; raises InvalidExperiment."""
    configuration = experiment.get("configuration") or {}
    config = configuration.get("operator_config") or {}
    if not isinstance(config, Mapping):
        raise InvalidExperiment("configuration.operator_config: must be a mapping")
    return Scenario(
        id=f"chaos-toolkit/{str(experiment['title']).lower().replace(' ', '-')}",
        title=str(experiment["title"]),
        arms=(),
        steps=lambda _: None,
        folder=Path(),
        nodes=_whole(configuration, "nodes", 3, range(MAX_NODES + 1)),
        gpus=_whole(configuration, "gpus", 0, range(MAX_GPUS + 1)),
        operators=_whole(configuration, "operators", 1, range(1, MAX_OPERATORS + 1)),
        roles=(role,),
        config=config,
    )


def _whole(configuration: Mapping[str, Any], key: str, default: int, allowed: range) -> int:
    """A whole number of the configuration; raises InvalidExperiment for another one."""
    value = configuration.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value not in allowed:
        raise InvalidExperiment(
            f"configuration.{key}: is {str(value)[:40]!r}; "
            f"use an integer from {allowed.start} to {allowed.stop - 1}"
        )
    return value
