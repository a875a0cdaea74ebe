"""What goes wrong: faults, when they strike, and the plans that hold both.

A tour, in reading order:

- `ground`: what a cluster must offer so that it can be broken; implemented elsewhere.
- `fault`, `faults`: faults as data, each with what puts it right again. `choice` picks what
  they hit, `fields` reads and writes them exactly.
- `happening`, `trigger`, `trigger_set`: when a fault strikes, and how that is noticed.
- `plan`, `scale`: faults with their triggers, and how large the scenario is made, as a YAML
  file that replays.
- `injector`: carries a plan out, and undoes it. `undo_journal` survives a killed run.
- `connection_rules`, `effects`: the table of what lies between clients and the API server, and how
  it hinders them.
- `exploration`: every crash point of a recorded run, k of k.
- `campaign`, `macros`, `shrinking`: plans by the thousand, and back to the smallest one.
- `toolkit`: all of it as an extension of the Chaos Toolkit; `experiments` are ready to run.

This room speaks the vocabulary alone. Only `toolkit`, which joins faults to claims, knows
`conformance`.
"""

from __future__ import annotations

from typing import Any


def discover(discover_system: bool = True) -> Any:
    """The entry point of `chaos discover assay`: see `chaos.toolkit`."""
    from chaos.toolkit import discover as discover_extension

    return discover_extension(discover_system)
