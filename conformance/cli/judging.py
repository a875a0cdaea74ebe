"""Judging stored histories: the one place where commands meet the checkers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance import claims
from conformance.claim import CLAIMS, Claim
from conformance.history_view import History
from conformance.verdict import Verdict
from vocabulary.history import Entry, Header


def all_claims() -> Mapping[str, Claim]:
    """Every claim by id, in the catalogue's order."""
    return {claim.id: claim for claim in claims.load()}


def judge(header: Header, entries: Sequence[Entry]) -> list[Verdict]:
    """The verdict of every claim on a history."""
    all_claims()
    return claims.judge(History(header, entries))


def claim_named(word: str) -> Claim:
    """The claim with that id, in any case, or that name; BadInputError if there is none."""
    import difflib

    from conformance.cli.problems import BadInputError

    all_claims()
    for claim in CLAIMS.values():
        if word.lower() in (claim.id.lower(), claim.name):
            return claim
    near = difflib.get_close_matches(word.upper(), list(CLAIMS), n=3, cutoff=0.6)
    near += difflib.get_close_matches(word, [c.name for c in CLAIMS.values()], n=2, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "list them with: assay claims list"
    raise BadInputError(f"{word!r} is no claim; {hint}")
