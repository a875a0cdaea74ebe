"""The failure-policy cases of JobSet's integration tests, and the scenarios that cover them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from vocabulary.safe_yaml import load_yaml_file

TAG: Final = "[failure policy] "
"""The beginning of the names of the cases; they have no label."""
FILE: Final = Path(__file__).with_suffix(".yaml")


def scenarios_of_cases() -> Mapping[str, tuple[str, ...]]:
    """The scenarios that cover a case, by its name without the tag; those of all releases."""
    return {
        case: tuple(entry["scenarios"]) for entry in load_yaml_file(FILE) for case in entry["cases"]
    }
