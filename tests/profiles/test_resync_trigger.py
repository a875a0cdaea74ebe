"""Resync triggers edit AppWrappers at their interval, and recognize their own edits."""

from __future__ import annotations

import threading
from typing import Any

from conformance.suites.appwrapper import SUITE
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.worlds.control_plane.resync_trigger import POKE, ResyncTrigger
from vocabulary.errors import ApiError
from vocabulary.kinds import POD
from vocabulary.requests import Patch, Request

PATIENCE_SECONDS = 60.0
USES = SUITE.kinds


def appwrapper(poke: str = "") -> dict[str, Any]:
    annotations = {POKE: poke} if poke else {}
    return {"metadata": {"name": "a", "namespace": "n", "uid": "u", "annotations": annotations}}


def test_it_edits_every_object_again_and_again_whatever_became_of_the_last_edit() -> None:
    heard: list[Patch] = []
    enough = threading.Event()

    def call(request: Request) -> None:
        assert isinstance(request, Patch)
        heard.append(request)
        if len(heard) == 3:
            enough.set()
        raise ApiError(404, "NotFound", "gone meanwhile")

    trigger = ResyncTrigger(1_000, USES, lambda _kind: [appwrapper()], call)
    trigger.start()
    assert enough.wait(PATIENCE_SECONDS)
    trigger.stop()
    bodies = [patch.body["metadata"]["annotations"][POKE] for patch in heard[:3]]
    assert bodies == ["1", "2", "3"]
    assert {(patch.kind, patch.namespace, patch.name) for patch in heard} == {
        (APPWRAPPER, "n", "a")
    }


def test_a_version_that_changes_the_annotation_is_a_poke_and_others_are_not() -> None:
    trigger = ResyncTrigger(1_000, USES, lambda _kind: (), lambda _request: None)
    assert not trigger.made(APPWRAPPER, appwrapper())
    assert trigger.made(APPWRAPPER, appwrapper("1"))
    assert not trigger.made(APPWRAPPER, appwrapper("1"))
    assert trigger.made(APPWRAPPER, appwrapper("2"))
    assert not trigger.made(POD, appwrapper("3"))


def test_an_implementation_that_watches_is_left_in_peace() -> None:
    heard: list[Request] = []
    trigger = ResyncTrigger(None, USES, lambda _kind: [appwrapper()], heard.append)
    before = threading.active_count()
    trigger.start()
    assert threading.active_count() == before
    assert not trigger.made(APPWRAPPER, appwrapper("1"))
