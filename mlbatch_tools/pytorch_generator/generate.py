"""From settings to the AppWrapper: names, places and values are those of the published chart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mlbatch_tools.app_wrapper import API_VERSION, KIND, QUEUE_LABEL
from mlbatch_tools.pytorch_generator.values import DURATIONS, GitClone, Values, Variable

VERSION_ANNOTATION: Final = "workload.codeflare.dev.mlbatch/pytorchGeneratorVersion"
_ANNOTATION: Final = "workload.codeflare.dev.appwrapper/"
_TOPOLOGY: Final = "/var/run/nvidia-topologyd"
_NVME: Final = "ephemeral-odf-lvm-vg1"
_RUN: Final = (
    "torchrun --nnodes=${WORLD_SIZE} --node_rank=${RANK} %s--rdzv_id=101 "
    '--rdzv_endpoint="${MASTER_ADDR}:${MASTER_PORT}" %s'
)


def app_wrapper(values: Values, version: str) -> dict[str, Any]:
    """Return the AppWrapper, with an annotation that says which version has made it."""
    labels = _custom_labels(values)
    roles = {"Master": 1, "Worker": values.num_pods - 1}
    job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": _without_empty({"name": values.job_name, "labels": labels}),
        "spec": {
            "pytorchReplicaSpecs": {
                role: {
                    "replicas": replicas,
                    "restartPolicy": values.restart_policy,
                    "template": _pod(values),
                }
                for role, replicas in roles.items()
                if replicas
            }
        },
    }
    queue = {QUEUE_LABEL: values.queue_name} if values.queue_name else {}
    metadata = {
        "name": values.job_name,
        "namespace": values.namespace,
        "annotations": {VERSION_ANNOTATION: version, **_fault_tolerance(values)},
        "labels": {**queue, **labels},
    }
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": _without_empty(metadata),
        "spec": {"components": [{"template": job}]},
    }


def _fault_tolerance(values: Values) -> dict[str, str]:
    given = {key: getattr(values, attribute) for key, attribute in DURATIONS.items()}
    limit = None if values.retry_limit is None else str(values.retry_limit)
    return {
        f"{_ANNOTATION}{key}": value
        for key, value in (*given.items(), ("retryLimit", limit))
        if value is not None
    }


def _custom_labels(values: Values) -> dict[str, str]:
    return {each.key: each.value for each in values.custom_labels or ()}


def _pod(values: Values) -> dict[str, Any]:
    checks = values.autopilot_health_checks or ()
    autopilot = dict.fromkeys(("autopilot", *checks), "") if checks else {}
    network = values.multi_nic_network_name
    metadata = {
        "labels": {**_custom_labels(values), **autopilot},
        "annotations": {"k8s.v1.cni.cncf.io/networks": network} if network else {},
    }
    spec = {
        "serviceAccountName": values.service_account_name,
        "imagePullSecrets": [{"name": each.name} for each in values.image_pull_secrets or ()],
        "initContainers": [
            {"name": each.name, "image": each.image, "command": list(each.command)}
            for each in values.init_containers or ()
        ],
        "terminationGracePeriodSeconds": values.termination_grace_period_seconds,
        "schedulerName": values.scheduler_name,
        "priorityClassName": values.priority,
        "affinity": _affinity(values),
        "volumes": list(_volumes(values)),
        "containers": [_container(values)],
    }
    return _without_empty({"metadata": _without_empty(metadata), "spec": _without_empty(spec)})


def _affinity(values: Values) -> dict[str, Any]:
    """Keeps away from nodes whose GPUs are bad, and from those that the user names."""
    avoided = {"autopilot.ibm.com/gpuhealth": ["ERR", "TESTING", "EVICT"]}
    if values.host_ignore_list:
        avoided["kubernetes.io/hostname"] = list(values.host_ignore_list)
    expressions = [
        {"key": key, "operator": "NotIn", "values": names} for key, names in avoided.items()
    ]
    terms = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _container(values: Values) -> dict[str, Any]:
    may_lock = values.num_roce_gdr or values.service_account_name == "gdr"
    nccl = values.nccl_gdr_env_config_map
    sources = [{"configMapRef": {"name": nccl}}] if nccl else []
    container = {
        "name": "pytorch",
        "image": values.container_image,
        "imagePullPolicy": values.image_pull_policy or "IfNotPresent",
        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}} if may_lock else None,
        "envFrom": [*sources, *(values.env_from or ())],
        "env": list(_environment(values)),
        "volumeMounts": list(_mounts(values)),
        "resources": _resources(values),
        "command": ["sh", "-c", _script(values)],
    }
    return _without_empty(container)


def _resources(values: Values) -> dict[str, Any]:
    gdr = {values.roce_gdr_res_name or "nvidia.com/roce_gdr": values.num_roce_gdr or 0}
    requests = {
        "cpu": values.num_cpus_per_pod,
        "nvidia.com/gpu": values.num_gpus_per_pod,
        "memory": values.total_memory_per_pod,
        **gdr,
    }
    limits = {
        "cpu": values.limit_cpus_per_pod,
        "nvidia.com/gpu": values.limit_gpus_per_pod,
        "memory": values.limit_memory_per_pod,
    }
    # As in the chart, a limit of 0 GPUs is none.
    return {"requests": requests, "limits": {**requests, **{k: v for k, v in limits.items() if v}}}


def _environment(values: Values) -> Iterator[dict[str, Any]]:
    if values.scheduler_name == "sakkara":
        rank = {"fieldRef": {"fieldPath": "metadata.labels['sakkara.member.rank']"}}
        yield {"name": "SAKKARA_RANK", "valueFrom": rank}
    if values.topology_file_config_map:
        yield {"name": "NCCL_TOPO_FILE", "value": f"{_TOPOLOGY}/virtualTopology.xml"}
    if values.mount_nvme:
        yield {"name": "NVME_MOUNT_PATH", "value": values.mount_nvme.mount_path}
    for each in values.environment_variables or ():
        yield {"name": each.name, **_value(each)}
    if values.ssh_git_clone_config:
        yield {"name": "GIT_SSH_COMMAND", "value": _ssh(values.ssh_git_clone_config)}


def _value(variable: Variable) -> dict[str, Any]:
    if (secret := variable.secret) is not None:
        return {"valueFrom": {"secretKeyRef": {"name": secret.name, "key": secret.key}}}
    if (config := variable.configmap) is not None:
        return {"valueFrom": {"configMapKeyRef": {"name": config.name, "key": config.key}}}
    value = variable.value
    return {"value": str(value).lower() if isinstance(value, bool) else str(value)}


def _ssh(config: GitClone) -> str:
    hosts = f"{config.config_map_mount_path}/known_hosts"
    keys = f"{config.secret_mount_path}/id_rsa"
    return config.ssh_cmd or f"ssh -i {keys} -o UserKnownHostsFile={hosts} -vv"


def _volumes(values: Values) -> Iterator[dict[str, Any]]:
    if values.topology_file_config_map:
        yield {"name": "topology-volume", "configMap": {"name": values.topology_file_config_map}}
    if values.mount_nvme:
        claim = {
            "storageClassName": "odf-lvm-vg1",
            "volumeMode": "Filesystem",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": values.mount_nvme.storage}},
        }
        yield {"name": _NVME, "ephemeral": {"volumeClaimTemplate": {"spec": claim}}}
    for each in values.volumes or ():
        yield {"name": each.name, "persistentVolumeClaim": {"claimName": each.claim_name}}
    if config := values.ssh_git_clone_config:
        secret = {"secretName": config.secret_name, "optional": False}
        yield {"name": "private-ssh-git-deploy-key", "secret": secret}
        yield {"name": "github-known-hosts", "configMap": {"name": config.config_map_name}}
    if not values.disable_shared_memory:
        yield {"name": "dshm", "emptyDir": {"medium": "Memory"}}


def _mounts(values: Values) -> Iterator[dict[str, Any]]:
    """A mount for each of the volumes."""
    if values.topology_file_config_map:
        yield {"name": "topology-volume", "mountPath": _TOPOLOGY}
    if values.mount_nvme:
        yield {"name": _NVME, "mountPath": values.mount_nvme.mount_path}
    for each in values.volumes or ():
        yield {"name": each.name, "mountPath": each.mount_path}
    if config := values.ssh_git_clone_config:
        key = {"name": "private-ssh-git-deploy-key", "readOnly": True}
        yield {**key, "mountPath": config.secret_mount_path}
        yield {"name": "github-known-hosts", "mountPath": config.config_map_mount_path}
    if not values.disable_shared_memory:
        yield {"name": "dshm", "mountPath": "/dev/shm"}


def _script(values: Values) -> str:
    lines = ["export RANK=$SAKKARA_RANK"] if values.scheduler_name == "sakkara" else []
    lines += values.setup_commands or ()
    if values.main_program:
        gpus = values.num_gpus_per_pod
        lines.append(_RUN % (f"--nproc_per_node={gpus} " if gpus else "", values.main_program))
    return "".join(f"{line}\n" for line in lines)


def _without_empty(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that have a value; an empty map or list is none, 0 is one."""
    return {key: value for key, value in fields.items() if value not in (None, {}, [])}
