"""Pods that wait for quota themselves."""

from __future__ import annotations


class PodRules:
    """Groups of pods."""

    def at_once(self, parallelism: int, completions: int | None) -> int:
        """How many pods of a Job run side by side at most."""
        return parallelism if completions is None else min(parallelism, completions)

    def is_gated(self, has_queue: bool, is_part: bool) -> bool:
        """True if a pod waits behind the gate: it names a queue, and no job answers for it."""
        return has_queue and not is_part

    def may_open(self, left: int, running: int) -> int:
        """How many gates may be opened of a pod set that has quota for so many pods that are left
        of it."""
        return max(0, left - running)

    def outlives_pods(self, has_server: bool) -> bool:
        """True if a group of which no pod is left stays: its StatefulSet will create others."""
        return has_server

    def never_ends(self, is_serving: bool) -> bool:
        """True if the end of all pods is not that of the group."""
        return is_serving
