"""Mistakes in a foreign suite: Assay names their place and the next action."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from clusters.simulated import controllers
from conformance.suite import Suite, SuiteError
from tests.suites.test_suite_path import TOY, assay

ARMS = '@scenario(arms=("TOY-001", "TOY-002", "TOY-003"), kills="lost-pods-stay-lost")'
BOTH = 'roles=("toy", "appwrapper"), operators=2)'
LITERAL = "    lanes=lanes,"
MISTAKES = {
    "a name that is not there": ("claims.py", "", "x = y", "claims.py:", "NameError"),
    "no Python": ("claims.py", "", "def (", "claims.py:", "SyntaxError"),
    "an exception": ("program.py", "", "1 / 0", "program.py:", "ZeroDivisionError"),
    "an exception while a scenario runs": (
        "scenarios.py",
        "    _crew(world, 3)\n",
        "    _crew(world, 3 // 0)\n",
        "scenario toy/lost-pods-come-back",
        "scenarios.py:",
    ),
    "another program's name": (
        "program.py",
        'name="toy"',
        'name="tyo"',
        "program 'toy'",
        "is named 'tyo'",
    ),
    "settings without durations": (
        "__init__.py",
        LITERAL,
        f'{LITERAL}\n    settings=Settings(durations=lambda _: parse_duration("1x")),',
        "__init__.py:",
        "'1x' is not a Go duration",
    ),
    "a role that is not there": (
        "scenarios.py",
        ARMS,
        ARMS.replace(', kills="lost-pods-stay-lost")', ', roles=("toy", "appwraper"))'),
        "scenario toy/lost-pods-come-back",
        "did you mean appwrapper?",
    ),
    "a claim that is not there": (
        "scenarios.py",
        ARMS,
        ARMS.replace("TOY-001", "TOY-901"),
        "scenario toy/lost-pods-come-back",
        "there is no claim 'TOY-901'",
    ),
    "a configuration without a role": (
        "scenarios.py",
        BOTH,
        BOTH.replace("operators=2", 'config={"fautTolerance": {}}'),
        "scenario toy/a-leader-is-followed-by-its-own-replica",
        "'fautTolerance' is none of its roles, toy, appwrapper",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_suite_is_told_with_its_place(tmp_path: Path, mistake: str) -> None:
    file, there, instead, place, told = MISTAKES[mistake]
    package = tmp_path / "path" / "assay_toy"
    shutil.copytree(TOY / "assay_toy", package)
    text = (package / file).read_text()
    changed = text.replace(there, instead, 1) if there else f"{text}\n{instead}\n"
    assert changed != text
    if "Settings(" in instead:
        imports = (
            "from vocabulary.durations import parse_duration\nfrom conformance import Settings"
        )
        changed = changed.replace("from conformance", f"{imports}\nfrom conformance", 1)
    (package / file).write_text(changed)
    ran = assay(tmp_path, "--suite-path", "path", "run", "toy/lost-pods-come-back", "--quiet")
    assert ran.returncode == 2, ran.stdout + ran.stderr
    assert "toy" in ran.stderr
    assert place in ran.stderr
    assert told in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def controllers_below(of: type[controllers.Controller]) -> Iterator[type[controllers.Controller]]:
    for found in of.__subclasses__():
        yield found
        yield from controllers_below(found)


def test_no_suite_has_the_name_of_another_actor() -> None:
    names = {
        getattr(found, "name", "")
        for found in controllers_below(controllers.Controller)
        if found.__module__.startswith("clusters.")  # and not of another test
    }
    assert "job-controller" in names
    for name in filter(None, names | {"user", "kubelet", "kubelet/n0", "a=b,c", "My Suite", "-"}):
        with pytest.raises(SuiteError):
            Suite(name=name, title="", prefixes=(), package="nowhere")
