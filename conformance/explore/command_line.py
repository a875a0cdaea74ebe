"""An operator that is known by the command which starts it, as a profile."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from clusters.python_time import interpreter_of
from conformance.explore.written_profile import Found, profile_of, relative_to
from conformance.profiles.profile import ImplementationProfile
from vocabulary.safe_yaml import YamlError

HEALTH: Final = "http://127.0.0.1:{health_port}/healthz"
_SET: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")
_ANY_PROGRAM: Final = ("operator", "main", "app", "run", "manager", "__main__")
"""Names of files that say nothing of the operator: its directory does."""
_PORT: Final = "{health_port}"
_ISOLATED: Final = re.compile(r"-[A-Za-z]*[IES]")
"""Options by which Python heeds no PYTHONPATH, or imports no `site`."""


def found_for(command: str, crds: Path | None, rbac: Path | None, base: Path) -> Found:
    """A profile, in the directory `base`, of the operator that a command starts there.

    Raises YamlError, which says what to change, for a command or files that cannot be used.
    """
    environment, words = _parsed(command)
    program = _program(words[0], base)
    if not _is_python(program, words):
        raise YamlError(
            f"--command: {words[0]} cannot be given virtual time, in which explore makes its runs: "
            "it is not run by Python, or by one that heeds no PYTHONPATH (-I, -E, -S); name a "
            "program in Python or the directory of a Go module, or run yours by hand on assay serve"
        )
    arguments, ready_path, readiness = _with_probe(program, words[1:])
    manifests: dict[str, Any] = {
        "crds": _patterns("--crds", crds, base),
        "rbac": _patterns("--rbac", rbac, base),
    }
    process: dict[str, Any] = {
        "command": ["{program}", *arguments],
        "workingDir": ".",
        "environment": {"KUBECONFIG": "{kubeconfig}", **environment},
        "readyPath": ready_path,
    }
    name = _name(program, words[1:], base)
    file = {"path": str(program), "runtime": "python"}
    origin = {"organization": "local", "project": name, "url": "https://localhost/"}
    profile = profile_of(name, origin, file, manifests, process)
    said = (
        f"program: {program} (Python, in virtual time)",
        f"CRDs: {', '.join(manifests['crds']) or 'none (--crds)'}",
        f"roles: {', '.join(manifests['rbac'])}"
        if manifests["rbac"]
        else "roles: NONE, every request will be refused: add --rbac",
        f"ready: {readiness}",
    )
    return Found(name, profile, said)


def require_same(profile: ImplementationProfile, found: Found, path: Path) -> None:
    """Raise YamlError if the profile that stands in a file starts another command, or installs
    other manifests, than what was found."""
    process = profile.process
    there = {
        "command": [profile.program.path, *(process.command[1:] if process else ())],
        "crds": list(profile.manifests.crds),
        "rbac": list(profile.manifests.rbac),
    }
    asked = found.profile
    command = [asked["program"]["path"], *asked["process"]["command"][1:]]
    for what, wanted in {"command": command, **asked["manifests"]}.items():
        if there[what] != wanted:
            raise YamlError(
                f"{path}: has another {what} than the command line: {_shown(there[what])}, not "
                f"{_shown(wanted)}; explore it as it stands (assay explore {path}), or delete it, "
                "and it is written anew"
            )


def _shown(words: Sequence[str]) -> str:
    """Words as a shell reads them."""
    return shlex.join(words) or "none"


def _parsed(command: str) -> tuple[dict[str, str], Sequence[str]]:
    """The variables that are set before a command, and its words."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise YamlError(f"--command {command!r}: {error}; quote it as a shell would") from error
    environment = {}
    while words and (found := _SET.fullmatch(words[0])):
        environment[found[1]] = found[2]
        del words[0]
    if not words:
        raise YamlError(
            f"--command {command!r}: names no program; write what starts the operator, such as "
            "'kopf run operator.py'"
        )
    return environment, words


def _program(word: str, base: Path) -> Path:
    """The program's file. No link is followed: Python finds its modules by it."""
    found = shutil.which(str(base / word)) if "/" in word else shutil.which(word)
    if found is None:
        raise YamlError(
            f"--command: {word} is not found{'' if '/' in word else ' in PATH'}, or must not be "
            "executed; name the program by its path"
        )
    return Path(found).absolute()


def _is_python(program: Path, words: Sequence[str]) -> bool:
    if interpreter_of(program) is None:
        return False
    options = []
    for word in words[1:]:
        if not word.startswith("-"):
            break
        options.append(word)
    return interpreter_of(program) != program or not any(map(_ISOLATED.fullmatch, options))


def _with_probe(program: Path, arguments: Sequence[str]) -> tuple[list[str], str, str]:
    """The arguments, the path of the health endpoint, and both in words."""
    words = list(arguments)
    is_kopf = program.name == "kopf" or words[:2] == ["-m", "kopf"]
    asks = any(word.startswith(("--liveness", "-L")) for word in words)
    if is_kopf and "run" in words and not asks:
        at = words.index("run") + 1
        words[at:at] = [f"--liveness={HEALTH}"]
        return words, "/healthz", "its liveness endpoint (--liveness was added)"
    if any(_PORT in word for word in words):
        return words, "/healthz", "/healthz on {health_port} (process.readyPath)"
    return words, "", "ten seconds after its start (no {health_port} in the command)"


def _patterns(option: str, path: Path | None, base: Path) -> list[str]:
    if path is None:
        return []
    if path.is_file():
        return [relative_to(path, base)]
    found = [f"*{suffix}" for suffix in (".yaml", ".yml") if any(path.glob(f"*{suffix}"))]
    if not found:
        what = "has no .yaml file" if path.is_dir() else "is not there"
        raise YamlError(f"{option} {path}: {what}; name a file or a directory of manifests")
    return [f"{relative_to(path, base)}/{each}" for each in found]


def _name(program: Path, arguments: Sequence[str], base: Path) -> str:
    """After the file that it runs, or else the program, or else the directory."""
    files = (base / word for word in arguments if not word.startswith("-"))
    stems = [*(each.stem for each in files if each.is_file()), program.stem]
    chosen = next(_telling(stems, (base.resolve().name,)))
    return _NOT_IN_NAMES.sub("-", chosen).strip("-._") or "operator"


def _telling(stems: Sequence[str], otherwise: Sequence[str]) -> Iterator[str]:
    stem = stems[0]
    yield from otherwise if stem in _ANY_PROGRAM else (stem,)
