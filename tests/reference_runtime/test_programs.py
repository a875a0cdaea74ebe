"""Reference programs: found by name, and put together from options, or refused by name."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.suites.appwrapper.api import APPWRAPPER
from reference_controller import programs
from reference_controller.appwrapper import AppWrapperController, Rules
from reference_controller.appwrapper.program import PROGRAM
from reference_controller.mutants import Mutant
from reference_controller.runtime.options import OperatorOptions, OptionsError
from vocabulary import entry_points
from vocabulary.clock import SECOND
from vocabulary.entry_points import EntryPointError, EntryPoints

SECTION = "faultTolerance: {retryLimit: 7, resetPause: 5s}"
RELEASED = f"""
webhooksEnabled: false
controllerManager: {{leaderElection: false}}
appwrapper: {{{SECTION}}}
"""


def appwrapper(options: OperatorOptions) -> AppWrapperController:
    program = programs.load("appwrapper").program(options)
    assert list(program.webhooks) == [APPWRAPPER]
    (controller,) = program.controllers
    assert isinstance(controller, AppWrapperController)
    return controller


@pytest.mark.parametrize("text", [SECTION, RELEASED])
def test_a_config_file_is_the_section_itself_or_the_released_operators_whole_file(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    controller = appwrapper(OperatorOptions(config_file=path))
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
        PROGRAM.program(OperatorOptions(config_file=path))


class Eager(Rules):
    """Sound in all but its name."""


def test_a_mutant_runs_under_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    eager = Mutant("eager", "Does it at once.", (), Eager)
    monkeypatch.setitem(PROGRAM.mutants, "eager", eager)
    assert type(appwrapper(OperatorOptions(mutant="eager")).rules) is Eager


def test_unknown_names_are_refused_with_where_to_look() -> None:
    with pytest.raises(OptionsError, match="assay mutants --list"):
        PROGRAM.program(OperatorOptions(mutant="absent"))
    with pytest.raises(EntryPointError, match="there is no program 'absent'; there is: appwrapper"):
        programs.load("absent")


Install = Callable[[str, dict[str, str]], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a distribution of that name with these programs, as pip leaves it behind."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name: str, registered: dict[str, str]) -> None:
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{key} = {value}\n" for key, value in registered.items()]
        (folder / "entry_points.txt").write_text("[assay.programs]\n" + "".join(lines))
        (tmp_path / f"{name}.py").write_text('PROGRAM = "of " + __name__\n')

    return install


def test_another_packages_program_is_found_by_its_name_and_imported_only_then(
    install: Install,
) -> None:
    install("strangers", {"strange": "strangers:PROGRAM"})
    assert programs.names() == ("appwrapper", "jobset", "kueue", "strange", "streams")
    assert "strangers" not in sys.modules
    with pytest.raises(EntryPointError, match="'strange': its entry point is no ReferenceProgram"):
        programs.load("strange")
    assert "strangers" in sys.modules


def test_one_name_for_two_programs_is_an_error_that_names_both_packages(install: Install) -> None:
    install("package_one", {"same": "package_one:PROGRAM", "twin": "package_one:PROGRAM"})
    install("package_two", {"same": "package_two:PROGRAM", "twin": "package_one:PROGRAM"})
    both = r"package_(one:PROGRAM \(of package_one|two:PROGRAM \(of package_two)\)"
    with pytest.raises(EntryPointError, match=f"'same' is registered twice, as {both} and {both}"):
        programs.load("same")
    assert EntryPoints("assay.programs", "program").load("twin") == "of package_one"


TARGET = "reference_controller.appwrapper.program:PROGRAM"


@pytest.mark.parametrize(
    ("declared", "asks"),
    [
        ({"appwrapper": TARGET, "new": "new:PROGRAM"}, EntryPoints.names),
        ({"appwrapper": TARGET, "new": "new:PROGRAM"}, lambda group: group.load("new")),
        ({"appwrapper": "moved:PROGRAM"}, lambda group: group.load("appwrapper")),
    ],
)
def test_an_editable_installation_that_lacks_a_declared_entry_is_told_to_install_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    declared: dict[str, str],
    asks: Callable[[EntryPoints], object],
) -> None:
    sources = tmp_path / "pyproject.toml"
    lines = [f'{name} = "{target}"\n' for name, target in declared.items()]
    sources.write_text('[project.entry-points."assay.programs"]\n' + "".join(lines))
    monkeypatch.setattr(entry_points, "_SOURCES", sources)
    with pytest.raises(EntryPointError, match=r"^[^\n]*run pip install -e \. again"):
        asks(EntryPoints("assay.programs", "program"))


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has imported after running the code."""
    code += "\nimport json, sys; print(json.dumps(list(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return set(json.loads(done.stdout))


def test_listing_programs_imports_none_and_loading_one_imports_no_judge() -> None:
    listed = loaded_by("from reference_controller import programs; programs.names()")
    assert "reference_controller.appwrapper" not in listed
    run = loaded_by(
        "import sys; from conformance.cli import main\n"
        "from reference_controller.runtime import process\n"
        "process.run = lambda program, options: 0\n"
        "sys.argv = ['assay', 'controller', 'run', 'appwrapper']\n"
        "try: main()\n"
        "except SystemExit as ended: assert not ended.code, ended.code"
    )
    assert "reference_controller.appwrapper.program" in run
    for judge in ("claims", "scenarios", "history_view", "temporal", "implementation"):
        assert f"conformance.{judge}" not in run
