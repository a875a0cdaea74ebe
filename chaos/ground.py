"""The interface of a cluster that faults need, and no more than that.

A fault is data; a `Ground` is where it happens. The simulation implements the protocols in
virtual time, the real control plane with processes and a proxy, and the Chaos Toolkit
extension with a kubeconfig alone. Faults know none of them, so one plan runs on all.

A ground that lacks something (a kubeconfig cannot pause a scheduler) raises
`FaultRefusedError`; the injector records that the fault was refused, and nothing else happens.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from vocabulary.clock import Micros
from vocabulary.history import OPERATOR
from vocabulary.requests import Request, verb_of

ProcessState: TypeAlias = Literal["running", "paused", "down", "restarting"]


class FaultRefusedError(Exception):
    """A fault that could not be injected here and now; the message says why, and what would do."""


class Processes(Protocol):
    """The processes of a cluster, by the names their writes carry.

    An operator's is its role, `jobset`, and `jobset/1` its second replica; others are
    `scheduler`, `job-controller`, `garbage-collector`,
    `kubelet/<node>` and so on. All methods raise FaultRefusedError for a process that this
    ground does not have or cannot reach, and do nothing where the state is as asked: a
    process that is down already stays down (and a restart that is due still comes), and one
    that is down can neither be paused nor resumed.
    """

    def state(self, name: str) -> ProcessState:
        """The state of a process; one that is down and waits for its restart is `restarting`."""
        ...

    def kill(
        self, name: str, *, graceful: bool = False, restart_after_us: Micros | None = None
    ) -> None:
        """End it now: SIGKILL, or SIGTERM and a clean exit where `graceful`.

        It comes back by itself after `restart_after_us`, as a Deployment would bring it
        back; None leaves it down until `start`.
        """
        ...

    def start(self, name: str) -> None:
        """Run it now, with its memory empty; a restart that is due later is called off."""
        ...

    def pause(self, name: str) -> None:
        """Stop it in its tracks (SIGSTOP): it keeps its memory, sends and hears nothing."""
        ...

    def resume(self, name: str) -> None:
        """Let it go on where it was paused; what it missed reaches it now."""
        ...


@dataclass(frozen=True, slots=True)
class Refuse:
    """The request never reaches the API server; the client gets this answer."""

    code: int
    reason: str
    message: str
    retry_after_seconds: int = 0


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The client hears nothing for `after_us`, then its connection ends (`errors.no_answer`).

    `reached` says whether the server carried the request out: a lost reply, or a lost request.
    """

    reached: bool
    after_us: Micros


@dataclass(frozen=True, slots=True)
class Slow:
    """The request is carried out and answered, that much later."""

    by_us: Micros


RequestEffect: TypeAlias = Refuse | NoAnswer | Slow


@dataclass(frozen=True, slots=True)
class RequestRule:
    """An effect on chosen requests: the first `skip` matches pass, the next `times` are hit.

    Empty criteria match everything, as does `subresource` None ("" is the object itself); an
    actor and a name may end in `*`; `times` 0 means until the rule is removed. `kind` is `Pod`,
    `Job.batch` or `Job`; `verbs` are those of `vocabulary.requests.verb_of`.
    """

    effect: RequestEffect
    actor: str = OPERATOR
    verbs: tuple[str, ...] = ()
    kind: str = ""
    name: str = ""
    subresource: str | None = None
    skip: int = 0
    times: int = 1

    def matches(self, actor: str, request: Request) -> bool:
        """True if the criteria fit; `skip` and `times` are the table's to count."""
        return (
            is_same_actor(self.actor, actor)
            and (not self.verbs or verb_of(request) in self.verbs)
            and (not self.kind or is_same_kind(self.kind, str(request.kind)))
            and self._is_named(getattr(request, "name", ""))
            and self.subresource in (None, getattr(request, "subresource", ""))
        )

    def _is_named(self, name: str) -> bool:
        if self.name.endswith("*"):
            return name.startswith(self.name[:-1])
        return not self.name or name == self.name


@dataclass(frozen=True, slots=True)
class Freeze:
    """Informers hear nothing new, and one that starts now lists the state of that moment.

    That is an API server whose watch cache hangs. Reads which bypass the informers stay
    current, as the API guarantees they are.
    """


@dataclass(frozen=True, slots=True)
class Delay:
    """Informers hear of each event that much later, in order."""

    by_us: Micros


@dataclass(frozen=True, slots=True)
class Break:
    """The watch ends with 410 Gone; after `gap_us` the informer lists again.

    What came and went in between is never observed. It happens once, when the rule is added.
    """

    gap_us: Micros


WatchEffect: TypeAlias = Freeze | Delay | Break


@dataclass(frozen=True, slots=True)
class WatchRule:
    """An effect on chosen watches; an empty `kind` means all of the actor's watches."""

    effect: WatchEffect
    actor: str = OPERATOR
    kind: str = ""

    def matches(self, actor: str, kind: str) -> bool:
        return is_same_actor(self.actor, actor) and (not self.kind or is_same_kind(self.kind, kind))


Rule: TypeAlias = RequestRule | WatchRule


class ConnectionFaults(Protocol):
    """The rules that lie between clients and the API server.

    `chaos.connection_rules.ConnectionRules` keeps them and decides which one a request
    meets; each carrier of requests asks it.
    """

    def add(self, rule: Rule) -> None:
        """From now on the rule holds; FaultRefusedError where nothing lies in between."""
        ...

    def remove(self, rule: Rule) -> None:
        """The rule holds no more; nothing happens where it has run out already."""
        ...


class Ground(Protocol):
    """One cluster, as faults see it."""

    @property
    def namespace(self) -> str:
        """Where the workload under test lives; faults touch no other namespace."""
        ...

    @property
    def roles(self) -> tuple[str, ...]:
        """The operators under test, which `operator` stands for in plans."""
        ...

    def concerned(self, kind: str) -> Sequence[str]:
        """The operators under test that may request objects of a kind, or hear of them."""
        ...

    @property
    def processes(self) -> Processes: ...

    @property
    def connection(self) -> ConnectionFaults: ...

    def call(self, request: Request, actor: str = "chaos") -> Any:
        """Send one request, as `chaos` or as `user`; Object or ObjectList, raises ApiError.

        Reads are current: they never come from a cache.
        """
        ...

    def rng(self, name: str) -> random.Random:
        """The random stream of that name, seeded by the run."""
        ...

    def elapsed_us(self) -> Micros:
        """Time since the run began: what `at` in a plan counts."""
        ...


def named_actors(wanted: str, roles: Sequence[str]) -> tuple[str, ...]:
    """The actors that a plan names: `operator` and `operator/1` are those of every role."""
    bare = wanted.removesuffix("*").partition("/")[0]
    if bare != OPERATOR:
        return (wanted,)
    if wanted == f"{OPERATOR}*":
        # One role's name may begin another's.
        return tuple(name for role in roles for name in (role, f"{role}/*"))
    return tuple(role + wanted.removeprefix(OPERATOR) for role in roles)


def is_same_actor(wanted: str, actor: str) -> bool:
    """True if a criterion names this actor: `` any, `kubelet/*` every kubelet."""
    if wanted.endswith("*"):
        return actor.startswith(wanted[:-1])
    return not wanted or actor == wanted


def is_same_kind(wanted: str, kind: str) -> bool:
    """True if a criterion names this kind: `Job.batch`, or `Job` for a Job of any group."""
    return kind == wanted or ("." not in wanted and kind.partition(".")[0] == wanted)
