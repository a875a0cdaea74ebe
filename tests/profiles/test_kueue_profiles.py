"""The profiles of released Kueue leave out what no release can be configured to do."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import msgspec
import pytest

from conformance.scenarios import SCENARIOS

FOLDER = Path(__file__).parents[2] / "conformance" / "suites" / "kueue" / "profiles"
STRATEGY = "quotaReleaseStrategy"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_scenarios_with_a_release_strategy_are_left_out(path: Path) -> None:
    profile = msgspec.yaml.decode(path.read_bytes())
    (lack,) = (each for each in profile["lacks"] if each["feature"] == "quota-release-strategy")
    configured = {
        name: STRATEGY in msgspec.json.encode(scenario.config).decode()
        for name, scenario in SCENARIOS.items()
        if name.startswith("kueue/")
    }
    assert any(configured.values())
    for name, has_strategy in configured.items():
        is_left_out = any(fnmatchcase(name, pattern) for pattern in lack["scenarios"])
        assert is_left_out == has_strategy, name
