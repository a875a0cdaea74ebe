"""A scenario: a reproducible situation, written once, run on every cluster that can host it.

A scenario is a function of a `World`. Its docstring's first paragraph is its title, a full
sentence about what must hold; its manifests stand beside it in YAML. It says which claims
it was written to arm; the checkers of all claims run on its history anyway.
"""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chaos.scale import AS_WRITTEN, Scale
from chaos.variation import Variation
from conformance.suite import Suite, SuiteError, suite_of_module
from vocabulary.objects import Object

if TYPE_CHECKING:
    from chaos.plan import Plan

Steps = Callable[[Any], None]
"""They take a `World`, which knows its scenario."""
Function = TypeVar("Function", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class Scenario:
    """The data that a run needs before it begins."""

    id: str
    """`jobset/failure-policy/job-fails`: suite, file, function, in kebab-case."""
    title: str
    arms: tuple[str, ...]
    """Ids of the claims it is written to arm; the suite fails if it does not arm them."""
    steps: Steps = field(repr=False)
    folder: Path = field(repr=False)
    """Where its manifests stand."""
    kills: str = ""
    """The mutant that no scenario before it shows; `assay mutants` fails if no case kills it."""
    shows: str = ""
    """The released bug that no scenario before it shows: `kueue#14870`, or a shipped profile."""
    nodes: int = 2
    gpus: int = 0
    """`nvidia.com/gpu` per node."""
    roles: tuple[str, ...] = ()
    """The operators under test. The run's durations follow from the configuration of its suite's
    own one, or else of the first."""
    operators: int = 1
    """The number of replicas of each."""
    config: Mapping[str, Any] = field(default_factory=dict)
    """Changes to the operator's configuration, nested as in its configuration file; with several
    roles, by role."""
    alone: bool = False
    """It stops what other scenarios stand on: on real clusters it has a cluster of its own."""
    only_simulated: str = ""
    """Non-empty: why this can only run in the simulation."""
    large: bool = False
    """It has thousands of pods, takes minutes, and runs only when asked for."""
    untouched: bool = False
    """Nothing triggers a resync of the operator: it is judged by its own polling."""
    namespaces: tuple[str, ...] = ()
    """The namespaces that it has beside its first one; manifests name them so."""
    needs_users: bool = False
    """It has more than one user, as clusters have whose users the suite makes."""
    case: int = 0
    """The number of its function's case; 0: the first, or the only one."""
    scale: Scale = AS_WRITTEN
    """A plan's reductions of the manifests' replicas and components."""
    workload: Variation | None = None
    """A plan's changes of an object under test."""
    manifests: tuple[Object, ...] = ()
    """A plan's objects, for a scenario that is written for any operator."""
    compared_with: str = ""
    """The scenario whose undisturbed run claims compare its runs with, by id; empty: none."""
    of_plans: bool = False
    """Its objects come from a plan; without one it does nothing."""

    def scaled(self, scale: Scale) -> Scenario:
        """The same with as many nodes, replicas and components as a plan leaves it."""
        nodes = self.nodes if scale.nodes is None else scale.nodes
        return replace(self, nodes=nodes, scale=scale)

    def planned(self, plan: Plan | None) -> Scenario:
        """The same as a plan leaves it: smaller, with other objects."""
        if plan is None:
            return self
        scaled = self.scaled(plan.scale)
        return replace(scaled, workload=plan.workload, manifests=plan.manifests)

    @property
    def suite(self) -> str:
        return self.id.split("/", 1)[0]

    @property
    def function(self) -> Callable[..., None]:
        """The function that its cases have in common."""
        found: Callable[..., None] = (
            self.steps.args[0] if isinstance(self.steps, partial) else self.steps
        )
        return found

    @property
    def role(self) -> str:
        """The only operator under test, or the first of several."""
        return self.roles[0]

    @property
    def timed_by(self) -> str:
        """The role whose configuration the run's durations follow from."""
        return self.suite if self.suite in self.roles else self.role

    def config_of(self, role: str) -> Mapping[str, Any]:
        """Changes to the configuration of the operator of a role."""
        if len(self.roles) < 2:
            return self.config
        found: Mapping[str, Any] = self.config.get(role, {})
        return found


SCENARIOS: Final[dict[str, Scenario]] = {}
"""Every scenario that runs within a second or so, by id, filled as the modules of suites are
imported."""
LARGE_SCENARIOS: Final[dict[str, Scenario]] = {}
"""Those of thousands of pods, by id."""
ALL_SCENARIOS: Final = ChainMap(SCENARIOS, LARGE_SCENARIOS)
"""Both."""


def scenario(
    *,
    arms: Sequence[str],
    kills: str = "",
    shows: str = "",
    nodes: int = 2,
    gpus: int = 0,
    roles: Sequence[str] = (),
    operators: int = 1,
    config: Mapping[str, Any] | None = None,
    alone: bool = False,
    only_simulated: str = "",
    large: bool = False,
    untouched: bool = False,
    needs_users: bool = False,
    namespaces: Sequence[str] = (),
    compared_with: str = "",
    of_plans: bool = False,
    cases: Mapping[str, Any] | None = None,
) -> Callable[[Function], Function]:
    """Register the decorated function as a scenario. Its id comes from its module and name, and
    its roles are those of its suite unless it names others.

    `kills` or `shows` says what it is for: a mutant, or a released bug, that those before it do not
    show. A scenario that has neither is a case of another one.

    With `cases`, it is registered once per case: the function takes the case's value as its
    second argument, the case's name ends the id, and begins the title.
    """

    def register(function: Function) -> Function:
        suite, base = _id_of(function)
        if not function.__doc__:
            raise ValueError(f"scenario {base} needs a docstring: its first paragraph is the title")
        if not (roles or suite.roles):
            raise SuiteError(f"suite {suite.name!r} has scenarios, and names no roles for them")
        of = tuple(roles) or suite.roles
        if len(of) > 1:
            for key in config or {}:
                if key not in of:
                    raise SuiteError(
                        f"scenario {base}: config: {key!r} is none of its roles, {', '.join(of)}; "
                        "write the changes below the role whose operator has them"
                    )
        title = " ".join(function.__doc__.strip().partition("\n\n")[0].split())
        for number, (case, value) in enumerate((cases or {"": None}).items()):
            name = f"{base}/{case}" if case else base
            if name in ALL_SCENARIOS:
                raise ValueError(f"scenario {name} is defined twice; rename one of the functions")
            registered = LARGE_SCENARIOS if large else SCENARIOS
            registered[name] = Scenario(
                id=name,
                title=f"{case}: {title}" if case else title,
                arms=tuple(arms),
                kills=kills,
                shows=shows,
                steps=partial(_with_case, function, value) if case else function,
                folder=Path(sys.modules[function.__module__].__file__ or "").parent,
                nodes=nodes,
                gpus=gpus,
                roles=of,
                operators=operators,
                config=config or {},
                alone=alone,
                only_simulated=only_simulated,
                large=large,
                untouched=untouched,
                needs_users=needs_users,
                namespaces=tuple(namespaces),
                compared_with=compared_with,
                of_plans=of_plans or bool(compared_with),
                case=number,
            )
        return function

    return register


def _id_of(function: Callable[..., None]) -> tuple[Suite, str]:
    """The suite, and `suite/file/function`, in kebab-case."""
    module = function.__module__
    found = suite_of_module(module)
    if found is None:
        raise ValueError(
            f"scenario {function.__name__}: {module} is no module of a suite; put it below the "
            "package that the suite's literal names, in scenarios"
        )
    suite, below = found
    parts = (suite.name, *below.split("."), function.__name__)
    return suite, "/".join(part.replace("_", "-") for part in parts if part)


def _with_case(function: Callable[..., None], value: Any, world: Any) -> None:
    function(world, value)
