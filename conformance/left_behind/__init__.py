"""Leftovers of runs: on a cluster, and on this machine.

- `clean` finds those of a killed run by its label, and removes them.
- `undoing` reverts faults that a killed run of the Chaos Toolkit left, by its journal.
- `scratch`: the folder that a session works in.

A simulated run has nothing to clean: this file imports none of them.
"""

from __future__ import annotations


class LeftBehindError(Exception):
    """Something was not given back or does not go away; the message names it, and what to do."""
