"""AppWrappers at random: shapes, names and parameter values that no scenario has."""

from __future__ import annotations

import random
from typing import Final, get_args

from conformance.suites.appwrapper.faults.variation import Added, AddedKind, AppWrapperVariation

MAX_CHANGES: Final = 4

_BEHAVIOURS: Final = (
    *("run forever", "run 20s, exit 0", "run 20s, exit 1", "run 2m, exit 0", "run 2m, exit 137"),
    *("run forever, stop 20s", "run forever, stop 2m", "run forever, never stop"),
    *("ready-after 30s", "ready-after 4m", "stay pending", "never ready", "init stuck"),
)
_NAMES: Final = ("b" * 63, "b", "1-2.3.c", "c-d." * 15 + "e")
"""Names at the limits of a label's value, and of a name of an object."""
_SPANS: Final = (
    *("0", "0s", "1ns", "500ms", "1.5s", "+7s", "1m30s", "0.1h", "2h", "2562047h47m16.854775807s"),
    *("-1s", "-0s", "9999999h", "7", "7d", "1e3s", " 7s", "", "s", "--7s"),
)
_LIMITS: Final = ("0", "1", "2", "+1", "007", "-1", "-2147483648", "", "abc", "1.0", "1e0", " 1")
"""Small ones alone: a workload that always fails has to come to its end."""
_PARAMETERS: Final = (
    *("admissionGracePeriodDuration", "warmupGracePeriodDuration", "failureGracePeriodDuration"),
    *("retryPausePeriodDuration", "forcefulDeletionGracePeriodDuration", "successTTLDuration"),
    *("deletionOnFailureGracePeriodDuration", "retryLimit"),
)


def random_variation(rng: random.Random, appwrapper: str) -> AppWrapperVariation | None:
    """The AppWrapper of that name, changed in up to four ways; None if in none."""
    changes: dict[str, object] = {}
    for _ in range(rng.randint(1, MAX_CHANGES)):
        match rng.choice(("pods", "job", "behaviour", "parameters", "beside", "name")):
            case "pods":
                changes["replicas"] = rng.choice((1, 2, 3, 5, 12))
            case "job":
                changes["completions"] = rng.choice((1, 2, 3, 5, 12))
                changes["backoff"] = rng.choice((0, 1, 6))
                changes["restart"] = rng.choice(("Never", "OnFailure"))
            case "behaviour":
                changes["behaviour"] = rng.choice(_BEHAVIOURS)
            case "parameters":
                chosen = rng.sample(_PARAMETERS, rng.randint(1, 3))
                changes["parameters"] = {name: _value(rng, name) for name in chosen}
            case "beside":
                changes["beside"] = tuple(_added(rng, n) for n in range(rng.randint(1, 2)))
            case "name" if rng.random() < 0.3:  # the scenario's steps speak of its own name
                changes["name"] = rng.choice(_NAMES)
    if not changes:
        return None
    return AppWrapperVariation(appwrapper, **changes)  # type: ignore[arg-type]  # by their names


def _value(rng: random.Random, parameter: str) -> str:
    return rng.choice(_LIMITS if parameter == "retryLimit" else _SPANS)


def _added(rng: random.Random, number: int) -> Added:
    """A component with a short name, one as long as is allowed, or a generated one."""
    kind = rng.choice(get_args(AddedKind))
    name = rng.choice((f"added-{number}", f"added-{number}-".ljust(63, "x")))
    if kind == "StatefulSet":
        name = f"added-{number}"  # its pods' names become labels
    return Added(kind, name, is_prefix=rng.random() < 0.3)
