"""A fault excuses the operators that it hinders, and no other that shares their cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from tests.suites.conftest import TOY, install

ROOT: Final = Path(__file__).parents[2]
SCENARIO: Final = "toy/operators-die-in-turn"
SOUND: Final = "toy=reference,appwrapper=reference"


class Wrong(NamedTuple):
    """An operator that does not answer the loss of a pod, and the other that shares its cluster."""

    mutant: str
    violates: frozenset[str]
    own: str
    other: str
    others_kind: str
    shortly_before: Mapping[str, Any]
    """When nothing but the lost pod is left to be done by the wrong operator."""


WRONG: Final = {
    "toy": Wrong(
        "toy=mutant:lost-pods-stay-lost",
        frozenset({"TOY-001"}),
        "toy",
        "appwrapper",
        "AppWrapper",
        {
            "after": "commit",
            "kind": "AppWrapper",
            "field": {"status.phase": "Running"},
            "occurrence": 2,
        },
    ),
    "appwrapper": Wrong(
        "appwrapper=mutant:ignores-failed-pods",
        frozenset({"AW-003", "AW-021", "AW-030", "AW-040"}),
        "appwrapper",
        "toy",
        "Crew",
        {"after": "commit", "kind": "Crew", "field": {"status.ready": 2}},
    ),
}
OF_PODS: Final[dict[str, dict[str, Any]]] = {
    "api_error": {"times": 0, "code": 500},
    "time_out": {"times": 0, "after": "30s"},
    "lose_reply": {"times": 0, "after": "30s"},
    "slow_api": {"times": 0, "by": "30s"},
    "stale_reads": {},
    "delay_watch": {"by": "10m"},
    "break_watch": {"gap": "10m"},
}


def elsewhere(wrong: Wrong) -> dict[str, dict[str, Any]]:
    """Faults by name that hinder others than the wrong operator."""
    found = {
        f"{name}-of-{actor}": {name: {**fields, "kind": "Pod", "actor": actor}}
        for (name, fields), actor in product(
            OF_PODS.items(), (wrong.other, f"{wrong.other}*", "user", "job-controller")
        )
    }
    found["webhook_outage"] = {"webhook_outage": {"kind": wrong.others_kind}}
    found["pause"] = {"pause": {"actor": wrong.other}}
    found["kill"] = {"kill": {"actor": wrong.other, "restart_after": "1s"}}
    return found


class Case(NamedTuple):
    implementation: str
    fault: dict[str, Any]
    when: Mapping[str, Any]

    @property
    def plan(self) -> dict[str, Any]:
        return {
            "seed": 1729,
            "scenario": SCENARIO,
            "implementation": self.implementation,
            "faults": [{**self.fault, "when": dict(self.when)}],
        }


CONVICTED: Final = {
    f"{role}-{name}": Case(wrong.mutant, fault, wrong.shortly_before)
    for role, wrong in WRONG.items()
    for name, fault in elsewhere(wrong).items()
}
UNCONVICTED: Final = {
    f"{name}-of-{actor}": Case(SOUND, fault, wrong.shortly_before)
    for wrong in WRONG.values()
    for name, fields in OF_PODS.items()
    for actor in (wrong.own, f"{wrong.own}*")
    for fault in [{name: {**fields, "kind": "Pod", "actor": actor}}]
} | {f"beside-{name}": case._replace(implementation=SOUND) for name, case in CONVICTED.items()}
CASES: Final = {**CONVICTED, **UNCONVICTED}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The violations and injections of each case's run, by its name."""
    site = tmp_path_factory.mktemp("site")
    install(site)
    path = os.pathsep.join([str(ROOT), str(TOY), str(site), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-m", "tests.suites.strikes"],
        cwd=site,
        env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
        input=json.dumps([case.plan for case in CASES.values()]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return dict(zip(CASES, json.loads(ran.stdout), strict=True))


# One test for all cases: each worker that gets a test of this module runs all of their plans.
def test_a_fault_elsewhere_excuses_no_wrong_operator_and_convicts_no_sound_one(
    told: dict[str, dict[str, Any]],
) -> None:
    found = {
        name: (_struck(told[name], case), _violated(told[name])) for name, case in CASES.items()
    }
    assert found == {
        name: (True, WRONG[name.partition("-")[0]].violates if name in CONVICTED else frozenset())
        for name in CASES
    }


def _struck(told: Mapping[str, Any], case: Case) -> bool:
    (name,) = case.fault
    return any(name in fault for fault in told["injected"])


def _violated(told: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(told["violated"])
