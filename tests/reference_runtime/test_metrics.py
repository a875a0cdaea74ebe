"""The contents of /metrics, in addition to the process tests."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from reference_controller.runtime.controller import Key
from reference_controller.runtime.metrics import Metrics
from vocabulary.clock import MILLISECOND
from vocabulary.errors import ApiError, conflict
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.requests import Delete, Get, create


class Counted(NamedTuple):
    name: str
    labels: dict[str, str]
    value: float


class Made:
    help: ClassVar = {"toy_made_total": "Things made."}

    def __init__(self) -> None:
        self.made = [Counted("toy_made_total", {"kind": "Pod"}, 3)]

    def samples(self) -> list[Counted]:
        return self.made


def toy_metrics() -> Metrics:
    return Metrics("toy", [CONFIG_MAP], "api:6443")


def sampled(metrics: Metrics) -> dict[str, float]:
    """The values on the page, by name and labels as it writes them."""
    lines = metrics.expose().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def test_a_controllers_own_counters_and_gauges_are_exposed_as_they_stand_at_that_moment() -> None:
    counters = Made()
    metrics = toy_metrics()
    metrics.add(counters)
    counters.made.append(Counted("toy_made_total", {"kind": "Job"}, 4))
    counters.made.append(Counted("toy_usage", {"kind": "Job"}, 0.5))
    exposed = metrics.expose().decode()
    assert "# HELP toy_made_total Things made." in exposed
    assert 'toy_made_total{kind="Pod"} 3.0' in exposed
    assert 'toy_made_total{kind="Job"} 4.0' in exposed
    assert "# TYPE toy_usage gauge" in exposed
    assert 'toy_usage{kind="Job"} 0.5' in exposed


def test_requests_and_reconciles_have_the_names_and_labels_of_controller_runtime() -> None:
    metrics = toy_metrics()
    unanswered = ApiError(0, "", "nobody listens")
    metrics.answered(Get(POD, "ns", "a"), unanswered, 2 * MILLISECOND)
    metrics.answered(create({"apiVersion": "v1", "kind": "Pod"}), None, 2 * MILLISECOND)
    stale = conflict(POD, "a", "stale")
    metrics.answered(Delete(POD, "ns", "a"), stale, 2 * MILLISECOND)
    metrics.reconciled("toy", Key("ns", "a"), "failed", stale, 0, 4 * MILLISECOND)
    metrics.reconciled("toy", Key("ns", "a"), "done", None, 0, 4 * MILLISECOND)
    samples = sampled(metrics)
    requests = 'rest_client_requests_total{code="%s",host="api:6443",method="%s"}'
    assert samples[requests % ("<error>", "GET")] == 1
    assert samples[requests % ("201", "POST")] == 1
    assert samples[requests % ("409", "DELETE")] == 1
    seconds = 'rest_client_request_duration_seconds_bucket{host="api:6443",le="0.003",verb="GET"}'
    assert samples[seconds] == 1
    reconciles = 'controller_runtime_reconcile_total{controller="toy",result="%s"}'
    assert (samples[reconciles % "error"], samples[reconciles % "success"]) == (1, 1)
    span = 'controller_runtime_reconcile_time_seconds_bucket{controller="toy",le="%s"}'
    assert (samples[span % "0.003"], samples[span % "0.01"]) == (0, 2)


def test_a_bug_counts_as_an_error_and_as_a_panic() -> None:
    metrics = toy_metrics()
    metrics.reconciled("toy", Key("ns", "a"), "crashed", ValueError("a bug"), 0, 0)
    samples = sampled(metrics)
    assert samples['controller_runtime_reconcile_panics_total{controller="toy"}'] == 1
    assert samples['controller_runtime_reconcile_total{controller="toy",result="error"}'] == 1


def test_who_leads_and_how_long_the_queue_is_are_told_by_name() -> None:
    metrics = toy_metrics()
    metrics.leadership_changed(True)
    metrics.queue_depth.labels("toy").set(3)
    samples = sampled(metrics)
    assert samples['leader_election_master_status{name="toy"}'] == 1
    assert samples['workqueue_depth{name="toy"}'] == 3


def test_nothing_is_exposed_that_only_this_client_library_has() -> None:
    metrics = toy_metrics()
    metrics.answered(Get(POD, "ns", "a"), None, 0)
    metrics.reconciled("toy", Key("ns", "a"), "done", None, 0, 0)
    assert not [name for name in sampled(metrics) if "_created" in name]
