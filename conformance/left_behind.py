"""What keeps a cluster from being as it was before.

A module of its own, since a simulated run has nothing to clean, and need not import how it is done.
"""

from __future__ import annotations


class LeftBehindError(Exception):
    """Something was not given back or does not go away; the message names it, and what to do."""
