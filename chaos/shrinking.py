"""Shrinking: the smallest plan found that still fails, so that a failure can be understood.

First faults are dropped, many at once and then fewer (delta debugging); then the workload is made
more like the scenario's own; then the scenario is given fewer nodes, replicas and components; then
what is left is made simpler, fault by fault.
Each attempt is a run, and runs are bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from typing import Any, Final, TypeVar

from chaos.fault import Fault
from chaos.plan import Plan, Step
from chaos.scale import Scale
from chaos.trigger import At, AtInjection, Combined, Named, On, Trigger
from vocabulary.clock import MINUTE, SECOND, Micros

MAX_RUNS: Final = 300

T = TypeVar("T")


def shrink(plan: Plan, still_fails: Callable[[Plan], bool], *, max_runs: int = MAX_RUNS) -> Plan:
    """A plan that still fails and that no single step of simplification makes smaller.

    Of its `scale` only what is given is made smaller: what there is to take away from.
    `still_fails` runs a plan; it is called at most `max_runs` times, never twice for equal
    plans, and never for `plan` itself, which is taken to fail.
    """
    search = _Search(still_fails, max_runs)
    search.remember(plan)
    while True:
        alike = _vary_less(_drop(plan, search), search)
        smaller = _simplify(_scale_down(alike, search), search)
        if smaller == plan or search.is_exhausted:
            return smaller
        plan = smaller


@dataclass
class _Search:
    still_fails: Callable[[Plan], bool]
    runs_left: int

    def __post_init__(self) -> None:
        self._seen: set[str] = set()

    @property
    def is_exhausted(self) -> bool:
        return self.runs_left <= 0

    def remember(self, plan: Plan) -> None:
        self._seen.add(plan.digest())

    def fails(self, plan: Plan) -> bool:
        digest = plan.digest()
        if self.is_exhausted or digest in self._seen:
            return False
        self._seen.add(digest)
        self.runs_left -= 1
        return self.still_fails(plan)


def _drop(plan: Plan, search: _Search) -> Plan:
    """Leave out faults while it still fails."""
    faults = _fewest(plan.faults, lambda fewer: search.fails(replace(plan, faults=fewer)))
    return _without_unused_triggers(replace(plan, faults=faults), search)


def _fewest(items: tuple[T, ...], is_enough: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """Leave out half of the items, a quarter, down to single ones, while the rest is enough."""
    size = max(1, len(items) // 2)
    while items:
        start = 0
        while start < len(items):
            fewer = items[:start] + items[start + size :]
            if is_enough(fewer):
                items = fewer
            else:
                start += size
        if size == 1:
            break
        size //= 2
    return items


def _vary_less(plan: Plan, search: _Search) -> Plan:
    """Leave the workload as the scenario wrote it, or more of it, while it still fails."""
    if plan.workload is None:
        return plan
    as_written = replace(plan, workload=None)
    if search.fails(as_written):
        return as_written
    for simpler in plan.workload.simpler():
        varied = replace(plan, workload=None if simpler.is_as_written else simpler)
        if search.fails(varied):
            return _vary_less(varied, search)
    return plan


def _scale_down(plan: Plan, search: _Search) -> Plan:
    """Leave the scenario fewer nodes, replicas and components while it still fails."""

    def fails(scale: Scale) -> bool:
        return search.fails(replace(plan, scale=scale))

    scale = plan.scale
    fewer_nodes = (replace(scale, nodes=count) for count in _fewer(scale.nodes))
    scale = next(filter(fails, fewer_nodes), scale)
    fewer_replicas = (replace(scale, replicas=count) for count in _fewer(scale.replicas))
    scale = next(filter(fails, fewer_replicas), scale)
    if scale.components:
        kept = _fewest(scale.components, lambda fewer: fails(replace(scale, components=fewer)))
        scale = replace(scale, components=kept)
    return replace(plan, scale=scale)


def _fewer(count: int | None) -> Iterator[int]:
    """1, then half of them, then one less."""
    if count is not None:
        candidates = (1, count // 2, count - 1)
        yield from (fewer for fewer in dict.fromkeys(candidates) if 1 <= fewer < count)


def _without_unused_triggers(plan: Plan, search: _Search) -> Plan:
    for name in tuple(plan.triggers):
        if name not in _names_in(plan, leaving_out=name):
            fewer = {other: plan.triggers[other] for other in plan.triggers if other != name}
            search.remember(replace(plan, triggers=fewer))
            plan = replace(plan, triggers=fewer)
    return plan


def _names_in(plan: Plan, *, leaving_out: str) -> list[str]:
    """The names that faults and other named triggers refer to."""
    parts: list[Trigger | AtInjection] = [step.when for step in plan.faults]
    parts += [step.until for step in plan.faults if step.until is not None]
    parts += [trigger for name, trigger in plan.triggers.items() if name != leaving_out]
    names = []
    while parts:
        match parts.pop():
            case Named(name):
                names.append(name)
            case Combined(_, inner):
                parts += inner
    return names


def _simplify(plan: Plan, search: _Search) -> Plan:
    """Take the first simplification of each fault that still fails, until none does."""
    number = 0
    while number < len(plan.faults):
        for step in _simpler_steps(plan.faults[number]):
            steps = (*plan.faults[:number], step, *plan.faults[number + 1 :])
            if search.fails(replace(plan, faults=steps)):
                plan = replace(plan, faults=steps)
                break
        else:
            number += 1
    return plan


def _simpler_steps(step: Step) -> Iterator[Step]:
    """Simpler variants, the boldest first."""
    if isinstance(step.when, AtInjection):
        return  # written by hand: clear as it is
    if step.until is not None or step.lasts_us is not None:
        yield replace(step, until=None, lasts_us=None)
    if step.until is not None:
        yield from (replace(step, until=until) for until in _simpler_triggers(step.until))
    if step.lasts_us is not None:
        yield from (replace(step, lasts_us=span) for span in _simpler_spans(step.lasts_us))
    yield from (replace(step, when=when) for when in _simpler_triggers(step.when))
    yield from (replace(step, fault=fault) for fault in _simpler_faults(step.fault))


def _simpler_triggers(trigger: Trigger) -> Iterator[Trigger]:
    match trigger:
        case At(at_us):
            yield from (At(span) for span in _simpler_spans(at_us))
        case On(delay=delay_us, occurrence=occurrence):
            yield from (replace(trigger, delay=span) for span in _simpler_spans(delay_us))
            for fewer in (1, occurrence // 2, occurrence - 1):
                if 1 <= fewer < occurrence:
                    yield replace(trigger, occurrence=fewer)
        case Combined(how, parts):
            yield from parts
            for number, part in enumerate(parts):
                if len(parts) > 2:
                    yield Combined(how, parts[:number] + parts[number + 1 :])
                for simpler in _simpler_triggers(part):
                    yield Combined(how, (*parts[:number], simpler, *parts[number + 1 :]))


def _simpler_faults(fault: Fault) -> Iterator[Fault]:
    """The fault with one field at its default; numbers nearer to it; choices simpler inside."""
    for field in fields(fault):
        value, default = getattr(fault, field.name), field.default
        if value == default:
            continue
        if is_dataclass(value) and not isinstance(value, type | Fault):
            yield from (replace(fault, **{field.name: part}) for part in _simpler_parts(value))
        elif default is not MISSING and isinstance(value, int | str):
            yield replace(fault, **{field.name: default})


def _simpler_parts(part: Any) -> Iterator[Any]:
    for field in fields(part):
        if getattr(part, field.name) != field.default:
            yield replace(part, **{field.name: field.default})


def _simpler_spans(span_us: Micros) -> Iterator[Micros]:
    """0, then rounder, then half of it in whole seconds."""
    half_us = span_us // 2 // SECOND * SECOND
    candidates = [0, span_us // MINUTE * MINUTE, span_us // SECOND * SECOND, half_us]
    yield from (span for span in dict.fromkeys(candidates) if 0 <= span < span_us)
