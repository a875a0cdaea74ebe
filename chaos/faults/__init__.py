"""Every general fault. To add one, add it to a file here, and import that file.

- `node_taint`, `node_label`, `node_lost`: nodes that turn pods away, drive them out or vanish.
- `pod`: pods that crash, are evicted or deleted, or get stuck.
- `process`: the operator and other controllers, killed, restarted, paused, doubled.
- `lease`: the operator's Lease, taken by another holder.
- `api_error`, `watch`: what lies between a client and the API server.
- `delete_object`, `create_object`, `edit_object`, `suspend`, `tamper`: what users do.

Suites bring faults of their own, which are registered as their modules are imported.
"""

from typing import Final

from chaos.faults.api_error import (
    ApiErrors,
    ConnectionFault,
    Lift,
    LoseReply,
    SlowApi,
    TimeOut,
    WebhookOutage,
)
from chaos.faults.create_object import CreateObject
from chaos.faults.delete_object import DeleteObject, HoldObject, ReleaseObject
from chaos.faults.edit_object import EditObject
from chaos.faults.lease import ReturnLease, TakeLease
from chaos.faults.node_label import Cordon, LabelNode, NodeNotReady, Uncordon
from chaos.faults.node_lost import NodeDeleted, NodeLost
from chaos.faults.node_taint import Taint, Untaint
from chaos.faults.pod import DeletePod, EvictPod, KillPod, StickPod
from chaos.faults.process import DoubleOperator, Kill, Pause, Restart, Resume, Start
from chaos.faults.suspend import Suspend
from chaos.faults.tamper import Tamper
from chaos.faults.watch import BreakWatch, DelayWatch, StaleReads

UNDOING: Final = frozenset(
    ("lift", "release_object", "resume", "return_lease", "start", "uncordon", "untaint")
)
"""Kinds that put right what others broke: a suite need not inject them on their own."""
