"""Faults between a client and the API server, request by request.

All of these count: the first `skip` requests that fit pass, the next `times` are hit, and
`times: 0` means for as long as the fault lasts.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from msgspec import Meta, structs

from chaos.choice import KindName, named_kind
from chaos.effects import effect_of
from chaos.fault import Fault, fault, fault_from_data
from chaos.fields import Span, Spelling, listed
from chaos.ground import (
    Ground,
    NoAnswer,
    Refuse,
    RequestEffect,
    RequestRule,
    Rule,
    Slow,
)
from vocabulary.clock import SECOND, format_seconds
from vocabulary.fault_effect import FaultEffect
from vocabulary.history import OPERATOR

ANSWERS: Final = {
    403: ("Forbidden", "exceeded quota"),
    409: (
        "Conflict",
        "the object has been modified; please apply your changes to the latest "
        "version and try again",
    ),
    429: ("TooManyRequests", "too many requests, please try again later"),
    500: ("InternalError", "an error on the server has prevented the request from succeeding"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "the server was unable to return a response in the time allotted"),
}
"""The refusals that can be injected: reason and message as an API server gives them."""

Verb: TypeAlias = Literal["get", "list", "create", "update", "patch", "delete", "deletecollection"]

Skipped: TypeAlias = Annotated[int, Meta(ge=0, le=1_000_000)]


@dataclass(frozen=True, slots=True)
class ConnectionFault(Fault):
    """A fault that is a rule on the connection; it ends by being lifted."""

    @abstractmethod
    def rule(self) -> Rule:
        """The rule on the connection while this lasts."""

    def fault_effect(self) -> FaultEffect:
        return effect_of(self.rule())

    def befalls(self) -> str:
        return self.rule().kind

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:  # noqa: ARG002  # nothing to read
        return (Lift(self),)

    def inject(self, ground: Ground) -> None:
        ground.connection.add(self.rule())


@dataclass(frozen=True, slots=True)
class _RequestFault(ConnectionFault):
    """A fault of chosen requests. Empty criteria fit all; `verb` may be a list."""

    actor: str = OPERATOR
    verb: tuple[Verb, ...] = ()
    kind: KindName = ""
    name: str = ""
    subresource: str | None = None
    skip: Skipped = 0
    times: Skipped = 1

    @abstractmethod
    def effect(self) -> RequestEffect:
        """The effect on a request that is hit."""

    def rule(self) -> RequestRule:
        return RequestRule(
            effect=self.effect(),
            actor=self.actor,
            verbs=self.verb,
            kind=str(named_kind(self.kind)) if self.kind else "",
            name=self.name,
            subresource=self.subresource,
            skip=self.skip,
            times=self.times,
        )

    def _requests(self) -> str:
        """The requests in English: `the operator's next 2 updates of JobSet a`."""
        verbs = listed(self.verb) if self.verb else ""
        noun = f"{verbs} request" if verbs else "request"
        count = {0: f"every {noun}", 1: f"the next {noun}"}.get(
            self.times, f"the next {self.times} {noun}s"
        )
        if self.subresource is not None:
            noun = self.subresource or "the object itself"
            part = f" to {noun}" if not self.subresource else f" to the {self.subresource}"
        else:
            part = ""
        of = f" of {self.kind or 'any kind'}{f' {self.name}' if self.name else ''}"
        of = of if self.kind or self.name else ""
        by = f" by {self.actor}" if self.actor else ""
        skipped = f", after {self.skip} more" if self.skip else ""
        return f"{count}{part}{of}{by}{skipped}"


@fault("api_error")
class ApiErrors(_RequestFault):
    """Refuse requests before they reach the API server."""

    code: Literal[403, 409, 429, 500, 503, 504] = 500
    """One of `ANSWERS`."""
    retry_after_seconds: Annotated[int, Meta(ge=0, le=3600)] = 0

    def effect(self) -> RequestEffect:
        reason, message = ANSWERS[self.code]
        return Refuse(self.code, reason, message, self.retry_after_seconds)

    def describe(self) -> str:
        return f"refuse {self._requests()} with {self.code} {ANSWERS[self.code][0]}"


@fault("time_out")
class TimeOut(_RequestFault):
    """Lose requests on their way: the server never sees them, and the client gets no response."""

    after: Span = 30 * SECOND

    def effect(self) -> RequestEffect:
        return NoAnswer(reached=False, after_us=self.after)

    def describe(self) -> str:
        return (
            f"let {self._requests()} time out after {format_seconds(self.after)}, not carried out"
        )


@fault("lose_reply")
class LoseReply(_RequestFault):
    """Lose replies: the server has carried the request out, the client cannot know."""

    after: Span = 0

    def effect(self) -> RequestEffect:
        return NoAnswer(reached=True, after_us=self.after)

    def describe(self) -> str:
        return f"carry out {self._requests()}, and lose the reply"


@fault("slow_api")
class SlowApi(_RequestFault):
    """Answer requests late."""

    by: Span = 5 * SECOND

    def effect(self) -> RequestEffect:
        return Slow(self.by)

    def describe(self) -> str:
        return f"answer {self._requests()} {format_seconds(self.by)} late"


@fault("webhook_outage")
class WebhookOutage(ConnectionFault):
    """The admission webhook is down and its failure policy is Fail: writes are refused."""

    kind: KindName
    name: str = ""
    """The object that the selectors of the webhook match; empty: all."""

    def rule(self) -> Rule:
        kind = named_kind(self.kind)
        message = (
            f'Internal error occurred: failed calling webhook for "{kind.plural}": '
            "connect: connection refused"
        )
        return RequestRule(
            effect=Refuse(500, "InternalError", message),
            actor="",
            verbs=("create", "update", "patch"),
            kind=str(kind),
            name=self.name,
            subresource="",
            times=0,
        )

    def describe(self) -> str:
        of = f" {self.name}" if self.name else ""
        return f"take the admission webhook of {self.kind}{of} down"


def _connection_fault(data: Any) -> ConnectionFault:
    found = fault_from_data(data)
    if not isinstance(found, ConnectionFault):
        raise ValueError(f"is {found.plan_key}, expected a fault of the connection")
    return found


@fault("lift")
class Lift(Fault):
    """End a fault of the connection early, spelled as it was injected."""

    fault: Annotated[Any, Spelling(_connection_fault, lambda lifted: lifted.to_data())]
    """A ConnectionFault; msgspec cannot know which class it is of."""

    leaves_nothing: ClassVar[bool] = True

    def resolve(self, ground: Ground) -> tuple[Fault, ...]:
        return tuple(Lift(lifted) for lifted in self.fault.resolve(ground))

    def fault_effect(self) -> FaultEffect:
        lifted: ConnectionFault = self.fault
        return structs.replace(lifted.fault_effect(), ends=lifted.to_data())

    def befalls(self) -> str:
        lifted: ConnectionFault = self.fault
        return lifted.befalls()

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:  # noqa: ARG002  # see leaves_nothing
        return ()

    def inject(self, ground: Ground) -> None:
        ground.connection.remove(self.fault.rule())

    def describe(self) -> str:
        return f"no longer {self.fault.describe()}"
