"""`assay clean` without a cluster looks at what this machine holds, and says so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_without_a_kubeconfig_only_folders_are_looked_at(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    environment.pop("KUBECONFIG", None)
    ended = subprocess.run(
        [sys.executable, "-m", "conformance.cli", "clean"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "nothing of Assay is left there\n"
    assert "no kubeconfig here" in ended.stderr
