"""A kopf operator: a ConfigMap with the plan of each Backup, and the Backup's status.

BUG names one of its bugs, `no-owner` and `create-once`; without it there is none.
"""

import os

import kopf
from kubernetes import client
from kubernetes.client.exceptions import ApiException

BUG = os.environ.get("BUG", "")
BACKUPS = ("kopf.example.dev", "backups")


@kopf.on.startup()
def configure(settings, **_):
    settings.posting.enabled = False
    # kopf stores all annotations by default, and writes at rest when a meaningless one changes.
    storage = kopf.AnnotationsDiffBaseStorage(ignored_fields=["metadata.annotations"])
    settings.persistence.diffbase_storage = storage


@kopf.on.create(*BACKUPS)
@kopf.on.resume(*BACKUPS)
@kopf.on.update(*BACKUPS, field="spec")
@kopf.timer(*BACKUPS, interval=300, initial_delay=300)
def ensure_plan(body, spec, name, namespace, patch, **_):
    api = client.CoreV1Api()
    wanted = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"{name}-plan", "namespace": namespace},
        "data": {"source": spec["source"], "keep": str(spec["keep"])},
    }
    if BUG != "no-owner":
        kopf.adopt(wanted, owner=body)
    phase = body.get("status", {}).get("phase")
    try:
        found = api.read_namespaced_config_map(f"{name}-plan", namespace)
    except ApiException as error:
        if error.status != 404:
            raise
        if BUG == "create-once" and phase:
            return
        api.create_namespaced_config_map(namespace, wanted)
        found = None
    if found is not None and found.data != wanted["data"]:
        owners = found.metadata.owner_references or ()
        if BUG != "no-owner" and not any(each.uid == body["metadata"]["uid"] for each in owners):
            patch.status["phase"] = "NameTaken"
            return
        found.data = wanted["data"]
        api.replace_namespaced_config_map(f"{name}-plan", namespace, found)
    if phase != "Planned":
        patch.status["phase"] = "Planned"
