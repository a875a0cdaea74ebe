"""The implementations that are our own: the reference, and its mutants.

Worlds build operators through here, so they never name a controller. This is the one place
of `conformance` that knows the reference. Programs of others are described by profiles
(`conformance.profiles`) and run as processes only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from clusters.simulated.controllers.settings import Declared
from conformance.implementations.under_test import (
    DeclaredAnswer,
    DeployedPlace,
    Installed,
    Launch,
    NotDeployableError,
    OnWire,
    Place,
    UnderTest,
    upgraded,
)
from conformance.leased.reference import in_one_namespace
from conformance.suite import load as suites
from conformance.suite import shipped_profiles
from reference_controller import programs
from reference_controller.manifests import Manifests
from reference_controller.reference_program import ReferenceProgram
from reference_controller.rules import Rules
from reference_controller.runtime import conversion_review
from reference_controller.runtime.admission_review import (
    Admit,
    Asking,
    Operation,
    UserInfo,
    Webhook,
    Webhooks,
)
from reference_controller.runtime.controller import Controller
from reference_controller.runtime.leader_election import LeaderElection, LeaseSettings
from reference_controller.runtime.operator import Operator
from reference_controller.runtime.options import OperatorOptions
from vocabulary.bug import in_words
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.history import OPERATOR, OperatorFacts
from vocabulary.implementations import REFERENCE, by_role, in_one_text, named_roles
from vocabulary.kinds import DEPLOYMENT, Kind
from vocabulary.nearest import meant
from vocabulary.objects import Object, labels_of, name_of
from vocabulary.requests import Create, Request
from vocabulary.selectors import matches


class AdmissionHooks(NamedTuple):
    """The webhooks as hooks of the simulated API server, by phase as those of a real one."""

    mutate: Callable[[Request, str, dict[str, Any], Object | None], dict[str, Any]]
    validate: Callable[[Request, str, Object | None, Object | None], None]


OperatorBuilder = Callable[[Micros], Operator]


class UnknownImplementationError(ValueError):
    """No implementation of that name; the message lists near ones."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """The requirements of a world to run the implementation under test."""

    name: str
    program: ReferenceProgram[Any, Any]
    rules: Callable[[], Rules]
    """Makes the rules of one process: a restart loses whatever the old ones remember."""
    facts: OperatorFacts
    """For the history's header: how late it may be. The reference hears of changes by watch,
    so it is as late as its caches and requests are in the simulation."""
    change_definition: Callable[[Object], Object] | None = None
    """A mutant's change of its CRDs."""
    change_role: Callable[[Object], Object] | None = None
    """A mutant's change of its roles."""
    change_webhook: Callable[[Object], Object] | None = None
    """A mutant's change of its webhooks."""
    converts: bool = True
    """True if its resources are served in all versions, since `convert` is called for them."""
    upgraded_from: Implementation | None = None
    """The version that each process starts with; this one replaces it at the next start."""
    on_wire: OnWire | None = None
    """Stands between it and a simulated API server."""

    @property
    def role(self) -> str:
        """The suite whose norm it implements."""
        return self.program.name

    @property
    def lease(self) -> str:
        """The name of the Lease by which its replicas elect a leader."""
        return f"{self.program.name}-leader"

    @property
    def as_option(self) -> str:
        """The value of `--implementation` for it."""
        return upgraded(self.upgraded_from, self.name)

    def on_real_clusters(self) -> Implementation:
        """The same, with what is to be expected of it where time is not virtual. Its resources are
        served in the stored version alone, as no webhook outlasts a run to convert them."""
        return replace(self, facts=REAL_FACTS, converts=False)

    def newly_installed(self) -> Implementation:
        """The same where it replaces no other version."""
        return replace(self, upgraded_from=None)

    def controllers(self, config: Mapping[str, Any]) -> tuple[Controller, ...]:
        """Controllers of one process with that operator configuration."""
        return self.program.controllers(self._parsed(config), self.rules())

    def operator_builder(
        self, config: Mapping[str, Any], *, namespace: str, identity: str, elect: bool
    ) -> OperatorBuilder:
        """How to build one process's worth of operator at a point in time; `elect`: it is one of
        several, whose Lease is in that namespace."""

        def build(_now_us: Micros) -> Operator:
            election = (
                LeaderElection(LeaseSettings(namespace, self.lease, identity)) if elect else None
            )
            return Operator(
                self.controllers(config),
                workers=OperatorOptions().workers,
                concurrency=self.program.concurrency,
                election=election,
            )

        return build

    def admission(
        self,
        config: Mapping[str, Any],
        on_crash: Callable[[str, Exception], None],
        user_of: Callable[[str], UserInfo],
        namespace_labels: Callable[[str], Mapping[str, str]] | None = None,
    ) -> AdmissionHooks:
        """The implementation's webhooks, as hooks of the simulated API server.

        `user_of` returns the user that an actor is authenticated as, `namespace_labels` the labels
        of a namespace. `on_crash` is called with
        ("webhook of ROLE", exception) for each review that ended in a bug.
        """
        asking = Asking(_anybody_may_create, namespace_labels)
        found = self.program.webhooks(self._parsed(config), self.rules(), asking)
        # Objects are reviewed in their stored version, whichever one the request has.
        webhooks = {kind.group_kind: webhook for kind, webhook in found.items()}

        def review(
            admit: Admit, request: Request, actor: str, new: Object, old: Object | None
        ) -> Object:
            if getattr(request, "subresource", ""):
                return new
            operation: Operation = "CREATE" if isinstance(request, Create) else "UPDATE"
            try:
                return admit(operation, new, old, user_of(actor))
            except ApiError:
                raise
            except Exception as error:
                on_crash(f"webhook of {self.role}", error)
                # As an API server says it whose webhook broke.
                message = f"failed calling webhook: {in_words(error)}"
                raise ApiError(500, "InternalError", message) from error

        def mutate(
            request: Request, actor: str, new: dict[str, Any], old: Object | None
        ) -> dict[str, Any]:
            admit = webhooks.get(request.kind.group_kind, _NO_WEBHOOK).mutate
            return new if admit is None else dict(review(admit, request, actor, new, old))

        def validate(request: Request, actor: str, new: Object | None, old: Object | None) -> None:
            admit = webhooks.get(request.kind.group_kind, _NO_WEBHOOK).validate
            if admit is not None and new is not None:
                review(admit, request, actor, new, old)

        return AdmissionHooks(mutate, validate)

    def webhooks(self, config: Mapping[str, Any]) -> Webhooks:
        """The implementation's webhooks, as a webhook server calls them."""
        return self.program.webhooks(self._parsed(config), self.rules(), Asking())

    def convert(self, _definition: Object, body: bytes) -> bytes:
        """Its answer to a ConversionReview, as an exchange of the simulated API server."""
        assert self.program.convert is not None
        return conversion_review.review(body, self.program.convert)

    def crds(self) -> tuple[Object, ...]:
        """The custom resource definitions that it brings."""
        manifests = self.program.manifests
        found = _in_all_versions(manifests) if self.converts else manifests.definitions()
        return (
            found if self.change_definition is None else tuple(map(self.change_definition, found))
        )

    def rbac(self) -> tuple[Object, ...]:
        """The roles that its service account is bound to, and the namespaces these live in.

        Roles for people come with it too, but an operator under test has no right that an
        installed one lacks.
        """
        documents = self.program.manifests.objects(*self.program.manifests.rbac)
        bound = [
            (found["roleRef"]["kind"], found["roleRef"]["name"])
            for found in documents
            if "roleRef" in found
        ]
        return tuple(
            found if self.change_role is None or "rules" not in found else self.change_role(found)
            for found in documents
            if found["kind"] == "Namespace" or (found["kind"], name_of(found)) in bound
        )

    def reviews(self, kind: Kind, obj: Object) -> bool:
        """True if an API server asks its webhooks, as they are installed, when an object is
        created."""
        documents = self.program.manifests.objects(*self.program.manifests.webhooks)
        webhooks = [each for found in documents for each in found.get("webhooks", ())]
        change = self.change_webhook or (lambda webhook: webhook)
        return any(
            matches(each.get("objectSelector") or {}, labels_of(obj))
            for each in map(change, webhooks)
            for rule in each["rules"]
            if kind.plural in rule["resources"] and kind.group in rule["apiGroups"]
            if "CREATE" in rule["operations"]
        )

    @property
    def installed(self) -> Installed | None:
        """It is started by the suite, wherever it runs."""
        return None

    @property
    def sees_whole_cluster(self) -> bool:
        """False: it receives its namespace."""
        return False

    @property
    def acts_in_several_namespaces(self) -> bool:
        """True: without a namespace it watches all namespaces that its connection shows."""
        return True

    @property
    def serves_webhooks(self) -> bool:
        """They are known as a function, which stays up while the operator is down."""
        return False

    @property
    def fixed_port(self) -> int | None:
        """None: it receives its port."""
        return None

    @property
    def constant_names(self) -> Mapping[str, str]:
        """None: its webhook configurations are the suite's."""
        return {}

    @property
    def constant_folder(self) -> Path | None:
        """None: it reads no certificate."""
        return None

    @property
    def behaviours(self) -> tuple[Declared, ...]:
        """None: it makes the pods that its users describe."""
        return ()

    @property
    def answers(self) -> tuple[DeclaredAnswer, ...]:
        """None: it asks the API server alone."""
        return ()

    @property
    def poke_every_us(self) -> Micros | None:
        """It watches whatever it must react to."""
        return None

    @property
    def polls_every_us(self) -> Micros | None:
        """It does not depend on polling."""
        return None

    def launch(self, place: Place) -> Launch:
        """How to run it as a process; writes its configuration file."""
        mutant = self.name.partition(":")[2]
        config_file = place.folder / f"{place.label}.yaml"
        config_file.write_text(yaml.safe_dump(dict(place.config)), encoding="utf-8")
        command = (
            *(sys.executable, "-m", "conformance.cli", "controller", "run", self.program.name),
            *(("--mutant", mutant) if mutant else ()),
            *("--kubeconfig", str(place.kubeconfig)),
            *("--config", str(config_file)),
            *(() if place.beside else ("--namespace", place.namespace)),
            *("--identity", place.label),
            *("--health-port", str(place.health_port)),
            *(("--leader-elect", "--lease-namespace", place.namespace) if place.elects else ()),
        )
        return Launch(command=command)

    @property
    def why_not_deployed(self) -> str:
        """Its manifests say how."""
        if self.program.manifests.deployment:
            return ""
        return (
            f"the manifests of {self.role} have no Deployment; leave out --operator-image, and it "
            "runs as a process"
        )

    def deployed(self, place: DeployedPlace) -> tuple[Object, ...]:
        """As its shipped manifests have it, for one namespace, without webhooks."""
        if self.why_not_deployed:
            raise NotDeployableError(self.why_not_deployed)
        mutant = self.name.partition(":")[2]
        documents = self.program.manifests.objects(*self.program.manifests.deployment)
        shipped = next(found for found in documents if found["kind"] == DEPLOYMENT.kind)
        return in_one_namespace(shipped, place, ("--mutant", mutant) if mutant else ())

    def _parsed(self, config: Mapping[str, Any]) -> Any:
        """The parsed configuration; parsed once per process, since campaigns ask for it a lot."""
        key = self.program.name, repr(config)
        if key not in _CONFIGS:
            _CONFIGS[key] = self.program.config.from_data(config)
        return _CONFIGS[key]


@cache
def _in_all_versions(manifests: Manifests) -> tuple[Object, ...]:
    """Derived once: a compiled schema is known by its identity."""
    return manifests.definitions(manifests.converter)


_NO_WEBHOOK: Final = Webhook()
FEDERATED_USER: Final = {
    "username": "jane@example.org",
    "uid": "aws-iam-authenticator:111122223333:AIDACKCEVSQ6C2EXAMPLE-admin/session",
}
"""A user of an identity provider: neither the name nor the id is a valid label value, and the id is
too long and has a separator where it has to be cut."""
REAL_FACTS: Final = OperatorFacts(
    detection_latency_us=2 * SECOND, request_latency_us=500 * MILLISECOND
)
"""On a machine whose cores are shared with the control plane and other runs."""
REAL_USERS: Final = {
    "user": {"username": "assay-user", "uid": "assay-user"},
    "federated-user": FEDERATED_USER,
}
SIMULATED_USERS: Final = {
    "user": {"username": "user", "uid": "uid-of-user"},
    "federated-user": FEDERATED_USER,
}
SERVICE_ACCOUNT: Final = {
    "service-account": {
        "username": "system:serviceaccount:default:ci",
        "uid": "5b8e0c3e-6f0d-4a57-9d2e-0d6c3c1f7a11",
    }
}
"""A pipeline that submits; in the simulation, of scenarios that need users."""
SIMULATED_FACTS: Final = OperatorFacts(detection_latency_us=500 * MILLISECOND)
"""Caches lag up to 20 ms and a request takes up to 4 ms: this many are the most in a row."""


def implementations(spelled: str, roles: Iterable[str]) -> dict[str, Implementation]:
    """The implementations of these roles that a text names, see `vocabulary.implementations`;
    raises UnknownImplementationError."""
    return {role: implementation(name, role) for role, name in by_role(spelled, roles).items()}


def with_role(
    spelled: str,
    roles: Collection[str],
    find: Callable[[str, str], Implementation | UnderTest],
) -> str:
    """The text with the role of a name that only one of these roles knows, a mutant's for instance.

    `find` returns the implementation of a name and a role. Raises UnknownImplementationError unless
    the text names implementations of these roles.
    """
    if not roles:
        raise UnknownImplementationError(
            f"{spelled}: no scenario of the selection is left; profiles name those that they leave "
            "out, each with the reason"
        )
    for role in named_roles(spelled):
        if role not in roles:
            raise UnknownImplementationError(
                f"{spelled}: no scenario of the selection has an operator {role!r}; "
                f"{'there is' if len(roles) == 1 else 'there are'} {', '.join(roles)}"
            )
    known = (
        () if named_roles(spelled) else [role for role in roles if _is_known(spelled, role, find)]
    )
    if len(known) == 1 < len(roles):
        return f"{known[0]}={spelled}"
    found = {role: find(name, role) for role, name in by_role(spelled, roles).items()}
    return in_one_text({role: each.as_option for role, each in found.items()})


def _is_known(name: str, role: str, find: Callable[[str, str], Implementation | UnderTest]) -> bool:
    try:
        find(name, role)
    except UnknownImplementationError:
        return False
    return True


def without_reference(roles: Iterable[str]) -> tuple[str, ...]:
    """The roles for which no reference controller is registered: profiles fill them."""
    known = programs.names()
    return tuple(role for role in roles if role not in known)


def implementation(name: str, role: str) -> Implementation:
    """`reference`, or `mutant:<name>`, of a role; raises UnknownImplementationError.

    Any reference fills the role of an operator of which nothing is known: `jobset`, or
    `jobset/mutant:<name>`.
    """
    program_name, _, which = name.partition("/")
    if role == OPERATOR and program_name in programs.names():
        return replace(implementation(which or REFERENCE, program_name), name=name)
    if role == OPERATOR:
        raise _unknown_operator(name)
    if without_reference([role]):
        shipped_here = ", ".join(_shipped_with(role))
        raise UnknownImplementationError(
            f"{role} has no reference controller, so nothing is known as {name!r} there; write the "
            f"profile of an operator, --implementation {role}=mine.yaml (docs/profiles.md"
            f"{f'; shipped: {shipped_here}' if shipped_here else ''}), or register a reference as "
            f"{role} in the entry points assay.programs"
        )
    program = programs.load(role)
    mutants = program.mutants
    if name == REFERENCE:
        return Implementation(name, program, program.rules, SIMULATED_FACTS)
    kind, _, mutant = name.partition(":")
    if kind == "mutant" and mutant in mutants:
        wrong = mutants[mutant]
        return Implementation(
            name,
            program,
            wrong.rules,
            SIMULATED_FACTS,
            change_definition=wrong.definition,
            change_role=wrong.role,
            change_webhook=wrong.webhook,
        )
    role_told, is_of_role, _ = name.partition("=")
    if is_of_role and "/" not in role_told:
        roles = programs.names()
        unknown = f"{role_told!r} is no operator, {meant(role_told, roles)} Write"
        raise UnknownImplementationError(
            f"unknown implementation {name!r}; {'write' if role_told in roles else unknown} "
            "ROLE=NAME, with commas between several"
        )
    if kind == "mutant":
        for other in programs.names():
            if mutant in programs.load(other).mutants:
                raise UnknownImplementationError(
                    f"{name!r} is a mutant of {other}, not of {role}; run a scenario of {other}"
                )
    shipped = shipped_profiles()
    is_mutant = bool(mutant and mutants)
    names = mutants if is_mutant else (REFERENCE, *shipped, *mutants)
    hint = meant(mutant or name, names, lambda it: f"mutant:{it}" if it in mutants else it)
    of_suite = _shipped_with(role)
    profiles = f"a shipped profile ({', '.join(of_suite)}), " if of_suite else ""
    raise UnknownImplementationError(
        f"unknown implementation {name!r}; {hint} Use reference, mutant:NAME (assay mutants "
        f"--list shows them), {profiles}or a profile's file, name.yaml"
    )


def _unknown_operator(name: str) -> UnknownImplementationError:
    """The answer to a name of which no operator is known."""
    references, profiles = programs.names(), tuple(shipped_profiles())
    return UnknownImplementationError(
        f"unknown operator {name!r}; {meant(name, (*references, *profiles))} Use the folder of a "
        f"Go module, a profile's file (name.yaml), a shipped profile ({', '.join(profiles)}), or "
        f"a reference controller ({', '.join(references)})"
    )


def _shipped_with(role: str) -> list[str]:
    """The profiles that come with the suite of a role."""
    folders = suites()[role].folders if role in suites() else ()
    shipped = shipped_profiles().items()
    return [each for each, path in shipped if any(map(path.is_relative_to, folders))]


_CONFIGS: dict[tuple[str, str], Any] = {}


def _anybody_may_create(_user: UserInfo, _kind: Kind, _namespace: str) -> bool:
    """Admit every user: the simulated API server has no roles."""
    return True
