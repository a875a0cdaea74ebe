"""The interface of implementations under test for worlds of real processes.

The reference and its mutants (`ours`) implement it, and so does a program described by a profile
(`conformance.profiles`). Worlds use this interface and cannot distinguish them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from clusters.simulated.controllers.settings import Declared
from reference_controller.runtime.admission_review import Webhooks
from vocabulary.clock import Micros
from vocabulary.history import OperatorFacts
from vocabulary.implementations import UPGRADED
from vocabulary.objects import Object

if TYPE_CHECKING:
    from clusters.simulated.api_server import ApiServer, Interposed

READY_PATH = "/readyz"
READY_AFTER_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one operator process is to live: what it may read, write and listen on."""

    label: str
    """The operator's name, fit for a file name and as its identity in a Lease."""
    folder: Path
    """For the files that it reads; there is one per run."""
    kubeconfig: Path
    """Its own user, and its own way to the API server."""
    namespace: str
    """The one that it acts in, and that its Lease is in."""
    beside: tuple[str, ...]
    """Further ones that it acts in; it is shown no others."""
    health_port: int
    webhook_port: int
    """The port of its admission webhooks, if it can be configured."""
    config: Mapping[str, Any]
    """The run's configuration, in the shape of the defaults of the suite's settings; missing
    settings have the operator's own defaults."""
    elects: bool
    """True if it is one of several, of which one leads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnWebhooks:
    """The admission webhooks that an operator process serves itself."""

    port: int
    """Where it listens for the API server."""
    folder: Path
    """Where it finds its certificate and the key of that: `tls.crt`, `tls.key`."""
    secret: str
    """The Secret in which it keeps these, since it makes them itself, and has the API server trust
    them; it finds it empty, and mounted into the folder. Without a name both are made for it."""
    configurations: tuple[Object, ...]
    """MutatingWebhookConfigurations and ValidatingWebhookConfigurations. Each webhook names a
    Service, behind which it expects to be called."""
    constant_names: Mapping[str, str] = field(default_factory=dict)
    """The names by which it looks for these, by kind; others are those of `registered_as`."""
    secret_namespace: str = ""
    """The namespace of the Secret, if it is another one than the run's own."""

    def name_of(self, kind: str, role: str, namespace: str) -> str:
        """The name of its webhook configuration of a kind in the run of that namespace."""
        return self.constant_names.get(kind) or registered_as(kind, role, namespace)


MUTATING = "MutatingWebhookConfiguration"
VALIDATING = "ValidatingWebhookConfiguration"


def registered_as(kind: str, role: str, namespace: str) -> str:
    """The name of a role's webhook configuration for the namespace of one run; of either kind
    one."""
    return f"{kind.removesuffix('WebhookConfiguration').lower()}.{role}.{namespace}.assay.dev"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start one operator process, and how to see that it is ready."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beyond those of the harness."""
    ready_path: str = READY_PATH
    """Where, on its health port, it answers 200 once it is ready. Empty: nowhere; it counts as
    ready once it has run for `READY_AFTER_SECONDS`."""
    folder: Path | None = None
    """The directory in which it starts; None: that of the harness."""
    reads: tuple[Path, ...] = ()
    """Files and directories that it needs, if it has files of its own; beside its program."""
    objects: tuple[Object, ...] = ()
    """Objects that must exist in its namespace before it starts, its ConfigMap for instance."""
    webhooks: OwnWebhooks | None = None
    """None: it serves none itself."""
    mounts: Mapping[Path, Path] = field(default_factory=dict)
    """Directories of the machine by where the process finds them, if it has files of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployedPlace:
    """Where one operator is to live that runs in the cluster."""

    name: str
    """Of its Deployment, and of everything beside it."""
    home: str
    """The namespace that these are in."""
    account: str
    """The service account in that namespace that it acts as."""
    image: str
    identity: str
    """Its name as one of several, in a Lease."""
    namespace: str
    """The only one that it may act in."""
    config: Mapping[str, Any]
    """The run's configuration, in the shape of the defaults of the suite's settings; missing
    settings have the operator's own defaults."""
    elects: bool
    """True if it is one of several, of which one leads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An operator installed in the cluster, for all of its namespaces.

    There is one for all runs, which are therefore sequential.
    """

    namespace: str
    """That of its pods, and of everything beside them."""
    lease: str
    """The Lease in that namespace by which its replicas elect a leader; empty: they do not."""
    settings: Mapping[str, Any] | None
    """Its fixed configuration, in the shape of
    the defaults of its suite's settings. None: each run configures it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledDeployment(Installed):
    """One that is a Deployment: runs start, stop and kill it, and may configure it."""

    name: str
    config_map: str = ""
    """The ConfigMap that it reads as it starts; empty: it is not configured."""
    key: str = ""
    """Of the YAML document in it."""
    configured: Callable[[str, Mapping[str, Any]], str] = field(
        default=lambda text, _config: text, compare=False
    )
    """The document as it is to be for a run: (document as it was installed, configuration)."""

    def __str__(self) -> str:
        return f"Deployment {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledPods(Installed):
    """An operator known only by its pods: runs kill it, and its own controller recreates it."""

    selector: str
    """The label selector of its pods, in text form."""

    def __str__(self) -> str:
        return f"pods {self.selector} in namespace {self.namespace}"


class NotDeployableError(ValueError):
    """This implementation cannot be run in a cluster; the message says how else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredAnswer:
    """The response of a Service's pods to requests of an operator in virtual time."""

    service: str
    """A pattern of `NAME.NAMESPACE:PORT`, in which `*` stands for any text."""
    path: str
    """A pattern of the URL's path."""
    status: int
    body: str


def upgraded(old: UnderTest | None, name: str) -> str:
    """The text of an implementation of that name, and of the version that it replaces if any."""
    return name if old is None else f"{old.as_option}{UPGRADED}{name}"


class OnWire(Protocol):
    """Stands between the writes of an operator and a simulated API server."""

    def before(self, api: ApiServer, actor: str) -> Interposed:
        """The part of it that a process of the operator writes to, in one run."""


class UnderTest(Protocol):
    """An implementation that runs as a process, or that stands in the cluster."""

    @property
    def name(self) -> str: ...

    @property
    def as_option(self) -> str:
        """The value of `--implementation` for it: its name, or the file of its profile."""

    @property
    def upgraded_from(self) -> UnderTest | None:
        """The version that each process starts with; this one replaces it at the next start."""

    @property
    def on_wire(self) -> OnWire | None:
        """Stands between its writes and a simulated API server; None: nothing does."""

    def newly_installed(self) -> UnderTest:
        """The same where it replaces no other version."""

    @property
    def role(self) -> str:
        """The suite whose norm it implements."""

    @property
    def facts(self) -> OperatorFacts:
        """For the history's header: how late it may be, and what it lacks."""

    @property
    def installed(self) -> Installed | None:
        """Where it stands in the cluster, if it is not the suite that starts it."""

    @property
    def sees_whole_cluster(self) -> bool:
        """True if it watches every namespace, so that the harness must show it those of its run
        alone."""

    @property
    def acts_in_several_namespaces(self) -> bool:
        """False if each process is given a namespace of its own to act in."""

    @property
    def poke_every_us(self) -> Micros | None:
        """How often its objects are touched, so that it looks at them; None: it watches."""

    @property
    def polls_every_us(self) -> Micros | None:
        """How often it looks by itself, where nothing touches its objects; None: not known."""

    @property
    def behaviours(self) -> tuple[Declared, ...]:
        """Declared behaviours of its pods on the simulated cluster."""

    @property
    def answers(self) -> tuple[DeclaredAnswer, ...]:
        """Responses of Services to its requests in virtual time; others refuse connections."""

    def crds(self) -> tuple[Object, ...]:
        """The custom resource definitions that it brings."""

    def rbac(self) -> tuple[Object, ...]:
        """The roles that its users are given."""

    def webhooks(self, config: Mapping[str, Any], /) -> Webhooks:
        """Its admission webhooks as functions; none if it serves them itself, or has none."""

    @property
    def serves_webhooks(self) -> bool:
        """True if its process serves admission webhooks itself."""

    @property
    def fixed_port(self) -> int | None:
        """The port on which it always listens, so that a network can have but one of it; None:
        every port is its place's to choose."""

    @property
    def constant_names(self) -> Mapping[str, str]:
        """The names by which it always looks for its webhook configurations, by kind: runs on one
        cluster take turns at them."""

    @property
    def constant_folder(self) -> Path | None:
        """The folder in which it always looks for its certificate: runs on one machine take turns
        at it. None: it is its place's to choose."""

    def launch(self, place: Place) -> Launch:
        """How to start it there; writes the files that it will read."""

    @property
    def why_not_deployed(self) -> str:
        """Why the suite cannot deploy it in a cluster, and what to do; empty if it can."""

    def deployed(self, place: DeployedPlace) -> tuple[Object, ...]:
        """The objects that run it in a cluster: a Deployment scaled to 0, which is the last, and
        its dependencies. Raises NotDeployableError if it cannot be deployed."""
