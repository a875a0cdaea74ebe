"""A recorded run as checkers see it: indexed once, asked a hundred times.

`History` holds the entries; from it everything else can be reached. A tour:

- `tracks`: the life of one object, version by version.
- `operator`: one operator under test: its requests, deletions and configurations.
- `normal_form`: the end of a run, so that two runs can be compared; `object_diff`: two snapshots
  of an object, path by path.
- `lanes`: what an object was like over time, as failure pages draw it.
- `outages`, `refusals`, `timing`: when an operator could not act, what refused requests cost
  it, and what bounds follow from that.

Suites see more in a history, each by a view of its own: `History.seen_by`.
"""

from conformance.history.history import History
from conformance.history.outages import doubled_since
from conformance.history.tracks import Moment, Track, earliest

__all__ = ["History", "Moment", "Track", "doubled_since", "earliest"]
