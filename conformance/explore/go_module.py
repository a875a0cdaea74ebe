"""A Go module of an operator: where its program, CRDs, roles and webhooks are, as a profile.

Looked for are the layouts of kubebuilder, operator-sdk and the like. Each choice is a line of the
profile, which its user owns from then on; `Found.said` says what was found, and what to write where
something was not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from conformance.explore.installation import Installation, bound_beside, installation_of
from conformance.explore.kustomized import Kustomized, kustomized
from conformance.explore.written_profile import Found, profile_of
from conformance.profiles.go_package import programs_in
from conformance.profiles.profile import GoModule
from conformance.profiles.program import download
from vocabulary.safe_yaml import YamlError

CRDS: Final = (
    *(
        "config/crd/bases/*.yaml",
        "config/components/crd/bases/*.yaml",
        "config/crd/*.yaml",
        "config/crds/*.yaml",
        "config/crds/**/*.yaml",
    ),
    *("deploy/crds/*.yaml", "deploy/olm-catalog/**/*.crd.yaml", "charts/*/crds/*.yaml"),
    *("chart/crds/*.yaml", "helm/*/crds/*.yaml", "manifests/crds/*.yaml", "crds/*.yaml"),
    *("manifests/base/crds/*.yaml", "install/crds/*.yaml"),
)
ROLES: Final = (
    *("config/rbac/role.yaml", "config/components/rbac/role.yaml", "config/rbac/*role.yaml"),
    *("deploy/role.yaml", "deploy/rbac.yaml"),
    *("config/rbac/*.yaml", "manifests/rbac/*.yaml", "deploy/*.yaml"),
    *("manifests/base/rbac/*.yaml", "install/rbac/*.yaml"),
)
LEADER_ROLES: Final = (
    "config/rbac/leader_election_role.yaml",
    "config/components/rbac/leader_election_role.yaml",
)
NO_MANIFESTS: Final = ("vendor", "testdata", "test", "tests", "hack", "examples", "docs")
"""Folders whose manifests do not install the operator."""
_FLAGS: Final = {
    "health-probe-bind-address": "127.0.0.1:{health_port}",
    "health-probe-addr": "127.0.0.1:{health_port}",
    "health-addr": "127.0.0.1:{health_port}",
    "probe-addr": "127.0.0.1:{health_port}",
    "metrics-bind-address": "0",
    "metrics-addr": "0",
    "leader-elect": "{leader_elect}",
    "enable-leader-election": "{leader_elect}",
    "leader-election-namespace": "{namespace}",
    "leader-elect-resource-namespace": "{namespace}",
    "lock-namespace": "{namespace}",
}
"""Flags that programs of controller-runtime and client-go have, and their values."""
_DEFINED: Final = re.compile(
    r'\.(?:\w+Var(?:P|Flag)?\(\s*&?[\w.]+,|(?:String|Bool)P?\()\s*"([A-Za-z][\w-]*)"'
)
"""A flag where package flag or pflag defines it."""
_IMPORTED: Final = re.compile(r'^\s*(?:import\s+)?(?:[\w.]+\s+)?"([^"\s]+)"\s*$', re.MULTILINE)
_MODULE: Final = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_MANAGER: Final = re.compile(r"\b(NewManager|manager\.New)\(")
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")


def found_released(name: str) -> Found:
    """The same for a released module, `example.com/operator@v1.2.0`, which Go downloads. Raises
    BuildError if it cannot."""
    path, _, version = name.partition("@")
    module = download(GoModule(path=path, package=""), version)
    found = found_in(module.folder, "", version)
    found.profile["program"]["goModule"]["sum"] = module.sum
    return found


def found_in(module: Path, relative: str, version: str = "") -> Found:
    """Look through a module; `relative` is its folder as the profile names it, empty if Go keeps
    it: then it has a version. Raises YamlError, which says what is missing, for a folder that
    cannot be explored."""
    path = _module_path(module)
    package, others = _main_package(module, path)
    rendered = kustomized(module)
    crds = _first(module, CRDS, "CustomResourceDefinition")
    if not crds and (rendered is None or not rendered.installs):
        raise YamlError(
            f"{module}: no manifest is a CustomResourceDefinition (looked for in all folders but "
            f"{', '.join(NO_MANIFESTS)}; templates were left out); write a profile "
            "(docs/profiles.md), with manifests.crds"
        )
    roles = _first(module, ROLES, "Role")
    roles += (each for each in LEADER_ROLES if (module / each).is_file() and each not in roles)
    roles += (each for pattern in roles[:1] for each in bound_beside(module, pattern, roles))
    flags = dict(_flags(module, path, package))
    installation = installation_of(module, module / package, list(_sources(module)))
    *above, project = path.split("/")
    organization = above[-1] if above else project
    name = "-".join(filter(None, (_NOT_IN_NAMES.sub("-", project), version)))
    manifests: dict[str, Any] = {"crds": crds, "rbac": roles}
    process: dict[str, Any] = {
        "command": ["{program}", *(f"--{flag}={value}" for flag, value in flags.items())],
        "environment": installation.environment | {"KUBECONFIG": "{kubeconfig}"},
    }
    if not _is_probed(flags.values()):
        process["readyPath"] = ""
    if installation.manifests:
        manifests["webhooks"] = [installation.manifests]
        process["webhooks"] = installation.webhooks
    beside: dict[str, str] = {}
    if rendered is not None and rendered.installs:
        file = f"{name}.installed.yaml"
        beside[file] = rendered.text()
        manifests = {
            each: [f"./{file}"] for each in manifests if each != "webhooks" or rendered.has_webhooks
        }
    program: dict[str, Any] = {"goModule": {"path": path, "package": package}}
    if relative:
        program["folder"] = relative
    origin = {"organization": organization, "project": project, "url": f"https://{path}"}
    profile = profile_of(name, origin, program, manifests, process)
    if version:
        profile["implementation"]["version"] = version
    said = _said(package, others, manifests, flags, installation, rendered)
    return Found(name, profile, tuple(said), beside)


def _said(
    package: str,
    others: Iterable[str],
    manifests: dict[str, Any],
    flags: dict[str, str],
    installation: Installation,
    rendered: Kustomized | None,
) -> Iterator[str]:
    more = ", ".join(others)
    yield f"program: {package}" + (f" (others: {more}; program.goModule.package)" if more else "")
    if rendered is not None:
        yield f"manifests: {rendered.said}"
    yield f"CRDs: {', '.join(manifests['crds'])}"
    yield (
        f"roles: {', '.join(manifests['rbac'])}"
        if manifests["rbac"]
        else "roles: NONE FOUND, every request will be refused: add manifests.rbac"
    )
    yield f"webhooks: {installation.said}"
    if not _is_probed(flags.values()):
        yield (
            "ready: ten seconds after its start, since NO FLAG FOUND for the address of probes: if "
            "it has one, complete process.command and process.readyPath"
        )


def _is_probed(values: Iterable[str]) -> bool:
    return any("{health_port}" in value for value in values)


def _module_path(module: Path) -> str:
    file = module / "go.mod"
    found = _MODULE.search(file.read_text(encoding="utf-8")) if file.is_file() else None
    if found is None:
        raise YamlError(f"{module}: has no go.mod that names a module; name the module's folder")
    return found[1].strip('"')


def _main_package(module: Path, path: str) -> tuple[str, list[str]]:
    """The program that runs a manager, or else the first one; and the other programs."""
    programs = sorted(programs_in(module), key=lambda each: (each.count("/"), each))
    if not programs:
        raise YamlError(
            f"{module}: has no main package; write one in a module beside it that requires this "
            "one, and name its folder"
        )

    def runs_one(folders: Iterable[Path]) -> bool:
        return any(_MANAGER.search(text) for folder in folders for text in _go_files(folder))

    # Its own files count first: many programs of a module import what one of them is made of.
    managers = [each for each in programs if runs_one((module / each,))] or [
        each for each in programs if runs_one(_packages(module, path, each))
    ]
    chosen = (managers or programs)[0]
    return chosen, [each for each in programs if each != chosen]


def _packages(module: Path, path: str, package: str) -> list[Path]:
    """The folder of a package, and those of the module's packages that it imports, by whatever
    way."""
    found = [module / package]
    for folder in found:
        for text in _go_files(folder):
            imported = (each for each in _IMPORTED.findall(text) if each.startswith(f"{path}/"))
            folders = (module / each.removeprefix(f"{path}/") for each in imported)
            found += (each for each in folders if each not in found)
    return found


def _flags(module: Path, path: str, package: str) -> Iterator[tuple[str, str]]:
    """Flags of the program, as it spells them, with their values."""
    by_letters = {_letters(name): value for name, value in _FLAGS.items()}
    texts = {folder: list(_go_files(folder)) for folder in _packages(module, path, package)}
    # In the main package, a name that is a constant is one of a flag, too.
    named = [name for name in _FLAGS for text in texts[module / package] if f'"{name}"' in text]
    defined = (
        name for found in texts.values() for text in found for name in _DEFINED.findall(text)
    )
    for name in dict.fromkeys((*named, *defined)):
        if value := by_letters.get(_letters(name)):
            yield name, value


def _letters(flag: str) -> str:
    """A flag's name without what spellings differ in."""
    return flag.replace("-", "").replace("_", "").lower()


def _go_files(package: Path) -> Iterator[str]:
    for file in sorted(package.glob("*.go")):
        if not file.name.endswith("_test.go"):
            yield file.read_text(encoding="utf-8", errors="replace")


def _sources(module: Path) -> Iterator[Path]:
    """The Go files of a module, without tests and what is vendored."""
    for at, folders, files in os.walk(module):
        folders[:] = sorted(name for name in folders if name not in ("vendor", "testdata"))
        for name in sorted(files):
            if name.endswith(".go") and not name.endswith("_test.go"):
                yield Path(at) / name


def _first(module: Path, patterns: Iterable[str], kind: str) -> list[str]:
    """The first pattern with a file that holds such a kind, and is no template; without one, the
    files of the first folder that has such files."""
    marks = re.compile(rf"^kind:\s*\w*{kind}\s*$", re.MULTILINE)

    def holds(file: Path) -> bool:
        text = file.read_text(encoding="utf-8", errors="replace")
        return "{{" not in text and marks.search(text) is not None

    for pattern in patterns:
        if any(map(holds, module.glob(pattern))):
            return [pattern]
    for folder in _folders(module):
        if found := sorted(filter(holds, (*folder.glob("*.yaml"), *folder.glob("*.yml")))):
            return [str(file.relative_to(module)) for file in found]
    return []


def _folders(module: Path) -> list[Path]:
    """Where manifests can be, those next to the top first."""
    found = []
    for at, folders, _ in os.walk(module):
        folders[:] = [name for name in folders if name not in NO_MANIFESTS and name[0] not in "._"]
        found.append(Path(at))
    return sorted(found, key=lambda folder: (len(folder.parts), folder))
