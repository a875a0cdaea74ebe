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

from clusters.control_plane import users
from clusters.control_plane.api import Api
from clusters.control_plane.crds import CRDS
from clusters.control_plane.launch import ControlPlane
from conformance.left_behind.clean import clean_cluster
from vocabulary.errors import ApiError
from vocabulary.objects import Object, meta, name_of

LOCK: Final = "tenant"


class LockError(Exception):
    """The control plane cannot be used; the message says why, and what to do."""


class ControlPlaneLock:
    """Holds the control plane in a folder. Use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        """LockError if there is no control plane, or one that is not ready."""
        self._folder = folder
        try:
            self.plane = ControlPlane.attach(folder)
        except FileNotFoundError:
            raise LockError(
                f"{folder}: no control plane runs there; start one with: "
                f"assay cluster up --folder {folder}"
            ) from None
        if strangers := [user.name for user in users.ALL if not self.plane.knows(user)]:
            raise LockError(
                f"{folder}: another version of the suite started this control plane, which does "
                f"not know the users {', '.join(strangers)}; start anew with: "
                f"assay cluster down --folder {folder} && assay cluster up --folder {folder}"
            )
        down = [part.name for part in self.plane.status() if not part.ready]
        if down:
            raise LockError(
                f"{folder}: {', '.join(down)} of the control plane is not ready; "
                f"start anew with: assay cluster down --folder {folder}"
            )

    def __enter__(self) -> ControlPlaneLock:
        self._descriptor = os.open(self._folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise LockError(
                f"{self._folder}: another run uses this control plane; wait for its end, or "
                "start one of your own with: assay cluster up --folder ANOTHER"
            ) from None
        self._clean()
        return self

    def __exit__(self, *_: object) -> None:
        self._clean()
        os.close(self._descriptor)

    def require(self, crds: Iterable[Object], implementation: str) -> None:
        """LockError if the control plane lacks a definition, or has another of its name: what
        is defined late takes half a minute to be known everywhere.

        `implementation` is whose definitions these are, as on the command line.
        """
        api = self.plane.api()
        there = {name_of(found): found for found in api.get(CRDS)["items"]}
        wanted = {name_of(crd): crd for crd in crds}
        others = [
            name
            for name, crd in wanted.items()
            if name not in there or not _is_defined(api, crd, there[name])
        ]
        if others:
            option = "" if implementation == "reference" else f" --implementation {implementation}"
            raise LockError(
                f"{self._folder}: {', '.join(others)} is not defined there, or not as "
                f"{implementation} defines it; start anew with: "
                f"assay cluster down --folder {self._folder} && "
                f"assay cluster up --folder {self._folder}{option}"
            )

    def _clean(self) -> None:
        clean_cluster(self.plane.kubeconfig(), remove=True)


def _is_defined(api: Api, wanted: Object, found: Object) -> bool:
    """True if the API server would change nothing if it got the definition once more: it fills in
    defaults, so that what it was given and what it holds cannot be compared here."""
    version = meta(found)["resourceVersion"]
    replaced = {**wanted, "metadata": {**meta(wanted), "resourceVersion": version}}
    try:
        after = api.put(f"{CRDS}/{name_of(wanted)}?dryRun=All", replaced)
    except ApiError as error:
        if error.reason != "Invalid":
            raise
        return False  # one cannot be made of the other
    return bool(after["spec"] == found["spec"])
