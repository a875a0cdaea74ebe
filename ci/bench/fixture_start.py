"""How long assay_cluster takes to start and to end, beside the import of its libraries.

    python ci/bench/fixture_start.py [N]

Each of N clusters (20) is started, asked for its namespaces by the official client, and ended. The
first cluster of a process also imports the libraries and makes the certificate; it is shown apart.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path


def main(count: int = 20) -> None:
    began = time.perf_counter()
    from kubernetes.client import CoreV1Api

    imported = time.perf_counter()
    from conformance.as_tests import AssayCluster

    started, answered, ended, used = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        ours = time.perf_counter()
        for number in range(count + 1):
            own = Path(folder, str(number))
            own.mkdir()
            times = [time.perf_counter()]
            cpu = time.process_time()
            cluster = AssayCluster(own)
            used.append((time.process_time() - cpu) * 1e3)
            times.append(time.perf_counter())
            CoreV1Api(cluster.client).list_namespace()
            times.append(time.perf_counter())
            cluster.close()
            times.append(time.perf_counter())
            for into, at in ((started, 1), (answered, 2), (ended, 3)):
                into.append((times[at] - times[at - 1]) * 1e3)
    print(f"import of kubernetes: {(imported - began) * 1e3:.0f} ms")
    print(f"import of Assay: {(ours - imported) * 1e3:.0f} ms")
    shown = {
        "start": started,
        "start, processor time": used,
        "client and first answer": answered,
        "end": ended,
    }
    for what, found in shown.items():
        rest = sorted(found[1:])
        print(
            f"{what}: first {found[0]:.0f} ms; then median {statistics.median(rest):.1f} ms, "
            f"90 % within {rest[int(len(rest) * 0.9)]:.1f} ms"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
