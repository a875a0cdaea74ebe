"""The kinds that are watched from the start.

Others can be wrapped as well. Each of them is watched from the first component on; since the
operator may lack the right to do so, these components are polled in any case.
"""

from __future__ import annotations

from typing import Final

from reference_controller.appwrapper.names import APPWRAPPER
from vocabulary.clock import MINUTE
from vocabulary.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    PYTORCH_JOB,
    REPLICA_SET,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
    Kind,
)

WATCHED_KINDS: Final[tuple[Kind, ...]] = (
    APPWRAPPER,
    POD,
    NODE,
    JOB,
    DEPLOYMENT,
    REPLICA_SET,
    STATEFUL_SET,
    PYTORCH_JOB,
    SERVICE,
    CONFIG_MAP,
    SECRET,
    SERVICE_ACCOUNT,
    PERSISTENT_VOLUME_CLAIM,
)

POLL_US: Final = 1 * MINUTE
"""How often a running workload's components of other kinds are looked at anyhow."""
