"""The table of rules between clients and the API server, and which one a request meets.

It decides and counts, and does no I/O: the simulated connection and a proxy in front of a
real API server both ask it before they carry a request on.
"""

from __future__ import annotations

from collections.abc import Callable

from chaos.ground import (
    Break,
    Delay,
    Refuse,
    RequestEffect,
    RequestRule,
    Rule,
    WatchEffect,
    WatchRule,
)
from vocabulary.clock import Micros
from vocabulary.requests import Request


class _Counted:
    """A request rule and how many requests have matched it since it was added."""

    __slots__ = ("matched", "rule")

    def __init__(self, rule: RequestRule) -> None:
        self.rule = rule
        self.matched = 0


class ConnectionRules:
    """Implements `chaos.ground.ConnectionFaults`.

    `on_change` is called after each rule that came or went, with the rule and whether it
    holds now: a carrier of watch events must act on a `WatchRule` at that moment.
    """

    def __init__(self, on_change: Callable[[Rule, bool], None] | None = None) -> None:
        self._on_change = on_change
        self._requests: list[_Counted] = []
        self._watches: list[WatchRule] = []

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that hold now, request rules first, each in the order they were added."""
        return (*(counted.rule for counted in self._requests), *self._watches)

    def add(self, rule: Rule) -> None:
        if isinstance(rule, RequestRule):
            self._requests.append(_Counted(rule))
        elif not isinstance(rule.effect, Break):
            self._watches.append(rule)
        if self._on_change is not None:
            self._on_change(rule, True)

    def remove(self, rule: Rule) -> None:
        if isinstance(rule, RequestRule):
            for counted in self._requests:
                if counted.rule == rule:
                    self._requests.remove(counted)
                    break
            else:
                return
        elif rule in self._watches:
            self._watches.remove(rule)
        else:
            return
        if self._on_change is not None:
            self._on_change(rule, False)

    def meets(self, actor: str, request: Request) -> RequestEffect | None:
        """The effect that this request meets, if any; ask once per request, since it counts.

        The rule that was added first decides. Every matching rule counts the request, also
        one which is not the first, so `skip` counts requests and not hits.
        """
        if not self._requests:
            return None
        effect: RequestEffect | None = None
        spent: list[_Counted] = []
        for counted in self._requests:
            rule = counted.rule
            if not rule.matches(actor, request):
                continue
            counted.matched += 1
            if counted.matched <= rule.skip:
                continue
            if effect is None:
                effect = rule.effect
            if rule.times and counted.matched >= rule.skip + rule.times:
                spent.append(counted)
        for counted in spent:
            self._requests.remove(counted)
        return effect

    def refusal(self, request: Request) -> Refuse | None:
        """The refusal that a scenario's own step meets: that of a rule for everyone which names its
        object. Of other rules the steps know nothing."""
        rules = (counted.rule for counted in self._requests)
        return next(
            (
                rule.effect
                for rule in rules
                if not rule.actor and rule.name and rule.matches("", request)
                if isinstance(rule.effect, Refuse)
            ),
            None,
        )

    def on_watch(self, actor: str, kind: str) -> tuple[WatchEffect, ...]:
        """The effects that hold for the actor's watch of a kind, in the order they were added."""
        if not self._watches:
            return ()
        return tuple(rule.effect for rule in self._watches if rule.matches(actor, kind))

    def watch_delay_us(self, actor: str, kind: str) -> Micros:
        """How much later than usual an event reaches that watch: all delays added up."""
        if not self._watches:
            return 0
        return sum(
            rule.effect.by_us
            for rule in self._watches
            if isinstance(rule.effect, Delay) and rule.matches(actor, kind)
        )
