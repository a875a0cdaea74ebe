"""Settings of the built-in controllers: the flags of the real ones, by their names."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from vocabulary.clock import MINUTE, SECOND, Micros
from vocabulary.objects import Object


@dataclass(frozen=True, slots=True)
class Declared:
    """The behaviour of pods of which a container has an image and a command like these."""

    image: str
    """A pattern, in which `*` stands for any text."""
    command: str
    """The same, for the command and its arguments with a space between two."""
    behaviour: str
    """In one line, see `clusters.behaviour`."""

    def covers(self, pod_spec: Object) -> bool:
        return any(
            fnmatchcase(str(each.get("image", "")), self.image)
            and fnmatchcase(" ".join(words_of(each)), self.command)
            for each in pod_spec.get("containers") or ()
        )


def words_of(container: Object) -> list[str]:
    """Its command and its arguments, as far as the pod names them."""
    return [*map(str, container.get("command") or ()), *map(str, container.get("args") or ())]


@dataclass(frozen=True, slots=True)
class Settings:
    """Defaults are those of Kubernetes 1.36."""

    job_sync_batch_us: Micros = 1 * SECOND
    """How long the Job controller gathers pod events before it syncs a Job."""
    job_pod_backoff_us: Micros = 10 * SECOND
    """Wait before a failed pod is replaced; doubled with every further failure."""
    job_pod_backoff_limit_us: Micros = 10 * MINUTE
    node_monitor_grace_us: Micros = 50 * SECOND
    """Silence of a kubelet after which its node's conditions become Unknown."""
    node_monitor_period_us: Micros = 5 * SECOND
    node_eviction_interval_us: Micros = 10 * SECOND
    """In one zone, the time from the eviction of one node to that of the next."""
    pod_gc_quarantine_us: Micros = 40 * SECOND
    """How long a Node object must be gone before its pods are taken as lost."""
    pod_gc_period_us: Micros = 20 * SECOND
    gc_discovery_period_us: Micros = 30 * SECOND
    """How often the garbage collector looks for new resource types."""
    gc_resource_version_precondition: bool = True
    """Deletes of the garbage collector name the resourceVersion they judged (1.34 and later)."""
    crash_loop_backoff_us: Micros = 10 * SECOND
    """Wait before a kubelet restarts a container that crashed again; doubled up to the limit."""
    crash_loop_backoff_limit_us: Micros = 5 * MINUTE
    reads_commands: bool = False
    """Have kubelets play a behaviour in one line, and where there is none, what the containers'
    commands do, and tell by Events what they do not understand. The harness writes single
    annotations instead, so that histories depend on no command."""
    behaviours: tuple[Declared, ...] = ()
    """Declared behaviours: for pods without an annotation, and before commands."""
    endpoint_slices: bool = False
    """Run the EndpointSlice controller. It is off by default, since each Service would add its
    writes to the history."""
    every_kind: bool = False
    """Serve every built-in kind of Kubernetes, and run the disruption controller. It is off by
    default, since suites use none of these kinds."""
    tells_uncontrolled: bool = False
    """Tell by an Event that no controller acts on an object, where a real cluster has one. A real
    cluster sends no such Events, so only people who look at a served cluster get them."""
    controlled_elsewhere: frozenset[str] = frozenset()
    """Custom kinds that another controller acts on, such as an operator under test: those of the
    simulation for these kinds do not run."""
