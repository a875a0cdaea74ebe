"""Of each role one operator leads, by a Lease of its own."""

from __future__ import annotations

from conformance.worlds.control_plane.leaders import Leaders
from conformance.worlds.control_plane.recorder import Commit
from vocabulary.kinds import LEASE


def held(lease: str, holder: str) -> Commit:
    content = {"metadata": {"name": lease}, "spec": {"holderIdentity": holder}}
    return Commit(1, "MODIFIED", LEASE, content, seen_us=0)


def test_the_leaders_of_two_roles_do_not_end_each_other() -> None:
    told: list[tuple[str, str]] = []
    operators = ("toy", "toy/1", "kueue", "kueue/1")
    leaders = Leaders(operators, lambda name, change: told.append((name, change)))
    leaders.seen(held("toy-leader", "toy-1"))
    leaders.seen(held("kueue-leader", "kueue"))
    leaders.seen(held("kueue-leader", "kueue"))
    leaders.seen(held("a-workload", "somebody"))
    assert told == [("toy/1", "leading"), ("kueue", "leading")]
    assert leaders.of(("toy", "toy/1")) == "toy/1"
    leaders.seen(held("toy-leader", ""))
    assert told[2:] == [("toy/1", "following")]
    assert not leaders.has_one_of(("toy", "toy/1"))
    assert leaders.has_one_of(("kueue", "kueue/1"))
