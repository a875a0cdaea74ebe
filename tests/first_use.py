"""First uses of types in many threads: msgspec crashes the process if one of them uses a type while
another describes it, and only a signal shows it."""

from __future__ import annotations

import subprocess
import sys
from textwrap import indent

PROGRAM = """
import sys, threading

{definitions}

sys.setswitchinterval(1e-6)
for _ in range({rounds}):
{new_types}
    together = threading.Barrier(6)
    users = [threading.Thread(target=use, args=(together,)) for _ in range(6)]
    for user in users:
        user.start()
    for user in users:
        user.join()
"""


def use_at_once(definitions: str, new_types: str, *, rounds: int) -> None:
    """In a process of its own: make types anew in each round, and have six threads call `use` with
    a barrier, at which it waits before it uses them."""
    program = PROGRAM.format(
        definitions=definitions, rounds=rounds, new_types=indent(new_types, "    ")
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
