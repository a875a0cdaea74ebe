"""The operator of `backup_operator` with a bug: it ignores everything before its start."""

from __future__ import annotations

import queue
from typing import Any

import backup_operator
from kubernetes import watch


def follow(listed: Any, options: dict[str, str], work: queue.SimpleQueue[tuple[str, str]]) -> None:
    now = listed(**options)
    version = (
        now["metadata"]
        if isinstance(now, dict)
        else {"resourceVersion": now.metadata.resource_version}
    )
    since = version["resourceVersion"]
    for event in watch.Watch().stream(listed, **options, resource_version=since):
        found = event["object"]
        of = found["metadata"] if isinstance(found, dict) else found.metadata.to_dict()
        work.put((of["namespace"], of["name"]))


backup_operator.follow = follow
backup_operator.main()
