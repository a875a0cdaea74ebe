"""Build the control plane's programs from Go modules into the cache.

Container images and release archives are not available everywhere; Go modules are. The released
source is built unchanged, at the versions pinned in `modules/`. A program appears in the cache
under its own name only when complete. A file lock makes a second build wait for the first one
and reuse its result.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, Protocol

from clusters import parent_bound
from clusters.control_plane import binaries, versions

NICENESS = 5
REPORT_EVERY_SECONDS = 1.0
INCOMPLETE = ".incomplete-"


class BuildError(Exception):
    """A Go build failed; the message ends with the compiler's last lines."""


@dataclass(frozen=True)
class BuildStep:
    """Build progress: `done` of `total` packages of one Go module.

    `total` is an upper bound, because Go reports only packages missing from its build cache.
    """

    state: Literal["waiting", "cached", "building", "built"]
    module: str
    binaries: tuple[str, ...]
    done: int = 0
    total: int = 0
    seconds: float = 0.0


Progress = Callable[[BuildStep], None]


class Source(Protocol):
    """A Go module in a directory: one of ours that only pins others, or a released one."""

    @property
    def name(self) -> str: ...

    @property
    def folder(self) -> Path: ...


def build(progress: Progress | None = None, *, niceness: int = NICENESS) -> Path:
    """Build the programs missing from the cache, and return the directory that has them all."""
    report = progress or _ignore
    target = binaries.cache_dir()
    target.mkdir(parents=True, exist_ok=True)
    with locked(target.parent / "lock", report):
        for leftover in target.glob(f"{INCOMPLETE}*"):
            shutil.rmtree(leftover)
        for module in versions.MODULES:
            _build_module(module, target, report, niceness)
    return target


def names_of(module: versions.Module) -> tuple[str, ...]:
    """The programs built from `module`."""
    if module is versions.ETCD:
        return ("etcd",)
    return tuple(package.rsplit("/", 1)[-1] for package in module.packages)


def _build_module(module: versions.Module, target: Path, report: Progress, niceness: int) -> None:
    names = names_of(module)
    wanted = {
        name: package
        for name, package in zip(names, module.packages, strict=True)
        if not (target / name).is_file()
    }
    if not wanted:
        report(BuildStep("cached", module.name, names))
        return
    build_into(module, wanted, target, report, niceness=niceness)


def build_into(
    module: Source,
    wanted: Mapping[str, str],
    target: Path,
    report: Progress,
    *,
    niceness: int = NICENESS,
    overlay: Path | None = None,
) -> None:
    """Build programs (name → package) of a module into a directory, each there when complete.

    `overlay` is a file for `go build -overlay`.
    """
    go = go_toolchain()
    started = time.monotonic()
    total = _count_packages(go, module, wanted, _environment(overlay))
    report(BuildStep("building", module.name, tuple(wanted), 0, total))
    with tempfile.TemporaryDirectory(dir=target, prefix=INCOMPLETE) as scratch:
        # One build for all programs of a module: they share most of their packages.
        out = Path(scratch) if len(wanted) > 1 else Path(scratch) / next(iter(wanted))
        _go_build(
            go,
            module,
            wanted,
            out=out,
            total=total,
            report=report,
            niceness=niceness,
            overlay=overlay,
        )
        for name in wanted:
            (Path(scratch) / name).replace(target / name)
    seconds = round(time.monotonic() - started, 1)
    report(BuildStep("built", module.name, tuple(wanted), total, total, seconds))


def go_toolchain() -> str:
    """Return the `go` command. Raises BuildError, which says what to install, if missing."""
    go = shutil.which("go")
    if go is None:
        raise BuildError(
            "the Go toolchain is not in PATH; install Go 1.26 or later, or set"
            " KUBEBUILDER_ASSETS to a directory with the control plane's programs"
        )
    return go


def _go_build(
    go: str,
    module: Source,
    wanted: Mapping[str, str],
    *,
    out: Path,
    total: int,
    report: Progress,
    niceness: int,
    overlay: Path | None,
) -> None:
    nice = shutil.which("nice")
    prefix = [nice, "-n", str(niceness)] if nice and niceness else []
    output = f"{out}{os.sep}" if out.is_dir() else str(out)
    command = [*prefix, go, "build", "-v", "-ldflags", versions.linker_flags(module), "-o", output]
    if overlay is not None:
        command += ["-overlay", str(overlay)]
    with subprocess.Popen(
        [*parent_bound.prefix(os.getpid()), *command, *wanted.values()],
        cwd=module.folder,
        env=_environment(overlay),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        last_lines = _follow(process.stderr, module, wanted, total, report)
    if process.returncode != 0:
        raise BuildError(
            f"go build of {', '.join(wanted)} ended with {process.returncode}:\n"
            + "\n".join(last_lines)
        )


def _follow(
    stderr: IO[str],
    module: Source,
    wanted: Mapping[str, str],
    total: int,
    report: Progress,
) -> list[str]:
    """Report progress from the output of `go build -v`: one line per package."""
    last_lines: deque[str] = deque(maxlen=20)
    started = reported = time.monotonic()
    for done, line in enumerate(stderr, start=1):
        last_lines.append(line.rstrip())
        now = time.monotonic()
        if now - reported >= REPORT_EVERY_SECONDS:
            reported = now
            seconds = round(now - started, 1)
            counted = min(done, total)
            report(BuildStep("building", module.name, tuple(wanted), counted, total, seconds))
    return list(last_lines)


def _count_packages(
    go: str, module: Source, wanted: Mapping[str, str], environment: Mapping[str, str]
) -> int:
    listed = subprocess.run(
        [go, "list", "-deps", *wanted.values()],
        cwd=module.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        raise BuildError(
            f"the Go modules of {module.name} cannot be loaded; is a module proxy reachable?\n"
            + "\n".join(listed.stderr.splitlines()[-20:])
        )
    return len(listed.stdout.split())


def _environment(overlay: Path | None) -> dict[str, str]:
    # Another Go, which a module may ask for, has other files than those that an overlay replaces.
    toolchain = {} if overlay is None else {"GOTOOLCHAIN": "local"}
    return {**os.environ, **versions.BUILD_ENVIRONMENT, **toolchain}


@contextmanager
def locked(path: Path, report: Progress) -> Iterator[None]:
    """Hold a build's lock file; report when waiting for another build."""
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(BuildStep("waiting", "", ()))
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _ignore(_step: BuildStep) -> None:
    """Progress callback that does nothing."""
