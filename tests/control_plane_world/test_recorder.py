"""Entries from a list after a broken watch: in the store's order, with everything known."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from conformance.worlds.control_plane.recorder import Recorder
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, POD


def pod(name: str, rv: int) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "run-0", "uid": name, "resourceVersion": str(rv)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def test_a_deletion_that_a_list_finds_out_comes_after_all_that_was_committed_before_the_list() -> (
    None
):
    recorder = Recorder(None, [POD], None)  # type: ignore[arg-type]  # nothing is asked for
    recorder.replaced("", POD, (pod("gone", 3), pod("stays", 5)), "6")
    recorder.replaced("", POD, (pod("stays", 8),), "9")
    assert [(each.rv, each.event) for each in recorder.commits(["run-0"])] == [
        (3, "ADDED"),
        (5, "ADDED"),
        (8, "MODIFIED"),
        (9, "DELETED"),
    ]
    assert recorder.was_interrupted(["run-0"], 0)


@pytest.mark.parametrize("rv", [3, 5], ids=["created", "patched"])
def test_what_a_scenario_wrote_is_shown_once_the_watch_has_delivered_it(rv: int) -> None:
    recorder = Recorder(None, [POD], None)  # type: ignore[arg-type]  # nothing is asked for
    recorder.replaced("", POD, (pod("stays", 2), *([pod("a", 3)] if rv > 3 else [])), "4")
    later = threading.Timer(0.1, recorder.replaced, ["", POD, (pod("a", rv),), "6"])
    later.start()
    recorder.await_shown(POD, pod("a", rv))
    shown = recorder.stored(POD, "run-0", "a")
    later.join()
    assert shown == pod("a", rv)


def test_of_a_definition_its_columns_are_recorded_and_its_schema_is_not() -> None:
    column = {"name": "Status", "type": "string", "jsonPath": ".status.phase"}
    version = {"name": "v1", "additionalPrinterColumns": [column]}
    metadata = {"name": "as", "uid": "as", "resourceVersion": "3", "managedFields": [{}]}
    stored = {
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {"group": "g", "versions": [{**version, "schema": {"openAPIV3Schema": {}}}]},
    }
    recorder = Recorder(None, [CUSTOM_RESOURCE_DEFINITION], None)  # type: ignore[arg-type]
    recorder.replaced("", CUSTOM_RESOURCE_DEFINITION, (stored,), "4")
    (commit,) = recorder.commits(["as"])
    assert commit.object["spec"] == {"group": "g", "versions": [version]}
    assert "managedFields" not in commit.object["metadata"]


def test_an_audit_log_that_cannot_be_read_ends_the_runs_that_wait_for_it(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    # Nothing is followed, so nothing is asked for.
    recorder = Recorder(None, [], log, keeps=lambda *_: True)  # type: ignore[arg-type]
    recorder.start()
    assert recorder.heard(["run-0"]) == 0
    log.write_text("no JSON\n")
    with pytest.raises(RuntimeError, match="the audit log cannot be read: Expecting value"):
        for _ in range(100):
            recorder.heard(["run-0"])
            time.sleep(0.05)
    recorder.stop()
