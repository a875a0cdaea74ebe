"""The shards of a campaign, made by the workers of a Dask cluster.

Each shard is `assay run --shard` in a process of its own on some worker, and comes back as its
journal. Dask gives the shard of a worker that is gone to another one, which makes it from its
beginning, so no run is lost; the merge refuses a shard that is there twice.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from clusters import parent_bound
from conformance.report.folder import JOURNAL_NAME

SHARDS_PER_THREAD: Final = 4
"""Shards take unequal times: with more of them than there are threads, none waits for long."""
MOST_SHARDS: Final = 200
"""Each one makes the undisturbed runs, too."""
CONNECT_SECONDS: Final = 20
_JUDGED: Final = (0, 1, 3)
"""Exit codes of a shard whose runs came to their end, with whatever verdicts."""


class DaskError(RuntimeError):
    """The cluster cannot make the campaign; the message says why and names the next action."""


@contextmanager
def shards_on(scheduler: str, words: Sequence[str]) -> Iterator[list[Path]]:
    """The folders of all shards of a campaign, which `assay` makes of these words; they are removed
    afterwards. `scheduler` is an address, `tcp://10.0.0.1:8786`. Raises DaskError."""
    from distributed import Client

    try:
        client = Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise DaskError(f"--dask {scheduler}: no scheduler answers; start one") from error
    with client, tempfile.TemporaryDirectory(prefix="assay-dask-") as temporary:
        threads = sum(client.nthreads().values())
        if not threads:
            raise DaskError(f"--dask: no workers; start some with: dask worker {scheduler}")
        parts = min(max(2, SHARDS_PER_THREAD * threads), MOST_SHARDS)
        futures = [
            client.submit(made, tuple(words), part, parts, pure=False)
            for part in range(1, parts + 1)
        ]
        folders = []
        for part, future in enumerate(futures, 1):
            try:
                journal = future.result()
            except Exception as error:
                client.cancel(futures)
                raise DaskError(f"--dask {scheduler}: shard {part}/{parts}: {error}") from error
            folder = Path(temporary, str(part))
            folder.mkdir()
            (folder / JOURNAL_NAME).write_bytes(journal)
            future.release()  # else workers keep all journals until the last one
            folders.append(folder)
        yield folders


def made(words: Sequence[str], part: int, parts: int) -> bytes:
    """The journal of one shard; runs on a worker, and ends with it. Raises DaskError."""
    with tempfile.TemporaryDirectory(prefix="assay-shard-") as temporary:
        assay = [*parent_bound.prefix(os.getpid()), sys.executable, "-m", "conformance.cli"]
        shard = ["--shard", f"{part}/{parts}", "--jobs", "1", "--quiet", "--out", temporary]
        ended = subprocess.run(
            [*assay, *words, *shard], capture_output=True, text=True, check=False
        )
        if ended.returncode not in _JUDGED:
            said = (ended.stderr or ended.stdout).strip().splitlines() or ["(no output)"]
            raise DaskError(f"assay run ended with {ended.returncode} on a worker: {said[-1]}")
        return (Path(temporary) / JOURNAL_NAME).read_bytes()
