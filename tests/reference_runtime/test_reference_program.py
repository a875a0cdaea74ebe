"""A reference of another package: its own rules, mutants, configuration and two controllers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from reference_controller.manifests import Manifests
from reference_controller.mutants import Mutants
from reference_controller.reference_program import ReferenceProgram
from reference_controller.rules import Rules, comparing, decision_of
from reference_controller.runtime.controller import Key
from reference_controller.runtime.operator import Operator
from reference_controller.runtime.options import ConfigError, OperatorOptions, OptionsError
from vocabulary.clock import Micros
from vocabulary.kinds import CONFIG_MAP, SECRET, Kind
from vocabulary.objects import Object
from vocabulary.requests import Create, Delete, Get, Reconcile

from .toy import Server, config_map, settle

MANIFESTS = Manifests(package="reference_controller.appwrapper.manifests", crds=("crd.yaml",))


class TidyRules(Rules):
    def is_litter(self, obj: Object, prefix: str) -> bool:
        return str(obj["metadata"]["name"]).startswith(prefix)

    def spares(self, obj: Object) -> bool:
        return "keep" in obj["data"]


MUTANTS = Mutants(TidyRules)


@MUTANTS.wrong_rules("It deletes what is to be kept.", "TIDY-001")
class SparesNothing(TidyRules):
    def spares(self, obj: Object) -> bool:
        return False


@MUTANTS.wrong_definition("Its definition has no versions.", "TIDY-002")
def defines_nothing(definition: Object) -> Object:
    return {**definition, "spec": {}}


@dataclass(frozen=True)
class TidyConfig:
    prefix: str

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> TidyConfig:
        if set(data) - {"prefix"}:
            raise ConfigError(f"unknown key {min(set(data) - {'prefix'})}")
        return cls(data.get("prefix", "tmp-"))


class Tidy:
    """Deletes the objects of a kind that are litter."""

    def __init__(self, kind: Kind, config: TidyConfig, rules: TidyRules) -> None:
        self.name = f"tidy-{kind.plural}"
        self.watches = (kind,)
        self.config = config
        self._rules = rules

    def keys_for(self, kind: Kind, obj: Object, *_: Any) -> list[Key]:
        return [Key(obj["metadata"]["namespace"], obj["metadata"]["name"])]

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        (kind,) = self.watches
        found = yield Get(kind, *key)
        if self._rules.is_litter(found, self.config.prefix) and not self._rules.spares(found):
            yield Delete(kind, *key)
        return None


def tidy_controllers(config: TidyConfig, rules: TidyRules) -> tuple[Tidy, Tidy]:
    return Tidy(CONFIG_MAP, config, rules), Tidy(SECRET, config, rules)


PROGRAM = ReferenceProgram(
    name="tidy",
    config=TidyConfig,
    controllers=tidy_controllers,
    concurrency={"tidy-secrets": 2},
    kinds=(),
    manifests=MANIFESTS,
    rules=TidyRules,
    mutants=MUTANTS,
)


def left_by(rules: TidyRules) -> list[str]:
    """The objects that remain when controllers with these rules have come to rest."""
    server = Server()
    for name, data in (("tmp-a", {}), ("tmp-b", {"keep": "yes"}), ("c", {})):
        for kind in (CONFIG_MAP, SECRET):
            server.handle(Create(kind, config_map(name, data), "ns", name))
    operator = Operator(PROGRAM.controllers(TidyConfig("tmp-"), rules))
    server.list_into(operator, 0)
    server.events.clear()
    settle(operator, server)
    return sorted(f"{kind} {name}" for kind, _, name in server.objects)


def test_its_controllers_share_the_rules_of_the_process_and_a_mutant_breaks_both() -> None:
    sound = ["ConfigMap c", "ConfigMap tmp-b", "Secret c", "Secret tmp-b"]
    assert left_by(TidyRules()) == sound
    assert left_by(MUTANTS["spares-nothing"].rules()) == ["ConfigMap c", "Secret c"]


def test_right_and_wrong_decisions_are_compared_in_one_run() -> None:
    otherwise: set[str] = set()
    compared = comparing(TidyRules, {name: one.rules for name, one in MUTANTS.items()}, otherwise)
    assert left_by(compared()) == left_by(TidyRules())
    assert otherwise == {"spares-nothing"}
    assert decision_of(SparesNothing, TidyRules) == "spares"
    assert MUTANTS["defines-nothing"].is_installed_wrong


def test_without_a_section_the_whole_file_is_its_configuration(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("prefix: old-")
    options = OperatorOptions(config_file=path, mutant="spares-nothing")
    program = PROGRAM.program(options)
    assert [one.config.prefix for one in program.controllers if isinstance(one, Tidy)] == [
        "old-",
        "old-",
    ]
    assert [one.name for one in program.controllers] == ["tidy-configmaps", "tidy-secrets"]
    assert program.concurrency == {"tidy-secrets": 2}
    assert not program.webhooks
    path.write_text("tidy: {prefix: old-}")
    with pytest.raises(OptionsError, match=re.escape(f"--config: {path}: unknown key tidy")):
        PROGRAM.program(options)


def test_its_installation_needs_neither_a_deployment_nor_a_certificate() -> None:
    (definition,) = MANIFESTS.objects(*MANIFESTS.crds)
    printed = MANIFESTS.installation("registry.example.org/tidy:1")
    assert list(yaml.safe_load_all(printed)) == [definition]


def test_a_place_that_the_files_do_not_have_is_not_left_unfilled() -> None:
    wrong = replace(MANIFESTS, deployment=("rbac.yaml",))
    with pytest.raises(AssertionError, match="no 'image: assay:latest' any more"):
        wrong.installation("registry.example.org/tidy:1")
