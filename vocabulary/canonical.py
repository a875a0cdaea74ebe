"""One byte string per value, so that equal runs give equal bytes and digests."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")


def encode(value: Any) -> bytes:
    """JSON with sorted keys and no blanks; msgspec structs are written with their fields."""
    return _encoder.encode(value)


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes, in hex."""
    return hashlib.sha256(encode(value)).hexdigest()
