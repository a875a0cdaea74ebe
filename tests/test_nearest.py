"""Suggestions for unknown names are what the user may have meant."""

from __future__ import annotations

import pytest

from vocabulary.nearest import meant

NAMES = (
    "appwrapper",
    "AW-001",
    "AW-014",
    "AW-015",
    "AW-055",
    "INV-9",
    "INV-10",
    "appwrapper/deletion/slow-pods-hold-their-quota",
    "appwrapper/nodes/node-is-tainted-no-execute",
    "appwrapper/retry/one-failure-is-retried",
)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("AW-16", "did you mean AW-015 or AW-014?"),
        ("aw-15", "did you mean AW-015?"),
        ("AW-0155", "did you mean AW-015 or AW-055?"),
        ("INV-11", "did you mean INV-10 or INV-9?"),
        ("Appwraper", "did you mean appwrapper?"),
        ("slow-podz", "did you mean appwrapper/deletion/slow-pods-hold-their-quota?"),
        ("one_failur", "did you mean appwrapper/retry/one-failure-is-retried?"),
        ("tainted", "did you mean appwrapper/nodes/node-is-tainted-no-execute?"),
        ("nosuch", "no name is similar."),
    ],
)
def test_of_many_names_those_are_told_that_may_be_meant(word: str, told: str) -> None:
    assert meant(word, NAMES) == told


def test_a_few_names_are_all_told_where_none_is_close() -> None:
    assert meant("moon", ["kind", "existing"]) == "there are kind, existing."
    assert meant("moon", ["kind"]) == "there is kind."


def test_names_are_shown_as_people_write_them() -> None:
    assert meant("quota-relased", ["quota-released"], "mutant:{}".format) == (
        "did you mean mutant:quota-released?"
    )
