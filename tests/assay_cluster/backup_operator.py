"""An operator on the official client: each Backup gets a Job, which is deleted a week after its
end; the status of the Backup follows."""

from __future__ import annotations

import queue
import threading
import time
from typing import Any

from kubernetes import client, config, watch

GROUP = {"group": "example.dev", "version": "v1", "plural": "backups"}
WEEK_SECONDS = 7 * 24 * 3600


def main() -> None:
    config.load_kube_config()
    work: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()
    backups = client.CustomObjectsApi().list_cluster_custom_object
    for listed, options in (
        (backups, GROUP),
        (client.BatchV1Api().list_job_for_all_namespaces, {}),
    ):
        threading.Thread(target=follow, args=(listed, options, work), daemon=True).start()
    while True:
        namespace, name = work.get()
        try:
            reconcile(namespace, name)
        except client.ApiException as error:
            print(f"{namespace}/{name}: {error.status} {error.reason}; again", flush=True)
            again = threading.Timer(0.05, work.put, ((namespace, name),))
            again.daemon = True
            again.start()


def follow(listed: Any, options: dict[str, str], work: queue.SimpleQueue[tuple[str, str]]) -> None:
    """Queue the name of each object that comes, changes or goes, for good."""
    while True:
        try:
            for event in watch.Watch().stream(listed, **options):
                found = event["object"]
                of = found["metadata"] if isinstance(found, dict) else found.metadata.to_dict()
                work.put((of["namespace"], of["name"]))
        except client.ApiException as error:
            print(f"watch: {error.status} {error.reason}; again", flush=True)
            time.sleep(1)


def reconcile(namespace: str, name: str) -> None:
    of = {**GROUP, "namespace": namespace, "name": name}
    backup = found(client.CustomObjectsApi().get_namespaced_custom_object, **of)
    if backup is None:
        return
    before = backup.get("status", {}).get("phase", "")
    jobs = client.BatchV1Api()
    job = found(jobs.read_namespaced_job, name=name, namespace=namespace)
    if job is None and before not in ("Done", "Expired"):
        jobs.create_namespaced_job(namespace, job_for(backup))
        return
    phase = "Expired" if job is None else "Done" if job.status.succeeded else "Running"
    if phase != before:
        body = {**backup, "status": {"phase": phase}}
        client.CustomObjectsApi().replace_namespaced_custom_object_status(**of, body=body)


def found(read: Any, **options: str) -> Any:
    try:
        return read(**options)
    except client.ApiException as error:
        if error.status != 404:
            raise
        return None


def job_for(backup: dict[str, Any]) -> dict[str, Any]:
    metadata = backup["metadata"]
    owner = {
        "apiVersion": backup["apiVersion"],
        "kind": backup["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    container = {"name": "backup", "image": "example.dev/backup", "command": ["sleep", "60"]}
    return {
        "metadata": {"name": metadata["name"], "ownerReferences": [owner]},
        "spec": {
            "ttlSecondsAfterFinished": WEEK_SECONDS,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


if __name__ == "__main__":
    main()
