"""The operators of one role in one run: their settings, users, processes and webhooks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from clusters.control_plane.users import User
from conformance.editions import written
from conformance.manifests.names_of_run import with_prefix
from conformance.scenario_type import Scenario
from conformance.suite import load as suites
from conformance.worlds.control_plane.host import RunPlace
from conformance.worlds.control_plane.run_settings import RunSettings
from conformance.worlds.control_plane.webhooks import Webhooks
from vocabulary.history import OperatorUnderTest, replicas

if TYPE_CHECKING:
    from conformance.worlds.control_plane.session import Session


class RoleOperators:
    """None of them runs yet."""

    def __init__(
        self, session: Session, scenario: Scenario, role: str, stretch: int, edition: str
    ) -> None:
        """`stretch` multiplies durations beyond what the machine's pace asks for; `edition` is the
        one to judge by, empty for the default."""
        self._session = session
        self._host = session.hosts[role]
        self._elects = scenario.operators > 1
        self.role = role
        self.suite = suites()[role]
        implementation = self.implementation = session.implementations[role]
        installed = implementation.installed
        self.poke_every_us = None if scenario.untouched else implementation.poke_every_us
        self._is_left_alone = scenario.untouched and implementation.poke_every_us is not None
        polled_us = (implementation.polls_every_us or 0) if self._is_left_alone else 0
        self.settings = RunSettings.of(
            self.suite,
            None if installed is None else installed.settings,
            self.suite.settings.short(session.late_us(role) + polled_us, stretch),
            self.suite.settings.overlay(
                written(scenario.id, role, edition), scenario.config_of(role)
            ),
        )

    def make(
        self,
        namespaces: tuple[str, ...],
        folder: Path,
        record: Callable[[str, Any], None],
        begun: ExitStack,
    ) -> None:
        """Make what they will find in their namespaces; `record` is called with (name, change) on
        each change in an operator's life, and `begun` ends what is made."""
        config = self._config = with_prefix(self.settings.config, f"{namespaces[0]}-")
        served = Webhooks(self._session, self.implementation, namespaces, config)
        begun.callback(served.stop)
        served.start()
        self.users: dict[str, User] = {}
        for name in replicas(self.role, self._host.replicas):
            user = self.users[name] = self._host.users.take()
            begun.callback(self._host.users.give_back, user)
        run = RunPlace(
            namespace=namespaces[0],
            beside=namespaces[1:],
            folder=folder,
            config=config,
            record=record,
            elects=self._elects,
        )
        hosted = self._host.operators(run, self.users, begun)
        self.operators, self.proxies = hosted.operators, hosted.proxies
        self.own_webhooks = hosted.webhooks
        self.webhooks = (served,) if hosted.webhooks is None else (served, hosted.webhooks)
        """All that can be taken down."""

    @property
    def in_header(self) -> OperatorUnderTest:
        """The entry of these operators in the header of the run's history."""
        facts = self.implementation.facts
        return OperatorUnderTest(
            suite=self.role,
            implementation=self.implementation.name,
            parameters=dict(self._config),
            facts=msgspec.structs.replace(facts, untouched=self._is_left_alone),
        )
