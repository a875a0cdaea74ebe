"""The contents of one operator process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reference_controller.runtime.admission_review import Webhooks
from reference_controller.runtime.controller import Controller
from reference_controller.runtime.conversion_review import Convert
from vocabulary.kinds import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """The controllers and webhooks of one operator process, under their configuration."""

    name: str
    """For logs and metrics, and as the name of its Lease."""
    controllers: tuple[Controller, ...]
    concurrency: Mapping[str, int] = field(default_factory=dict)
    """By controller name: workers, where they are other than the options say."""
    kinds: tuple[Kind, ...] = ()
    """The program's own kinds: their phases are logged."""
    webhooks: Webhooks = field(default_factory=dict)
    convert: Convert | None = None
    """Between the versions of its kinds; None: each has one."""
