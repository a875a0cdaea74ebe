"""An installed operator: leased, configured for each run, and restored."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from conformance.implementations.ours import implementation
from conformance.implementations.under_test import Installed, InstalledDeployment, UnderTest
from conformance.leased import operator as borrowed_operator
from conformance.leased.operator import NOTE, Before, NotBorrowedError, borrow
from conformance.left_behind.clean import RUN_LABEL
from conformance.profiles.configuration import reconfigured
from conformance.profiles.profile import Configuration
from conformance.running.process_faults import CONNECTION, PAUSE, SECOND, WEBHOOKS
from conformance.running.why_not_run import not_run, reason_not_run
from conformance.scenarios import SCENARIOS
from conformance.suites.appwrapper.settings import DEFAULT_CONFIG, SETTINGS
from conformance.worlds.existing import installation
from conformance.worlds.existing.access import Access
from conformance.worlds.existing.installed_operator import Borrowing, InstalledOperator
from conformance.worlds.existing.neighbours import interfering
from conformance.worlds.existing.node_pool import Survey
from conformance.worlds.existing.preflight import Limits, Undertaking, in_words
from vocabulary.clock import HOUR
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT, LEASE
from vocabulary.objects import Object, labels_of
from vocabulary.requests import Patch, create

from .one_deployment import OneDeployment

HOME = "batch-system"
DOCUMENT = "controllerManager: {metrics: 8080}\nappwrapper:\n  schedulerName: ours\n"
CONFIGURATION = Configuration(settings_under=("appwrapper",), document={"elects": False})
INSTALLED = InstalledDeployment(
    namespace=HOME,
    lease="",
    settings=None,
    name="appwrapper-controller",
    config_map="config",
    key="config.yaml",
    configured=lambda text, config: reconfigured(CONFIGURATION, SETTINGS, text, config),
)
ELECTING = replace(INSTALLED, lease="leader")
FIXED = replace(INSTALLED, settings=DEFAULT_CONFIG, config_map="", key="")


def deployment(replicas: int = 2, **pod: Any) -> dict[str, Any]:
    container = {"name": "manager", "image": "example.com/appwrapper:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": INSTALLED.name, "namespace": HOME},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "appwrapper"}},
            "template": {"spec": {"containers": [container], **pod}},
        },
    }


def config_map(text: str = DOCUMENT, **more: Any) -> dict[str, Any]:
    metadata = {"name": "config", "namespace": HOME}
    data = {"config.yaml": text, "other": "kept"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data, **more}


@pytest.fixture
def cluster() -> OneDeployment:
    return OneDeployment(config_map(), deployment())


def told_to(cluster: OneDeployment) -> Any:
    return yaml.safe_load(cluster.at(CONFIG_MAP, HOME, "config")["data"]["config.yaml"])


def note_of(cluster: OneDeployment) -> Object:
    note: Object = cluster.at(CONFIG_MAP, HOME, NOTE)
    return note


def for_run(
    cluster: OneDeployment, installed: InstalledDeployment = INSTALLED, **config: Any
) -> InstalledOperator:
    borrowing = Borrowing(cluster.connection, installed, "suite")
    settings = SETTINGS.overlay(DEFAULT_CONFIG, {"faultTolerance": config})
    return borrowing.for_run("appwrapper", settings, lambda *_: None, None)


def test_a_run_finds_it_ended_and_configured_and_starts_all_of_its_replicas(
    cluster: OneDeployment,
) -> None:
    operator = for_run(cluster, retryLimit=7)
    assert (operator.state, cluster.listed()) == ("down", ())
    document = told_to(cluster)
    assert document["appwrapper"]["faultTolerance"]["retryLimit"] == 7
    assert document["elects"] is False
    operator.start()
    operator.wait_ready()
    assert (operator.state, len(cluster.listed())) == ("running", 2)


def test_what_its_configuration_says_otherwise_it_goes_on_saying(cluster: OneDeployment) -> None:
    for_run(cluster)
    document = told_to(cluster)
    assert document["controllerManager"] == {"metrics": 8080}
    assert cluster.at(CONFIG_MAP, HOME, "config")["data"]["other"] == "kept"


def test_a_setting_that_the_run_leaves_to_its_defaults_is_not_the_one_it_was_installed_with() -> (
    None
):
    installed = "appwrapper:\n  schedulerName: ours\n  faultTolerance: {retryLimit: 7}\n  own: 1\n"
    told = yaml.safe_load(
        reconfigured(CONFIGURATION, SETTINGS, installed, {"defaultQueueName": "q"})
    )
    assert told == {"appwrapper": {"own": 1, "defaultQueueName": "q"}, "elects": False}


def test_killed_in_a_run_it_is_back_after_it(cluster: OneDeployment) -> None:
    operator = for_run(cluster)
    operator.start()
    operator.kill()
    assert set(cluster.deletions) == {1}
    assert not cluster.listed()
    operator.retire()
    assert len(cluster.listed()) == 2


def test_it_runs_when_a_run_that_was_cut_off_is_cleaned_up_after(cluster: OneDeployment) -> None:
    borrowing = Borrowing(cluster.connection, INSTALLED, "suite")
    borrowing.for_run("appwrapper", DEFAULT_CONFIG, lambda *_: None, None).stop()
    assert not cluster.listed()
    borrowing.let_run()
    assert len(cluster.listed()) == 2


def test_each_run_begins_with_the_configuration_as_it_was_installed(cluster: OneDeployment) -> None:
    borrowing = Borrowing(cluster.connection, INSTALLED, "suite")
    scenario = {**DEFAULT_CONFIG, "schedulerName": "of-a-scenario", "extra": 1}
    borrowing.for_run("appwrapper", scenario, lambda *_: None, None)
    borrowing.for_run("appwrapper", DEFAULT_CONFIG, lambda *_: None, None)
    assert "extra" not in told_to(cluster)["appwrapper"]


def test_it_is_given_back_by_its_note_with_the_text_and_the_replicas_that_it_had(
    cluster: OneDeployment,
) -> None:
    operator = for_run(cluster)
    operator.start()
    note = note_of(cluster)
    assert labels_of(note) == {RUN_LABEL: "suite"}
    assert borrowed_operator.in_words(note) == f"loan of Deployment {HOME}/{INSTALLED.name}"
    borrowed_operator.give_back(cluster.connection, note)
    assert cluster.at(CONFIG_MAP, HOME, "config")["data"]["config.yaml"] == DOCUMENT
    assert cluster.scaled[-2:] == [0, 2]  # it reads its configuration as it starts
    assert note_of(cluster) is None


def test_one_that_was_scaled_to_nothing_runs_for_the_suite_and_not_after_it() -> None:
    cluster = OneDeployment(config_map(), deployment(replicas=0))
    operator = for_run(cluster)
    operator.start()
    assert len(cluster.listed()) == 1
    borrowed_operator.give_back(cluster.connection, note_of(cluster))
    assert not cluster.listed()


def test_what_has_been_given_back_already_is_not_restarted_for_it(cluster: OneDeployment) -> None:
    before = Before(
        deployment=INSTALLED.name, replicas=2, config_map="config", key="config.yaml", text=DOCUMENT
    )
    borrow(cluster.connection, HOME, before, {RUN_LABEL: "suite"})
    borrowed_operator.give_back(cluster.connection, note_of(cluster))
    assert cluster.scaled == [2]


def test_whoever_installs_a_removed_operator_again_finds_its_configuration_as_it_was(
    cluster: OneDeployment,
) -> None:
    for_run(cluster)
    scaled = list(cluster.scaled)
    del cluster.stored[DEPLOYMENT.kind, HOME, INSTALLED.name]
    borrowed_operator.give_back(cluster.connection, note_of(cluster))
    assert cluster.at(CONFIG_MAP, HOME, "config")["data"]["config.yaml"] == DOCUMENT
    assert cluster.scaled == scaled
    assert note_of(cluster) is None


def test_two_suites_never_borrow_the_same_operator(cluster: OneDeployment) -> None:
    for_run(cluster)
    with pytest.raises(NotBorrowedError, match="assay clean --yes"):
        Borrowing(cluster.connection, INSTALLED, "another")


def test_a_note_that_somebody_has_spoiled_is_told_with_what_to_do(cluster: OneDeployment) -> None:
    for_run(cluster)
    spoiled = {"data": {"before": "{}"}}
    cluster.handle(Patch(CONFIG_MAP, HOME, NOTE, spoiled))
    with pytest.raises(NotBorrowedError, match="put the operator of that namespace in order"):
        borrowed_operator.give_back(cluster.connection, note_of(cluster))


@pytest.mark.parametrize(
    ("spec", "account"), [({}, "default"), ({"serviceAccountName": "manager"}, "manager")]
)
def test_its_writes_are_told_by_the_account_of_its_pods(spec: Any, account: str) -> None:
    cluster = OneDeployment(config_map(), deployment(**spec))
    user = Borrowing(cluster.connection, INSTALLED, "suite").user
    assert user.name == f"system:serviceaccount:{HOME}:{account}"


def test_one_that_elects_has_started_when_one_of_its_own_pods_leads(cluster: OneDeployment) -> None:
    operator = for_run(cluster, ELECTING)
    operator.start()
    assert not operator._is_ready()
    lease = {"apiVersion": LEASE.api_version, "kind": LEASE.kind}
    held = {**lease, "metadata": {"name": "leader", "namespace": HOME}}
    cluster.handle(create({**held, "spec": {"holderIdentity": "p0_of-the-dead"}}))
    assert not operator._is_ready()
    now = cluster.listed()[1]["metadata"]["name"]
    cluster.handle(Patch(LEASE, HOME, "leader", {"spec": {"holderIdentity": f"{now}_4711"}}))
    assert operator._is_ready()


def test_it_has_started_when_the_api_server_reaches_its_webhooks(cluster: OneDeployment) -> None:
    operator = for_run(cluster)
    operator.start()
    cluster.unreached = "connection refused"
    assert not operator._is_ready()
    cluster.unreached = ""
    assert operator._is_ready()


def test_one_that_nobody_can_configure_is_started_and_stopped_all_the_same() -> None:
    cluster = OneDeployment(deployment())
    operator = for_run(cluster, FIXED)
    operator.start()
    operator.stop()
    borrowed_operator.give_back(cluster.connection, note_of(cluster))
    assert cluster.scaled == [0, 2, 0, 2]


def test_what_is_not_there_or_cannot_be_configured_is_told_before_anything_is_done() -> None:
    def problems(*there: Object) -> list[str]:
        return list(installation.problems(OneDeployment(*there), INSTALLED, SETTINGS))

    assert problems(config_map(), deployment()) == []
    assert "install the operator" in problems(config_map())[0]
    assert "has no key config.yaml" in problems(deployment())[0]
    assert "is immutable" in problems(config_map(immutable=True), deployment())[0]
    assert "is no mapping" in problems(config_map("- a\n"), deployment())[0]
    assert "is not YAML" in problems(config_map("{"), deployment())[0]
    assert "nested deeper" in problems(config_map("[" * 5000), deployment())[0]


def standing(installed: Installed | None) -> dict[str, UnderTest]:
    """An implementation that is installed in that way."""
    (crd,) = implementation("reference", "appwrapper").crds()
    found = SimpleNamespace(installed=installed, crds=lambda: (crd,))
    return {"appwrapper": cast(UnderTest, found)}


def test_the_operator_under_test_is_no_neighbour_and_every_other_one_is() -> None:
    def told(tested: Installed | None) -> list[str]:
        return list(interfering(OneDeployment(deployment()).connection, standing(tested)))

    assert told(INSTALLED) == []
    assert "looks like an operator of appwrapper" in told(None)[0]


def test_its_own_webhooks_are_a_part_of_it() -> None:
    service = {"clientConfig": {"service": {"namespace": HOME, "name": "webhook"}}}
    rule = {"apiGroups": ["workload.codeflare.dev"], "resources": ["appwrappers"]}
    registered = {
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "m"},
        "webhooks": [{"rules": [rule], **service}],
    }
    cluster = OneDeployment(registered)
    assert list(interfering(cluster.connection, standing(INSTALLED))) == []
    assert "an operator is installed" in next(interfering(cluster.connection, standing(None)))


FAULTS = "appwrapper/operator-faults"
THERE = Undertaking(
    access=Access(None),
    limits=Limits(time_us=HOUR, objects=100),
    audit_log=None,
    nodes=Survey(("n0", "n1", "n2"), {}),
    installed={"appwrapper": INSTALLED},
    needs_accounts=False,
)


@pytest.mark.parametrize(
    ("scenario", "reason"),
    [
        (f"{FAULTS}/killed-while-a-reset-deletes", ""),
        (f"{FAULTS}/leader-is-killed", SECOND),
        (f"{FAULTS}/two-operators-without-election", SECOND),
        (f"{FAULTS}/paused-in-the-middle", PAUSE),
        (f"{FAULTS}/suspended-blindly", CONNECTION),
        (f"{FAULTS}/retried-over-a-bad-connection/webhook-outage", WEBHOOKS),
    ],
)
def test_what_one_operator_with_its_own_connection_cannot_suffer_is_not_run(
    scenario: str, reason: str
) -> None:
    assert reason_not_run(SCENARIOS[scenario], "existing", THERE) == reason


def test_what_one_that_nobody_can_configure_would_have_to_be_told_is_not_run() -> None:
    there = replace(THERE, installed={"appwrapper": FIXED})
    capped = SCENARIOS["appwrapper/parameters/cap-on-annotations/failure-grace"]
    reason = reason_not_run(capped, "existing", there)
    assert reason == "needs the operator configured otherwise: faultTolerance"
    assert (
        reason_not_run(SCENARIOS["appwrapper/retry/one-failure-is-retried"], "existing", there)
        == ""
    )
    settings = SETTINGS.overlay(DEFAULT_CONFIG, capped.config)
    as_wanted = replace(there, installed={"appwrapper": replace(FIXED, settings=settings)})
    assert reason_not_run(capped, "existing", as_wanted) == ""


def test_a_pause_is_sent_to_its_processes_where_nodes_can_be_reached() -> None:
    paused = SCENARIOS[f"{FAULTS}/paused-in-the-middle"]
    assert not_run([paused], "kind", THERE) == []


def test_the_plan_says_what_is_done_to_it() -> None:
    said = "\n".join(in_words(replace(THERE, serves_webhooks=False)))
    assert f"Deployment {HOME}/{INSTALLED.name}, the operator under test" in said
    assert "runs come one at a time" in said
    assert "service accounts" not in said
    assert "webhook" not in said
