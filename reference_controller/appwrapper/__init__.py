"""The reference AppWrapper controller: what right looks like.

A tour, in the order in which a reconcile runs through it:

- `appwrapper_controller`: what wakes it, and for which AppWrapper.
- `reconcile`: carries decisions out, one request at a time; each yield is a crash point.
- `observe` → `observation`, `pods`: reads what a decision needs; an immutable picture of it.
- `decide`, `running`: the state machine, pure: an observation in, one step out (`steps`).
- `transitions`, `status`: the one status write that enters a phase.
- `rules`: every decision that could be made wrongly, one small method each.
- `templates`, `pod_sets`, `autopilot`: from a component's template to the object created.
- `config`, `parameters`: what the administrator and the user may set.
- `admission`: what is filled in and refused when an AppWrapper is submitted.
- `events`, `metrics`: what people are told.
- `manifests/`: the CRD, permissions, deployment and webhooks for a real cluster.
- `mutants`: the same controller with one decision made wrong, many times over.
- `program`: all of this as one description, for `reference_controller.programs`.

What it does not do: talk to anything. `reference_controller.runtime` does.
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
