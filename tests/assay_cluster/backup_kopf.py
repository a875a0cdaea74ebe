"""An operator on kopf: each Backup gets a Job, which is deleted a week after its end; the status of
the Backup follows."""

from __future__ import annotations

from typing import Any

import kopf
from kubernetes import client, config

BACKUP = {"group": "example.dev", "version": "v1", "plural": "backups"}
WEEK_SECONDS = 7 * 24 * 3600


@kopf.on.startup()
def connect(settings: kopf.OperatorSettings, **_: Any) -> None:
    config.load_kube_config()
    # Events of kopf's own log would be writes that mean nothing.
    settings.posting.enabled = False


@kopf.on.create("example.dev", "v1", "backups")
def create_job(body: kopf.Body, name: str, namespace: str, patch: kopf.Patch, **_: Any) -> None:
    container = {"name": "backup", "image": "example.dev/backup", "command": ["sleep", "60"]}
    job = {
        "metadata": {"name": name},
        "spec": {
            "ttlSecondsAfterFinished": WEEK_SECONDS,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }
    kopf.append_owner_reference(job, owner=body)
    try:
        client.BatchV1Api().create_namespaced_job(namespace, job)
    except client.ApiException as error:
        if error.status != 409:  # an earlier attempt has created it
            raise kopf.TemporaryError(str(error.reason), delay=0.1) from error
    patch.status["phase"] = "Running"


@kopf.on.event("batch", "v1", "jobs")
def report(event: kopf.RawEvent, status: kopf.Status, name: str, namespace: str, **_: Any) -> None:
    is_gone = event["type"] == "DELETED"
    if is_gone or status.get("succeeded"):
        body = {"status": {"phase": "Expired" if is_gone else "Done"}}
        of = {**BACKUP, "namespace": namespace, "name": name}
        client.CustomObjectsApi().patch_namespaced_custom_object_status(**of, body=body)
