"""A Go module of an operator: where its program, CRDs, roles and webhooks are, as a profile.

Looked for are the layouts of kubebuilder, operator-sdk and the like. Each choice is a line of the
profile, which its user owns from then on; `Found.said` says what was found, and what to write where
something was not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from conformance.explore.installation import Installation, bound_beside, installation_of
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
_FLAGS: Final = {
    "health-probe-bind-address": "127.0.0.1:{health_port}",
    "health-probe-addr": "127.0.0.1:{health_port}",
    "health-addr": "127.0.0.1:{health_port}",
    "metrics-bind-address": "0",
    "metrics-addr": "0",
    "leader-elect": "{leader_elect}",
    "enable-leader-election": "{leader_elect}",
}
"""Flags that programs of controller-runtime have, and their values."""
_MODULE: Final = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_MANAGER: Final = re.compile(r"\b(NewManager|manager\.New)\(")
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._-]+")


def found_released(name: str) -> Found:
    """The same for a released module, `example.com/operator@v1.2.0`, which Go downloads. Raises
    BuildError if it cannot."""
    path, _, version = name.partition("@")
    module = download(GoModule(path=path, package=""), version)
    found = found_in(module.folder, "")
    found.profile["name"] = f"{found.name}-{version}"
    found.profile["implementation"]["version"] = version
    found.profile["program"]["goModule"]["sum"] = module.sum
    return replace(found, name=found.profile["name"])


def found_in(module: Path, relative: str) -> Found:
    """Look through a module; `relative` is its folder as the profile names it, empty if Go keeps
    it. Raises YamlError, which says what is missing, for a folder that cannot be explored."""
    path = _module_path(module)
    package, others = _main_package(module)
    text = "\n".join(_go_files(module / package))
    crds = _first(module, CRDS, "CustomResourceDefinition")
    if not crds:
        raise YamlError(
            f"{module}: no file with a CustomResourceDefinition is at {', '.join(CRDS[:3])} …; "
            "write a profile (docs/profiles.md), with manifests.crds"
        )
    roles = [role for role in (_first(module, ROLES, "Role"),) if role]
    roles += (each for each in LEADER_ROLES if (module / each).is_file() and each not in roles)
    roles += (each for pattern in roles[:1] for each in bound_beside(module, pattern, roles))
    flags = {name: value for name, value in _FLAGS.items() if f'"{name}"' in text}
    installation = installation_of(module, module / package, list(_sources(module)))
    *above, project = path.split("/")
    organization = above[-1] if above else project
    name = _NOT_IN_NAMES.sub("-", project)
    manifests: dict[str, Any] = {"crds": [crds], "rbac": roles}
    process: dict[str, Any] = {
        "command": ["{program}", *(f"--{flag}={value}" for flag, value in flags.items())],
        "environment": installation.environment | {"KUBECONFIG": "{kubeconfig}"},
    }
    if installation.manifests:
        manifests["webhooks"] = [installation.manifests]
        process["webhooks"] = installation.webhooks
    program: dict[str, Any] = {"goModule": {"path": path, "package": package}}
    if relative:
        program["folder"] = relative
    origin = {"organization": organization, "project": project, "url": f"https://{path}"}
    profile = profile_of(name, origin, program, manifests, process)
    return Found(name, profile, tuple(_said(package, others, manifests, flags, installation)))


def _said(
    package: str,
    others: Iterable[str],
    manifests: dict[str, Any],
    flags: Iterable[str],
    installation: Installation,
) -> Iterator[str]:
    more = ", ".join(others)
    yield f"program: {package}" + (f" (others: {more}; program.goModule.package)" if more else "")
    yield f"CRDs: {manifests['crds'][0]}"
    yield (
        f"roles: {', '.join(manifests['rbac'])}"
        if manifests["rbac"]
        else "roles: NONE FOUND, every request will be refused: add manifests.rbac"
    )
    yield f"webhooks: {installation.said}"
    if not any("health" in flag for flag in flags):
        yield "health: NO FLAG FOUND for the address of probes: complete process.command"


def _module_path(module: Path) -> str:
    file = module / "go.mod"
    found = _MODULE.search(file.read_text(encoding="utf-8")) if file.is_file() else None
    if found is None:
        raise YamlError(f"{module}: has no go.mod that names a module; name the module's folder")
    return found[1].strip('"')


def _main_package(module: Path) -> tuple[str, list[str]]:
    """The program that runs a manager, or else the first one; and the other programs."""
    programs = sorted(programs_in(module), key=lambda each: (each.count("/"), each))
    if not programs:
        raise YamlError(
            f"{module}: has no main package; write one in a module beside it that requires this "
            "one, and name its folder"
        )
    managers = [each for each in programs if any(map(_MANAGER.search, _go_files(module / each)))]
    chosen = (managers or programs)[0]
    return chosen, [each for each in programs if each != chosen]


def _go_files(package: Path) -> Iterator[str]:
    for file in sorted(package.rglob("*.go") if package.parts else ()):
        if not file.name.endswith("_test.go") and file.parent == package:
            yield file.read_text(encoding="utf-8", errors="replace")


def _sources(module: Path) -> Iterator[Path]:
    """The Go files of a module, without tests and what is vendored."""
    for at, folders, files in os.walk(module):
        folders[:] = sorted(name for name in folders if name not in ("vendor", "testdata"))
        for name in sorted(files):
            if name.endswith(".go") and not name.endswith("_test.go"):
                yield Path(at) / name


def _first(module: Path, patterns: Iterable[str], kind: str) -> str:
    """The first pattern with a file that holds such a kind, and is no template."""
    marks = re.compile(rf"^kind:\s*\w*{kind}\s*$", re.MULTILINE)
    for pattern in patterns:
        for file in sorted(module.glob(pattern)):
            text = file.read_text(encoding="utf-8", errors="replace")
            if "{{" not in text and marks.search(text):
                return pattern
    return ""
