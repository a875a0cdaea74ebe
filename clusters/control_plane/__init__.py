"""A real Kubernetes control plane in three seconds, without containers.

etcd, kube-apiserver, kube-controller-manager and kube-scheduler run as ordinary processes;
KWOK plays the kubelets. Admission, garbage collection, the Job controller, scheduling and the
node life cycle are real; only the containers are simulated.

A tour of the package, in the order of a run:

- `versions` pins the programs, `builder` builds them once into a cache, `binaries` finds them.
- `settings` are the options, `layout` the file names, `users` the API users.
- `pki`, `kubeconfig`, `audit` and `kwok` make the files that the components read;
  `commands` makes their command lines.
- `launch.ControlPlane` starts everything in the right order, and can kill, pause, resume and
  restart each component. `starting` waits for them and retries failed starts; `process` ensures
  that no process outlives its parent.
- `crds` and `nodes` fill the cluster, through `api`, a client of a hundred lines.
- `state` remembers what runs, so that `cluster.up`, `down` and `status` work across commands.

    with ControlPlane(folder, Settings(zones=("a", "b"))) as plane:
        api = plane.api(users.SCENARIO_USER)
        nodes.create(api, [FakeNode("n0", "a", capacity={"nvidia.com/gpu": "8"})])
        nodes.wait_ready(api, ["n0"])
        plane.pause(kwok.component("a"))        # n0 is lost
        plane.restart("kube-controller-manager")
        events, _ = audit.read(plane.audit_log)

A pod's behaviour is set by its annotations: see `kwok`.
"""

from clusters.control_plane import audit, crds, kwok, nodes, users
from clusters.control_plane.api import Api
from clusters.control_plane.binaries import Binaries, BinariesMissingError, locate
from clusters.control_plane.builder import BuildError, BuildStep, build
from clusters.control_plane.cluster import ClusterStatus, down, status, up
from clusters.control_plane.health import ComponentStatus
from clusters.control_plane.launch import AlreadyRunningError, ControlPlane
from clusters.control_plane.nodes import FakeNode
from clusters.control_plane.settings import Settings
from clusters.control_plane.starting import StartError
from clusters.control_plane.users import User
from clusters.control_plane.waiting import WaitTimeoutError, wait_until

__all__ = [
    "AlreadyRunningError",
    "Api",
    "Binaries",
    "BinariesMissingError",
    "BuildError",
    "BuildStep",
    "ClusterStatus",
    "ComponentStatus",
    "ControlPlane",
    "FakeNode",
    "Settings",
    "StartError",
    "User",
    "WaitTimeoutError",
    "audit",
    "build",
    "crds",
    "down",
    "kwok",
    "locate",
    "nodes",
    "status",
    "up",
    "users",
    "wait_until",
]
