"""The install manifests, as far as they can be judged without a cluster."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from clusters.control_plane import kubeconfig
from conformance.cli import main
from conformance.implementations.ours import implementation
from reference_controller import programs
from reference_controller.manifests import DEFAULT_IMAGE
from reference_controller.runtime import process
from reference_controller.runtime.options import OperatorOptions
from vocabulary.certificates import Authority

from .installation import Installation, arguments_here, written_files


@pytest.fixture(params=["appwrapper", "jobset", "kueue"])
def installation(request: pytest.FixtureRequest) -> Installation:
    return Installation(request.param)


def the(kind: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """The only document of that kind."""
    (document,) = (document for document in found if document["kind"] == kind)
    return document


def client_configs(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """How the API server finds the webhooks that admit, and those that convert."""
    admission = [
        webhook["clientConfig"]
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
        for webhook in the(kind, found)["webhooks"]
    ]
    crds = [each for each in found if each["kind"] == "CustomResourceDefinition"]
    return [
        *admission,
        *(
            crd["spec"]["conversion"]["webhook"]["clientConfig"]
            for crd in crds
            if len(crd["spec"]["versions"]) > 1
        ),
    ]


Printed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def printed(
    installation: Installation,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Printed:
    """Exit code, output and errors of `assay controller manifests`."""

    def run(*arguments: str) -> tuple[int, str, str]:
        argv = ["assay", "controller", "manifests", installation.program, *arguments]
        monkeypatch.setattr("sys.argv", argv)
        with pytest.raises(SystemExit) as ended:
            main()
        return (int(ended.value.code or 0), *capsys.readouterr())

    return run


def test_the_command_prints_every_shipped_file_with_nothing_left_to_fill_in(
    installation: Installation, printed: Printed
) -> None:
    code, out, _ = printed("--image", "registry.example.org:5000/a@sha256:0f")
    assert code == 0
    manifests = installation.manifests
    shipped = resources.files(manifests.package)
    files = sorted(file.name for file in shipped.iterdir() if file.name.endswith(".yaml"))
    assert files == sorted(manifests.files)
    kinds = [document["kind"] for document in manifests.objects(*manifests.files)]
    found = list(yaml.safe_load_all(out))
    assert [document["kind"] for document in found] == kinds
    (container,) = the("Deployment", found)["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.org:5000/a@sha256:0f"
    assert all(the("Secret", found)["data"].values())
    assert all(config["caBundle"] for config in client_configs(found))


def test_without_webhooks_nothing_is_printed_that_the_api_server_would_call(
    printed: Printed,
) -> None:
    code, out, _ = printed("--no-webhooks")
    assert code == 0
    found = list(yaml.safe_load_all(out))
    kinds = [document["kind"] for document in found]
    assert {"CustomResourceDefinition", "ClusterRole", "Deployment"} <= set(kinds)
    assert not [kind for kind in kinds if "Webhook" in kind or kind == "Service"]
    assert not [document for document in found if "conversion" in document.get("spec", {})]


@pytest.mark.parametrize("image", ["", "a b", "a\nb: c", "-x", "a" * 600])
def test_what_names_no_image_is_refused_and_nothing_is_printed(
    printed: Printed, image: str
) -> None:
    code, out, err = printed(f"--image={image}")
    assert (code, out) == (2, "")
    assert "is no image's name" in err


def test_the_webhooks_trust_the_authority_of_the_certificate_and_it_names_their_service(
    installation: Installation,
) -> None:
    found, host = installation.documents(), installation.manifests.webhook_host
    secret = the("Secret", found)
    certificate = x509.load_pem_x509_certificate(b64decode(secret["data"]["tls.crt"]))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [host]
    for config in client_configs(found):
        authority = x509.load_pem_x509_certificate(b64decode(config["caBundle"]))
        certificate.verify_directly_issued_by(authority)
        service = config["service"]
        assert f"{service['name']}.{service['namespace']}.svc" == host


def test_two_installations_share_no_key(installation: Installation) -> None:
    documents = installation.documents
    first, second = (the("Secret", documents())["data"]["tls.key"] for _ in range(2))
    assert first != second


def test_the_config_map_shows_the_defaults(installation: Installation) -> None:
    found = the("ConfigMap", installation.documents())
    shown = yaml.safe_load(found["data"]["config.yaml"])[installation.program]
    config = programs.load(installation.program).config
    assert config.from_data(shown) == config.from_data({})


def test_the_command_understands_the_deployments_arguments_and_listens_where_the_probes_knock(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = installation.documents()
    pod = the("Deployment", found)["spec"]["template"]["spec"]
    config, secret = the("ConfigMap", found), the("Secret", found)
    contents = {
        ("configMap", config["metadata"]["name"]): config["data"],
        ("secret", secret["metadata"]["name"]): {
            name: b64decode(text).decode() for name, text in secret["data"].items()
        },
    }
    written_files(pod, tmp_path, contents)
    (container,) = pod["containers"]
    ports = {port["containerPort"]: port["containerPort"] for port in container["ports"]}
    started: list[OperatorOptions] = []

    def note(program: object, options: OperatorOptions) -> int:
        started.append(options)
        return 0

    monkeypatch.setattr(process, "run", note)
    arguments = arguments_here(pod, tmp_path, ports, installation.namespace)
    monkeypatch.setattr("sys.argv", ["assay", *arguments, f"--kubeconfig={nowhere(tmp_path)}"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    (options,) = started
    by_name = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert (options.health_port, options.webhook_port) == (by_name["health"], by_name["webhook"])
    assert options.leader_elect, "with two replicas, both would act"
    for name in ("livenessProbe", "readinessProbe"):
        assert by_name[container[name]["httpGet"]["port"]] == options.health_port
    assert pod["terminationGracePeriodSeconds"] > process.STOP_SECONDS


def nowhere(folder: Path) -> Path:
    """A kubeconfig for a server that is never contacted."""
    (folder / "ca.crt").write_bytes(Authority.create("nowhere").pair.certificate)
    config = kubeconfig.with_token("https://127.0.0.1:1", folder / "ca.crt", "nobody", "none")
    return kubeconfig.write(folder / "kubeconfig", config)


def test_without_a_choice_the_image_is_the_one_in_the_file(
    installation: Installation, printed: Printed
) -> None:
    shipped = the("Deployment", list(installation.manifests.objects("deployment.yaml")))
    (container,) = shipped["spec"]["template"]["spec"]["containers"]
    code, out, _ = printed()
    assert (code, container["image"]) == (0, DEFAULT_IMAGE)
    assert f"image: {DEFAULT_IMAGE}" in out


def test_a_suite_on_a_real_cluster_gives_the_operator_what_its_service_account_is_bound_to(
    installation: Installation,
) -> None:
    found = installation.documents()
    account = {
        "kind": "ServiceAccount",
        "name": installation.service_account,
        "namespace": installation.namespace,
    }
    bound = [
        document["roleRef"]["name"] for document in found if account in document.get("subjects", ())
    ]
    given = [
        role["metadata"]["name"]
        for role in implementation("reference", installation.program).rbac()
        if role["kind"] in ("ClusterRole", "Role")
    ]
    assert sorted(given) == sorted(bound)
