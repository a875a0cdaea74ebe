"""The profile that is written for a Go module; nothing is built."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from conformance.explore import go_module
from conformance.explore.go_module import found_in, found_released
from conformance.profiles.profile import GoModule
from conformance.profiles.program import Downloaded, digest_of_source
from conformance.profiles.reading import read_profile
from vocabulary.safe_yaml import YamlError

CRD = "kind: CustomResourceDefinition\n"
ROLE = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"
MAIN = 'package main\nvar f = flag.String("health-probe-bind-address", "", "")\n'
MANAGER = MAIN + "func main() { mgr, err := ctrl.NewManager(nil, nil) }\n"


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


@pytest.fixture
def module(tmp_path: Path) -> Path:
    return write(
        tmp_path / "op",
        {
            "go.mod": "module example.com/acme/op\n",
            "cmd/main.go": MANAGER,
            "hack/tool/main.go": "package main\n",
            "nested/go.mod": "module example.com/acme/op/nested\n",
            "nested/main.go": MANAGER,
            "config/crd/bases/ops.yaml": CRD,
            "config/rbac/role.yaml": ROLE,
            "config/rbac/leader_election_role.yaml": ROLE,
        },
    )


def test_a_released_module_is_named_with_its_version_and_checksum(
    module: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checksum = "h1:qWfzX8+UBak+Hq0+m/PuE3uO0mp/3dmm5q/h/7z31A8="
    asked: list[tuple[str, str]] = []

    def download(wanted: GoModule, version: str) -> Downloaded:
        asked.append((wanted.path, version))
        return Downloaded(wanted.path, module, checksum)

    monkeypatch.setattr(go_module, "download", download)
    found = found_released("example.com/acme/op@v1.2.0")
    assert asked == [("example.com/acme/op", "v1.2.0")]
    path = tmp_path / f"{found.name}.assay.yaml"
    path.write_text(found.text("example.com/acme/op@v1.2.0", path.name))
    profile = read_profile(path)
    assert profile.program.folder == ""
    assert profile.program.go_module == GoModule(
        path="example.com/acme/op", package="./cmd", sum=checksum
    )
    assert (profile.name, profile.implementation.version) == ("op-v1.2.0", "v1.2.0")


def test_the_layout_of_kubebuilder_gives_a_profile_that_reads(module: Path, tmp_path: Path) -> None:
    found = found_in(module, "op")
    assert found.name == "op"
    assert found.said == (
        "program: ./cmd (others: ./hack/tool; program.goModule.package)",
        "CRDs: config/crd/bases/*.yaml",
        "roles: config/rbac/role.yaml, config/rbac/leader_election_role.yaml",
        "webhooks: none found (manifests.webhooks and process.webhooks)",
    )
    path = tmp_path / "op.assay.yaml"
    path.write_text(found.text("op", path.name))
    profile = read_profile(path)
    assert profile.program.folder == "op"
    assert profile.process is not None
    assert profile.process.command == (
        "{program}",
        "--health-probe-bind-address=127.0.0.1:{health_port}",
    )


def test_manifests_are_found_in_a_layout_of_its_own(module: Path) -> None:
    shutil.rmtree(module / "config")
    files = {
        "chart/all.yaml": CRD + "# {{ .Values }}\n",
        "examples/crd.yaml": CRD,
        "deploy/v2/all.yaml": f"{CRD}---\n{ROLE}",
        "deploy/v2/more/crd.yaml": CRD,
    }
    write(module, files)
    manifests = found_in(module, ".").profile["manifests"]
    assert manifests == {"crds": ["deploy/v2/all.yaml"], "rbac": ["deploy/v2/all.yaml"]}


def test_the_program_is_the_one_that_imports_a_manager(module: Path) -> None:
    flags = 'pflag.StringVar(&s.Probe, "probeAddr", "")\nfs.BoolVar(\n  &lead, "leader_elect")\n'
    app = f'package app\n{flags}log.Info("metrics-addr")\nvar m, _ = ctrl.NewManager()\n'
    files = {
        "cmd/main.go": "package main\n",
        "hack/tool/main.go": 'package main\nimport (\n\t"example.com/acme/op/app/run"\n)\n',
        "app/run/run.go": 'package run\nimport x "example.com/acme/op/app"\n',
        "app/app.go": app,
    }
    found = found_in(write(module, files), ".").profile
    assert found["program"]["goModule"]["package"] == "./hack/tool"
    assert found["process"]["command"] == [
        "{program}",
        "--probeAddr=127.0.0.1:{health_port}",
        "--leader_elect={leader_elect}",
    ]


def test_webhooks_are_served_where_the_program_has_some(module: Path) -> None:
    write(module, {"config/webhook/manifests.yaml": "", "cmd/hooks.go": "package main // Webhook"})
    assert "webhooks: config/webhook/manifests.yaml" in found_in(module, ".").said


DEPLOYMENT = """\
kind: Deployment
metadata: {name: manager}
spec:
  template:
    spec:
      containers:
      - name: manager
        env:
        - {name: SPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        - {name: GATES, value: "Fast=true"}
        - {name: OTHER, value: "$(SPACE)"}
        volumeMounts: [{name: cert, mountPath: /certs/webhook}]
      volumes: [{name: cert, secret: {secretName: server-cert}}]
"""
ROTATOR = """\
package cert
import cert "github.com/open-policy-agent/cert-controller/pkg/rotator"
const validating = "op-checks"
var found = []cert.WebhookInfo{{
    Type: cert.Validating,
    Name: validating,
}}
"""
REGISTERED = """\
kind: MutatingWebhookConfiguration
metadata: {name: mutating}
---
kind: ValidatingWebhookConfiguration
metadata: {name: validating}
"""


@pytest.fixture
def with_webhooks(module: Path) -> Path:
    return write(
        module,
        {
            "cmd/hooks.go": "package main // Webhook",
            "config/webhook/manifests.yaml": REGISTERED,
            "config/manager/manager.yaml": DEPLOYMENT,
            "config/default/kustomization.yaml": "namePrefix: op-\nresources: [../webhook]\n",
        },
    )


def test_webhooks_that_are_not_installed_by_default_are_left_out(with_webhooks: Path) -> None:
    file = "config/default/kustomization.yaml"
    said = f"webhooks: none: {file} installs the operator without config/webhook/manifests.yaml"
    assert "webhooks" in found_in(with_webhooks, ".").profile["process"]
    write(with_webhooks, {file: "resources: [../manager]\n"})
    found = found_in(with_webhooks, ".")
    assert said in found.said
    assert "webhooks" not in found.profile["process"]
    assert "webhooks" not in found.profile["manifests"]


def test_a_certificate_that_the_program_makes_is_described(
    with_webhooks: Path, tmp_path: Path
) -> None:
    write(with_webhooks, {"pkg/cert/cert.go": ROTATOR})
    found = found_in(with_webhooks, "op")
    assert found.profile["process"]["webhooks"] == {
        "port": 9443,
        "certificates": {"secretName": "server-cert", "mountPath": "/certs/webhook"},
        "installedAs": {"mutating": "op-mutating", "validating": "op-checks"},
    }
    assert "TMPDIR" not in found.profile["process"]["environment"]
    path = tmp_path / "op.assay.yaml"
    path.write_text(found.text("op", path.name))
    assert read_profile(path).process is not None
    write(
        with_webhooks,
        {"config/internal/secret.yaml": "kind: Secret\nmetadata: {name: server-cert}"},
    )
    certificates = found_in(with_webhooks, "op").profile["process"]["webhooks"]["certificates"]
    assert certificates["secretName"] == "op-server-cert"


def test_a_secret_that_no_deployment_mounts_is_asked_for(with_webhooks: Path) -> None:
    (with_webhooks / "config/manager/manager.yaml").unlink()
    write(with_webhooks, {"pkg/cert/cert.go": ROTATOR})
    assert any("secretName" in line for line in found_in(with_webhooks, ".").said)


def test_roles_are_those_that_a_binding_grants(module: Path) -> None:
    def role(name: str) -> str:
        return f"kind: Role\nmetadata: {{name: {name}}}\n"

    binding = "kind: RoleBinding\nroleRef: {kind: Role, name: secrets}\n"
    files = {"secrets.yaml": role("secrets"), "viewer.yaml": role("viewer"), "b.yaml": binding}
    write(module, {f"config/rbac/{name}": text for name, text in files.items()})
    found = found_in(module, ".").profile["manifests"]["rbac"]
    assert found == [
        "config/rbac/role.yaml",
        "config/rbac/leader_election_role.yaml",
        "config/rbac/secrets.yaml",
    ]


def test_the_environment_of_its_deployment_is_taken_over(with_webhooks: Path) -> None:
    environment = found_in(with_webhooks, ".").profile["process"]["environment"]
    assert environment == {
        "TMPDIR": "{folder}",
        "SPACE": "{namespace}",
        "GATES": "Fast=true",
        "KUBECONFIG": "{kubeconfig}",
    }


def test_what_is_missing_is_said(module: Path) -> None:
    write(module, {"cmd/main.go": "package main\n", "config/rbac/role.yaml": "{{ .Values }}"})
    (module / "config/rbac/leader_election_role.yaml").unlink()
    said = found_in(module, ".").said
    assert any(line.startswith("roles: NONE FOUND") for line in said)
    assert any("NO FLAG FOUND for the address of probes" in line for line in said)
    assert found_in(module, ".").profile["process"]["readyPath"] == ""


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("go.mod", "has no go.mod that names a module"),
        ("config/crd/bases/ops.yaml", "no manifest is a CustomResourceDefinition"),
        ("cmd/main.go", ""),
    ],
)
def test_a_folder_without_an_operator_is_refused(module: Path, gone: str, said: str) -> None:
    (module / gone).unlink()
    if not said:
        (module / "hack/tool/main.go").unlink()
        said = "has no main package; write one in a module beside it"
    with pytest.raises(YamlError, match=said):
        found_in(module, ".")


def test_another_source_is_another_build(module: Path) -> None:
    before = digest_of_source(module)
    digest_of_source.cache_clear()
    write(module, {"README.md": "not built", ".git/HEAD": "nor is this"})
    assert digest_of_source(module) == before
    digest_of_source.cache_clear()
    write(module, {"cmd/more.go": "package main\n"})
    assert digest_of_source(module) != before
