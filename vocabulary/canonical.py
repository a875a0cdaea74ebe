"""Canonical serialization: one byte string per value, so equal runs give equal digests."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="deterministic")


def encode(value: Any) -> bytes:
    """Serialize as JSON with sorted keys and no blanks; msgspec structs with their fields."""
    return _encoder.encode(value)


def digest(value: Any) -> str:
    """SHA-256 of the canonical bytes, in hex."""
    return hashlib.sha256(encode(value)).hexdigest()
