"""Carries a plan out on a ground: hears what happens, strikes, and puts things right again.

It owns no clock and no thread. The cluster reports to it what happens (`observe`)
and when time has passed (`advance`, due at `next_due_us`). So in the simulation a fault
strikes in the very callback that made it due, and a run of the same plan is the same run.

The order in which a carrier of requests must speak, for one write of one process:

1. `observe(before commit)`; if the process is down now, drop the request.
2. Ask the connection's rules; answer, delay or lose the request as they say.
3. Carry it out; record it; `observe(after commit)`; if the process is down, drop the reply.
4. `observe(before reply)`; if the process is down, drop the reply.
5. Hand the reply over; `observe(after reply)`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeAlias

from chaos.effects import among_several
from chaos.fault import Fault
from chaos.ground import FaultRefusedError, Ground
from chaos.happening import Happening, Place
from chaos.plan import Plan, Step
from chaos.trigger import AtInjection
from chaos.trigger_set import TriggerSet
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.fault_effect import FaultEffect

Record: TypeAlias = Callable[
    [Literal["injected", "reverted", "refused"], dict[str, Any], str, FaultEffect], None
]
"""Writes a `vocabulary.history.Fault`: what was done, the fault as data and in English, and how
it hinders operators."""


class Journal(Protocol):
    """Remembers, outside the process, how to undo what is about to be done."""

    def intend(self, number: int, inverses: Sequence[Fault]) -> None:
        """Injection `number` comes next; these undo it."""
        ...

    def undone(self, number: int) -> None:
        """Injection `number` has been undone."""
        ...


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault that struck, with names resolved, and what undoes it."""

    number: int
    fault: Fault
    inverses: tuple[Fault, ...]


class Injector:
    """One plan at work on one ground."""

    def __init__(
        self,
        ground: Ground,
        record: Record,
        plan: Plan | None = None,
        journal: Journal | None = None,
    ) -> None:
        self._ground: Final = ground
        self._record: Final = record
        self._steps: Final = () if plan is None else plan.faults
        self._is_exhaustive: Final = plan is not None and plan.exhaustive
        self._journal: Final = journal
        self._triggers: Final = TriggerSet({} if plan is None else plan.triggers, ground.roles)
        self._unheard: Final[deque[Happening]] = deque()
        self._is_busy = False
        self.strikes = 0
        """How many faults of the plan have struck."""
        self._struck: list[Step] = []
        self.refusal = ""
        """Why what the scenario's own steps asked for last was refused; empty if it was not."""
        self._refusal = ""
        """The same of any fault."""
        self._asked = 0
        """How many faults the scenario's own steps have asked for."""
        self._count = 0
        self._standing: list[Injected] = []
        self._of_step: dict[int, list[Injected]] = {}

    @property
    def standing(self) -> tuple[Injected, ...]:
        """The injections that are not undone, oldest first."""
        return tuple(self._standing)

    @property
    def struck(self) -> tuple[Step, ...]:
        """Everything that went wrong so far, in order, as an exhaustive plan lists it.

        Faults that were refused are not among it: they changed nothing.
        """
        return tuple(self._struck)

    @property
    def is_waiting(self) -> bool:
        """True while the plan holds faults that have yet to strike, or that will end by themselves.

        A run whose steps are over should go on while this is so: its faults have not stopped.
        """
        return self._triggers.is_waiting

    def start(self) -> None:
        """Look out for the plan's triggers from now on; faults due at 0s strike at once."""
        now_us = self._ground.elapsed_us()
        for number, step in enumerate(self._steps):
            if not isinstance(step.when, AtInjection):
                self._triggers.watch(("strike", number), step.when, now_us)
        self.advance()

    def listens(self, place: Place) -> bool:
        """True if `observe` would do anything at this place: ask before making a Happening."""
        return self._triggers.listens(place)

    def observe(self, happening: Happening) -> None:
        """Something happened: strike if a trigger says so, before this returns.

        What a fault itself makes happen is heard too, once that fault has been dealt with.
        """
        if self._is_busy:
            self._unheard.append(happening)
            return
        self._act(self._triggers.observe(happening, self._ground.elapsed_us()))

    def advance(self) -> None:
        """Time has passed: do what is due by now."""
        if not self._is_busy:
            self._act(self._triggers.advance(self._ground.elapsed_us()))

    def next_due_us(self) -> Micros | None:
        """When `advance` must be called next, in time since the run began; None if never.

        It changes with every `observe`, `advance` and `inject`.
        """
        return self._triggers.next_due_us()

    def inject(self, fault: Fault, *, is_repeated: bool = False) -> tuple[Injected, ...]:
        """Inject a fault of the scenario's own; what was done, one entry per object it hit.

        The plan may have something strike here as well, or, if it is exhaustive, instead. A
        fault that is refused is recorded as such, and does not appear in the result.
        `is_repeated`: it is the last one once more, which was refused.
        """
        self._asked += not is_repeated
        here = AtInjection(self._asked)
        done: list[Injected] = []
        refusals: list[str] = []

        def do() -> None:
            if not self._is_exhaustive:
                done.extend(self._land(Step(fault, here)))
                refusals.append(self._refusal)
            for number, step in enumerate(self._steps):
                is_own = self._is_exhaustive and step.fault == fault
                if step.when == here and (is_own or not is_repeated):
                    done.extend(self._strike(number))
                    if is_own:
                        refusals.append(self._refusal)

        self._quietly(do)
        self.refusal = "".join(refusals)
        return tuple(done)

    def revert(self, injected: Injected) -> None:
        """Undo one injection now; nothing happens if that was done before."""
        if injected in self._standing:
            self._quietly(lambda: self._revert(injected))

    def stop(self) -> None:
        """The faults stop: nothing strikes any more, and what was broken is put right.

        What a user did (a suspend, an edit) stands; `clean_up` takes that back as well.
        """
        self._triggers.forget()
        for injected in reversed(self._standing.copy()):
            if not injected.fault.is_user_act:
                self._revert(injected)

    def clean_up(self) -> None:
        """Leave nothing of ours behind: stop, and take back also what was done as a user."""
        self.stop()
        for injected in reversed(self._standing.copy()):
            self._revert(injected)

    def _act(self, due: Sequence[Any]) -> None:
        """Do what is due; what that makes happen is heard afterwards."""
        if due:
            self._quietly(lambda: self._do(due))

    def _quietly(self, do: Callable[[], None]) -> None:
        """Do something whose own happenings are heard when it is done, until all is quiet."""
        if self._is_busy:
            do()
            return
        self._is_busy = True
        try:
            do()
            while self._unheard:
                happening = self._unheard.popleft()
                self._do(self._triggers.observe(happening, self._ground.elapsed_us()))
        finally:
            self._is_busy = False

    def _do(self, due: Sequence[Any]) -> None:
        for what, number in due:
            if what == "strike":
                self._strike(number)
            else:
                self._end(number)

    def _strike(self, number: int) -> tuple[Injected, ...]:
        step = self._steps[number]
        done = self._land(step)
        self._of_step[number] = list(done)
        self.strikes += 1
        now_us = self._ground.elapsed_us()
        if step.lasts_us is not None:
            self._triggers.set_timer(("end", number), now_us + step.lasts_us)
        if step.until is not None:
            self._triggers.watch(("end", number), step.until, now_us)
        return done

    def _land(self, step: Step) -> tuple[Injected, ...]:
        self._refusal = ""
        done = self._inject(step.fault)
        if done:
            self._struck.append(step)
        return done

    def _end(self, number: int) -> None:
        for injected in reversed(self._of_step.pop(number, [])):
            self.revert(injected)

    def _inject(self, fault: Fault) -> tuple[Injected, ...]:
        try:
            targets = fault.resolve(self._ground)
        except (FaultRefusedError, ApiError) as error:
            self._refuse(fault, error)
            return ()
        done = (self._inject_one(target) for target in targets)
        return tuple(injected for injected in done if injected is not None)

    def _inject_one(self, fault: Fault) -> Injected | None:
        self._count += 1
        number = self._count
        try:
            inverses = fault.inverse(self._ground)
            if self._journal is not None and inverses:
                self._journal.intend(number, inverses)
            fault.inject(self._ground)
        except (FaultRefusedError, ApiError) as error:
            if isinstance(error, FaultRefusedError) or error.code:
                self._refuse(fault, error)
                return None
            text = f"{fault.describe()}, or perhaps not: {_why(error)}"
        else:
            text = fault.describe()
        self._note("injected", fault, text)
        injected = Injected(number, fault, inverses)
        if inverses:
            self._standing.append(injected)
        return injected

    def _refuse(self, fault: Fault, error: FaultRefusedError | ApiError) -> None:
        self._refusal = _why(error)
        self._note("refused", fault, f"{fault.describe()}: {self._refusal}")

    def _revert(self, injected: Injected) -> None:
        self._standing.remove(injected)
        is_undone = True
        for inverse in injected.inverses:
            try:
                inverse.inject(self._ground)
            except (FaultRefusedError, ApiError) as error:
                if isinstance(error, ApiError) and (error.is_not_found or error.is_already_exists):
                    continue
                is_undone = False
                text = f"undo by: {inverse.describe()}: {_why(error)}"
                self._note("refused", inverse, text)
            else:
                self._note("reverted", injected.fault, inverse.describe())
        if is_undone and self._journal is not None:
            self._journal.undone(injected.number)

    def _note(
        self, action: Literal["injected", "reverted", "refused"], fault: Fault, text: str
    ) -> None:
        effect = among_several(fault.fault_effect(), fault.befalls(), self._ground)
        self._record(action, fault.to_data(), text, effect)


def _why(error: FaultRefusedError | ApiError) -> str:
    return f"{error.reason}: {error.message}" if isinstance(error, ApiError) else str(error)
