"""Leader election in virtual time: rivals, crashes, lost replies, skewed waits."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference_controller.runtime.caches import Caches
from reference_controller.runtime.controller import Key, key_of
from reference_controller.runtime.leader_election import LeaderElection, LeaseSettings
from reference_controller.runtime.operator import Operator, Pending
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.errors import no_answer
from vocabulary.kinds import CONFIG_MAP, LEASE, SECRET, Kind
from vocabulary.objects import Object, get_path
from vocabulary.requests import Get, Reconcile, Update

from .toy import Server, config_map, settle

TICK_US = 100 * MILLISECOND


class Busy:
    """A controller that always has something to do."""

    name = "busy"
    watches = (CONFIG_MAP,)

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        return (key_of(obj),)

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        yield Get(SECRET, *key)
        return now_us + 10 * MILLISECOND


class Candidate:
    """One operator process with its connection, which a test can cut or slow down."""

    def __init__(self, identity: str, server: Server) -> None:
        self.identity = identity
        self.server = server
        self.is_cut_off = False
        self.delay_us = 0
        self.in_flight: list[tuple[Micros, Pending]] = []
        self.acted_at_us: list[Micros] = []
        election = LeaderElection(LeaseSettings("ns", "operator", identity))
        server.objects[SECRET, "ns", "a"] = {"kind": "Secret"}
        self.operator = Operator((Busy(),), election=election)
        self.operator.replace(CONFIG_MAP, [config_map("a", {})], 0)

    def tick(self, now_us: Micros) -> None:
        """Send what it wants to send, and answer what is due."""
        while True:
            while (pending := self.operator.poll(now_us)) is not None:
                if pending.request.kind != LEASE:
                    self.acted_at_us.append(now_us)
                self.in_flight.append((now_us + self.delay_us, pending))
            due = [item for item in self.in_flight if item[0] <= now_us]
            if not due:
                return
            self.in_flight = [item for item in self.in_flight if item[0] > now_us]
            for _, pending in due:
                cut = no_answer("cut off")
                reply = cut if self.is_cut_off else self.server.handle(pending.request)
                self.operator.answer(pending.ticket, reply, now_us)


def run(candidates: list[Candidate], since_us: Micros, until_us: Micros) -> None:
    for now_us in range(since_us, until_us, TICK_US):
        for candidate in candidates:
            candidate.tick(now_us)


def holder(server: Server) -> str:
    return str(get_path(server.objects[LEASE, "ns", "operator"], "spec.holderIdentity"))


def test_one_of_two_leads_and_the_other_does_nothing() -> None:
    server = Server()
    one, two = Candidate("one", server), Candidate("two", server)
    run([one, two], 0, 60 * SECOND)
    assert holder(server) == "one"
    assert one.operator.leads and not two.operator.leads
    assert len(one.acted_at_us) > 500
    assert two.acted_at_us == []
    lease = server.objects[LEASE, "ns", "operator"]["spec"]
    assert lease["leaseDurationSeconds"] == 15
    assert lease["leaseTransitions"] == 0
    assert lease["acquireTime"] == "1970-01-01T00:00:00.000000Z"
    assert lease["renewTime"] >= "1970-01-01T00:00:57.000000Z"


def test_after_a_kill_the_rival_takes_over_once_the_lease_has_run_out() -> None:
    server = Server()
    one, two = Candidate("one", server), Candidate("two", server)
    run([one, two], 0, 20 * SECOND)
    run([two], 20 * SECOND, 60 * SECOND)
    assert holder(server) == "two"
    assert server.objects[LEASE, "ns", "operator"]["spec"]["leaseTransitions"] == 1
    # At the earliest a lease duration after the last renewal, at the latest also after the
    # renewal's age, one poll and its jitter.
    assert 20 * SECOND + 13 * SECOND <= two.acted_at_us[0] <= 20 * SECOND + 20 * SECOND


def test_a_leader_that_is_cut_off_has_stopped_before_its_rival_begins() -> None:
    server = Server()
    one, two = Candidate("one", server), Candidate("two", server)
    run([one, two], 0, 20 * SECOND)
    one.is_cut_off = True
    run([one, two], 20 * SECOND, 60 * SECOND)
    assert two.acted_at_us
    assert max(one.acted_at_us) < min(two.acted_at_us) - 4 * SECOND
    assert max(one.acted_at_us) <= 30 * SECOND
    one.is_cut_off = False
    run([one, two], 60 * SECOND, 90 * SECOND)
    assert max(one.acted_at_us) <= 30 * SECOND, "back again, it follows"


def test_a_leader_whose_lease_is_taken_stands_back_and_leads_again_when_that_has_run_out() -> None:
    server = Server()
    one = Candidate("one", server)
    run([one], 0, 20 * SECOND)
    lease = server.objects[LEASE, "ns", "operator"]
    taken = {**lease["spec"], "holderIdentity": "thief", "leaseDurationSeconds": 30}
    server.handle(Update(LEASE, {**lease, "spec": taken}))
    run([one], 20 * SECOND, 40 * SECOND)
    # It hears of it with its next renewal, and does nothing more from then on.
    assert max(one.acted_at_us) <= 22 * SECOND
    assert not one.operator.leads
    one.acted_at_us.clear()
    run([one], 40 * SECOND, 70 * SECOND)
    assert holder(server) == "one"
    assert one.acted_at_us[0] >= 50 * SECOND


def test_a_restart_under_the_same_identity_leads_again_at_once() -> None:
    server = Server()
    run([Candidate("one", server)], 0, 20 * SECOND)
    again = Candidate("one", server)
    run([again], 20 * SECOND, 21 * SECOND)
    assert again.acted_at_us[0] == 20 * SECOND


def test_an_orderly_end_gives_the_lease_back_so_that_the_rival_leads_within_seconds() -> None:
    server = Server()
    one, two = Candidate("one", server), Candidate("two", server)
    run([one, two], 0, 20 * SECOND)
    one.operator.stop(20 * SECOND)
    run([one, two], 20 * SECOND, 26 * SECOND)
    assert one.operator.is_stopped
    assert holder(server) == "two"
    assert max(one.acted_at_us) < 20 * SECOND


def test_an_orderly_end_waits_for_a_renewal_in_flight_and_takes_it_back() -> None:
    server = Server()
    one = Candidate("one", server)
    run([one], 0, 20 * SECOND)
    one.delay_us = SECOND
    run([one], 20 * SECOND, 20 * SECOND + 2 * TICK_US)
    one.operator.stop(20 * SECOND + 2 * TICK_US)
    run([one], 20 * SECOND + 2 * TICK_US, 25 * SECOND)
    assert one.operator.is_stopped
    assert holder(server) == ""


def test_a_follower_ends_at_once() -> None:
    server = Server()
    one, two = Candidate("one", server), Candidate("two", server)
    run([one, two], 0, 20 * SECOND)
    two.operator.stop(20 * SECOND)
    run([two], 20 * SECOND, 20 * SECOND + TICK_US)
    assert two.operator.is_stopped
    assert holder(server) == "one"


def test_gaining_the_lead_looks_at_every_object_anew() -> None:
    server = Server()
    one, two = Candidate("one", server), Candidate("two", server)
    run([one, two], 0, 5 * SECOND)
    two.operator.deliver(CONFIG_MAP, "ADDED", config_map("b", {}), 5 * SECOND)
    one.is_cut_off = True
    run([one, two], 5 * SECOND, 40 * SECOND)
    assert two.operator.leads
    assert two.acted_at_us


def test_a_follower_asks_to_be_polled_for_its_election_only() -> None:
    server = Server()
    run([Candidate("one", server)], 0, TICK_US)
    election = LeaderElection(LeaseSettings("ns", "operator", "two"))
    follower = Operator((Busy(),), election=election, resync_us=SECOND)
    follower.replace(CONFIG_MAP, [config_map("a", {})], 0)
    settle(follower, server, TICK_US)
    wake_at_us = follower.wake_at_us()
    assert wake_at_us is not None and wake_at_us > SECOND
    assert wake_at_us == election.wake_at_us()
    assert follower.work_due_us() is None


def edit_lease(server: Server, **spec: str) -> None:
    """Another client writes to the Lease."""
    lease = server.objects[LEASE, "ns", "operator"]
    server.handle(Update(LEASE, {**lease, "spec": {**lease["spec"], **spec}}))


def test_a_harmless_edit_of_the_lease_interrupts_nothing() -> None:
    server = Server()
    one = Candidate("one", server)
    run([one], 0, 20 * SECOND)
    edit_lease(server, note="hello")
    server.requests.clear()
    run([one], 20 * SECOND, 20 * SECOND + TICK_US)
    of_lease = [type(request) for request in server.requests if request.kind == LEASE]
    assert of_lease == [Update, Get, Update], "refused, looked who it was, renewed: all at once"
    assert one.operator.leads


def test_a_leader_whose_lease_was_given_to_another_stops_at_its_next_renewal() -> None:
    server = Server()
    one = Candidate("one", server)
    run([one], 0, 20 * SECOND)
    edit_lease(server, holderIdentity="somebody")
    run([one], 20 * SECOND, 30 * SECOND)
    assert max(one.acted_at_us) <= 22 * SECOND


cuts = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 90), st.integers(1, 40)), max_size=6)


@settings(max_examples=40, deadline=None)
@given(cuts, st.lists(st.integers(0, 4), min_size=2, max_size=2))
def test_whatever_connections_break_two_never_act_within_the_same_lease(
    cuts: list[tuple[int, int, int]], delays_s: list[int]
) -> None:
    server = Server()
    rivals = [Candidate("one", server), Candidate("two", server)]
    for rival, delay_s in zip(rivals, delays_s, strict=True):
        rival.delay_us = delay_s * SECOND
    for second in range(130):
        for number, rival in enumerate(rivals):
            rival.is_cut_off = any(
                who == number and since <= second < since + span for who, since, span in cuts
            )
        run(rivals, second * SECOND, (second + 1) * SECOND)
        assert not all(rival.operator.leads for rival in rivals)
    acts = sorted((at_us, rival.identity) for rival in rivals for at_us in rival.acted_at_us)
    for (at_us, who), (next_us, next_who) in itertools.pairwise(acts):
        # A request may be under way for 4 s; the old leader's last one has arrived by then.
        assert who == next_who or next_us - at_us >= 4 * SECOND
    assert acts, "somebody leads in the end"


@pytest.mark.parametrize(("lease_s", "renew_s", "retry_s"), [(10, 10, 2), (15, 2, 2), (15, 10, 0)])
def test_spans_that_would_allow_two_leaders_are_refused(
    lease_s: int, renew_s: int, retry_s: int
) -> None:
    with pytest.raises(ValueError, match="for example 15 s, 10 s, 2 s"):
        LeaseSettings("ns", "operator", "one", lease_s * SECOND, renew_s * SECOND, retry_s * SECOND)
