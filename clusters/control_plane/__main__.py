"""`python -m clusters.control_plane` builds the programs, for scripts without the `assay` command.

Writes one JSON line per step to standard error, and the directory to standard output.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from clusters.control_plane.builder import BuildError, BuildStep, build


def main() -> int:
    """Return 0 when every program is in the cache."""
    try:
        folder = build(_print_step)
    except BuildError as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    sys.stdout.write(f"{folder}\n")
    return 0


def _print_step(step: BuildStep) -> None:
    sys.stderr.write(json.dumps(asdict(step)) + "\n")


if __name__ == "__main__":
    sys.exit(main())
