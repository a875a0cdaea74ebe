"""Runs a reference controller as a process; the options come as JSON in the first argument."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from reference_controller import programs
from reference_controller.runtime import process
from reference_controller.runtime.options import OperatorOptions

if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    for name in ("kubeconfig", "config_file", "webhook_certificate", "webhook_key"):
        if name in given:
            given[name] = Path(given[name])
    options = OperatorOptions(**given)
    sys.exit(process.run(programs.load("appwrapper").program(options), options))
