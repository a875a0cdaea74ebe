"""An implementation profile: how to run, observe and fairly evaluate a third-party controller.

The types are the format: reading is strict, and the JSON schema is generated from them. It runs as
a `process` of this machine, or is installed in the cluster: a `deployment`, or `pods` of which
nothing else is known.
Texts may hold placeholders in braces, which are filled in for each operator process; see
`placeholders`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

Link: TypeAlias = Annotated[str, Meta(pattern=r"^https://[^\s/]+(/\S*)?$")]
"""Shown to readers as a link: no other scheme."""
Span: TypeAlias = Annotated[str, Meta(description="a duration as Go writes it: 500ms, 2s")]
Port: TypeAlias = Annotated[int, Meta(ge=1, le=65535)]
GoSum: TypeAlias = Annotated[str, Meta(pattern="^h1:[A-Za-z0-9+/]{43}=$")]
Name: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$",
        description="letters, digits, dots, hyphens and underscores only: my-operator-v1.2.0",
    ),
]
"""A part of file names, in the cache and in pages."""
KindName: TypeAlias = Annotated[
    str,
    Meta(
        pattern=r"^[A-Z][A-Za-z0-9]*(\.[a-z0-9.-]+)?$",
        description="a kind, and after a dot its group: Secret, Backup.example.dev",
    ),
]

RUN_NAMESPACE: Final = "{namespace}"


class _Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Unknown keys are errors: a misspelled one that is ignored would be a wrong verdict."""


class Origin(_Part, frozen=True, kw_only=True):
    """The implementation's author; goes into the report."""

    organization: str
    project: str
    url: Link
    version: str
    contact: tuple[str, ...] = ()


class GoModule(_Part, frozen=True, kw_only=True):
    """Where the program's released source is; the version is the implementation's."""

    path: str
    package: str
    """The main package, relative to the module: `./cmd`."""
    sum: GoSum | None = None
    """The module's checksum as go.sum has it, `h1:…`: what is built is what was meant."""


class Program(_Part, frozen=True, kw_only=True):
    """The program: built from a Go module into the cache, or a file that is there."""

    go_module: GoModule | None = None
    folder: str = ""
    """The module's source, relative to the profile; empty: Go downloads the released one."""
    path: str = ""
    """A file; relative to the profile."""
    runtime: Literal["", "python"] = ""
    """`python`: a file that Python runs, or Python itself. It can be given virtual time."""


class Grant(_Part, frozen=True, kw_only=True):
    """Rights to a kind of resource that its own roles lack, but that users of it need."""

    group: str
    resources: tuple[str, ...]


class Manifests(_Part, frozen=True, kw_only=True):
    """Files to install, as glob patterns; relative to the Go module, or else to the profile. Beside
    a Go module a pattern that begins with `./` is relative to the profile."""

    crds: tuple[str, ...]
    """A definition whose name came before is a patch of that one, as kustomize merges it."""
    rbac: tuple[str, ...] = ()
    """Roles; their bindings are made by the suite."""
    webhooks: tuple[str, ...] = ()
    """Webhook configurations, as kubebuilder writes them to config/webhook/manifests.yaml: their
    names are the run's, and they are called for its namespace alone."""
    grants: tuple[Grant, ...] = ()
    """Additional permissions granted by an administrator, so that users can wrap such resources."""


class Certificates(_Part, frozen=True, kw_only=True):
    """The certificate of its webhooks, as a volume of its pod."""

    mount_path: str
    """The folder in which it looks for tls.crt and tls.key; begins with the placeholder {folder},
    or is absolute: runs on this machine then take turns at it."""
    secret_name: str = ""
    """The Secret that it fills itself, as with cert-controller; it is created empty, and mounted.
    Without one the suite hands it both files, as cert-manager would."""
    secret_namespace: str = RUN_NAMESPACE
    """The namespace of that Secret, which begins with {namespace}; another one than the run's own
    is created with it."""


class InstalledAs(_Part, frozen=True, kw_only=True):
    """The names of its webhook configurations, where it looks for them by constant names."""

    mutating: str = ""
    validating: str = ""


class Webhooks(_Part, frozen=True, kw_only=True):
    """Where it serves the admission webhooks that its manifests register."""

    port: Port | Literal["{webhook_port}"]
    """A number, if it cannot be configured."""
    certificates: Certificates
    installed_as: InstalledAs = InstalledAs()
    """Empty names are the run's own; runs on a shared cluster take turns at others."""


class Process(_Part, frozen=True, kw_only=True):
    """How to start it, and how to see that it is ready."""

    command: tuple[str, ...]
    environment: dict[str, str] = {}
    working_dir: str = ""
    """Where it starts; relative to the profile. Empty: where Assay was started."""
    ready_path: str = "/readyz"
    """Answers 200 on the port that the placeholder {health_port} stands for. Empty: nothing is
    asked for, and it counts as ready once it has run for ten seconds."""
    webhooks: Webhooks | None = None
    """None: it runs without any."""


class Deployment(_Part, frozen=True, kw_only=True):
    """An operator that is installed in the cluster, and looks after all of its namespaces."""

    namespace: str
    name: str
    lease: str = ""
    """The Lease in that namespace by which it elects a leader: it has started once one of its
    pods holds that. Empty: it elects none."""


class Pods(_Part, frozen=True, kw_only=True):
    """An operator known only by its pods; its own controller recreates killed ones."""

    namespace: str
    selector: str
    """A label selector in text form: `app=operator`."""
    lease: str = ""
    """As of a Deployment."""


class ConfigMapRef(_Part, frozen=True, kw_only=True):
    """A ConfigMap in the operator's namespace which holds its configuration."""

    name: str
    key: str


class Configuration(_Part, frozen=True, kw_only=True):
    """How the run's configuration is passed to it."""

    document: dict[str, Any] = {}
    """Everything but the settings of the suite."""
    settings_under: tuple[str, ...] = ()
    """The keys below which those are laid: faultTolerance, autopilot, …"""
    durations: Literal["text", "nanoseconds"] = "text"
    """How the retry loop's spans are spelled: `"90s"`, or 90000000000."""
    config_map: ConfigMapRef | None = None
    """Without one it is the file that the placeholder {config} stands for. A process with
    neither is configured by its command and environment alone."""
    fixed: dict[str, Any] | None = None
    """The configuration of an installed operator that cannot be reconfigured, in the suite's own
    terms (faultTolerance, autopilot, …); other settings have the operator's own defaults."""


class Detection(_Part, frozen=True, kw_only=True):
    """How late it may notice what happens. Durations as Go writes them."""

    latency: Span
    """From a change (or a poke) to its reaction."""
    request_latency: Span = "500ms"
    """From deciding to write to the write being stored."""
    poke_every: Span = ""
    """How often an annotation of its objects is changed, so that it looks at them; empty: not."""
    polls_every: Span = ""
    """How often it looks at its objects by itself. Where `pokeEvery` is set and this is not, the
    scenarios that leave it untouched are not run."""
    clock_resolution: Span = ""
    """How coarse the times are that its timers count from: `1s` for those of conditions."""


class Lack(_Part, frozen=True, kw_only=True):
    """Something that it does not have, or that this profile does not switch on."""

    feature: str
    because: str
    claims: tuple[str, ...] = ()
    """Not judged, whatever its history says: reported as unsupported, or else as skipped. Without
    a core claim no run ends as conformant."""
    scenarios: tuple[str, ...] = ()
    """Not run."""
    switched_off: bool = False
    """It has the feature, and is run without it, since the suite could not run it otherwise."""


class Accepted(_Part, frozen=True, kw_only=True):
    """A finding of suite `operator` that is wanted: its claim is inconclusive, and fails no run."""

    claim: str
    text: Annotated[str, Meta(min_length=10)]
    """A part of the finding's text as the report has it. A finding without it is not accepted: what
    was accepted ends when the finding changes."""
    because: Annotated[str, Meta(min_length=1)]


class Difference(_Part, frozen=True, kw_only=True):
    """Claims that it is known not to keep, for one of perhaps several reasons. They are judged."""

    id: str = ""
    """A short name, `retry-pause-begins-too-early`, the same in all releases: of its section on the
    findings page, and of `assay profile findings --issue`."""
    claims: tuple[str, ...]
    scenarios: tuple[str, ...] = ()
    """Patterns of the scenarios in which they are broken for this reason: `jobset/success/*`,
    where `*` stands for any text. None, and no variants either: wherever they are broken."""
    variants: tuple[str, ...] = ()
    """Patterns of the variants of campaigns in which they are broken for this reason as well, in
    any scenario: `random plan *`."""
    fault: Literal["implementation", "text", "suite"]
    """The fault: the implementation; the sentence that the claims are based on, which has another
    reading; or the suite, which reports a violation where there is none."""
    because: str
    shown_by: tuple[str, ...] = ()
    """Phrases of which the text of a violation has one if it shows this reason; one without any
    has another reason. None: the scenario tells."""
    varies: str = ""
    """Why it shows in some runs and not in others; empty if that needs no explanation. Two reports
    that contradict each other because of it are explained by this."""
    link: Link | None = None
    """Where it can be looked up: a line of its source."""
    issue: Link | None = None
    """Where its authors speak of it: an issue, or a pull request."""


class PodBehaviour(_Part, frozen=True, kw_only=True):
    """The behaviour of pods on the simulated cluster that have a container like this."""

    image: str = "*"
    """A pattern, in which `*` stands for any text."""
    command: str = "*"
    """The same, for the command and its arguments with a space between two."""
    behaviour: str
    """In one line: `run 5s, exit 3`."""


class ServiceAnswer(_Part, frozen=True, kw_only=True):
    """The response of a Service's ready pods to HTTP requests of the operator, in virtual time."""

    service: str
    """A pattern of `NAME.NAMESPACE:PORT`, in which `*` stands for any text."""
    path: str = "*"
    """A pattern of the URL's path."""
    status: Annotated[int, Meta(ge=200, le=599)] = 200
    body: str = ""


class ImplementationProfile(_Part, frozen=True, kw_only=True):
    """One implementation, one version."""

    api_version: Literal["assay.dev/v1"]
    kind: Literal["ImplementationProfile"]
    name: Name
    suite: str
    """The suite of its operator."""
    implementation: Origin
    manifests: Manifests
    program: Program = Program()
    """Needed by a process; of a Deployment, at most the module that has its manifests."""
    process: Process | None = None
    deployment: Deployment | None = None
    pods: Pods | None = None
    configuration: Configuration
    detection: Detection
    watches: Literal["namespace", "cluster"] = "cluster"
    """`cluster`: it cannot be limited to one namespace; the suite's proxy shows it only one."""
    fields: dict[str, Any] = {}
    """Where its API keeps what the claims speak of; the norm's names by default."""
    features: tuple[str, ...] = ()
    keeps: tuple[KindName, ...] = ()
    """Kinds that stay when a subject is deleted, such as volumes; suite `operator` expects it."""
    volatile: tuple[str, ...] = ()
    """Fields that differ from run to run as they are meant to, as `assay explore` names them:
    `Cache.example.dev status.token`. Suite `operator` does not compare them."""
    accepts: tuple[Accepted, ...] = ()
    answers: tuple[ServiceAnswer, ...] = ()
    """Responses of Services to the operator: the first one that fits counts. Without one the
    connection is refused."""
    behaviours: tuple[PodBehaviour, ...] = ()
    """Suite `operator`: what the operator's pods do, where their commands do not say it. The first
    one that fits counts."""
    lacks: tuple[Lack, ...] = ()
    known_differences: tuple[Difference, ...] = ()
