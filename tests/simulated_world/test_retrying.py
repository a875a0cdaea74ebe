"""A run of an operator that retries for ever comes to rest, unless what it waits for may come."""

from __future__ import annotations
