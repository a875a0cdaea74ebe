"""The description of a reference: all that is needed to run, install, judge and mutate it.

A package registers one literal per program in the entry-point group `assay.programs`. Simulations
build operators from it, `assay controller run` builds a process, and neither knows what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, Self, TypeVar

from reference_controller.manifests import Manifests
from reference_controller.mutants import Mutants
from reference_controller.rules import Rules
from reference_controller.runtime.admission_review import Asking, Webhooks
from reference_controller.runtime.controller import Controller
from reference_controller.runtime.conversion_review import Convert
from reference_controller.runtime.options import ConfigError, OperatorOptions, OptionsError
from reference_controller.runtime.program import Program
from vocabulary.kinds import Kind
from vocabulary.safe_yaml import YamlError, load_yaml_file


class Configuration(Protocol):
    """The settings that an administrator decides."""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Parse them; raises ConfigError."""
        ...


C = TypeVar("C", bound=Configuration)
R = TypeVar("R", bound=Rules)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCode:
    """The part of a reference in which a random mistake breaks a promise."""

    modules: tuple[str, ...] = ()
    told: frozenset[str] = frozenset()
    """The functions in these that say something to people: Events, messages, metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceProgram(Generic[C, R]):
    """One reference: its controllers and webhooks, before configuration and rules are chosen."""

    name: str
    """That of its entry point, its metrics and its Lease."""
    config: type[C]
    section: str = ""
    """The key in a configuration file under which the configuration may stand; else, and without
    a key, the whole file is the configuration."""
    other_sections: tuple[str, ...] = ()
    """Keys beside the section that are about the process, and left to its options."""
    controllers: Callable[[C, R], tuple[Controller, ...]]
    """New controllers for one process, which share its rules."""
    concurrency: Mapping[str, int] = field(default_factory=dict)
    """By controller name: workers, where they are other than the options say."""
    webhooks: Callable[[C, R, Asking], Webhooks] = lambda *_: {}
    """The admission of each kind; without `may_create` no user's rights are checked."""
    convert: Convert | None = None
    """Between the versions of its kinds, which its manifests derive; None: each has one."""
    kinds: tuple[Kind, ...]
    """The custom resources that it defines."""
    manifests: Manifests
    rules: type[R]
    """The right decisions."""
    mutants: Mutants[R]
    decision_code: DecisionCode = field(default_factory=DecisionCode)

    def program(self, options: OperatorOptions) -> Program:
        """The contents of a process with these options; raises OptionsError."""
        wrong = self.mutants.get(options.mutant or "")
        if options.mutant and wrong is None:
            raise OptionsError(
                f"mutant: there is no {options.mutant!r}; list them with: assay mutants --list"
            )
        rules = self.rules() if wrong is None else wrong.rules()
        try:
            config = self.config.from_data(self._section(options))
        except ConfigError as error:
            raise OptionsError(f"--config: {options.config_file}: {error}") from error
        asking = Asking()
        if options.webhook_port is not None:
            from reference_controller.runtime.access_review import asking_server

            asking = asking_server(options)
        return Program(
            name=self.name,
            controllers=self.controllers(config, rules),
            concurrency=self.concurrency,
            kinds=self.kinds,
            webhooks=self.webhooks(config, rules, asking),
            convert=self.convert,
        )

    def _section(self, options: OperatorOptions) -> Mapping[str, Any]:
        """The program's part of its configuration file: the whole, or the section of its name."""
        if options.config_file is None:
            return {}
        try:
            data = load_yaml_file(options.config_file)
        except YamlError as error:
            raise OptionsError(f"--config: {error}") from error
        section = data
        if isinstance(data, Mapping) and self.section in data:
            section = data[self.section]
            known = (self.section, *self.other_sections)
            unknown = [key for key in data if key not in known]
            if unknown:
                raise OptionsError(
                    f"--config: {options.config_file}: unknown key {unknown[0]}; there may be "
                    f"{', '.join(known)}"
                )
        if section is not None and not isinstance(section, Mapping):
            raise OptionsError(
                f"--config: {options.config_file}: must be a map of {self.name}'s settings"
            )
        return section or {}
