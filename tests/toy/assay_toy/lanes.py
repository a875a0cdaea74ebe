"""The lane of a Crew on failure pages: the pods it counts against those it wants."""

from __future__ import annotations

from collections.abc import Iterator

from conformance import History, Lane, Tone, Track, lane_of
from vocabulary.objects import Object, get_path


def lanes(history: History, crew: Track) -> Iterator[Lane]:
    del history

    def state(obj: Object) -> tuple[Tone, str]:
        ready, wanted = get_path(obj, "status.ready", 0), get_path(obj, "spec.pods", 0)
        return "good" if ready == wanted else "warn", f"{ready} of {wanted} ready"

    yield lane_of("pods", crew, state)
