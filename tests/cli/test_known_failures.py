"""`fails_in`: an edition is known not to keep a claim, in just these scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from pathlib import Path

import pytest

from conformance import suite
from conformance.suites.streams import SUITE
from tests.cli.conftest import Assay

LOST = "streams/recoveries/operator-is-down-as-the-old-one-goes"
OTHER = "streams/recoveries/recovery-is-interrupted/before-the-creation"
KEPT = "streams/crashes/nothing-had-begun"


@pytest.mark.parametrize(
    ("word", "known", "code", "told"),
    [
        (LOST, {"ST-001": (LOST,)}, 0, f"expected of the edition seed: ST-001 failed in {LOST}"),
        (LOST, {"ST-001": (OTHER,)}, 1, f"not expected: ST-001 failed in {LOST}"),
        (LOST, {}, 1, "ST-001"),
        (
            "streams",
            {"ST-001": (LOST, OTHER, KEPT)},
            1,
            f"not expected of the edition seed: ST-001 held in {KEPT}",
        ),
    ],
    ids=["known", "another", "none-known", "holds"],
)
def test_only_what_is_known_is_expected(
    assay: Assay,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    word: str,
    known: Mapping[str, tuple[str, ...]],
    code: int,
    told: str,
) -> None:
    changed = copy(SUITE)
    object.__setattr__(changed, "fails_in", {"seed": known})
    monkeypatch.setitem(suite.load(), "streams", changed)
    ran = assay("run", word, "--edition", "seed", "--quiet", "--no-shrink", "--out", tmp_path)
    assert (ran.code, told in ran.out) == (code, True), ran.out
