"""The preflight names problems with the next step, and asks before anything is changed."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from clusters.control_plane import ControlPlane, User
from conformance.cli.existing import agree
from conformance.cli.exit_code import ExitCode
from conformance.cli.problems import BadInputError, exit_code_for
from conformance.implementations.ours import implementation
from conformance.running.suite import select
from conformance.scenarios import all_crds
from conformance.worlds.existing import rights
from conformance.worlds.existing.access import Access
from conformance.worlds.existing.preflight import Limits, Undertaking, in_words
from conformance.worlds.existing.rights import Right
from vocabulary.clock import SECOND

from .command import USABLE, run, standing
from .conftest import KEPT, NODES

control_plane = pytest.mark.control_plane
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def test_rights_become_the_rules_of_a_cluster_role() -> None:
    wanted = [
        Right("", "nodes", "patch"),
        Right("", "pods", "list"),
        Right("", "nodes", "get"),
        Right("", "namespaces", "list"),
        Right("batch", "jobs", "list"),
    ]
    assert list(rights.rules(wanted)) == [
        '- {apiGroups: [""], resources: [namespaces, pods], verbs: [list]}',
        '- {apiGroups: [""], resources: [nodes], verbs: [get, patch]}',
        "- {apiGroups: [batch], resources: [jobs], verbs: [list]}",
    ]


def test_no_right_to_write_is_asked_for_where_kubernetes_alone_writes() -> None:
    asked = rights.required({"appwrapper": implementation("reference", "appwrapper")}, all_crds())
    verbs = [right.verb for right in asked if right.resource == "controllerrevisions"]
    assert verbs == ["list", "watch"]


def test_an_asterisk_among_rights_is_text_in_the_rules() -> None:
    assert list(rights.rules([Right("*", "*", "list")])) == [
        '- {apiGroups: ["*"], resources: ["*"], verbs: [list]}'
    ]


@control_plane
def test_the_plan_is_shown_and_nothing_done_where_nobody_can_agree(
    plane: ControlPlane, tmp_path: Path
) -> None:
    before = standing(plane)
    said = run(plane.kubeconfig(), "appwrapper", "--out", str(tmp_path), code=2)
    assert "add --yes to go on" in said
    assert "as assay-admin" in said
    assert ", ".join(NODES) in said and KEPT not in said
    assert ": stops a node or a controller of Kubernetes" in said
    assert "appwrapper/nodes/node-is-lost" in said
    assert "claims that need to know will be inconclusive" in said
    assert f"assay clean --kubeconfig {plane.kubeconfig()} --yes" in said
    assert standing(plane) == before


@control_plane
def test_every_right_that_is_missing_is_named_with_its_rule(plane: ControlPlane) -> None:
    nobody = plane.mint_kubeconfig(User("nobody"))
    said = run(nobody, "AW-005", "--yes", code=4)
    assert "nobody lacks rights; bind a ClusterRole with these rules:" in said
    assert '- {apiGroups: [""], resources: [nodes/status], verbs: [patch]}' in said
    assert "resources: [appwrappers/finalizers, appwrappers/status], verbs: [update]}" in said


@control_plane
def test_without_nodes_that_may_be_used_it_says_how_to_choose_some(plane: ControlPlane) -> None:
    said = run(plane.kubeconfig(), "AW-005", "--yes", "--node-selector", "pool=gpu", code=4)
    assert "0 nodes with label pool=gpu can be used, 2 are needed" in said
    assert "kubectl label node NAME pool=gpu" in said


@control_plane
def test_nodes_with_guests_and_real_kubelets_are_left_alone_and_it_says_why(
    plane: ControlPlane,
) -> None:
    api = plane.api()
    api.patch(f"/api/v1/nodes/{KEPT}", {"metadata": {"labels": {USABLE: "true"}}})
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "guest"},
        "spec": {"nodeName": KEPT, "containers": [{"name": "c", "image": "i"}]},
    }
    api.post("/api/v1/namespaces/default/pods", pod)
    try:
        said = run(plane.kubeconfig(), "AW-005", code=2)
        assert f"Node {KEPT} is left alone: it runs default/guest" in said
    finally:
        api.delete("/api/v1/namespaces/default/pods/guest", {"gracePeriodSeconds": 0})
        api.patch(f"/api/v1/nodes/{KEPT}", {"metadata": {"labels": {USABLE: None}}})


@pytest.fixture
def operator(plane: ControlPlane) -> Iterator[str]:
    """An existing Deployment of an AppWrapper operator."""
    labels = {"app": "batch"}
    container = {"name": "manager", "image": "example.com/appwrapper-controller:v1"}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    metadata = {"name": "batch-manager"}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    plane.api().post(DEPLOYMENTS, manifest)
    yield "default/batch-manager"
    plane.api().delete(f"{DEPLOYMENTS}/batch-manager")


@control_plane
def test_an_operator_that_is_at_work_there_is_named_and_nothing_begun(
    plane: ControlPlane, operator: str
) -> None:
    said = run(plane.kubeconfig(), "AW-005", "--yes", code=4)
    assert f"Deployment {operator} looks like an operator of appwrapper" in said
    assert "scale it to 0 first" in said


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--time-limit", "soon"), "--time-limit: "),
        (("--time-limit", "0s"), "leaves no time"),
        (("--rerun",), "never repeat"),
        (("--crash-points",), "add --audit-log FILE"),
        (("--crash-points", "--operator-image", "i"), "leave out --operator-image"),
        (
            ("--implementation", "appwrapper-v1.1.2", "--operator-image", "i"),
            "is run as its profile says; leave it out",
        ),
    ],
)
def test_what_cannot_be_asked_for_is_refused_before_the_cluster_is_looked_at(
    tmp_path: Path, words: tuple[str, ...], hint: str
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.touch()
    assert hint in run(kubeconfig, "AW-005", "--yes", *words, code=2)


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert f"{missing}: there is no such kubeconfig" in run(missing, "AW-005", code=2)


def undertaking() -> Undertaking:
    limits = Limits(time_us=SECOND, objects=10)
    return Undertaking(access=Access(None, ""), limits=limits, audit_log=None)


class Terminal(StringIO):
    """The user's input."""

    def isatty(self) -> bool:
        return True


def test_who_does_not_agree_has_given_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    with pytest.raises(BadInputError, match="nothing was done") as refused:
        agree(undertaking(), select(["AW-005"]), yes=False)
    assert exit_code_for(refused.value) is ExitCode.BAD_INPUT


def test_who_agrees_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    agree(undertaking(), select(["AW-005"]), yes=False)


def test_the_plan_says_whose_pods_may_be_evicted() -> None:
    said = " ".join(map(str.strip, in_words(undertaking())))
    assert "Pods of others that are scheduled there meanwhile may be evicted" in said
    assert "pods of DaemonSets that do not tolerate every taint" in said
