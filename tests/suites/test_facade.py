"""The public names, their reference page, and that a suite needs no others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import conformance

ROOT = Path(__file__).parents[2]
PUBLIC = """
Claim ClaimDetails Condition Decision Fate Handle History Judging KindUse Lane Level Moment
ObjectRun ObjectView Obligation Obligations OperatorView PlainDurations Settings Source State
Subject Suite Tone Track World during eventually exactly lane_of met must never not_before one_of
operator_away scenario shared snapshots undecided unless_given_up violated when
"""


def test_the_public_names_are_these() -> None:
    assert sorted(conformance.__all__) == sorted(PUBLIC.split())


@pytest.mark.parametrize("module", conformance._STANDS_IN)
def test_those_of_each_module_can_be_imported_first(module: str) -> None:
    names = ", ".join(conformance._STANDS_IN[module])
    code = f"import types; from conformance import {names}; found = ({names},)"
    check = "assert not any(isinstance(each, types.ModuleType) for each in found)"
    subprocess.run([sys.executable, "-c", f"{code}; {check}"], check=True)


def test_no_module_hides_one_of_them() -> None:
    package = ROOT / "conformance"
    modules = {path.stem for path in package.glob("*.py")} | {
        p.parent.name for p in package.glob("*/__init__.py")
    }
    assert modules.isdisjoint(conformance.__all__)


def test_an_unknown_name_is_an_import_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'claimed'"):
        conformance.claimed  # type: ignore[attr-defined]  # noqa: B018


def test_the_reference_page_is_up_to_date() -> None:
    subprocess.run([sys.executable, ROOT / "ci" / "facade", "--check"], check=True)


def test_the_toy_imports_public_names_alone() -> None:
    for path in (ROOT / "tests" / "toy" / "assay_toy").glob("*.py"):
        modules = re.findall(
            r"^(?:from|import) (conformance[\w.]*)", path.read_text(), re.MULTILINE
        )
        others = {module for module in modules if not module.startswith("conformance.suites.")}
        assert others <= {"conformance"}, path
