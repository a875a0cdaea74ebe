"""The requirements of a kind cluster: docker, kind and a node image, found and never downloaded.

pytest-kind downloads missing programs, and so does kind. Users of a suite do not expect that,
so missing ones are listed with the next step, unless `download` is set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ANSWER_SECONDS: Final = 60.0
NODE_IMAGES: Final = "kindest/node"
"""Where kind's own node images come from."""
DOWNLOAD: Final = "--download"
INOTIFY_INSTANCES: Final = Path("/proc/sys/fs/inotify/max_user_instances")
INSTANCES_OF_A_NODE: Final = 14
"""The kubelet's, its systemd's, containerd's: as counted on a node of Kubernetes 1.36."""


class KindError(Exception):
    """There is no kind cluster to be had; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Programs:
    """The programs found."""

    docker: str
    kind: Path | None
    """None: pytest-kind is to download it."""
    image: str
    """The image of the nodes; empty: kind is to pull the one that it was released with."""


def find(
    *,
    kind_bin: str = "",
    image: str = "",
    download: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Programs:
    """Find everything, or raise KindError for the first that is missing.

    `kind_bin` and `image` are what was asked for; the variables KIND and KIND_IMAGE come next,
    then the PATH and the images that Docker has.
    """
    variables = os.environ if environment is None else environment
    docker = _docker(variables)
    return Programs(
        docker=docker,
        kind=kind_program(variables, kind_bin, download=download),
        image=_image(docker, image or variables.get("KIND_IMAGE", ""), download=download),
    )


def require_watches(nodes: int, limit: Path = INOTIFY_INSTANCES) -> None:
    """KindError if the kernel lets so many nodes' kubelets watch too few files to work."""
    try:
        allowed = int(limit.read_text(encoding="ascii"))
    except FileNotFoundError:
        return  # no Linux; its Docker has a kernel of its own
    if allowed < nodes * INSTANCES_OF_A_NODE:
        enough = max(1024, 2 * nodes * INSTANCES_OF_A_NODE)
        raise KindError(
            f"fs.inotify.max_user_instances is {allowed}, and {nodes} nodes take "
            f"{nodes * INSTANCES_OF_A_NODE}; ask for fewer --workers, or raise it: "
            f"sudo sysctl fs.inotify.max_user_instances={enough}"
        )


def asked(docker: str, *arguments: str) -> str:
    """The output of docker. Raises KindError with its own message if it fails."""
    command = [docker, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=ANSWER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise KindError(
            f"{docker} {arguments[0]}: no answer within {ANSWER_SECONDS:g} s; restart the Docker "
            "daemon, or name another by DOCKER_HOST"
        ) from error
    if done.returncode != 0:
        raise KindError(f"docker {' '.join(arguments)}: {done.stderr.strip() or 'failed'}")
    return done.stdout.strip()


def _docker(variables: Mapping[str, str]) -> str:
    docker = shutil.which("docker", path=variables.get("PATH"))
    if docker is None:
        raise KindError("docker is not in the PATH; install Docker, whose containers play nodes")
    try:
        asked(docker, "version", "--format", "{{.Server.Version}}")
    except KindError as error:
        raise KindError(
            f"no Docker daemon answers ({error}); start one, or name it by DOCKER_HOST"
        ) from error
    return docker


def kind_program(
    variables: Mapping[str, str], kind_bin: str = "", *, download: bool = False
) -> Path | None:
    """Where kind is; None if it is to be downloaded. KindError if it is nowhere."""
    asked_for = kind_bin or variables.get("KIND", "")
    found = shutil.which(asked_for or "kind", path=variables.get("PATH"))
    if found is not None:
        return Path(found).absolute()
    if asked_for:
        raise KindError(f"{asked_for}: there is no such program; give the path of a kind binary")
    if download:
        return None
    raise KindError(
        "kind is not in the PATH; install it (https://kind.sigs.k8s.io), name it by --kind-bin or "
        f"the variable KIND, or let it be downloaded: {DOWNLOAD}"
    )


def _image(docker: str, asked_for: str, *, download: bool) -> str:
    if download:
        return asked_for
    if asked_for:
        try:
            asked(docker, "image", "inspect", "--format", "{{.Id}}", asked_for)
        except KindError as error:
            raise KindError(
                f"node image {asked_for}: Docker does not have it; docker pull {asked_for}, "
                f"or let kind do that: {DOWNLOAD}"
            ) from error
        return asked_for
    listed = asked(docker, "images", NODE_IMAGES, "--format", "{{.Repository}}:{{.Tag}}")
    tagged = [line for line in listed.splitlines() if not line.endswith(":<none>")]
    if tagged:
        return tagged[0]  # the newest: docker lists by age
    raise KindError(
        f"Docker has no image {NODE_IMAGES}; name a node image by --kind-image or the variable "
        f"KIND_IMAGE, or let kind pull its own: {DOWNLOAD}"
    )
