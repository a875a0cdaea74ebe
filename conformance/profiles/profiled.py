"""An implementation as its profile describes it: what a world of real processes runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from clusters import python_time
from clusters.simulated.api_server import ApiServer
from clusters.simulated.controllers.settings import Declared
from clusters.simulated.loop import Loop
from clusters.simulated.patches.merge_patch import apply_merge_patch
from clusters.simulated.recorder import Recorder
from clusters.simulated.store import Store
from conformance import suite
from conformance.implementations.under_test import (
    MUTATING,
    VALIDATING,
    DeclaredAnswer,
    DeployedPlace,
    Installed,
    InstalledDeployment,
    InstalledPods,
    Launch,
    NotDeployableError,
    OnWire,
    OwnWebhooks,
    Place,
    registered_as,
    upgraded,
)
from conformance.profiles.configuration import configuration, reconfigured
from conformance.profiles.placeholders import fill_text
from conformance.profiles.profile import ImplementationProfile, Process
from conformance.profiles.reading import installed_as
from conformance.suite import shipped_profiles
from conformance.worlds.mounted_certificate import foreign_files
from reference_controller.runtime.admission_review import Webhooks
from vocabulary.clock import Micros
from vocabulary.durations import parse_duration
from vocabulary.errors import ApiError
from vocabulary.history import OperatorFacts
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION
from vocabulary.objects import Object, get_path, name_of
from vocabulary.requests import Create
from vocabulary.safe_yaml import YamlError
from vocabulary.typed_yaml import field_error

ROLES: Final = ("ClusterRole", "Role")
BINDINGS: Final = ("ClusterRoleBinding", "RoleBinding")
_DEFINITIONS: Final = ("CustomResourceDefinition",)
_REVIEWED: Final = frozenset({"CREATE", "UPDATE", "DELETE", "*"})
"""The operations that the simulated API server has reviewed."""
_NOT_REVIEWED_BY: Final = ("matchConditions",)
"""The fields of a webhook that it does not evaluate."""
_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Profiled:
    """Implements `UnderTest` by a profile and the file it stands in."""

    profile: ImplementationProfile
    path: Path
    in_virtual_time: bool = False
    """True on the simulated cluster, whose time is not that of the machine."""
    upgraded_from: Profiled | None = None
    """The version that each process starts with; this one replaces it at the next start."""
    on_wire: OnWire | None = None
    """Stands between it and a simulated API server."""
    suffix: str = ""
    """Ends its name, if it is not the program as it is."""

    @property
    def name(self) -> str:
        return f"{self.profile.name}{self.suffix}"

    @property
    def as_option(self) -> str:
        """Its name suffices if it comes with the suite."""
        is_shipped = shipped_profiles().get(self.profile.name) == self.path
        name = self.name if is_shipped else f"{self.path}{self.suffix}"
        return upgraded(self.upgraded_from, name)

    def newly_installed(self) -> Profiled:
        return replace(self, upgraded_from=None)

    @property
    def role(self) -> str:
        return self.profile.suite

    @property
    def settings(self) -> suite.Settings:
        """The settings of its suite."""
        return suite.load()[self.role].settings

    @cached_property
    def facts(self) -> OperatorFacts:
        """The implementation's facts in histories; `fields` only if they differ from the released
        ones, so that a stored history is evaluated again as it was evaluated here."""
        told = self.profile.detection
        without = {
            switched_off: {
                claim: lack.because
                for lack in self.profile.lacks
                if lack.switched_off is switched_off
                for claim in lack.claims
            }
            for switched_off in (False, True)
        }
        return OperatorFacts(
            detection_latency_us=parse_duration(told.latency),
            request_latency_us=parse_duration(told.request_latency),
            poll_us=_span(told.poke_every),
            polls_every_us=_span(told.polls_every),
            clock_resolution_us=_span(told.clock_resolution),
            fields=self._fields,
            granted=tuple(
                sorted(
                    f"{resource}.{grant.group}" if grant.group else resource
                    for grant in self.profile.manifests.grants
                    for resource in grant.resources
                )
            ),
            keeps=self.profile.keeps,
            volatile=self.profile.volatile,
            accepts=tuple(map(msgspec.structs.asdict, self.profile.accepts)),
            unsupported=without[False],
            skipped=without[True],
            # Nobody touches its objects where waiting costs nothing.
            untouched=self.in_virtual_time and bool(told.poke_every),
            profile_sha256=hashlib.sha256(self.path.read_bytes()).hexdigest(),
        )

    @property
    def _fields(self) -> dict[str, Any] | None:
        type_ = suite.load()[self.profile.suite].fields
        if type_ is None:
            return None
        told = msgspec.convert(self.profile.fields, type_)
        fields: dict[str, Any] = msgspec.to_builtins(told)
        return None if told == type_() else fields

    @cached_property
    def installed(self) -> Installed | None:
        configured = self.profile.configuration
        if (pods := self.profile.pods) is not None:
            return InstalledPods(
                namespace=pods.namespace,
                lease=pods.lease,
                settings=configured.fixed,
                selector=pods.selector,
            )
        if (told := self.profile.deployment) is None:
            return None
        config_map = configured.config_map
        return InstalledDeployment(
            namespace=told.namespace,
            lease=told.lease,
            settings=configured.fixed,
            name=told.name,
            config_map="" if config_map is None else config_map.name,
            key="" if config_map is None else config_map.key,
            configured=partial(reconfigured, configured, self.settings),
        )

    @property
    def behaviours(self) -> tuple[Declared, ...]:
        return tuple(Declared(**msgspec.structs.asdict(it)) for it in self.profile.behaviours)

    @property
    def answers(self) -> tuple[DeclaredAnswer, ...]:
        return tuple(DeclaredAnswer(**msgspec.structs.asdict(it)) for it in self.profile.answers)

    @property
    def sees_whole_cluster(self) -> bool:
        return self.profile.watches == "cluster"

    @property
    def acts_in_several_namespaces(self) -> bool:
        return self.sees_whole_cluster

    @property
    def poke_every_us(self) -> Micros | None:
        told = self.profile.detection.poke_every
        return parse_duration(told) if told else None

    @property
    def polls_every_us(self) -> Micros | None:
        told = self.profile.detection.polls_every
        return parse_duration(told) if told else None

    @cached_property
    def program(self) -> Path:
        """The file to execute; ProgramMissingError if it was not built."""
        # Imported here, and below: it stands on the control plane's room and on what that needs,
        # which a run in the simulation neither has to wait for nor to have installed.
        from conformance.profiles.program import program_of

        return program_of(self.profile, self.path, in_virtual_time=self.in_virtual_time)

    def crds(self) -> tuple[Object, ...]:
        return _definitions(tuple(self._texts(self.profile.manifests.crds)))

    def require_valid_definitions(self) -> None:
        """Raise YamlError, with the file, if the simulated API server refuses a definition."""
        loop, store = Loop(0), Store()
        server = ApiServer(loop, store, Recorder(loop))
        files: dict[str, Path] = {}
        for file, each in self._placed(self.profile.manifests.crds, _DEFINITIONS):
            files[name_of(each)] = file
        for definition in self.crds():
            name = name_of(definition)
            try:
                server.handle(Create(CUSTOM_RESOURCE_DEFINITION, definition, "", name), "user")
            except ApiError as error:
                raise YamlError(
                    f"{files[name]}: {error.message}; correct the definition, or if it is a "
                    "template, name what it renders to"
                ) from error

    def rbac(self) -> tuple[Object, ...]:
        told = self.profile.manifests
        rules = [
            {"apiGroups": [grant.group], "resources": list(grant.resources), "verbs": ["*"]}
            for grant in told.grants
        ]
        granted = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "granted-beside"},
            "rules": rules,
        }
        by_file: dict[Path, list[Object]] = {}
        for file, each in self._placed(told.rbac, (*ROLES, *BINDINGS)):
            by_file.setdefault(file, []).append(each)
        roles = (role for found in by_file.values() for role in _granted(found))
        return (*roles, *([granted] if rules else []))

    def webhooks(self, _config: Mapping[str, Any], /) -> Webhooks:
        """None: a program's webhooks are its own."""
        return {}

    @property
    def serves_webhooks(self) -> bool:
        return self.profile.process is not None and self.profile.process.webhooks is not None

    @property
    def fixed_port(self) -> int | None:
        process = self.profile.process
        if process is None or process.webhooks is None:
            return None
        port = process.webhooks.port
        return port if isinstance(port, int) else None

    @property
    def constant_names(self) -> Mapping[str, str]:
        process = self.profile.process
        served = None if process is None else process.webhooks
        return {} if served is None else installed_as(served)

    @property
    def constant_folder(self) -> Path | None:
        process = self.profile.process
        if process is None or process.webhooks is None:
            return None
        folder = process.webhooks.certificates.mount_path
        return None if folder.startswith("{folder}") else Path(folder)

    def require_own_folder(self) -> None:
        """Raise YamlError if the constant folder of its certificate has files of others."""
        folder = self.constant_folder
        if folder is not None and (problem := foreign_files(folder)):
            raise field_error(self.path, "process.webhooks.certificates.mountPath", problem)

    def require_simulated_reviews(self) -> None:
        """Raise YamlError if webhooks ask for what the simulated API server does not do."""
        for registered in self._manifests(self.profile.manifests.webhooks, (MUTATING, VALIDATING)):
            for webhook in registered["webhooks"]:
                operations = {
                    each for rule in webhook.get("rules", ()) for each in rule["operations"]
                }
                asked = [*sorted(operations - _REVIEWED)]
                asked += [each for each in _NOT_REVIEWED_BY if webhook.get(each)]
                if asked:
                    what = (
                        f"webhook {webhook['name']} asks for {', '.join(asked)}, which the "
                        "simulated API server does not do; run it with --cluster control-plane"
                    )
                    raise field_error(self.path, "manifests.webhooks", what)

    def launch(self, place: Place) -> Launch:
        told, process = self.profile.configuration, self.profile.process
        assert process is not None, "an operator that is installed is not launched"
        file = place.folder / f"{place.label}.yaml"
        own = place.folder / place.label
        own.mkdir(exist_ok=True)
        words = {
            "program": str(self.program),
            "kubeconfig": str(place.kubeconfig),
            "config": str(file),
            "namespace": place.namespace,
            "health_port": str(place.health_port),
            "webhook_port": str(place.webhook_port),
            "mutating_webhooks": self._registered_as(MUTATING, place.namespace),
            "validating_webhooks": self._registered_as(VALIDATING, place.namespace),
            "folder": str(own),
            "identity": place.label,
            "leader_elect": "true" if place.elects else "false",
        }
        text = yaml.safe_dump(configuration(told, self.settings, place.config, words))
        objects: tuple[Object, ...] = ()
        if told.config_map is None:
            file.write_text(text, encoding="utf-8")
        else:
            objects = (
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": told.config_map.name, "namespace": place.namespace},
                    "data": {told.config_map.key: text},
                },
            )
        environment = {k: fill_text(text, words) for k, text in process.environment.items()}
        folder: Path | None = None
        reads: tuple[Path, ...] = ()
        if process.working_dir:
            folder = (self.path.parent / process.working_dir).absolute()
            reads = (folder,)
        if self.in_virtual_time and self.profile.program.runtime == "python":
            environment |= python_time.environment(environment)
            reads = (*reads, *python_time.folders_of(self.program))
        return Launch(
            command=tuple(fill_text(text, words) for text in process.command),
            environment=environment,
            ready_path=process.ready_path,
            objects=objects,
            webhooks=self._webhooks(process, words),
            folder=folder,
            reads=reads,
        )

    def _registered_as(self, kind: str, namespace: str) -> str:
        return self.constant_names.get(kind) or registered_as(kind, self.role, namespace)

    @property
    def why_not_deployed(self) -> str:
        """A profile says how to start a program, and names no image."""
        return (
            f"{self.name} is known as a program, not as an image; leave out --operator-image, and "
            "it runs as a process"
        )

    def deployed(self, _place: DeployedPlace) -> tuple[Object, ...]:
        raise NotDeployableError(self.why_not_deployed)

    def _webhooks(self, process: Process, words: Mapping[str, str]) -> OwnWebhooks | None:
        if (told := process.webhooks) is None:
            return None
        patterns = self.profile.manifests.webhooks
        found = self._manifests(patterns, (MUTATING, VALIDATING))
        for registered in found:
            for webhook in registered["webhooks"]:
                if not get_path(webhook, "clientConfig.service.name"):
                    what = f"webhook {webhook['name']} names no clientConfig.service; name one"
                    raise field_error(self.path, "manifests.webhooks", what)
        return OwnWebhooks(
            port=int(fill_text(str(told.port), words)),
            folder=Path(fill_text(told.certificates.mount_path, words)),
            secret=fill_text(told.certificates.secret_name, words),
            secret_namespace=fill_text(told.certificates.secret_namespace, words),
            configurations=found,
            constant_names=self.constant_names,
        )

    def _manifests(self, patterns: tuple[str, ...], kinds: tuple[str, ...]) -> tuple[Object, ...]:
        return tuple(document for _, document in self._placed(patterns, kinds))

    def _placed(
        self, patterns: tuple[str, ...], kinds: tuple[str, ...]
    ) -> Iterator[tuple[Path, Object]]:
        """The manifests of these kinds, each with its file."""
        for file, text in self._texts(patterns):
            for document in _documents(file, text):
                if document.get("kind") in kinds:
                    yield file, document

    def _texts(self, patterns: tuple[str, ...]) -> list[tuple[Path, str]]:
        from conformance.profiles.program import manifests_of

        return manifests_of(self.profile, self.path, patterns, in_virtual_time=self.in_virtual_time)


def _granted(of_a_file: Sequence[Object]) -> Iterator[Object]:
    """The roles of a file; those that its bindings name, if they name any: the others of a manifest
    that installs everything are for users."""
    roles = [each for each in of_a_file if each["kind"] in ROLES]
    bound = {
        (get_path(each, "roleRef.kind"), get_path(each, "roleRef.name"))
        for each in of_a_file
        if each["kind"] in BINDINGS
    }
    granted = [each for each in roles if (each["kind"], get_path(each, "metadata.name")) in bound]
    yield from granted or roles


@lru_cache(maxsize=16)
def _definitions(files: tuple[tuple[Path, str], ...]) -> tuple[Object, ...]:
    """The definitions in these files, those of one name merged. They are the same objects each time
    in a process, whose simulated clusters compile and keep them by identity."""
    by_name: dict[str, Object] = {}
    for file, text in files:
        for each in _documents(file, text):
            if each.get("kind") in _DEFINITIONS:
                by_name[name_of(each)] = apply_merge_patch(by_name.get(name_of(each), {}), each)
    return tuple(by_name.values())


@lru_cache(maxsize=64)
def _documents(file: Path, text: str) -> tuple[Object, ...]:
    """Those of a file, parsed once per process: the manifests of a large operator take a second."""
    try:
        documents = [d for d in yaml.load_all(text, Loader=_LOADER) if d]
    except yaml.YAMLError as error:
        because = " ".join(str(error).split())
        raise YamlError(
            f"{file}: is not YAML: {because}; of a template, name what it renders to"
        ) from error
    if not all(isinstance(document, Mapping) for document in documents):
        raise YamlError(f"{file}: holds something else than objects; name manifests only")
    return tuple(documents)


def _span(text: str) -> Micros | None:
    return parse_duration(text) if text else None
