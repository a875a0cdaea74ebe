"""The page with the time, which a program may read at any moment."""

from __future__ import annotations

import subprocess
import sys

from clusters.go_time.pacer import TimePage
from vocabulary.clock import SIMULATION_EPOCH_US

TIMES_US = SIMULATION_EPOCH_US, SIMULATION_EPOCH_US + 0x0101_0101_0101
"""All their bytes differ."""
READER = """
import mmap, sys
words = memoryview(mmap.mmap(int(sys.argv[1]), 4096)).cast("Q")
print(*{words[0] for _ in range(300_000)})
"""


def test_it_is_never_written_in_part() -> None:
    page = TimePage(TIMES_US[0])
    command = [sys.executable, "-c", READER, str(page.descriptor)]
    with subprocess.Popen(
        command, pass_fds=[page.descriptor], stdout=subprocess.PIPE, text=True
    ) as reader:
        while reader.poll() is None:
            for now_us in TIMES_US:
                page.set(now_us)
                page.allow(now_us, 1, 1, 1)
        assert reader.stdout is not None
        seen = {int(word) // 1_000 for word in reader.stdout.read().split()}
    page.close()
    assert seen
    assert seen <= set(TIMES_US)
