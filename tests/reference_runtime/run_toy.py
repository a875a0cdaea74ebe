"""Runs toy controllers as a process; the options come as JSON in the first argument.

`suffixes` are those of the copies that further controllers make, one for each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from toy import CopyController  # type: ignore[import-not-found] # found beside this script

from reference_controller.runtime.admission_review import Operation, UserInfo, Webhook
from reference_controller.runtime.options import OperatorOptions
from reference_controller.runtime.process import run
from reference_controller.runtime.program import Program
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP
from vocabulary.objects import Object, with_path


def admit(operation: Operation, new: Object, old: Object | None, user: UserInfo) -> Object:
    """Records who created it; rejects data that contains this already."""
    if "refuse" in new.get("data", {}):
        raise ApiError(403, "Forbidden", "data.refuse: is refused")
    return new if old else with_path(new, "data.creator", user.username)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    for name in ("kubeconfig", "webhook_certificate", "webhook_key"):
        if name in given:
            given[name] = Path(given[name])
    further = [CopyController(suffix, suffix) for suffix in given.pop("suffixes", ())]
    program = Program(
        name="toy",
        controllers=(CopyController(), *further),
        kinds=(CONFIG_MAP,),
        webhooks={CONFIG_MAP: Webhook(mutate=admit, validate=admit)},
    )
    sys.exit(run(program, OperatorOptions(**given)))
