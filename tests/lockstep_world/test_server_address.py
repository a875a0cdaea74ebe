"""The address of the API server that a program is given."""

from __future__ import annotations

from conformance.worlds.lockstep.server_address import listen


def test_the_key_decides_address_and_token() -> None:
    told = []
    for key in ("a", "a", "b"):
        listener, token = listen(f"test-server-address/{key}")
        with listener:
            told.append((listener.getsockname(), token))
    assert told[0] == told[1]
    assert told[0][0] != told[2][0]
    assert told[0][1] != told[2][1]


def test_an_address_in_use_is_passed_over() -> None:
    first, _ = listen("test-server-address/used")
    with first:
        second, _ = listen("test-server-address/used")
        with second:
            assert first.getsockname() != second.getsockname()
