"""What random plans learn from a recorded run about what there is to be broken."""

from __future__ import annotations

from chaos.campaign import terrain_of
from vocabulary.history import Write
from vocabulary.kinds import APPWRAPPER


def submission(*kinds: str) -> Write:
    """The creation of an AppWrapper that wraps an object of each kind."""
    components = [{"template": {"kind": kind}} for kind in kinds]
    return Write(
        n=0,
        t=0,
        actor="user",
        verb="create",
        kind=str(APPWRAPPER),
        name="a",
        event="ADDED",
        object={"spec": {"components": components}},
    )


def test_what_components_make_may_be_watched_and_so_be_hidden() -> None:
    terrain = terrain_of("any", [submission("Deployment", "Service")])
    assert terrain is not None
    assert terrain.watched == ("AppWrapper", "Pod", "Deployment", "Service", "ReplicaSet")


def test_a_run_without_an_appwrapper_has_nothing_to_be_broken() -> None:
    assert terrain_of("any", []) is None
