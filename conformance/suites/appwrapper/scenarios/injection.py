"""Injections into created objects: labels, scheduler names; and into the AppWrapper itself."""

from __future__ import annotations

from chaos.faults import DeletePod
from conformance.scenario_type import scenario
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.suites.appwrapper.handle import AppWrapper, renamed
from conformance.suites.appwrapper.scenarios.common import FIRST_POD
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.objects import Object


@scenario(
    arms=["AW-020"],
    cases={
        "pod": "pods.yaml",
        "job": "job.yaml",
        "deployment": "deployment.yaml",
        "stateful-set": "stateful_set.yaml",
    },
)
def every_pod_is_labelled(world: World, manifest: str) -> None:
    """Every pod has the AppWrapper's label, whichever controller created it."""
    aw = AppWrapper.submit(world, manifest)
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(SECOND)


@scenario(arms=["AW-020", "AW-046"])
def replaced_pods_are_labelled(world: World) -> None:
    """A pod which its Deployment creates anew carries the label as well."""
    aw = AppWrapper.submit(world, "deployment.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.inject(DeletePod(FIRST_POD))
    world.until(aw.has_pods(2, "Running"))
    world.wait(2 * world.durations.failure_grace_us)


@scenario(arms=["AW-020"], only_simulated="the control plane has no training operator")
def pods_of_a_pytorch_job_are_labelled(world: World) -> None:
    """Master and workers of a PyTorchJob carry the AppWrapper's label."""
    aw = AppWrapper.submit(world, "pytorch_job.yaml", behaviour="run 5s, exit 0")
    world.until(aw.is_in("Succeeded"))


@scenario(arms=["MLB-022"], config={"schedulerName": "batch-scheduler"})
def scheduler_is_named(world: World) -> None:
    """Pods get the configured scheduler where their user named none, and keep it where he did."""
    unnamed = AppWrapper.submit(world, "pod.yaml")
    named = AppWrapper.submit(world, renamed(AppWrapper.manifest(world, "own_scheduler.yaml"), "b"))
    world.until(named.is_in("Running") & named.shows("PodsReady"))
    world.until(unnamed.is_in("Running"))
    unnamed.delete()
    world.until(unnamed.is_gone())


@scenario(arms=["MLB-020", "MLB-021"], config={"defaultQueueName": "default-queue"})
def user_and_queue_are_written_down(world: World) -> None:
    """An AppWrapper carries who submitted it and which queue it waits in; forgery is refused."""
    manifest = AppWrapper.manifest(world, "pod.yaml")
    aw = AppWrapper.submit(world, _forged(manifest))
    queued = renamed(manifest, "b")
    own_queue = {"kueue.x-k8s.io/queue-name": "own-queue"}
    AppWrapper.submit(world, {**queued, "metadata": {**queued["metadata"], "labels": own_queue}})
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    _try_to_forge(world, aw)
    world.wait(SECOND)


@scenario(arms=["MLB-020"], needs_users=True)
def users_of_identity_providers_are_written_down(world: World) -> None:
    """A user whose name and id no label can hold submits like any other, and is written down."""
    aw = AppWrapper.submit(world, "pod.yaml", actor="federated-user")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


@scenario(
    arms=["MLB-020"],
    kills="service-accounts-are-believed",
    needs_users=True,
    only_simulated="no service account submits on real clusters",
)
def service_accounts_are_written_down(world: World) -> None:
    """A service account that submits is written down by its own name, whatever it wrote there."""
    forged = _forged(AppWrapper.manifest(world, "pod.yaml"))
    aw = AppWrapper.submit(world, forged, actor="service-account")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))


def _forged(manifest: Object) -> Object:
    """The AppWrapper with another user's name and id on it."""
    labels = {
        "workload.codeflare.dev/user": "somebody-else",
        "workload.codeflare.dev/userid": "1000",
    }
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def _try_to_forge(world: World, aw: AppWrapper) -> None:
    body = {"metadata": {"labels": {"workload.codeflare.dev/user": "somebody-else"}}}
    try:
        world.patch(APPWRAPPER, aw.name, body)
    except ApiError as refused:
        if refused.code not in (403, 422):
            raise


@scenario(arms=["INV-3", "AW-006"])
def unknown_kinds_are_created_and_deleted(world: World) -> None:
    """A kind which the operator has never heard of is created, replaced and deleted like others."""
    world.install("widget_crd.yaml")
    aw = AppWrapper.submit(world, "exotic.yaml", behaviour="run 2s, exit 1", retryLimit=1)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["INV-3", "AW-048"])
def generated_names_do_not_multiply(world: World) -> None:
    """Components that take a generated name exist once per attempt."""
    aw = AppWrapper.submit(world, "generated_names.yaml", behaviour="run 2s, exit 1", retryLimit=1)
    world.until(aw.is_in("Failed"))
    world.until(aw.shows("QuotaReserved", "False"))


@scenario(arms=["AW-100", "AW-089"], gpus=4)
def what_the_user_wrote_is_kept(world: World) -> None:
    """Affinity, tolerations, labels and annotations of a template stay beside what is injected."""
    aw = AppWrapper.submit(world, "elaborate_gpu_job.yaml")
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(SECOND)
