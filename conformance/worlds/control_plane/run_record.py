"""The data on one run, and the history made of it.

Watches report stored objects, the audit log their writers, and the run its own actions:
faults, the lives of its processes, marks.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from clusters.control_plane.users import User
from conformance.worlds.control_plane.history_merge import Merge
from conformance.worlds.control_plane.process_webhooks import ProcessWebhooks
from conformance.worlds.control_plane.recorder import wall_us
from conformance.worlds.control_plane.recovery import recovered
from conformance.worlds.control_plane.session import Session
from vocabulary.clock import SECOND, Micros
from vocabulary.fault_effect import FaultEffect
from vocabulary.history import (
    Capabilities,
    Entry,
    Fault,
    Header,
    Mark,
    OperatorUnderTest,
    Process,
)

BARRIER_SECONDS: Final = 0.5
"""How long the recorder gets to hear the last of what happened."""


class RunRecord:
    """One run's. Safe to use from several threads."""

    def __init__(
        self,
        session: Session,
        namespace: str,
        nodes: tuple[str, ...],
        *,
        scenario: str,
        seed: int,
        operators: Mapping[str, OperatorUnderTest],
        editions: Mapping[str, str],
        began_us: Micros,
        users: Mapping[str, User],
        webhooks: Sequence[ProcessWebhooks],
    ) -> None:
        """`operators` are those under test by role; `editions` are those of suites by name; `users`
        are the operators', by their names in the history; `webhooks` are those that they serve
        themselves."""
        self._session = session
        self._namespace = namespace
        self._nodes = nodes
        self._scenario = scenario
        self._seed = seed
        self._operators = operators
        self._editions = editions
        self._began_us = began_us
        self._users = users
        self._webhooks = webhooks
        self._notes: list[tuple[Micros, Entry]] = []
        self._lock = threading.Lock()

    # What the run itself has to say, at the moment when it happens.

    def fault(
        self,
        action: Literal["injected", "reverted", "refused"],
        fault: dict[str, Any],
        text: str,
        effect: FaultEffect,
    ) -> None:
        self._note(Fault(n=0, t=0, action=action, fault=fault, text=text, effect=effect))

    def process(self, process: str, change: Any) -> None:
        self._note(Process(n=0, t=0, process=process, change=change))

    def mark(self, mark: Any, text: str = "") -> None:
        self._note(Mark(n=0, t=0, mark=mark, text=text))

    # What came of it.

    def history(self) -> tuple[Header, tuple[Entry, ...]]:
        """Return the recorded history."""
        session = self._session
        merge = Merge(
            self._began_us,
            {user.name: name for name, user in self._users.items()},
            session.recorder.kinds,
        )
        with self._lock:
            notes = list(self._notes)
        capabilities = session.capabilities(self._namespace, self._began_us)
        commits = session.commits(self._namespace, self._nodes)
        audited = session.audited(self._namespace, self._nodes)
        for webhooks in self._webhooks:
            commits, audited = webhooks.without_keys(commits, audited)
        if capabilities.writers and not capabilities.every_version:
            whole = recovered(commits, audited, session.recorder.kinds)
            if whole is not None:
                commits, capabilities = whole, Capabilities()
        header = Header(
            scenario=self._scenario,
            seed=self._seed,
            cluster=session.cluster,
            clock="wall",
            began_us=self._began_us,
            kubernetes_version=session.kubernetes_version,
            capabilities=capabilities,
            operators=dict(self._operators),
            facts=msgspec.structs.replace(
                session.facts, slack_us=session.pulse.slack_us(self._began_us)
            ),
            editions=dict(self._editions) or msgspec.UNSET,
        )
        return header, merge.entries(commits, audited, notes)

    def history_so_far(self) -> tuple[Header, tuple[Entry, ...], bool]:
        """Return the settled part of the history of a running run; True if it is complete.

        Watches and audit log report the same moment at different times. One of them may not have
        reported the latest moments yet, and a write without its writer would be wrong.
        """
        header, entries = self.history()
        late_us = round(BARRIER_SECONDS * SECOND) + (header.facts.slack_us or 0)
        settled_us = wall_us() - late_us - self._began_us
        settled = bisect_right(entries, settled_us, key=lambda entry: entry.t)
        return header, entries[:settled], settled == len(entries)

    @property
    def heard(self) -> int:
        """How much there is to make a history of; grows with the run."""
        recorder = self._session.recorder
        scopes = {*recorder.scopes(self._namespace), *self._nodes}
        return recorder.heard(scopes) + len(self._notes)

    def _note(self, entry: Entry) -> None:
        with self._lock:
            self._notes.append((wall_us(), entry))
