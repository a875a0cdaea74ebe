"""Faults, the triggers by which they strike, and the plans that hold both.

A tour, in reading order:

- `ground`: the interface of a cluster that faults need; implemented elsewhere.
- `fault`, `faults`: faults as data, each with its inverse and its effect on controllers. `choice`
  picks the objects they hit, `fields` reads and writes them exactly.
- `subject_kind`: the kinds that suites test and register.
- `happening`, `trigger`, `trigger_set`: when a fault strikes, and how that is noticed.
- `plan`, `scale`, `variation`: faults with their triggers, the size of the scenario and changes to
  the object under test, as a YAML file that replays.
- `injector`: carries a plan out, and undoes it. `undo_journal` survives a killed run.
- `connection_rules`, `effects`: the rules between clients and the API server, and how each one
  hinders clients.
- `exploration`: every crash point of a recorded run, k of k.
- `terrain`, `menu`, `campaign`, `macros`: plans by the thousand, drawn from what a run showed.
- `shrinking`: back to the smallest plan.
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
