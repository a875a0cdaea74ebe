"""Rules for what the slack queue lends."""

from __future__ import annotations

from fractions import Fraction


class SlackRules:
    """MLB-015."""

    def is_unusable(self, is_closed: bool, is_marked: bool) -> bool:
        """True if a resource of a node cannot be used: no new pod gets it."""
        return is_closed or is_marked

    def lending_limit(self, nominal: Fraction, unusable: Fraction) -> Fraction | None:
        """The most that the slack queue lends of a resource; None: all of it."""
        return max(Fraction(0), nominal - unusable) if unusable else None
