"""Exploration: an operator without a suite of its own, and one thing broken at a time.

`assay explore` runs an operator with a workload, looks at the undisturbed run, and disturbs it at
every write. The runs are those of suite `operator`, and so are the claims; this room decides which
disturbances there are. A tour:

- `go_module` finds program, CRDs and roles in the source of an operator, and makes a profile.
- `command_line` makes one of the command that starts an operator.
- `written_profile` is the file that comes of either.
- `installation` finds what its manifests install beside the program, `kustomized` renders them
  where kustomize is there.
- `workload` reads the objects that a user creates.
- `first_look` describes the undisturbed run in ten lines.
- `disturbances` lists the disturbed runs that follow from an undisturbed one.
- `drawn_objects` draws objects from the schemas of CRDs.
- `unused_rights` lists the rights that no run used.
- `campaign` makes them, as a campaign of `conformance.running`.
- `wire_mutants` measures the claims on the operator with mistakes in its writes.

It knows no operator, and the suite only by the ids of its scenarios.
"""

from collections.abc import Mapping
from typing import Final

SORTS: Final[Mapping[str, tuple[str, ...]]] = {
    "kills": ("OP-003",),
    "refusals": ("OP-006",),
    "touches": ("OP-016", "OP-028"),
    "stale-lists": ("OP-004",),
    "deletions": ("OP-007",),
    "edits": ("OP-008",),
    "late-watches": ("OP-005",),
    "slow": ("OP-024",),
    "namesakes": ("OP-011",),
    "neighbours": ("OP-018",),
    "elections": ("OP-015",),
    "drawn": (),
    "growth": ("OP-025",),
    "upgrades": ("OP-020",),
    "seeds": ("OP-019",),
}
"""The sorts of disturbances, each with the claims that no other sort puts to the test."""
