"""AppWrappers as plans see them: how one is labelled, composed, varied and struck."""

from __future__ import annotations

from chaos.subject_kind import SubjectKind, register
from conformance.suites.appwrapper.api import APPWRAPPER, APPWRAPPER_LABEL
from conformance.suites.appwrapper.faults.autopilot import random_autopilot_label
from conformance.suites.appwrapper.faults.random_variation import random_variation
from conformance.suites.appwrapper.faults.variation import AppWrapperVariation

register(
    SubjectKind(
        APPWRAPPER,
        label=APPWRAPPER_LABEL,
        role="appwrapper",
        components="spec.components",
        component_name="template.metadata.name",
        implied={"webhook_outage": {"kind": APPWRAPPER.kind}},
        deployment=("appwrapper-system", "appwrapper-controller-manager"),
        menu={"autopilot_label": random_autopilot_label},
        variation=AppWrapperVariation,
        random_variation=random_variation,
    )
)
