"""The way to a program that may end at any moment."""

from __future__ import annotations

import os
import socket

from clusters.go_time.pacer import Pacer, TimePage
from vocabulary.clock import SIMULATION_EPOCH_US


def test_a_program_that_ends_with_pings_unread_has_ended() -> None:
    """Its socket is reset then, and only broken at the next ping."""
    page = TimePage(SIMULATION_EPOCH_US)
    pacer = Pacer(page)
    program = socket.socket(fileno=os.dup(pacer.inherited[1]))
    pacer.began()
    assert pacer.ping()
    program.close()
    assert not pacer.ping(again=True)
    assert not pacer.count_out_system_calls()
    assert not pacer.receive()
    pacer.close()
    page.close()
