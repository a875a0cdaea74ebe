"""The effect of a rule between clients and the API server, derived from the rule."""

from __future__ import annotations

from typing import Final

from msgspec import structs

from chaos.ground import Break, Delay, Ground, NoAnswer, Refuse, RequestRule, Rule, Slow
from vocabulary.clock import SECOND, Micros
from vocabulary.fault_effect import FaultEffect, Refusal
from vocabulary.hindrance import hinders

FINAL_CODES: Final = (400, 404, 409, 410, 422)
"""Answers by which a client learns that the same request will not succeed later."""


def effect_of(rule: Rule) -> FaultEffect:
    """The effect while the rule holds; a rule that names no actor hinders all of them."""
    times = rule.times if isinstance(rule, RequestRule) else 1
    costs_us: Micros | None = None
    lingers_us: Micros = 0
    refuses: Refusal | None = None
    match rule.effect:
        case Refuse() as answer if isinstance(rule, RequestRule):
            refuses = _refusal(rule, answer)
        case NoAnswer(after_us=span_us) | Slow(span_us) | Break(span_us):
            costs_us, lingers_us = (times * span_us if times else None), span_us
        case Delay(span_us):  # two kinds of objects may be late one after the other
            costs_us, lingers_us = 2 * span_us, span_us
    return FaultEffect(
        hinders=rule.actor or "*",
        costs_us=costs_us,
        lingers_us=lingers_us,
        backs_off=isinstance(rule.effect, Refuse | NoAnswer),
        refuses=refuses,
    )


def _refusal(rule: RequestRule, answer: Refuse) -> Refusal:
    return Refusal(
        verbs=rule.verbs,
        kind=rule.kind,
        name=rule.name,
        times=rule.times,
        retry_after_us=answer.retry_after_seconds * SECOND,
        for_good=answer.code in FINAL_CODES,
    )


def among_several(effect: FaultEffect, kind: str, ground: Ground) -> FaultEffect:
    """The effect of a fault that befalls one kind, where several operators share a cluster: those
    that have nothing to do with the kind are not hindered, nor those that it does not strike."""
    if not kind or len(ground.roles) == 1:
        return effect
    struck = [role for role in ground.roles if hinders(effect, role)]
    concerned = ground.concerned(kind)
    hindered = [role for role in struck if role in concerned]
    if hindered == struck:
        return effect
    return structs.replace(effect, hinders=",".join(hindered))
