"""A profile's effect on a run: the configuration, the command, the ConfigMap, the facts."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from msgspec import structs

from conformance import claims
from conformance.history import History
from conformance.history.timing import Timing
from conformance.implementations.ours import UnknownImplementationError, with_role
from conformance.implementations.under_test import VALIDATING, Place, registered_as
from conformance.norm.verdict import Outcome
from conformance.profiles.choosing import left_out, profiles_named, simulated, under_test
from conformance.profiles.configuration import configuration
from conformance.profiles.placeholders import PLACEHOLDERS
from conformance.profiles.profile import Configuration, Lack
from conformance.profiles.profiled import Profiled
from conformance.profiles.program import (
    MODULE,
    PROGRAM,
    ProgramMissingError,
    built_folder,
    missing_files,
    program_of,
)
from conformance.profiles.reading import read_profile
from conformance.scenarios import SCENARIOS
from conformance.suites.appwrapper.settings import DEFAULT_CONFIG, SETTINGS
from conformance.suites.appwrapper.view import RELEASED, AppWrapperHistory
from conformance.worlds.turns import turns_at
from tests.headers import header_of
from vocabulary.clock import SECOND
from vocabulary.history import Header, OperatorFacts
from vocabulary.objects import name_of
from vocabulary.safe_yaml import YamlError

OWN = """
apiVersion: assay.dev/v1
kind: ImplementationProfile
name: mine
suite: appwrapper
implementation: {organization: me, project: mine, url: "https://example.org", version: v1}
program: {path: run.sh}
manifests: {crds: [crd.yaml]}
process: {command: ["{program}", --config, "{config}", --kubeconfig, "{kubeconfig}"]}
configuration: {document: {port: "127.0.0.1:{health_port}", elects: "{leader_elect}"}}
detection: {latency: 3s, clockResolution: 1s}
fields: {resets: [status, restarts]}
lacks:
- {feature: webhooks, because: It has none., claims: [MLB-020]}
"""


@pytest.fixture
def own(tmp_path: Path) -> Profiled:
    (tmp_path / "mine.yaml").write_text(OWN, encoding="utf-8")
    (tmp_path / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (tmp_path / "crd.yaml").write_text(
        "kind: CustomResourceDefinition\nmetadata: {name: a}\n---\nkind: Role\n", encoding="utf-8"
    )
    return Profiled(read_profile(tmp_path / "mine.yaml"), tmp_path / "mine.yaml")


def test_a_process_without_webhooks_says_that_it_lacks_what_they_keep(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN.partition("lacks:")[0], encoding="utf-8")
    with pytest.raises(YamlError, match=r"add process\.webhooks, or list that claim under lacks"):
        read_profile(file)


def place(folder: Path, **changes: Any) -> Place:
    known: dict[str, Any] = {
        "label": "operator-1",
        "folder": folder,
        "kubeconfig": folder / "kubeconfig",
        "namespace": "run-7",
        "beside": (),
        "health_port": 4711,
        "webhook_port": 4712,
        "config": DEFAULT_CONFIG,
        "elects": False,
    }
    return Place(**{**known, **changes})


def test_a_program_of_ones_own_is_started_with_its_files(own: Profiled, tmp_path: Path) -> None:
    launch = own.launch(place(tmp_path, elects=True))
    file = tmp_path / "operator-1.yaml"
    program, kubeconfig = str(tmp_path / "run.sh"), str(tmp_path / "kubeconfig")
    assert launch.command == (program, "--config", str(file), "--kubeconfig", kubeconfig)
    told = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert told["port"] == "127.0.0.1:4711"
    assert told["elects"] is True
    assert told["faultTolerance"] == DEFAULT_CONFIG["faultTolerance"]
    assert launch.objects == ()


WEBHOOKS = """
kind: ValidatingWebhookConfiguration
webhooks: [{name: vmine.kb.io, clientConfig: {service: {name: webhook-service}}}]
---
kind: Service
"""


def with_webhooks(folder: Path, port: str, certificates: str, told: str) -> Profiled:
    """A profile whose process serves webhooks, with additional configuration."""
    text = OWN.replace("crds: [crd.yaml]", "crds: [crd.yaml], webhooks: [webhooks.yaml]")
    served = f"webhooks: {{port: {port}, certificates: {certificates}}}"
    text = text.replace("process: {", f"process: {{{served}, ")
    text = text.replace("document: {", f"document: {{{told}, ")
    (folder / "mine.yaml").write_text(text, encoding="utf-8")
    (folder / "run.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    (folder / "webhooks.yaml").write_text(WEBHOOKS, encoding="utf-8")
    return Profiled(read_profile(folder / "mine.yaml"), folder / "mine.yaml")


def test_webhooks_are_served_where_the_run_has_it_with_a_certificate_of_the_suites(
    tmp_path: Path,
) -> None:
    own = with_webhooks(
        tmp_path, '"{webhook_port}"', '{mountPath: "{folder}/certs"}', 'webhook: "{webhook_port}"'
    )
    webhooks = own.launch(place(tmp_path)).webhooks
    assert webhooks is not None
    assert (webhooks.port, webhooks.secret) == (4712, "")
    assert webhooks.folder == tmp_path / "operator-1" / "certs"
    assert [found["kind"] for found in webhooks.configurations] == [VALIDATING]
    assert own.serves_webhooks
    assert own.fixed_port is None
    told = yaml.safe_load((tmp_path / "operator-1.yaml").read_text(encoding="utf-8"))
    assert told["webhook"] == 4712


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("rules: [{operations: [CREATE, CONNECT]}]", "asks for CONNECT"),
        ("matchConditions: [{name: mine, expression: 'true'}]", "asks for matchConditions"),
    ],
)
def test_reviews_that_the_simulated_api_server_does_not_make_are_refused(
    tmp_path: Path, asked: str, told: str
) -> None:
    own = with_webhooks(
        tmp_path, '"{webhook_port}"', '{mountPath: "{folder}/certs"}', 'webhook: "{webhook_port}"'
    )
    own.require_simulated_reviews()
    manifest = tmp_path / "webhooks.yaml"
    manifest.write_text(WEBHOOKS.replace("{name: vmine", f"{{{asked}, name: vmine"))
    with pytest.raises(YamlError, match=rf"manifests\.webhooks: webhook vmine\.kb\.io {told}"):
        own.require_simulated_reviews()


DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.org, labels: {app: 'LABEL'}}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object}}
      additionalPrinterColumns: [{name: Type, type: string, jsonPath: 'PATH'}]
"""


@pytest.mark.parametrize(
    ("label", "path", "told"),
    [
        ("{{ .Chart.Name }}", ".status", r"metadata\.labels: Invalid value"),
        ("a", "status", r"additionalPrinterColumns\[0\]\.JSONPath: .* starting with \."),
    ],
)
def test_definitions_that_the_simulated_api_server_refuses_are_named_with_their_file(
    own: Profiled, tmp_path: Path, label: str, path: str, told: str
) -> None:
    file = tmp_path / "crd.yaml"
    right = DEFINITION.replace("LABEL", "a").replace("PATH", ".status.conditions[-1:].type")
    file.write_text(right, encoding="utf-8")
    own.require_valid_definitions()
    file.write_text(DEFINITION.replace("LABEL", label).replace("PATH", path), encoding="utf-8")
    with pytest.raises(YamlError, match=rf"crd\.yaml: .*{told}.*; correct the definition"):
        own.require_valid_definitions()


def test_an_operator_that_makes_its_certificate_hears_what_its_configurations_are_called(
    tmp_path: Path,
) -> None:
    own = with_webhooks(
        tmp_path,
        "9443",
        '{mountPath: "{folder}/certs", secretName: "{identity}-cert"}',
        'validating: "{validating_webhooks}"',
    )
    webhooks = own.launch(place(tmp_path)).webhooks
    assert webhooks is not None
    assert (webhooks.port, webhooks.secret) == (9443, "operator-1-cert")
    assert own.fixed_port == 9443
    told = yaml.safe_load((tmp_path / "operator-1.yaml").read_text(encoding="utf-8"))
    assert told["validating"] == registered_as(VALIDATING, "appwrapper", "run-7")


def test_a_webhook_that_is_called_by_no_service_is_told_with_the_profile(tmp_path: Path) -> None:
    own = with_webhooks(
        tmp_path, '"{webhook_port}"', '{mountPath: "{folder}/certs"}', 'webhook: "{webhook_port}"'
    )
    bare = WEBHOOKS.replace("service: {name: webhook-service}", "url: 'https://localhost'")
    (tmp_path / "webhooks.yaml").write_text(bare, encoding="utf-8")
    with pytest.raises(YamlError, match=r"mine\.yaml:\d+.*manifests\.webhooks.*vmine\.kb\.io"):
        own.launch(place(tmp_path))


def test_the_secret_of_its_certificate_may_have_a_namespace_beside_the_runs(
    tmp_path: Path,
) -> None:
    own = with_webhooks(
        tmp_path,
        "9443",
        '{mountPath: "{folder}/certs", secretName: cert, secretNamespace: "{namespace}-system"}',
        'validating: "{validating_webhooks}"',
    )
    webhooks = own.launch(place(tmp_path)).webhooks
    assert webhooks is not None
    assert webhooks.secret_namespace == "run-7-system"
    file = tmp_path / "mine.yaml"
    file.write_text(file.read_text().replace("{namespace}-system", "system"))
    with pytest.raises(YamlError, match=r"secretNamespace: system is not the run's"):
        read_profile(file)


def test_a_definition_that_names_one_before_patches_it(own: Profiled, tmp_path: Path) -> None:
    kind = "kind: CustomResourceDefinition\nmetadata: {name: "
    (tmp_path / "crd.yaml").write_text(
        f"{kind}a}}\nspec: {{scope: Namespaced}}\n---\n{kind}b}}\n"
        f"---\n{kind}a}}\nspec: {{conversion: {{strategy: Webhook}}}}\n"
    )
    patched, other = own.crds()
    assert patched["spec"] == {"scope": "Namespaced", "conversion": {"strategy": "Webhook"}}
    assert name_of(other) == "b"


def test_of_its_manifests_only_those_of_the_kind_that_is_meant_are_used(own: Profiled) -> None:
    assert [crd["metadata"]["name"] for crd in own.crds()] == ["a"]
    assert own.rbac() == ()


def test_the_released_operator_reads_nanoseconds_from_its_config_map() -> None:
    released = under_test("appwrapper-v1.1.2", "appwrapper")
    assert isinstance(released, Profiled)
    words = {
        **dict.fromkeys(PLACEHOLDERS, "?"),
        "health_port": "4711",
        "leader_elect": "false",
        "mutating_webhooks": "mutating.appwrapper.run-7.assay.dev",
    }
    document = configuration(released.profile.configuration, SETTINGS, DEFAULT_CONFIG, words)
    settings = document["appwrapper"]["faultTolerance"]
    assert settings["resetPause"] == 90_000_000_000
    assert settings["retryLimit"] == 3
    assert document["webhooksEnabled"] is True
    certificates = document["certManagement"]
    assert certificates["mutatingWebhookConfigName"] == "mutating.appwrapper.run-7.assay.dev"
    assert document["controllerManager"]["leaderElection"] is False
    assert document["appwrapper"]["userRBACAdmissionCheck"] is False


def test_settings_may_stand_at_the_top_and_keep_their_spelling() -> None:
    document = configuration(Configuration(document={"a": 1}), SETTINGS, DEFAULT_CONFIG, {})
    assert document == {"a": 1, **DEFAULT_CONFIG}


def test_histories_say_how_late_it_may_be_how_coarse_its_clock_is_and_what_it_lacks(
    own: Profiled,
) -> None:
    assert own.facts.detection_latency_us == 3 * SECOND
    assert own.facts.clock_resolution_us == SECOND
    assert own.facts.poll_us is None
    assert own.facts.unsupported == {"MLB-020": "It has none."}


def test_whoever_judges_its_history_reads_its_fields_and_leaves_out_what_it_lacks(
    own: Profiled,
) -> None:
    history = AppWrapperHistory(History(header(own.facts), ()))
    assert history.profile.resets == ("status", "restarts")
    assert history.profile.phase == RELEASED.phase
    unsupported = [v for v in claims.judge(history) if v.outcome is Outcome.UNSUPPORTED]
    assert [(verdict.claim, verdict.because) for verdict in unsupported] == [
        ("MLB-020", "It has none.")
    ]


def test_what_is_switched_off_for_the_suites_sake_is_skipped_and_not_unsupported(
    tmp_path: Path,
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(OWN.replace("- {feature", "- {switchedOff: true, feature"), encoding="utf-8")
    verdicts = claims.judge(History(header(Profiled(read_profile(file), file).facts), ()))
    assert [v.claim for v in verdicts if v.outcome is Outcome.SKIPPED] == ["MLB-020"]
    assert not [v for v in verdicts if v.outcome is Outcome.UNSUPPORTED]


def test_a_clock_of_whole_seconds_softens_lower_bounds_by_one(own: Profiled) -> None:
    assert _timing(own.facts).slack_us == SECOND
    assert _timing(OperatorFacts()).slack_us == 0


def test_a_program_that_is_not_built_is_told_with_the_command_that_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    released = under_test("appwrapper-v1.1.2", "appwrapper")
    assert isinstance(released, Profiled)
    with pytest.raises(ProgramMissingError, match=r"assay profile build appwrapper-v1\.1\.2"):
        program_of(released.profile, released.path)


def test_a_selection_of_which_profiles_leave_nothing_is_refused() -> None:
    with pytest.raises(UnknownImplementationError, match="no scenario of the selection is left"):
        with_role("appwrapper=appwrapper-v1.2.0,kueue=reference", (), simulated)


def test_a_misspelled_profile_is_told_with_the_one_that_is_near() -> None:
    with pytest.raises(UnknownImplementationError, match=r"did you mean appwrapper-v1\.1\.2"):
        under_test("appwraper-v1.1.2", "appwrapper")


def header(facts: OperatorFacts) -> Header:
    return header_of(
        implementation="mine",
        cluster="control-plane",
        clock="wall",
        facts=msgspec.structs.asdict(facts),
    )


def _timing(facts: OperatorFacts) -> Timing:
    told = header(facts)
    return Timing(told, told.first, ())


def test_untouched_scenarios_are_left_out_where_nobody_knows_how_often_it_polls(
    own: Profiled,
) -> None:
    untouched = {found.id for found in SCENARIOS.values() if found.untouched}
    told = own.profile.detection
    pokes = structs.replace(own.profile, detection=structs.replace(told, poke_every="1s"))
    polls = structs.replace(told, poke_every="1s", polls_every="1m")
    assert untouched
    assert untouched.isdisjoint(left_out([own.profile]))
    assert untouched <= left_out([pokes]).keys()
    assert untouched.isdisjoint(left_out([structs.replace(own.profile, detection=polls)]))


def test_what_the_second_of_two_profiles_lacks_is_left_out_too(
    own: Profiled,
) -> None:
    other = structs.replace(
        own.profile,
        suite="toy",
        lacks=(Lack(feature="waits", because="no", scenarios=("jobset/admission/*",)),),
    )
    assert left_out([own.profile, other])["jobset/admission/reason-is-listed-twice"] == "no"
    pokes = structs.replace(other, detection=structs.replace(other.detection, poke_every="1s"))
    untouched = {found.id for found in SCENARIOS.values() if found.untouched}
    assert untouched.isdisjoint(left_out([own.profile, pokes])), "none of these has a toy"


def test_all_profiles_that_a_text_names_are_found() -> None:
    names = "appwrapper=appwrapper-v1.1.2,toy=reference,other=appwrapper-v1.2.0"
    found = [profile.name for profile in profiles_named(names)]
    assert found == ["appwrapper-v1.1.2", "appwrapper-v1.2.0"]


BESIDE_A_MODULE = """
apiVersion: assay.dev/v1
kind: ImplementationProfile
name: mine
suite: jobset
implementation: {organization: me, project: mine, url: "https://example.org", version: v1}
program: {goModule: {path: example.org/mine, package: ./cmd}}
manifests: {crds: [config/*.yaml, "./crds/*.yaml"], rbac: ["./roles.yaml"]}
process: {command: ["{program}", "--kubeconfig={kubeconfig}"]}
configuration: {}
detection: {latency: 3s}
lacks:
- feature: webhooks
  because: It has none.
  claims: [JS-006, JS-007, JS-009, JS-046, JS-075, JS-096, JS-109, JS-110]
"""


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Profiled:
    """A profile of a built Go module, with files beside the profile."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "mine.yaml"
    file.write_text(BESIDE_A_MODULE, encoding="utf-8")
    profile = read_profile(file)
    (tmp_path / "crds").mkdir()
    (tmp_path / "crds" / "b.yaml").write_text(definition("b"), encoding="utf-8")
    (tmp_path / "roles.yaml").write_text("kind: ClusterRole\nrules: []\n", encoding="utf-8")
    built = built_folder(profile)
    (built / MODULE / "config").mkdir(parents=True)
    (built / PROGRAM).touch()
    (built / MODULE / "config" / "a.yaml").write_text(definition("a"), encoding="utf-8")
    return Profiled(profile, file)


def definition(name: str) -> str:
    return f"kind: CustomResourceDefinition\nmetadata: {{name: {name}}}\n"


def test_manifests_of_the_module_and_beside_the_profile_are_taken_together(
    beside: Profiled,
) -> None:
    assert [name_of(crd) for crd in beside.crds()] == ["a", "b"]
    assert len(beside.rbac()) == 1
    (beside.path.parent / "roles.yaml").write_text("kind: Role\nrules: []\n", encoding="utf-8")
    assert beside.rbac()[0]["kind"] == "Role", "a changed file needs no other build"


def test_of_a_file_with_bindings_the_roles_that_they_name_are_granted(beside: Profiled) -> None:
    roles = [f"kind: ClusterRole\nmetadata: {{name: {name}}}\n" for name in ("own", "viewer")]
    binding = "kind: ClusterRoleBinding\nroleRef: {kind: ClusterRole, name: %s}\n"
    file = beside.path.parent / "roles.yaml"
    for name, granted in {"own": ["own"], "cluster-admin": ["own", "viewer"]}.items():
        file.write_text("---\n".join((*roles, binding % name)), encoding="utf-8")
        assert [name_of(role) for role in beside.rbac()] == granted


def test_a_file_beside_the_profile_that_is_not_there_is_told_with_its_field(
    beside: Profiled,
) -> None:
    (beside.path.parent / "roles.yaml").unlink()
    with pytest.raises(YamlError, match=r"manifests\.rbac\[0\]: no file in .* matches"):
        read_profile(beside.path, also=missing_files)
    with pytest.raises(ProgramMissingError, match=r"no file in .* matches '\./roles\.yaml'"):
        beside.rbac()


def test_files_beside_the_profile_are_looked_for_before_the_module_is_built(
    beside: Profiled,
) -> None:
    shutil.rmtree(built_folder(beside.profile))
    assert list(missing_files(beside.profile, beside.path)) == []
    (beside.path.parent / "roles.yaml").unlink()
    (problem,) = missing_files(beside.profile, beside.path)
    assert problem[0] == "manifests.rbac[0]"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{{- if .Values.rbac }}\nkind: Role\n", "is not YAML: .* name what it renders to"),
        ("- kind: Role\n", "holds something else than objects"),
    ],
)
def test_a_manifest_that_holds_no_objects_is_told_with_its_name(
    beside: Profiled, text: str, told: str
) -> None:
    (beside.path.parent / "roles.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(YamlError, match=rf"roles\.yaml: {told}"):
        beside.rbac()


def test_an_operator_may_be_configured_by_flags_alone(beside: Profiled, tmp_path: Path) -> None:
    launch = beside.launch(place(tmp_path, config={}))
    assert launch.command[1] == f"--kubeconfig={tmp_path / 'kubeconfig'}"
    assert launch.objects == ()


def test_scenarios_that_configure_it_are_left_out_then(
    beside: Profiled, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = next(found for found in SCENARIOS.values() if found.roles == ("jobset",))
    asking = dataclasses.replace(scenario, config={"workers": 3})
    monkeypatch.setitem(SCENARIOS, scenario.id, asking)
    because = left_out([beside.profile])[scenario.id]
    assert because == "needs the operator configured otherwise: workers"
    told = structs.replace(beside.profile.process, command=("{program}", "{config}"))
    assert scenario.id not in left_out([structs.replace(beside.profile, process=told)])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            BESIDE_A_MODULE.replace("configuration: {}", "configuration: {document: {a: 1}}"),
            r"tells it no \{config\} file, .* leave out configuration\.document",
        ),
        (
            OWN.replace(', --config, "{config}"', "").replace(
                'document: {port: "127.0.0.1:{health_port}", elects: "{leader_elect}"}', ""
            ),
            r"tells it no \{config\} file, .* and runs set .*faultTolerance",
        ),
    ],
)
def test_a_configuration_that_nothing_carries_is_told(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(YamlError, match=rf"process\.command: {told}"):
        read_profile(file)


def test_a_constant_folder_and_constant_names_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "serving-certs"
    own = with_webhooks(
        tmp_path,
        '"{webhook_port}"',
        f"{{mountPath: {folder}, secretName: cert}}, installedAs: {{validating: v.mine.org}}",
        'webhook: "{webhook_port}", validating: "{validating_webhooks}"',
    )
    webhooks = own.launch(place(tmp_path)).webhooks
    assert webhooks is not None
    assert webhooks.folder == own.constant_folder == folder
    assert webhooks.name_of(VALIDATING, "appwrapper", "run-7") == "v.mine.org"
    told = yaml.safe_load((tmp_path / "operator-1.yaml").read_text(encoding="utf-8"))
    assert told["validating"] == "v.mine.org"


def test_a_constant_folder_with_files_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "serving-certs"
    own = with_webhooks(
        tmp_path, '"{webhook_port}"', f"{{mountPath: {folder}}}", 'webhook: "{webhook_port}"'
    )
    folder.mkdir()
    own.require_own_folder()
    (folder / "tls.crt").write_text("mine", encoding="utf-8")
    with pytest.raises(YamlError, match=r"mountPath: .*holds files that are not Assay's.*; move"):
        own.require_own_folder()
    with pytest.raises(FileExistsError), turns_at((), [folder]):
        pytest.fail("it is not empty")
    assert (folder / "tls.crt").read_text(encoding="utf-8") == "mine"
