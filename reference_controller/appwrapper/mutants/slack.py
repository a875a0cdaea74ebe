"""The slack queue lends what nodes cannot offer, or too little."""

from __future__ import annotations

from fractions import Fraction

from reference_controller.appwrapper.mutants.mutant import mutant
from reference_controller.appwrapper.rules import Rules


@mutant(Rules.is_unusable, "It ignores what Autopilot has marked.", "MLB-015")
def marked_gpus_are_lent(self: Rules, is_closed: bool, is_marked: bool) -> bool:
    return is_closed


@mutant(Rules.is_unusable, "It ignores nodes that are cordoned or tainted.", "MLB-015")
def closed_nodes_are_lent(self: Rules, is_closed: bool, is_marked: bool) -> bool:
    return is_marked


@mutant(Rules.lending_limit, "More than its quota is taken from the slack queue.", "MLB-015")
def slack_is_negative(self: Rules, nominal: Fraction, unusable: Fraction) -> Fraction | None:
    return nominal - unusable if unusable else None


@mutant(Rules.lending_limit, "It lends nothing while any node cannot be used.", "MLB-015")
def slack_is_all_or_nothing(self: Rules, nominal: Fraction, unusable: Fraction) -> Fraction | None:
    return Fraction(0) if unusable else None
