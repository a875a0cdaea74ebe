"""Draw mistakes by a seed, evenly over the rules."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, islice, zip_longest
from typing import Final, NamedTuple

from conformance.wire.rules import Mistake

ONE_OF_TEMPLATES: Final = 5
"""Among so many mistakes of a rule at most one is in a pod template, as long as there are others:
what a template says is mostly copied from the user's object."""


class OfRole(NamedTuple):
    """A mistake in the writes of one of several operators."""

    role: str
    mistake: Mistake

    def __str__(self) -> str:
        return f"{self.role}={self.mistake}"


def drawn(found: Iterable[OfRole], count: int, seed: int) -> list[OfRole]:
    """So many of them, of each rule about as many. A larger count begins with the same ones."""
    by_rule: defaultdict[str, list[OfRole]] = defaultdict(list)
    for each in found:
        by_rule[each.mistake.rule].append(each)
    turns = zip_longest(*(_shuffled(by_rule[rule], seed) for rule in sorted(by_rule)))
    every = (each for each in chain.from_iterable(turns) if each is not None)
    return list(islice(every, count))


def _shuffled(found: Iterable[OfRole], seed: int) -> Iterator[OfRole]:
    in_order = sorted(found, key=str)
    random.Random(f"{seed}/{in_order[0].mistake.rule}").shuffle(in_order)
    templates = iter([each for each in in_order if each.mistake.mirrors_template])
    others = [each for each in in_order if not each.mistake.mirrors_template]
    for number, each in enumerate(others, 1):
        yield each
        if number % (ONE_OF_TEMPLATES - 1) == 0:
            yield from islice(templates, 1)
    yield from templates
