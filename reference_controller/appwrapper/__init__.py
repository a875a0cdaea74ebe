"""The reference AppWrapper controller: correct behavior.

A tour, in the order in which a reconcile runs through it:

- `appwrapper_controller`: the events that wake it, and for which AppWrapper.
- `reconcile`: executes decisions, one request at a time; each yield is a crash point.
- `observe` → `observation`, `pods`: reads the inputs of a decision; an immutable picture of them.
- `decide`, `running`: the state machine, pure: an observation in, one step out (`steps`).
- `transitions`, `status`: the one status write that enters a phase.
- `rules`: every decision that could be wrong, one small method each.
- `templates`, `pod_sets`, `autopilot`: from a component's template to the object created.
- `config`, `parameters`: settings of the administrator and the user.
- `admission`: defaulting and validation of submitted AppWrappers.
- `events`, `metrics`: output for users and administrators.
- `manifests/`: the CRD, permissions, deployment and webhooks for a real cluster.
- `mutants`: the same controller with one decision made wrong, many times over.
- `program`: all of this as one description, for `reference_controller.programs`.

It does no I/O. `reference_controller.runtime` does.
"""

from __future__ import annotations

from collections.abc import Callable

from reference_controller.appwrapper.appwrapper_controller import AppWrapperController
from reference_controller.appwrapper.config import OperatorConfig
from reference_controller.appwrapper.rules import RIGHT, Rules
from vocabulary.clock import Micros

__all__ = ["AppWrapperController", "OperatorConfig", "Rules", "controller"]


def controller(
    config: OperatorConfig,
    rules: Rules = RIGHT,
    clock: Callable[[], Micros] | None = None,
) -> AppWrapperController:
    """A controller under this configuration.

    `clock` tells the time in the middle of a reconcile; without it the time at which the
    reconcile began is taken, and a timer that starts at its end may fire early by its length.
    """
    return AppWrapperController(config, rules, clock)
