"""The program of a profile: built from its released Go module, once, into the cache.

Beside the program the cache keeps the module's manifests that the profile names, so that a run
needs neither Go nor the module. The folder is named after everything that decides what is in
it; a folder is complete, or it is not there under that name.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from clusters.control_plane import builder, versions
from clusters.control_plane.binaries import cache_root
from clusters.go_time.lockstep_patches import PATCHES
from clusters.go_time.overlay import digest, write_overlay
from conformance.profiles.go_package import require_main_package
from conformance.profiles.profile import GoModule, ImplementationProfile, Program
from conformance.profiles.reading import Problem
from conformance.suite import shipped_profiles
from vocabulary.regular_files import open_regular
from vocabulary.safe_yaml import YamlError

PROGRAM: Final = "program"
MODULE: Final = "module"
"""The folder with the module's manifests."""
BESIDE: Final = "./"
"""Begins a pattern of files that stand beside the profile, where others are the Go module's."""
_SOURCES: Final = frozenset((".go", ".s", ".yaml", ".yml", ".json", ".tmpl", ".txt"))
NOT_THERE: Final = "is not there; correct the path (it is relative to the profile), or put it there"


class ProgramMissingError(Exception):
    """The program of a profile is not there; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """The module's source as Go keeps it; builds like a module of ours."""

    name: str
    folder: Path
    sum: str = ""
    """Its checksum, as go.sum has it; empty for a folder of the user's."""


def program_of(
    profile: ImplementationProfile, path: Path, *, in_virtual_time: bool = False
) -> Path:
    """The program's file; `path` is the profile's. ProgramMissingError if it is not there.

    In virtual time it is another build of the same source, see `clusters.go_time`.
    """
    is_python = profile.program.runtime == "python"
    if in_virtual_time and profile.program.go_module is None and not is_python:
        raise ProgramMissingError(
            f"{path}: names no program.goModule, nor program.runtime: python, and only a program "
            "that is built here, or that Python runs, can be given virtual time; run it elsewhere, "
            "for instance with --cluster control-plane"
        )
    if profile.program.go_module is None:
        if not profile.program.path:
            raise ProgramMissingError(
                f"{path}: names no program; what it describes is run without building anything"
            )
        found = path.parent / profile.program.path
        if not found.is_file():
            raise ProgramMissingError(f"{path}: program.path: {found} {NOT_THERE}")
        # No link is followed: Python finds its modules by the name that it is started by.
        return found.absolute()
    found = built_folder(profile, path, in_virtual_time=in_virtual_time) / PROGRAM
    if not found.is_file():
        how = " for virtual time" if in_virtual_time else ""
        option = " --virtual-time" if in_virtual_time else ""
        instead = "; or run it elsewhere: --cluster control-plane" if in_virtual_time else ""
        raise ProgramMissingError(
            f"{profile.name} is not built{how}; build it once, in some minutes, with: "
            f"assay profile build {_name_or_file(profile, path)}{option}{instead}"
        )
    return found


def manifests_of(
    profile: ImplementationProfile,
    path: Path,
    patterns: Iterable[str],
    *,
    in_virtual_time: bool = False,
) -> list[tuple[Path, str]]:
    """The manifests that the patterns name, by pattern and by name, with their texts."""
    if profile.program != Program():
        # What was not built has no manifests either.
        program_of(profile, path, in_virtual_time=in_virtual_time)
    return [
        (file, _text_of(file))
        for pattern in patterns
        for file in _matching(
            _base(profile, path, pattern, in_virtual_time=in_virtual_time), pattern, path
        )
    ]


def _text_of(manifest: Path) -> str:
    try:
        with open_regular(manifest) as file:
            return file.read().decode()
    except OSError as error:
        raise YamlError(f"{manifest}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise YamlError(f"{manifest}: is not UTF-8: {error.reason}; save it as UTF-8") from error


def built_folder(
    profile: ImplementationProfile, path: Path | None = None, *, in_virtual_time: bool = False
) -> Path:
    """Where the built program is, or will be; `path` is the profile's, which a folder with the
    module's source is relative to."""
    decides: dict[str, object] = {
        "module": profile.program.go_module,
        "version": profile.implementation.version,
        "environment": versions.BUILD_ENVIRONMENT,
        "manifests": _of_the_module(profile),
    }
    if profile.program.folder and path is not None:
        decides["source"] = digest_of_source(_source(profile, path))
    if in_virtual_time:
        decides["patches"] = digest(PATCHES)
    name = hashlib.sha256(repr(decides).encode()).hexdigest()[:12]
    kind = "-lockstep" if in_virtual_time else ""
    return cache_root() / "implementations" / f"{profile.name}{kind}-{name}"


def build(
    profile: ImplementationProfile,
    path: Path,
    progress: builder.Progress | None = None,
    *,
    in_virtual_time: bool = False,
) -> Path:
    """Build what the cache lacks; the program's file. BuildError if that does not succeed,
    YamlError if the profile names no program of the module, and OverlayError if virtual time cannot
    be given to programs of the installed Go."""
    wanted = profile.program.go_module
    if wanted is None:
        return program_of(profile, path, in_virtual_time=in_virtual_time)
    report = progress or (lambda _step: None)
    target = built_folder(profile, path, in_virtual_time=in_virtual_time)
    target.parent.mkdir(parents=True, exist_ok=True)
    with builder.locked(target.parent / f"{target.name}.lock", report):
        if (target / PROGRAM).is_file():
            report(builder.BuildStep("cached", profile.name, (PROGRAM,)))
            return target / PROGRAM
        module = (
            Downloaded(wanted.path, _source(profile, path))
            if profile.program.folder
            else download(wanted, profile.implementation.version)
        )
        require_main_package(wanted, module.folder, path)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=builder.INCOMPLETE) as scratch:
            made = Path(scratch) / "made"
            made.mkdir()
            for pattern in _of_the_module(profile):
                for file in _matching(module.folder, pattern, path):
                    kept = made / MODULE / file.relative_to(module.folder)
                    kept.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(file, kept)
            overlay = (
                write_overlay(Path(scratch) / "overlay", PATCHES, builder.go_toolchain())
                if in_virtual_time
                else None
            )
            builder.build_into(module, {PROGRAM: wanted.package}, made, report, overlay=overlay)
            made.replace(target)
    return target / PROGRAM


def download(wanted: GoModule, version: str) -> Downloaded:
    """Have Go fetch the module; it must be the one that the profile means."""
    go = builder.go_toolchain()
    name = f"{wanted.path}@{version}"
    ended = subprocess.run(
        [go, "mod", "download", "-json", name], capture_output=True, text=True, check=False
    )
    told: dict[str, Any] = json.loads(ended.stdout or "{}")
    if ended.returncode != 0:
        why = " ".join(str(told.get("Error") or ended.stderr[-500:]).split())
        raise builder.BuildError(
            f"{name} cannot be downloaded: {why}; correct program.goModule.path or "
            "implementation.version if there is no such module, or set GOPROXY to a proxy that "
            "has it"
        )
    if wanted.sum and told["Sum"] != wanted.sum:
        raise builder.BuildError(
            f"{name} has the checksum {told['Sum']}, but the profile says {wanted.sum}; "
            "correct program.goModule.sum if this is the source that is meant"
        )
    return Downloaded(wanted.path, Path(told["Dir"]), told["Sum"])


def missing_files(profile: ImplementationProfile, path: Path) -> Iterator[Problem]:
    """The files that the profile names and that are not there; of a Go module once it is built."""
    if profile.program.path:
        program = path.parent / profile.program.path
        if not program.is_file():
            yield "program.path", f"{program} {NOT_THERE}"
        elif not os.access(program, os.X_OK):
            yield (
                "program.path",
                f"{program} must not be executed; allow it with: chmod +x {program}",
            )
    if profile.program.folder and not (_source(profile, path) / "go.mod").is_file():
        yield "program.folder", f"{_source(profile, path)} has no go.mod; name a module's folder"
    is_built = (built_folder(profile, path) / PROGRAM).is_file()
    for field in ("crds", "rbac", "webhooks"):
        for index, pattern in enumerate(getattr(profile.manifests, field)):
            base = _base(profile, path, pattern)
            if (is_built or base == path.parent) and not _files(base, pattern):
                yield f"manifests.{field}[{index}]", _no_match(base, pattern)


def _base(
    profile: ImplementationProfile, path: Path, pattern: str, *, in_virtual_time: bool = False
) -> Path:
    """The folder that a pattern of the manifests is relative to."""
    if profile.program.go_module is None or pattern.startswith(BESIDE):
        return path.parent
    return built_folder(profile, path, in_virtual_time=in_virtual_time) / MODULE


def _source(profile: ImplementationProfile, path: Path) -> Path:
    """The folder with the module's source."""
    return (path.parent / profile.program.folder).resolve()


@cache
def digest_of_source(folder: Path) -> str:
    """The digest of the files that a build of a module may read; computed once per process."""
    found = hashlib.sha256()
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
        for name in sorted(files):
            file = Path(at) / name
            if name.startswith(("go.mod", "go.sum")) or file.suffix in _SOURCES:
                found.update(f"{file.relative_to(folder)}\0".encode())
                found.update(file.read_bytes() if file.is_file() else b"")
    return found.hexdigest()


def _of_the_module(profile: ImplementationProfile) -> tuple[str, ...]:
    """The patterns of files that are kept with what is built from the Go module."""
    told = profile.manifests
    patterns = (*told.crds, *told.rbac, *told.webhooks)
    return tuple(pattern for pattern in patterns if not pattern.startswith(BESIDE))


def _matching(base: Path, pattern: str, profile: Path) -> list[Path]:
    found = _files(base, pattern)
    if not found:
        raise ProgramMissingError(f"{profile}: manifests: {_no_match(base, pattern)}")
    return found


def _files(base: Path, pattern: str) -> list[Path]:
    try:
        return sorted(base.glob(pattern))
    except (ValueError, NotImplementedError):  # empty, or not relative
        return []


def _no_match(base: Path, pattern: str) -> str:
    return f"no file in {base} matches {pattern!r}; correct the pattern, which is relative to that"


def _name_or_file(profile: ImplementationProfile, path: Path) -> str:
    return profile.name if shipped_profiles().get(profile.name) == path else str(path)
