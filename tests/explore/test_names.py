"""Names in normal form: random suffixes are taken off, and ordinals are none."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.history import History
from conformance.history.normal_form import NormalForm
from tests.headers import header_of
from vocabulary.history import Write


def _created(kind: str, name: str, n: int, status: Any, **metadata: Any) -> Write:
    uid = f"uid-{n}"
    about = {"name": name, "namespace": "n", "uid": uid, **metadata}
    return Write(
        n=n,
        t=0,
        rv=n + 1,
        actor="operator",
        verb="create",
        kind=kind,
        namespace="n",
        name=name,
        uid=uid,
        code=201,
        event="ADDED",
        object={"kind": kind, "metadata": about, "status": status},
    )


def named(kind: str, name: str, **metadata: Any) -> str:
    """The name in normal form of the only object of a history."""
    write = _created(kind, name, 0, {}, **metadata)
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


def test_the_address_of_a_pod_in_another_object_is_that_of_the_pod() -> None:
    def end_with(address: str, told: str) -> dict[str, Any]:
        """The status of a Site that tells of the address of a pod."""
        objects = [
            ("Pod", "a-x7k2p", {"generateName": "a-"}, {"podIP": address}),
            ("Site.example.dev", "a", {}, {"head": told, "url": f"http://{told}:80/{told}3"}),
        ]
        writes = [
            _created(kind, name, n, status, **metadata)
            for n, (kind, name, metadata, status) in enumerate(objects)
        ]
        end = NormalForm(History(header_of(implementation="mine"), writes)).end
        status: dict[str, Any] = end["Site.example.dev n/a"]["status"]
        return status

    assert end_with("10.0.0.1", "10.0.0.1") == {
        "head": "(address of Pod n/a-*0)",
        "url": "http://(address of Pod n/a-*0):80/10.0.0.13",
    }
    assert end_with("10.0.0.2", "10.0.0.2")["head"] == "(address of Pod n/a-*0)"
    assert end_with("10.0.0.2", "10.0.0.1")["head"] == "10.0.0.1"
