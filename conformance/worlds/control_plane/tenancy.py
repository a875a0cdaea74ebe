"""The use of a control plane that was there before, and that stays.

`assay cluster up` leaves a control plane running; a suite that is sent there is its only
tenant for as long as it lasts. The kernel takes the lock back from a tenant that was killed,
so whatever is found on the cluster by the next one has been abandoned, and is removed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from conformance.clean import clean_cluster
from fixtures.control_plane.crds import CRDS
from fixtures.control_plane.launch import ControlPlane
from vocabulary.objects import Object, name_of

LOCK: Final = "tenant"


class TenancyError(Exception):
    """The control plane cannot be used; the message says why, and what to do."""


class Tenancy:
    """Holds the control plane in a folder. Use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        """TenancyError if there is no control plane, or one that is not ready."""
        self._folder = folder
        try:
            self.plane = ControlPlane.attach(folder)
        except FileNotFoundError:
            raise TenancyError(
                f"{folder}: no control plane runs there; start one with: "
                f"assay cluster up --folder {folder}"
            ) from None
        down = [part.name for part in self.plane.status() if not part.ready]
        if down:
            raise TenancyError(
                f"{folder}: {', '.join(down)} of the control plane is not ready; "
                f"start anew with: assay cluster down --folder {folder}"
            )

    def __enter__(self) -> Tenancy:
        self._descriptor = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise TenancyError(
                f"{self._folder}: another run uses this control plane; wait for its end, or "
                "start one of your own with: assay cluster up --folder ANOTHER"
            ) from None
        self._clean()
        return self

    def __exit__(self, *_: object) -> None:
        self._clean()
        os.close(self._descriptor)

    def require(self, crds: Iterable[Object]) -> None:
        """TenancyError if the control plane lacks a definition: later ones take half a minute."""
        there = {name_of(found) for found in self.plane.api().get(CRDS)["items"]}
        missing = [name_of(crd) for crd in crds if name_of(crd) not in there]
        if missing:
            raise TenancyError(
                f"{self._folder}: {', '.join(missing)} is not defined there, so it was started by "
                f"an earlier version; start anew with: assay cluster down --folder {self._folder}"
            )

    def _clean(self) -> None:
        clean_cluster(self.plane.kubeconfig(), remove=True)
