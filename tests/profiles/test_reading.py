"""Profiles are read strictly: errors have file, line, field and correction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.profiles.choosing import left_out
from conformance.profiles.placeholders import PLACEHOLDERS
from conformance.profiles.reading import find, read_profile
from conformance.profiles.schema import SCHEMA_PATH, schema_text
from conformance.scenarios import SCENARIOS
from conformance.suite import shipped_profiles
from vocabulary.safe_yaml import YamlError

RELEASED = "appwrapper-v1.1.2"
DIFFERENCE_ID = re.compile("[a-z0-9]+(-[a-z0-9]+){2,6}")
"""Three to seven words."""


@pytest.mark.parametrize("name", shipped_profiles())
def test_a_shipped_profile_is_sound_and_named_after_its_file(name: str) -> None:
    profile = read_profile(shipped_profiles()[name])
    assert profile.name == name
    assert profile.implementation.version in name
    assert profile.program.go_module is not None
    assert profile.program.go_module.sum


@pytest.mark.parametrize("name", shipped_profiles())
def test_each_difference_of_a_shipped_profile_has_a_short_name_of_its_own(name: str) -> None:
    ids = [known.id for known in read_profile(shipped_profiles()[name]).known_differences]
    assert len(set(ids)) == len(ids)
    assert [each for each in ids if len(each) > 45 or not DIFFERENCE_ID.fullmatch(each)] == []


def test_the_schema_that_ships_is_the_one_of_the_types() -> None:
    assert SCHEMA_PATH.read_text(encoding="utf-8") == schema_text()


def test_a_name_is_a_shipped_profile_or_a_yaml_file_or_neither() -> None:
    assert find(RELEASED) == shipped_profiles()[RELEASED]
    assert find("./mine.yaml") == Path("mine.yaml")
    assert find("reference") is None


@pytest.mark.parametrize(
    ("right", "wrong", "field", "advice"),
    [
        (
            "suite: appwrapper",
            "suite: slurm",
            "suite",
            "there is no suite with operators 'slurm'; no name is similar",
        ),
        (
            "suite: appwrapper",
            "accepts: [{claim: OP-08, text: spec.replicas, because: wanted}]\nsuite: appwrapper",
            "accepts[0].claim",
            "did you mean OP-008",
        ),
        (
            "suite: appwrapper",
            "accepts: [{claim: AW-049, text: spec.replicas, because: wanted}]\nsuite: appwrapper",
            "accepts[0].claim",
            "there is no claim of suite operator 'AW-049'",
        ),
        (
            "suite: appwrapper",
            "keeps: [backups.example.dev]\nsuite: appwrapper",
            "keeps[0]",
            "Backup.example.dev",
        ),
        (
            "suite: appwrapper",
            "behaviours: [{image: a, behaviour: runs}]\nsuite: appwrapper",
            "behaviours[0].behaviour",
            "runs",
        ),
        ("latency: 2s", "latency: 900h", "detection.latency", "900h is not within 0s and 60s"),
        ("latency: 2s", "latency: -2s", "detection.latency", "-2s is not within"),
        ("pokeEvery: 1s", "pokeEvery: -1s", "detection.pokeEvery", "within 0.1s and 60s"),
        ("pokeEvery: 1s", "pokeEvery: 1ms", "detection.pokeEvery", "within 0.1s and 60s"),
        ("clockResolution: 1s", "clockResolution: 24h", "detection.clockResolution", "write one"),
        ("sum: h1:", "sum: h2:", "program.goModule.sum", "h1:"),
        (
            "fault: implementation\n  because: >-\n    The delay counts",
            "fault: nobody\n  because: >-\n    The delay counts",
            "knownDifferences[7].fault",
            "write implementation or suite or text",
        ),
        (
            "appwrapper/deletion/foreign-*",
            "appwrapper/deletion/nothing-*",
            "knownDifferences",
            "no scenario matches 'appwrapper/deletion/nothing-*'",
        ),
        (
            "link: https://github.com/project-codeflare/appwrapper/blob/v1.1.2/internal/controller/"
            "appwrapper/appwrapper_controller.go#L290",
            "link: javascript:alert(1)",
            "knownDifferences",
            "https://",
        ),
        ("port: 9443", "port: 94430", "process.webhooks.port", "<= 65535"),
        ("port: 9443", 'port: "{port}"', "process.webhooks.port", "{webhook_port}"),
        ("port: 9443", 'port: "{webhook_port}"', "process.webhooks.port", "is told to nobody"),
        (
            'mountPath: "{folder}/',
            'mountPath: "certs/',
            "process.webhooks.certificates.mountPath",
            "let it begin with {folder}, or write the absolute path",
        ),
        (
            'mountPath: "{folder}/',
            'mountPath: "{folder}/../',
            "process.webhooks.certificates.mountPath",
            "is no folder of its own",
        ),
        (
            "crds: [config",
            "crds: [../config",
            "manifests.crds[0]",
            "leads out of the module, or out of the profile's folder; put the files beside",
        ),
        (
            "  webhooks: [config",
            "  webhooks: [./../config",
            "manifests.webhooks[0]",
            "let the pattern begin with ./",
        ),
        (
            'mountPath: "{folder}/',
            'mountPath: "/tmp/{folder}/',
            "process.webhooks.certificates.mountPath",
            "let it begin with {folder}",
        ),
        (
            "  webhooks: [config/webhook/manifests.yaml]\n",
            "",
            "process.webhooks",
            "add manifests.webhooks",
        ),
        (
            '"{mutating_webhooks}"\n      validatingWebhookConfigName: "{validating_webhooks}"',
            "mine\n      validatingWebhookConfigName: mine",
            "process.webhooks.certificates.secretName",
            "{mutating_webhooks} and {validating_webhooks}",
        ),
        ("secretName:", "secretname:", "process.webhooks", "unknown field `secretname`"),
        ("{kubeconfig}", "{kubeconf}", "process.environment.KUBECONFIG", "{kubeconfig}"),
        ("latency: 2s", "latency: 2", "detection.latency", "write a duration as Go writes it: 5"),
        ("pokeEvery:", "pokeEvry:", "detection", "did you mean pokeEvery?"),
        ("pokeEvery:", "often:", "detection", "known fields are latency, requestLatency, pokeE"),
        ("[appwrapper]", "appwrapper", "configuration.settingsUnder", "a list: [one, another]"),
        ("latency: 2s", "latency: soon", "detection.latency", "write one as Go does"),
        ("durations: nanoseconds", "durations: seconds", "configuration.durations", "invalid enum"),
        ("{leader_elect}", "{elect}", "configuration.document.controllerManager", "{leader_elect}"),
        (
            "    webhooksEnabled: true",
            "    appwrapper: {faultTolerance: {retryLimit: 1}}",
            "configuration.document.appwrapper.faultTolerance.retryLimit",
            "is for runs to decide",
        ),
        (
            "    path: github.com/",
            "    pth: github.com/",
            "program.goModule",
            "unknown field `pth`",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_its_field_and_the_way_out(
    tmp_path: Path, right: str, wrong: str, field: str, advice: str
) -> None:
    text = shipped_profiles()[RELEASED].read_text(encoding="utf-8")
    assert text.count(right) == 1
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace(right, wrong), encoding="utf-8")
    with pytest.raises(YamlError) as error:
        read_profile(file)
    told = str(error.value)
    assert told.startswith(f"{file}:")
    assert field in told
    assert advice in told


@pytest.mark.parametrize(
    ("lack", "field", "advice"),
    [
        ("claims: [AW-0333]", "lacks[0].claims[0]", "did you mean AW-033"),
        (
            "claims: [JS-001]",
            "lacks[0].claims[0]",
            "JS-001 is a claim of jobset, not of appwrapper",
        ),
        (
            "scenarios: [appwrapper/retry/one-failure-is-retired]",
            "lacks[0].scenarios[0]",
            "did you",
        ),
        ("scenarios: [appwrapper/retired/*]", "lacks[0].scenarios[0]", "no scenario matches"),
    ],
)
def test_a_lack_names_claims_and_scenarios_that_there_are(
    tmp_path: Path, lack: str, field: str, advice: str
) -> None:
    text = without_lacks(shipped_profiles()[RELEASED].read_text(encoding="utf-8"))
    file = tmp_path / "mine.yaml"
    file.write_text(f"{text}\nlacks:\n- {{feature: x, because: y, {lack}}}\n", encoding="utf-8")
    with pytest.raises(YamlError) as error:
        read_profile(file)
    assert f"{field}: " in str(error.value)
    assert advice in str(error.value)


def test_a_profile_must_hand_over_kubeconfig_and_configuration(tmp_path: Path) -> None:
    text = shipped_profiles()[RELEASED].read_text(encoding="utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace("{kubeconfig}", "elsewhere"), encoding="utf-8")
    with pytest.raises(YamlError, match=r"hands it no \{kubeconfig\}"):
        read_profile(file)
    kept = [line for line in text.splitlines() if not line.strip().startswith("configMap:")]
    file.write_text("\n".join(kept), encoding="utf-8")
    with pytest.raises(YamlError, match=r"tells it no \{config\} file"):
        read_profile(file)


INSTALLED = """
apiVersion: assay.dev/v1
kind: ImplementationProfile
name: mine
suite: appwrapper
implementation: {organization: me, project: mine, url: "https://example.org", version: v1}
manifests: {crds: [crd.yaml]}
deployment: {namespace: batch-system, name: operator}
configuration: {configMap: {name: config, key: config.yaml}}
detection: {latency: 2s}
"""


@pytest.mark.parametrize(
    "text", ["", "- process\n", "claims: []\n", "name: mine\nkind: ImplementationProfil\n"]
)
def test_of_what_is_no_profile_one_thing_is_told_and_not_each_field(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(YamlError) as caught:
        read_profile(path)
    assert "kind: expected ImplementationProfile; is this a profile?" in str(caught.value)
    assert not hasattr(caught.value, "__notes__")


def test_a_deployment_needs_no_program(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(INSTALLED, encoding="utf-8")
    profile = read_profile(file)
    assert profile.process is None
    assert profile.deployment is not None
    assert (profile.deployment.namespace, profile.deployment.name) == ("batch-system", "operator")


@pytest.mark.parametrize(
    ("right", "wrong", "field", "advice"),
    [
        ("deployment: {namespace: batch-system, name: operator}\n", "", "name", "add one of"),
        ("manifests:", "process: {command: [a]}\nmanifests:", "name", "or in several"),
        ("manifests:", "program: {path: run.sh}\nmanifests:", "program.path", "leave it out"),
        ("detection:", "watches: namespace\ndetection:", "watches", "say cluster"),
        ("[crd.yaml]}", "[crd.yaml], rbac: [role.yaml]}", "manifests", "name but its crds"),
        ("configMap: {name: config, key: config.yaml}", "", "configuration", "or how it is"),
        ("configMap: {", "fixed: {}, configMap: {", "configuration", "needs one of"),
        (
            "configMap: {name: config, key: config.yaml}",
            "fixed: {faultTolerance: {retryLimits: 3}}",
            "configuration.fixed.faultTolerance.retryLimits",
            "did you mean retryLimit",
        ),
        (
            "configMap: {name: config, key: config.yaml}",
            "fixed: {faultTolerance: {resetPause: soon}}",
            "configuration.fixed.faultTolerance.resetPause",
            "write one as Go does",
        ),
        (
            "deployment: {namespace: batch-system, name: operator}",
            "pods: {namespace: batch-system, selector: a=b}",
            "configuration.configMap",
            "say what is fixed",
        ),
        (
            "deployment: {namespace: batch-system, name: operator}\nconfiguration: {configMap: "
            "{name: config, key: config.yaml}}",
            "pods: {namespace: batch-system, selector: 'a in b'}\nconfiguration: {fixed: {}}",
            "pods.selector",
            "write one such as app=operator",
        ),
        (
            "configuration: {",
            'configuration: {document: {port: "{health_port}"}, ',
            "configuration.document.port",
            "write what is meant",
        ),
    ],
)
def test_what_a_deployment_cannot_have_is_told_with_the_way_out(
    tmp_path: Path, right: str, wrong: str, field: str, advice: str
) -> None:
    assert INSTALLED.count(right) == 1
    file = tmp_path / "mine.yaml"
    file.write_text(INSTALLED.replace(right, wrong), encoding="utf-8")
    with pytest.raises(YamlError) as error:
        read_profile(file)
    told = str(error.value)
    assert f"{field}: " in told
    assert advice in told


def test_every_placeholder_is_explained() -> None:
    assert all(PLACEHOLDERS.values())


def without_lacks(text: str) -> str:
    """A profile's text up to its lacks: a key may stand only once."""
    return text.partition("\nlacks:")[0]


@pytest.mark.parametrize("name", ["appwrapper-v1.1.2", "appwrapper-v1.2.0"])
def test_a_released_operator_is_left_out_where_several_elect_a_leader(name: str) -> None:
    """Out of a cluster it cannot, and ends."""
    profile = read_profile(shipped_profiles()[name])
    elections = {
        found.id
        for found in SCENARIOS.values()
        if found.operators > 1 and profile.suite in found.roles
    }
    assert elections
    assert elections <= left_out([profile]).keys()
