"""The command line of every component.

The flags make an ordinary control plane fast to start and free of fixed addresses: no leader
election, no fsync, generous client limits, everything on the loopback address.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from clusters.control_plane import kwok, users
from clusters.control_plane.audit import MAX_MEGABYTES
from clusters.control_plane.binaries import Binaries
from clusters.control_plane.layout import Layout
from clusters.control_plane.pki import Pki
from clusters.control_plane.ports import LOOPBACK
from clusters.control_plane.settings import Settings

ETCD = "etcd"
ETCD_PEER = "etcd-peer"
API_SERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"

SERVICE_CIDR = "10.96.0.0/16"
# A loopback address is invalid as an endpoint. This one is never listened on or connected to.
ADVERTISED_ADDRESS = "10.255.255.254"
CLIENT_QPS = 2000
CLIENT_BURST = 4000
ETCD_QUOTA_BYTES = 4 * 1024**3


@dataclass(frozen=True)
class Plan:
    """The inputs to the commands: programs, files and ports."""

    binaries: Binaries
    layout: Layout
    pki: Pki
    settings: Settings
    ports: dict[str, int]

    @property
    def server(self) -> str:
        return f"https://{LOOPBACK}:{self.ports[API_SERVER]}"


def argv_of(component: str, plan: Plan) -> list[str]:
    """Return the program and flags of `component`, the user's extra flags last."""
    makers = {
        ETCD: _etcd,
        API_SERVER: _api_server,
        CONTROLLER_MANAGER: _controller_manager,
        SCHEDULER: _scheduler,
    }
    argv = makers[component](plan) if component in makers else _kwok(plan, component)
    return [*argv, *plan.settings.extra_arguments.get(component, ())]


def health_url(component: str, port: int) -> str:
    """A component's readiness endpoint."""
    if component in (CONTROLLER_MANAGER, SCHEDULER):
        return f"https://{LOOPBACK}:{port}/healthz"
    if component == API_SERVER:
        return f"https://{LOOPBACK}:{port}/readyz"
    path = "health" if component == ETCD else "healthz"
    return f"http://{LOOPBACK}:{port}/{path}"


def scheduler_configuration(plan: Plan) -> dict[str, object]:
    """Return the file for kube-scheduler's --config."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {
            "kubeconfig": str(plan.layout.kubeconfig_of(users.SCHEDULER.name)),
            "qps": CLIENT_QPS,
            "burst": CLIENT_BURST,
        },
        "podInitialBackoffSeconds": 1,
        "podMaxBackoffSeconds": 2,
    }


def _etcd(plan: Plan) -> list[str]:
    client = f"http://{LOOPBACK}:{plan.ports[ETCD]}"
    peer = f"http://{LOOPBACK}:{plan.ports[ETCD_PEER]}"
    return [
        str(plan.binaries.etcd.path),
        f"--data-dir={plan.layout.etcd_data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--heartbeat-interval=20",
        "--election-timeout=100",
        f"--quota-backend-bytes={ETCD_QUOTA_BYTES}",
        "--log-level=warn",
    ]


def _api_server(plan: Plan) -> list[str]:
    pki = plan.pki
    ca = pki.ca.certificate
    argv = [
        str(plan.binaries.kube_apiserver.path),
        f"--etcd-servers=http://{LOOPBACK}:{plan.ports[ETCD]}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={plan.ports[API_SERVER]}",
        f"--advertise-address={ADVERTISED_ADDRESS}",
        "--endpoint-reconciler-type=none",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        f"--tls-cert-file={pki.serving.certificate}",
        f"--tls-private-key-file={pki.serving.key}",
        f"--token-auth-file={plan.layout.tokens}",
        f"--client-ca-file={ca}",
        # Without these, controller manager and scheduler complain every 20 seconds.
        f"--requestheader-client-ca-file={ca}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki.service_account_public_key}",
        f"--service-account-signing-key-file={pki.service_account_key}",
        "--authorization-mode=RBAC",
        # So that a pod in a new namespace does not have to wait for its service account.
        "--disable-admission-plugins=ServiceAccount",
        "--enable-priority-and-fairness=false",
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
        # No compaction: a recorder may attach late and still see every revision.
        "--etcd-compaction-interval=0",
        "--etcd-count-metric-poll-period=0",
        "--etcd-db-metric-poll-interval=0",
        "--profiling=false",
    ]
    if plan.settings.audit:
        argv += [
            f"--audit-policy-file={plan.layout.audit_policy}",
            f"--audit-log-path={plan.layout.audit_log}",
            "--audit-log-mode=blocking",
            f"--audit-log-maxsize={MAX_MEGABYTES}",
        ]
    return argv


def _controller_manager(plan: Plan) -> list[str]:
    settings = plan.settings
    kubeconfig = plan.layout.kubeconfig_of(users.CONTROLLER_MANAGER.name)
    return [
        str(plan.binaries.kube_controller_manager.path),
        f"--kubeconfig={kubeconfig}",
        *_serving(kubeconfig, plan.ports[CONTROLLER_MANAGER]),
        "--leader-elect=false",
        # Each controller is a separate user in the audit log, with its ordinary role.
        "--use-service-account-credentials=true",
        f"--kube-api-qps={CLIENT_QPS}",
        f"--kube-api-burst={CLIENT_BURST}",
        "--concurrent-job-syncs=20",
        "--concurrent-namespace-syncs=20",
        f"--node-monitor-period={settings.node_monitor_period_seconds}s",
        f"--node-monitor-grace-period={settings.node_monitor_grace_seconds}s",
        f"--node-startup-grace-period={settings.node_startup_grace_seconds}s",
        f"--node-eviction-rate={settings.node_eviction_rate}",
        f"--secondary-node-eviction-rate={settings.node_eviction_rate}",
        f"--controllers={','.join(settings.controllers)}",
        "--profiling=false",
    ]


def _scheduler(plan: Plan) -> list[str]:
    kubeconfig = plan.layout.kubeconfig_of(users.SCHEDULER.name)
    return [
        str(plan.binaries.kube_scheduler.path),
        f"--config={plan.layout.scheduler_configuration}",
        *_serving(kubeconfig, plan.ports[SCHEDULER]),
    ]


def _serving(kubeconfig: Path, port: int) -> list[str]:
    """Flags for a component's own endpoint, with delegated authentication and authorization."""
    return [
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
    ]


def _kwok(plan: Plan, component: str) -> list[str]:
    zone = kwok.zone_of(component)
    return [
        str(plan.binaries.kwok.path),
        f"--kubeconfig={plan.layout.kubeconfig_of(users.KUBELET.name)}",
        f"--config={plan.layout.kwok_configuration(zone)}",
        f"--manage-nodes-with-label-selector={kwok.ZONE}={zone}",
        f"--server-address={LOOPBACK}:{plan.ports[component]}",
        f"--node-ip={LOOPBACK}",
        # No leases: a restarted process would have to wait until its predecessor's expire.
        "--node-lease-duration-seconds=0",
    ]
