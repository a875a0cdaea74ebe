"""The manifests that run a suite in a cluster: permissions, pod, and an existing command."""

from __future__ import annotations

from typing import Any

import pytest
import typer
import yaml

from conformance.cli.app import app
from conformance.implementations.ours import implementation
from conformance.in_cluster.sonobuoy_plugin import RESULTS
from conformance.in_cluster.suite_pod import pod_spec
from conformance.report.sonobuoy import FILE_NAME
from conformance.scenarios import all_crds
from conformance.worlds.existing import rights
from conformance.worlds.existing.rights import Right
from tests.cli.conftest import Assay
from vocabulary.selectors import holds

Document = dict[str, Any]


def of_kind(documents: list[Document], kind: str) -> list[Document]:
    return [found for found in documents if found["kind"] == kind]


@pytest.fixture
def documents(assay: Assay) -> list[Document]:
    printed = assay("in-cluster", "manifests", "appwrapper", "--image", "example.org/assay:2")
    assert printed.code == 0
    return list(yaml.safe_load_all(printed.out))


def rights_in(role: Document) -> list[Right]:
    return sorted(
        Right(group, resource, verb)
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    )


def test_each_role_holds_the_rights_that_a_preflight_asks_for_and_no_other(
    documents: list[Document],
) -> None:
    granted = {
        role["metadata"]["name"]: rights_in(role) for role in of_kind(documents, "ClusterRole")
    }
    assert granted == {
        "assay-suite": rights.required(
            {"appwrapper": implementation("reference", "appwrapper")}, all_crds()
        ),
        "assay-definitions": sorted(rights.INSTALLING),
        "assay-accounts": sorted(rights.ACCOUNTS),
    }


def test_every_role_is_bound_to_the_account_that_the_pod_runs_as(
    documents: list[Document],
) -> None:
    (account,) = of_kind(documents, "ServiceAccount")
    (job,) = of_kind(documents, "Job")
    assert job["spec"]["template"]["spec"]["serviceAccountName"] == account["metadata"]["name"]
    subject = {
        "kind": "ServiceAccount",
        "name": account["metadata"]["name"],
        "namespace": account["metadata"]["namespace"],
    }
    bound = {
        binding["roleRef"]["name"]: binding["subjects"]
        for binding in of_kind(documents, "ClusterRoleBinding")
    }
    roles = [role["metadata"]["name"] for role in of_kind(documents, "ClusterRole")]
    assert bound == {role: [subject] for role in roles}


def parsed(arguments: list[str]) -> typer.Context:
    """Parse the arguments with the command itself, which rejects unknown ones."""
    command = typer.main.get_command(app)
    with command.make_context("assay", list(arguments)) as context:
        name, sub, rest = command.resolve_command(context, context._protected_args + context.args)  # type: ignore[attr-defined]
        assert sub is not None
        return sub.make_context(name, rest, parent=context)  # type: ignore[no-any-return]


def test_the_jobs_arguments_are_ones_that_the_command_takes(documents: list[Document]) -> None:
    (job,) = of_kind(documents, "Job")
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "example.org/assay:2"
    given = parsed(container["args"]).params
    assert given["selection"] == ["appwrapper"]
    assert (given["cluster"], given["yes"]) == ("existing", True)
    assert str(given["out"]).startswith(container["volumeMounts"][1]["mountPath"])
    assert given["pod_image"] == container["image"]
    assert given["operator_image"] == ""
    assert given["webhook_host"] == "$(POD_IP)"
    assert "POD_IP" in [variable["name"] for variable in container["env"]]


@pytest.mark.parametrize(
    ("selector", "chosen", "others"),
    [
        ("assay.dev/usable=true", {"assay.dev/usable": "true"}, [{}]),
        ("pool in (a,b)", {"pool": "a"}, [{}, {"pool": "c"}]),
        ("pool,!gpu", {"pool": ""}, [{}, {"pool": "", "gpu": ""}]),
        ("pool!=a", {"pool": "b"}, [{"pool": "a"}]),
        ("cores>8,cores<10", {"cores": "9"}, [{}, {"cores": "8"}, {"cores": "10"}]),
    ],
)
def test_the_suite_itself_prefers_every_node_that_runs_may_not_break(
    selector: str, chosen: dict[str, str], others: list[dict[str, str]]
) -> None:
    affinity = pod_spec("assay", selector)["affinity"]["nodeAffinity"]
    expressions = [
        expression
        for preferred in affinity["preferredDuringSchedulingIgnoredDuringExecution"]
        for expression in preferred["preference"]["matchExpressions"]
    ]

    def is_preferred(labels: dict[str, str]) -> bool:
        return any(
            holds(each["key"], each["operator"], each.get("values", ()), labels)
            for each in expressions
        )

    assert not is_preferred(chosen)
    assert all(map(is_preferred, others))


@pytest.mark.parametrize("command", ["manifests", "sonobuoy-plugin"])
def test_operators_of_an_image_of_their_own_are_asked_for_in_the_cluster(
    assay: Assay, command: str
) -> None:
    printed = assay("in-cluster", command, "AW-005", "--operator-image", "example.org/operator:2")
    *_, last = yaml.safe_load_all(printed.out)
    job_or_container = last["spec"]
    pod = job_or_container.get("template", {"spec": {"containers": [job_or_container]}})["spec"]
    arguments = pod["containers"][0]["args"]
    given = arguments.index("--operator-image")
    assert arguments[given + 1] == "example.org/operator:2"


def test_a_report_is_kept_in_the_claim_that_is_named(assay: Assay) -> None:
    printed = assay("in-cluster", "manifests", "--claim", "reports")
    (job,) = of_kind(list(yaml.safe_load_all(printed.out)), "Job")
    volumes = {volume["name"]: volume for volume in job["spec"]["template"]["spec"]["volumes"]}
    assert volumes["results"]["persistentVolumeClaim"] == {"claimName": "reports"}


def test_the_plugin_runs_the_same_suite_and_names_the_file_that_sonobuoy_is_to_read(
    assay: Assay,
) -> None:
    printed = assay("in-cluster", "sonobuoy-plugin", "aw-015", "--time-limit", "30m")
    plugin = yaml.safe_load(printed.out)
    config = plugin["sonobuoy-config"]
    assert (config["driver"], config["result-format"]) == ("Job", "manual")
    assert config["result-files"] == [FILE_NAME]
    shared = {mount["name"]: mount["mountPath"] for mount in plugin["spec"]["volumeMounts"]}
    assert shared["results"] == RESULTS
    suite, sonobuoy_run, dashes, *arguments = plugin["spec"]["args"]
    assert (suite, sonobuoy_run, dashes) == ("in-cluster", "sonobuoy-run", "--")
    given = parsed(["run", *arguments]).params
    assert (given["selection"], given["time_limit"]) == (["AW-015"], "30m")


@pytest.mark.parametrize("kind", ["manifests", "sonobuoy-plugin"])
@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("AW-999",), "unknown suite, scenario or claim"),
        (("--image", "-x\n"), "is no image's name"),
        (("--image", ""), "is no image's name"),
        (("--pod-image", "a b"), "is no image's name"),
        (("--operator-image", "a b"), "is no image's name"),
        (("--node-selector", "a in ("), "node selector 'a in ('"),
        (("--time-limit", "soon"), "--time-limit: "),
        (("--implementation", "other"), "unknown implementation"),
    ],
)
def test_what_a_pod_would_refuse_is_refused_before_anything_is_printed(
    assay: Assay, kind: str, words: tuple[str, ...], hint: str
) -> None:
    ended = assay("in-cluster", kind, *words)
    assert (ended.code, ended.out) == (2, "")
    assert hint in ended.err


@pytest.mark.parametrize("command", ["manifests", "sonobuoy-plugin"])
@pytest.mark.parametrize("implementation", ["appwrapper-v1.1.2", "mine.yaml"])
def test_a_program_that_is_not_in_the_image_is_refused_with_another_way(
    assay: Assay, command: str, implementation: str
) -> None:
    said = assay("in-cluster", command, "--implementation", implementation)
    assert said.code == 2
    assert not said.out
    assert f"--implementation {implementation}: the image holds neither" in said.err
    assert "assay run --cluster existing --kubeconfig FILE" in said.err
