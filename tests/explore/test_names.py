"""Names in normal form: random suffixes are taken off, and ordinals are none."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.history import History
from conformance.history.normal_form import NormalForm
from tests.headers import header_of
from vocabulary.history import Write


def named(kind: str, name: str, **metadata: Any) -> str:
    """The name in normal form of the only object of a history."""
    obj = {"kind": kind, "metadata": {"name": name, "namespace": "n", "uid": "u", **metadata}}
    write = Write(
        n=0,
        t=0,
        rv=1,
        actor="operator",
        verb="create",
        kind=kind,
        namespace="n",
        name=name,
        uid="u",
        code=201,
        event="ADDED",
        object=obj,
    )
    (found,) = NormalForm(History(header_of(implementation="mine"), [write])).end
    return found


@pytest.mark.parametrize("ordinal", ["0", "12", "24680"])
def test_the_ordinal_of_a_pod_of_a_stateful_set_is_no_random_suffix(ordinal: str) -> None:
    owner = {"kind": "StatefulSet", "name": "a", "uid": "s", "controller": True}
    of_set = {"generateName": "a-", "ownerReferences": [owner]}
    assert named("Pod", f"a-{ordinal}", **of_set) == f"Pod n/a-{ordinal}"
    assert named("Pod", f"a-{ordinal}", generateName="a-") == "Pod n/a-*0"


@pytest.mark.parametrize("suffix", ["x7k2p", "5d9f8c7b6", "29384756", "1767225600"])
def test_random_suffixes_and_times_are_numbered(suffix: str) -> None:
    assert named("Job.batch", f"a-{suffix}") == "Job.batch n/a-*0"


@pytest.mark.parametrize("suffix", ["0", "12345", "2026112", "worker"])
def test_ordinals_and_words_are_names(suffix: str) -> None:
    assert named("Job.batch", f"a-{suffix}") == f"Job.batch n/a-{suffix}"
