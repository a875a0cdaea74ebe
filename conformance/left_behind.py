"""Leftovers that keep a cluster from being as it was before.

A separate module, since a simulated run has nothing to clean, and need not import the cleanup.
"""

from __future__ import annotations


class LeftBehindError(Exception):
    """Something was not given back or does not go away; the message names it, and what to do."""
