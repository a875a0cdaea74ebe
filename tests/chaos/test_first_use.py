"""First reading of a plan in many threads: msgspec crashes the process if one of them uses a
dataclass while another describes it, and only a signal shows it."""

from __future__ import annotations

import subprocess
import sys

ROUNDS = 30
FIRST_USE = f"""
import sys, threading
from dataclasses import make_dataclass
from typing import Annotated
from msgspec import Meta
from chaos.fields import read_fields

def use(cls, together):
    together.wait()
    read_fields(cls, {{"last": 1}}, "")

sys.setswitchinterval(1e-6)
for _ in range({ROUNDS}):
    texts = [(f"text{{n}}", Annotated[str, Meta(max_length=n)], "") for n in range(1, 20)]
    inner = make_dataclass("Inner", texts)
    parts = [(f"part{{n}}", inner | None, None) for n in range(3)]
    outer = make_dataclass("Outer", [*parts, ("last", int, 0)])
    together = threading.Barrier(6)
    users = [threading.Thread(target=use, args=(outer, together)) for _ in range(6)]
    for user in users:
        user.start()
    for user in users:
        user.join()
"""


def test_the_first_plans_may_be_read_all_at_once() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FIRST_USE], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
