"""MLB-001, 002, 025 to 028, 030: what an AppWrapper does for what it wraps.

Most are claims of AppWrapper's own suite. In its runs they would say the same twice, so that these
are judged beside Kueue alone.
"""

from __future__ import annotations

from typing import Final

from conformance.norm import WRITERS, Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.appwrapper.claims.detection import everything_is_monitored
from conformance.suites.appwrapper.claims.failed import deletion_is_delayed
from conformance.suites.appwrapper.claims.quota_release import (
    nothing_is_left_while_nothing_is_deployed,
)
from conformance.suites.appwrapper.claims.retry_limit import retry_limit_is_exact
from conformance.suites.appwrapper.claims.success import (
    succeeded_workloads_are_deleted_after_their_ttl,
)
from conformance.suites.appwrapper.decisions import A1, A8, A9, A19, A20
from conformance.suites.appwrapper.judging import claim, claim_of_history
from conformance.suites.appwrapper.parameters import SUCCESS_TTL
from conformance.suites.appwrapper.sources import guide
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.history import AppWrapperHistory
from conformance.suites.mlbatch.claims.checks import flaw
from vocabulary.objects import Object, get_path

_INTRODUCTION: Final = "Introduction"
_APP_WRAPPERS: Final = "AppWrappers"


def _is_queued(aw: AppWrapperRun) -> bool:
    return "kueue" in aw.history.operators


@claim(
    "MLB-001",
    guide(_INTRODUCTION, 3),
    decision=(A19, A20),
    armed_by="AppWrapper of several components was removed from the cluster",
    from_any_versions=True,
)
def components_are_one_unit(aw: AppWrapperRun) -> Obligations:
    """The components of an AppWrapper MUST be removed together, whichever of them failed."""
    is_bundle = _is_queued(aw) and len(aw.components) > 1
    return nothing_is_left_while_nothing_is_deployed(aw) if is_bundle else ()


@claim(
    "MLB-002",
    guide(_INTRODUCTION, 4),
    armed_by="resource or pod failed while the workload was Running",
)
def failures_are_detected(aw: AppWrapperRun) -> Obligations:
    """A failure of anything that an AppWrapper wraps MUST be detected while it runs."""
    return everything_is_monitored(aw) if _is_queued(aw) else ()


@claim(
    "MLB-025",
    guide(_APP_WRAPPERS, 7),
    decision=A9,
    armed_by="AppWrapper with a delayed deletion entered Failed",
    needs=(WRITERS,),
)
def failed_ones_can_be_debugged(aw: AppWrapperRun) -> Obligations:
    """A grace period that its user configured MUST pass before what has failed is deleted, up to
    the administrator's bound."""
    return deletion_is_delayed(aw) if _is_queued(aw) else ()


@claim(
    "MLB-026",
    guide(_APP_WRAPPERS, 8),
    decision=A8,
    armed_by="AppWrapper without a TTL of its own was Succeeded for a week",
    needs=(WRITERS,),
)
def succeeded_ones_are_disposed_of(aw: AppWrapperRun) -> Obligations:
    """The objects of a completed AppWrapper MUST be disposed of, by default after a week."""
    is_default = _is_queued(aw) and not aw.is_annotated(SUCCESS_TTL)
    return succeeded_workloads_are_deleted_after_their_ttl(aw) if is_default else ()


@claim(
    "MLB-027",
    guide(_APP_WRAPPERS, 9),
    decision=A1,
    armed_by="failure that is retried or ends the retries",
)
def retries_are_configured(aw: AppWrapperRun) -> Obligations:
    """A failed AppWrapper MUST be retried as often as is configured, and no more."""
    return retry_limit_is_exact(aw) if _is_queued(aw) else ()


@claim_of_history(
    "MLB-028",
    guide(_APP_WRAPPERS, 10),
    armed_by="AppWrapper of a pod, without pod sets, was submitted",
    from_any_versions=True,
)
def minimal_form_is_enough(history: AppWrapperHistory) -> Obligations:
    """An AppWrapper that wraps a pod MUST be accepted, and run, with nothing but `template`."""
    for aw in history.appwrappers:
        running = next(aw.in_phase("Running"), None)
        if running is not None and _is_minimal(aw.submitted or {}):
            yield met(running.begin)
    parameters = history.operator.under_test.parameters
    if history.faults or parameters.get("userRBACAdmissionCheck", True):
        return  # others may have refused it, or the user may not have had the right
    for write in history.refused_appwrappers:
        is_admission = write.verb == "create" and write.code in (403, 422)
        if is_admission and _is_minimal(write.submitted or {}) and not flaw(history, write):
            yield violated(
                write, f"appwrapper/{write.name}, which wraps a pod, was refused at {when(write)}."
            )


def _is_minimal(submitted: Object) -> bool:
    """True if each component is a pod, and nothing but `template` is said of it."""
    components = get_path(submitted, "spec.components") or ()
    return bool(components) and all(
        set(each) == {"template"} and each["template"].get("kind") == "Pod" for each in components
    )


@claim_of_history(
    "MLB-030",
    guide(_APP_WRAPPERS, 12),
    level=Level.EXTENDED,
    armed_by="CustomResourceDefinition of AppWrapper was stored",
    from_any_versions=True,
)
def incompatible_version_is_not_served(history: AppWrapperHistory) -> Obligations:
    """AppWrappers of version v1beta1 MUST NOT be served: they are not compatible."""
    for track in history.by_kind.get("CustomResourceDefinition.apiextensions.k8s.io", ()):
        if track.name != history.profile.custom_resource:
            continue
        served = [
            str(version.get("name"))
            for version in get_path(track.last, "spec.versions") or ()
            if version.get("served")
        ]
        if "v1beta1" in served:
            yield violated(track.versions[-1], f"{track} serves {', '.join(served)}.")
        else:
            yield met(track.created)
