"""A reference controller is put together from its options, or they are refused by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reference_controller.appwrapper import AppWrapperController, Rules
from reference_controller.appwrapper.mutants import MUTANTS, Mutant
from reference_controller.programs import program_for
from reference_controller.runtime.options import OperatorOptions, OptionsError
from vocabulary.clock import SECOND

SECTION = "faultTolerance: {retryLimit: 7, resetPause: 5s}"
RELEASED = f"""
webhooksEnabled: false
controllerManager: {{leaderElection: false}}
appwrapper: {{{SECTION}}}
"""


@pytest.mark.parametrize("text", [SECTION, RELEASED])
def test_a_config_file_is_the_section_itself_or_the_released_operators_whole_file(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    controller = program_for("appwrapper", OperatorOptions(config_file=path)).controller
    assert isinstance(controller, AppWrapperController)
    assert controller.config.fault_tolerance.retry_limit == 7
    assert controller.config.fault_tolerance.retry_pause_us == 5 * SECOND


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("faultTolerance: {retryLimits: 7}", "unknown key faultTolerance.retryLimits"),
        ("appwrapper: {}\nextra: 1", "unknown key extra"),
        ("[1]", "must be a map"),
        ("a: b: c", "config.yaml:1:5"),
    ],
)
def test_an_unusable_config_file_is_named_with_what_is_wrong_in_it(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(OptionsError, match=re.escape(says)):
        program_for("appwrapper", OperatorOptions(config_file=path))


class Eager(Rules):
    """Sound in all but its name."""


def test_a_mutant_runs_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MUTANTS, "eager", Mutant("eager", "Does it at once.", (), Eager))
    controller = program_for("appwrapper", OperatorOptions(mutant="eager")).controller
    assert isinstance(controller, AppWrapperController)
    assert type(controller.rules) is Eager


def test_unknown_names_are_refused_with_where_to_look() -> None:
    with pytest.raises(OptionsError, match="assay mutants --list"):
        program_for("appwrapper", OperatorOptions(mutant="absent"))
    with pytest.raises(OptionsError, match="there is appwrapper"):
        program_for("absent", OperatorOptions())
