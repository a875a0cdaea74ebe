"""Ports that are found by several processes at once."""

from __future__ import annotations

import subprocess
import sys

import pytest

from clusters.control_plane import ports

SEARCH = """
from clusters.control_plane import ports
ports._searched = iter(range({first}, ports.LAST_PORT))
print(*ports.free_ports(2))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="claims are sockets with abstract names")
def test_a_process_that_searches_the_same_range_finds_none_that_another_has_found() -> None:
    """Their servers have not bound them yet."""
    mine = ports.free_ports(3)
    search = SEARCH.format(first=mine[0])
    found = subprocess.run([sys.executable, "-c", search], stdout=subprocess.PIPE, check=True)
    theirs = [int(port) for port in found.stdout.split()]
    assert len(theirs) == 2
    assert set(theirs).isdisjoint(mine)


@pytest.mark.skipif(sys.platform != "linux", reason="claims are sockets with abstract names")
def test_claims_end_after_some_more() -> None:
    (first, *_) = ports.free_ports(ports.CLAIMED + 1)
    assert len(ports._claims) == ports.CLAIMED
    assert first not in {int(each.getsockname().rsplit(b"-", 1)[1]) for each in ports._claims}
