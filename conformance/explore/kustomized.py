"""The manifests of a module as kustomize renders them: with its patches, names and bindings.

Kustomize is called if it is installed, by itself or as a part of kubectl. The objects that count
are kept beside the profile, in a file which the user owns like the profile itself.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from vocabulary.objects import Object, get_path, without_path

OVERLAYS: Final = ("config/default", "manifests/default", "manifests/overlays/standalone")
"""Where kubebuilder and the projects of Kubeflow have what installs the operator."""
_COMMANDS: Final = (("kustomize", "build"), ("kubectl", "kustomize"))
_SECONDS: Final = 60
"""An overlay may name others by URL, which are loaded then."""
_SHOWN: Final = 160
"""Characters of an error, which repeats itself for each directory on the way."""
_DEFINITION: Final = "CustomResourceDefinition"
_ROLES: Final = ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
_WEBHOOKS: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_KEPT: Final = (_DEFINITION, *_ROLES, *_WEBHOOKS)


@dataclass(frozen=True, slots=True)
class Kustomized:
    """An overlay, and what came of it."""

    said: str
    """How it was rendered, or why it was not, in words."""
    objects: tuple[Object, ...] = ()

    @property
    def installs(self) -> bool:
        """True if it is enough to install the operator's kinds and rights by."""
        kinds = {each["kind"] for each in self.objects}
        return _DEFINITION in kinds and not kinds.isdisjoint(_ROLES)

    @property
    def has_webhooks(self) -> bool:
        return any(each["kind"] in _WEBHOOKS for each in self.objects)

    def text(self) -> str:
        """The file of its objects."""
        head = f"# {self.said}; it is yours from now on.\n"
        return head + yaml.safe_dump_all(self.objects, sort_keys=False, width=100)


def kustomized(module: Path) -> Kustomized | None:
    """The first overlay of the module that installs its operator; None if it has none."""
    overlay = next((o for o in OVERLAYS if (module / o / "kustomization.yaml").is_file()), "")
    if not overlay:
        return None
    command = next((each for each in _COMMANDS if shutil.which(each[0])), None)
    if command is None:
        return Kustomized(f"{overlay} is not rendered: neither kustomize nor kubectl is there")
    asked = f"{' '.join(command)} {overlay}"
    try:
        ended = subprocess.run(
            [*command, str(module / overlay)],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Kustomized(f"{asked}: no end within {_SECONDS} s")
    if ended.returncode != 0:
        last = (ended.stderr.splitlines() or ["no output"])[-1]
        return Kustomized(f"{asked}: {last.rpartition(' err=')[2][:_SHOWN]}")
    return Kustomized(f"Rendered by {asked}", tuple(_kept(ended.stdout)))


def _kept(text: str) -> Iterator[Object]:
    for each in yaml.load_all(text, Loader=_LOADER):
        kind = each.get("kind") if isinstance(each, dict) else None
        if kind == _DEFINITION:
            # Only another program, such as cert-manager, lets the API server trust the operator's
            # conversions: by default it has no such program, and stores one version.
            conversion: Any = get_path(each, "spec.conversion.strategy")
            yield without_path(each, "spec.conversion") if conversion == "Webhook" else each
        elif kind in _KEPT:
            yield each
