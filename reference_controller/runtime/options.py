"""The settings of an operator that runs as a process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reference_controller.runtime.logs import LEVELS
from vocabulary.clock import SECOND, Micros


class OptionsError(ValueError):
    """An option that cannot be used; the message says which, why, and what to do."""


class ConfigError(ValueError):
    """A configuration that cannot be used; the message names the key and what to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorOptions:
    """The API server, the namespace to reconcile there, and the ports to listen on."""

    kubeconfig: Path | None = None
    """None: the service account where there is one, else $KUBECONFIG or ~/.kube/config."""
    context: str | None = None
    """None: the kubeconfig's current context."""
    namespace: str = ""
    """The only namespace whose objects are looked at; "" means all."""
    config_file: Path | None = None
    """The controller's own configuration; its format is the controller's."""
    mutant: str | None = None
    """The name of a mutant to run in the place of the sound controller."""

    workers: int = 4
    """The reconciles of each controller that run side by side."""
    resync_us: Micros | None = 10 * 3600 * SECOND
    """The interval at which every object is reconciled although nothing happened; None: never."""
    request_timeout_us: Micros = 15 * SECOND
    """The longest that one request may take before it counts as unanswered."""

    leader_elect: bool = False
    identity: str = ""
    """This replica's name in the Lease, unlike that of any other; "" makes one up."""
    lease_namespace: str = ""
    """"" means: the namespace this process runs in, or `default`."""
    lease_name: str = ""
    """"" means: a name that the controller chooses."""
    lease_duration_us: Micros = 15 * SECOND
    renew_deadline_us: Micros = 10 * SECOND
    retry_period_us: Micros = 2 * SECOND

    listen_host: str = "127.0.0.1"
    """The address of all servers below; `0.0.0.0` in a pod, so that probes reach them."""
    health_port: int | None = None
    """/healthz and /readyz; None: not served; 0: any free port (it is logged)."""
    metrics_port: int | None = None
    """/metrics; may be the same as `health_port`."""
    webhook_port: int | None = None
    """/mutate, /validate and, of a program with several versions, /convert, over HTTPS; needs
    certificate and key."""
    webhook_certificate: Path | None = None
    webhook_key: Path | None = None

    log_level: str = "info"
    user_agent: str = "assay-reference-controller"

    def __post_init__(self) -> None:
        """Raises OptionsError for a combination that cannot work."""
        if self.workers < 1:
            raise OptionsError(f"--workers is {self.workers}; give at least 1")
        if self.log_level not in LEVELS:
            raise OptionsError(
                f"--log-level is {self.log_level!r}; choose one of {', '.join(LEVELS)}"
            )
        for option, path in (
            ("--kubeconfig", self.kubeconfig),
            ("--config", self.config_file),
            ("--webhook-certificate", self.webhook_certificate),
            ("--webhook-key", self.webhook_key),
        ):
            if path is not None and not path.is_file():
                raise OptionsError(f"{option}: there is no file {path}; name an existing file")
        if self.webhook_port is not None and not (self.webhook_certificate and self.webhook_key):
            raise OptionsError(
                "--webhook-port needs a certificate and a key, since API servers call webhooks "
                "over HTTPS only: add --webhook-certificate and --webhook-key"
            )
