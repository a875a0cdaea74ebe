"""Webhooks, certificates and environment of a program, as the manifests of its module install them.

Kustomize is not run. Read are the kustomization that installs the operator by default, its
Deployments, and the names that the program passes to cert-controller.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from vocabulary.objects import Object, get_path

WEBHOOKS: Final = (
    "config/webhook/manifests.yaml",
    "config/components/webhook/manifests.yaml",
    "manifests/base/webhook/manifests.yaml",
)
TEMPORARY: Final = "{folder}/k8s-webhook-server/serving-certs"
"""Where controller-runtime looks for a certificate below TMPDIR."""
CONSTANT: Final = "/tmp/k8s-webhook-server/serving-certs"
"""Where it is in a pod."""
_INSTALLS: Final = "config/default/kustomization.yaml"
_DEPLOYMENTS: Final = (
    *("config/manager/*.yaml", "config/components/manager/*.yaml", "config/default/*.yaml"),
    "manifests/base/*.yaml",
)
_SECRETS: Final = ("config/**/*.yaml", "manifests/**/*.yaml")
_CERT_CONTROLLER: Final = "github.com/open-policy-agent/cert-controller/pkg/rotator"
_INFO: Final = re.compile(
    r'\bType:\s*(?:\w+\.)?(Validating|Mutating)\s*,\s*Name:\s*(?:"([^"]+)"|(\w+))\s*[,}]'
)
"""A `WebhookInfo` of cert-controller."""
_OF_A_POD: Final = {"metadata.namespace": "{namespace}", "metadata.name": "{identity}"}
_NOT_PLAIN: Final = re.compile(r"[{}]|\$\(")
"""In a value of the environment: a placeholder of ours, or another variable."""


@dataclass(frozen=True, slots=True)
class Installation:
    """Parts of a profile."""

    manifests: str = ""
    """The file with its webhook configurations."""
    webhooks: dict[str, Any] = field(default_factory=dict)
    """`process.webhooks`."""
    environment: dict[str, str] = field(default_factory=dict)
    said: str = ""
    """Its webhooks, in a line."""


def installation_of(module: Path, package: Path, sources: Sequence[Path]) -> Installation:
    """`package` is the main package's folder, `sources` are the Go files of the module."""
    deployments = [each for each in _documents(module, _DEPLOYMENTS) if _is_deployment(each)]
    environment = {"TMPDIR": "{folder}", **dict(_environment(deployments))}
    manifests = next((each for each in WEBHOOKS if (module / each).is_file()), "")
    texts = (file.read_text("utf-8", "replace") for file in sources if file.parent == package)
    if not manifests or not any("webhook" in text.lower() for text in texts):
        said = "none found (manifests.webhooks and process.webhooks)"
        return Installation(environment=environment, said=said)
    installs = _kustomization(module, manifests)
    if installs is not None and not _includes(installs, (module / manifests).parent):
        file = installs.relative_to(module)
        said = f"none: {file} installs the operator without {manifests}"
        return Installation(environment=environment, said=said)
    makers = [file for file in sources if _CERT_CONTROLLER in file.read_text("utf-8", "replace")]
    webhooks: dict[str, Any] = {"port": 9443, "certificates": {"mountPath": TEMPORARY}}
    if not makers:
        return Installation(manifests, webhooks, environment, manifests)
    # cert-controller is told the directory, controller-runtime has it below TMPDIR.
    del environment["TMPDIR"]
    folder, secret = _secret(module, deployments, installs)
    webhooks["certificates"] = {"secretName": secret, "mountPath": folder}
    prefix = "" if installs is None else _prefix(installs)
    registered = {
        str(each["kind"]): f"{prefix}{get_path(each, 'metadata.name')}"
        for each in _documents(module, (manifests,))
    }
    registered |= _names_in_source(makers)
    names = {
        "mutating": registered.get("MutatingWebhookConfiguration", ""),
        "validating": registered.get("ValidatingWebhookConfiguration", ""),
    }
    webhooks["installedAs"] = {kind: name for kind, name in names.items() if name}
    made = f"its certificate, made by cert-controller, in Secret {secret or 'UNKNOWN'}"
    complete = "" if secret else ": complete process.webhooks.certificates.secretName"
    return Installation(manifests, webhooks, environment, f"{manifests}; {made}{complete}")


def bound_beside(module: Path, pattern: str, known: Sequence[str]) -> list[str]:
    """The further files with roles in the folder of a pattern: those of roles that a binding in the
    folder grants. Roles for users have none."""
    beside = Path(pattern).parent
    by_file = {
        str(file.relative_to(module)): list(_documents(module, [str(file.relative_to(module))]))
        for file in sorted((module / beside).glob("*.yaml"))
        if not any(file.match(each) for each in known)
    }
    granted = {
        (get_path(each, "roleRef.kind"), get_path(each, "roleRef.name"))
        for documents in by_file.values()
        for each in documents
        if str(each["kind"]).endswith("RoleBinding")
    }
    return [
        file
        for file, documents in by_file.items()
        if any((each["kind"], get_path(each, "metadata.name")) in granted for each in documents)
    ]


def _documents(module: Path, patterns: Iterable[str]) -> Iterator[Object]:
    """The objects in files; templates and patches of another form are left out."""
    for pattern in patterns:
        for file in sorted(module.glob(pattern)):
            try:
                found = list(yaml.safe_load_all(file.read_text("utf-8", "replace")))
            except yaml.YAMLError:
                continue
            yield from (each for each in found if isinstance(each, dict) and "kind" in each)


def _is_deployment(each: Object) -> bool:
    return each["kind"] == "Deployment" and isinstance(_pod(each), dict)


def _pod(deployment: Object) -> Any:
    return get_path(deployment, "spec.template.spec")


def _environment(deployments: Iterable[Object]) -> Iterator[tuple[str, str]]:
    """The variables of its containers, as far as a pod's own fields and plain values fill them."""
    for deployment in deployments:
        for container in _pod(deployment).get("containers") or ():
            for each in container.get("env") or ():
                of = _OF_A_POD.get(str(get_path(each, "valueFrom.fieldRef.fieldPath")))
                value = of or each.get("value")
                if isinstance(value, str) and (of or not _NOT_PLAIN.search(value)):
                    yield each["name"], value


def _kustomization(module: Path, manifests: str) -> Path | None:
    """The one that installs the operator by default."""
    above = (module / manifests).parent.parent / "kustomization.yaml"
    return next((file for file in (module / _INSTALLS, above) if file.is_file()), None)


def _includes(kustomization: Path, folder: Path) -> bool:
    """True if it lists the folder. One that cannot be read does."""
    read = _read(kustomization)
    if read is None:
        return True
    listed = [path for key in ("resources", "bases", "components") for path in read.get(key) or ()]
    at = os.path.normpath(folder)
    return any(os.path.normpath(kustomization.parent / str(path)) == at for path in listed)


def _read(kustomization: Path) -> Object | None:
    try:
        found = yaml.safe_load(kustomization.read_text("utf-8", "replace"))
    except yaml.YAMLError:
        return None
    return found if isinstance(found, dict) else None


def _prefix(kustomization: Path) -> str:
    return str((_read(kustomization) or {}).get("namePrefix") or "")


def _secret(module: Path, deployments: Iterable[Object], installs: Path | None) -> tuple[str, str]:
    """The directory of its certificate, and the Secret that is mounted there; the name is empty if
    no Deployment says it."""
    for deployment in deployments:
        pod = _pod(deployment)
        secrets = {
            each.get("name"): get_path(each, "secret.secretName")
            for each in pod.get("volumes") or ()
            if get_path(each, "secret.secretName")
        }
        for container in pod.get("containers") or ():
            for mount in container.get("volumeMounts") or ():
                if mount.get("name") in secrets and "webhook" in str(mount.get("mountPath")):
                    return mount["mountPath"], _renamed(module, secrets[mount["name"]], installs)
    return CONSTANT, ""


def _renamed(module: Path, secret: str, installs: Path | None) -> str:
    """The name with the prefix that kustomize gives to the objects that it knows."""
    known = (
        get_path(each, "metadata.name")
        for each in _documents(module, _SECRETS)
        if each["kind"] == "Secret"
    )
    return f"{_prefix(installs)}{secret}" if installs is not None and secret in known else secret


def _names_in_source(makers: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """The webhook configurations into which cert-controller writes, by kind, where the program has
    their names as constants."""
    for file in makers:
        text = file.read_text("utf-8", "replace")
        for kind, literal, constant in _INFO.findall(text):
            found = re.search(rf'\b{constant or "-"}(?:\s+string)?\s*=\s*"([^"]+)"', text)
            if name := literal or (found[1] if found else ""):
                yield f"{kind}WebhookConfiguration", name
