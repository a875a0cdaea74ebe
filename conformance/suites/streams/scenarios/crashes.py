"""Submissions that are interrupted, and what happens while the operator is down."""

from __future__ import annotations

from chaos.choice import PodChoice
from chaos.faults import DeletePod, HoldObject, Kill, KillPod, ReleaseObject, Start, TimeOut
from conformance.breaking import during, operator_away
from conformance.scenario_type import scenario
from conformance.suites.streams.api import HOST_POOL, OF_PE, PROCESSING_ELEMENT
from conformance.suites.streams.handle import StreamsJob, interrupted
from conformance.world import World
from vocabulary.clock import HOUR, MILLISECOND, MINUTE, SECOND
from vocabulary.kinds import CONFIG_MAP, POD, SERVICE, Kind

WHOLE = ["ST-006", "ST-009", "ST-016", "ST-017"]


@scenario(
    arms=["ST-001", "ST-004", "ST-012", "ST-014", "ST-015", "ST-025", "ST-026", "ST-029", *WHOLE],
    kills="only-what-is-missing",
)
def three_of_five_pods(world: World) -> None:
    """An operator that ends after three of five pods starts over; of those three one fails, one is
    deleted, and what they connect to has changed."""
    with interrupted(world, POD, 3) as its:
        world.inject(KillPod(PodChoice(labels=f"{OF_PE}=0")))
        world.inject(DeletePod(PodChoice(labels=f"{OF_PE}=1")))
        changed = {"spec": {"connectivity": "Partial", "launchCount": 3}}
        world.patch(PROCESSING_ELEMENT, "a-2", changed)
    world.until(its.is_submitted())


@scenario(arms=["ST-021", "ST-037", *WHOLE], kills="pods-deleted-without-label")
def pods_are_restarted_if_asked(world: World) -> None:
    """The deletion of what an interrupted attempt has made restarts none of its pods."""
    with interrupted(world, POD, 4) as its:
        pass
    world.until(its.is_submitted())


@scenario(
    arms=["ST-030", "ST-032", "ST-033", "ST-034", "ST-035", "ST-036", "ST-041", *WHOLE],
    kills="background-and-retry",
    cases={
        "import": ("Import", "a-0-0"),
        "service": ("Service", "a-2"),
        "element": ("ProcessingElement", "a-1"),
        "host-pool": ("HostPool", "a-0"),
    },
)
def part_is_held(world: World, part: tuple[str, str]) -> None:
    """While a finalizer keeps a part of the interrupted Job, the new Job is not created."""
    kind, name = part
    with interrupted(world, POD, 3) as its:
        world.inject(HoldObject(kind, name))
    world.wait(30 * SECOND)
    world.inject(ReleaseObject(kind, name))
    world.until(its.is_submitted(), 2 * MINUTE)


@scenario(arms=["ST-013", "ST-006"], kills="fresh-ones-are-replaced")
def nothing_had_begun(world: World) -> None:
    """A Job that is created while the operator is down is submitted as a new one."""
    with operator_away(world, for_us=5 * SECOND):
        its = StreamsJob.of(world)
    world.until(its.is_submitted())


@scenario(arms=["ST-008", "ST-012", *WHOLE], kills="whole-ones-are-fine")
def all_but_the_phase(world: World) -> None:
    """An operator that ends after the last pod and before it writes the phase starts over."""
    held = TimeOut(verb=("patch",), kind="Job.streams.conformance.dev", times=0, after=MINUTE)
    with during(world, held):
        its = StreamsJob.of(world)
        world.until(its.has_pods(5))
        world.wait(3 * SECOND)
        world.inject(Kill(restart_after=None))
    world.wait(5 * SECOND)
    world.inject(Start())
    world.until(its.is_submitted())
    world.wait(3 * MINUTE)


@scenario(arms=["ST-012", "ST-029", *WHOLE], kills="second-attempts-stay-interrupted")
def two_ends_in_a_row(world: World) -> None:
    """An operator that ends again in the second attempt, at an earlier write, starts over again."""
    with interrupted(world, POD, 3) as its:
        pass
    with during(world, TimeOut(verb=("create",), kind="Service", skip=2, times=0, after=MINUTE)):
        world.wait(5 * SECOND)
        world.inject(Kill(restart_after=None))
    world.wait(5 * SECOND)
    world.inject(Start())
    world.until(its.is_submitted(), 5 * MINUTE)


@scenario(arms=["ST-037", *WHOLE], kills="tells-by-time")
def all_within_a_second(world: World) -> None:
    """An operator that ends and starts in the second of the Job's creation starts over."""
    with during(world, TimeOut(verb=("create",), kind="Pod", skip=2, times=0, after=MINUTE)):
        its = StreamsJob.of(world)
        world.wait(200 * MILLISECOND)
        world.inject(Kill(restart_after=None))
    world.wait(100 * MILLISECOND)
    world.inject(Start())
    world.until(its.is_submitted())


@scenario(arms=["ST-004", *WHOLE], kills="waits-for-events")
def nothing_happens_any_more(world: World) -> None:
    """An interrupted submission starts over though nothing happens but the operator's start."""
    with interrupted(world, SERVICE, 2) as its:
        world.wait(HOUR)
    world.until(its.is_submitted())


@scenario(
    arms=["ST-012"],
    kills="unknown-phases-are-fine",
    cases={"other": "Launching", "none": None, "case": "submitted"},
)
def phase_is_tampered_with(world: World, phase: str | None) -> None:
    """The submission of an interrupted Job starts over, whatever else its phase says."""
    with interrupted(world, POD, 3) as its:
        its.patch({"spec": {"phase": phase}})
    world.until(its.is_submitted())


@scenario(
    arms=WHOLE,
    kills="carries-the-id",
    cases={
        "config-maps": (CONFIG_MAP, 4),
        "services": (SERVICE, 2),
        "host-pools": (HOST_POOL, 0),
        "elements": (PROCESSING_ELEMENT, 2),
        "pods": (POD, 0),
    },
)
def early_ends(world: World, write: tuple[Kind, int]) -> None:
    """An operator that ends at an earlier write starts over."""
    with interrupted(world, *write) as its:
        pass
    world.until(its.is_submitted())


@scenario(arms=["ST-018", *WHOLE], kills="what-is-missing-of-another-fusion")
def node_is_added(world: World) -> None:
    """A Job that leaves its number of ProcessingElements to the cluster is compiled anew as a
    whole."""
    with interrupted(world, POD, 1, fusion=None):
        world.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n9"}})
    world.until(StreamsJob(world, "a").is_submitted())


@scenario(arms=["ST-018", *WHOLE], kills="only-what-is-missing")
def bundle_is_pulled_again(world: World) -> None:
    """A Job whose bundle has changed while the operator was down is compiled anew as a whole."""
    bundle = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "words"}}
    world.create({**bundle, "data": {"splitter": "1"}})
    with interrupted(world, CONFIG_MAP, 4) as its:
        world.patch(CONFIG_MAP, "words", {"data": {"splitter": "2"}})
    world.until(its.is_submitted())


@scenario(
    arms=["ST-018", "ST-022", *WHOLE],
    kills="restarted-pods-are-stale",
)
def pods_run_the_bundle_of_before(world: World) -> None:
    """Pods that run what an earlier state of the bundle was compiled to are not left."""
    bundle = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "words"}}
    world.create({**bundle, "data": {"splitter": "1"}})
    with interrupted(world, POD, 3) as its:
        world.patch(CONFIG_MAP, "words", {"data": {"splitter": "2"}})
    world.until(its.is_submitted())


@scenario(arms=["ST-041"], kills="orphans")
def deletion_is_in_the_foreground(world: World) -> None:
    """An interrupted Job is deleted by a request whose policy is Foreground."""
    with interrupted(world, SERVICE, 2) as its:
        pass
    world.until(its.is_submitted())
