"""The settings of a values file, with their types, defaults and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, field

from vocabulary.durations import parse_duration
from vocabulary.mistakes import Mistake, mistakes_in
from vocabulary.quantities import parse_quantity
from vocabulary.safe_yaml import YamlError, load_yaml_file
from vocabulary.typed_yaml import field_errors, some

_LABEL: Final = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"
_LABEL_VALUE: Final = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
_LABEL_KEY: Final = (
    r"^([a-z0-9][-a-z0-9.]{0,251}[a-z0-9]/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
_NAME_HINT: Final = "lowercase letters, digits and '-', a letter first, at most {} characters"
_KEY_HINT: Final = (
    "a label key: letters, digits, '-', '_' and '.', with a domain and '/' if need be"
)
_VALUE_HINT: Final = "letters, digits, '-', '_' and '.' in quotes, at most 63 characters"
Name: TypeAlias = Annotated[
    str, Meta(pattern=_LABEL, max_length=63, description=_NAME_HINT.format(63))
]
Key: TypeAlias = Annotated[str, Meta(pattern=_LABEL_KEY, description=_KEY_HINT)]
Text: TypeAlias = Annotated[
    str, Meta(min_length=1, description="text in quotes, at least one character")
]
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Quantity: TypeAlias = str | int

LEGACY: Final = (
    "dispatchDuration",
    "forceDeletionTimeInSeconds",
    "growthType",
    "initialTimeInSeconds",
    "maxNumRequeuings",
    "maxTimeInSeconds",
    "minAvailable",
    "numRequeuings",
    "pauseTimeInSeconds",
    "requeuing",
    "requeuingTimeInSeconds",
    "timeInSeconds",
)
"""Fault-tolerance settings of the dispatcher before MLBatch, which has none of them."""
DURATIONS: Final = {
    "admissionGracePeriodDuration": "admission_grace_period_duration",
    "warmupGracePeriodDuration": "warmup_grace_period_duration",
    "failureGracePeriodDuration": "failure_grace_period_duration",
    "retryPausePeriodDuration": "retry_pause_period_duration",
    "forcefulDeletionGracePeriodDuration": "forceful_deletion_grace_period_duration",
    "deletionOnFailureGracePeriodDuration": "deletion_on_failure_grace_period_duration",
    "successTTLDuration": "success_ttl_duration",
}
"""Settings and their attributes; an annotation of the AppWrapper has the setting's name."""


class _Struct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Settings, spelled as in the file."""


class Label(_Struct, frozen=True):
    key: Key
    value: Annotated[str, Meta(pattern=_LABEL_VALUE, max_length=63, description=_VALUE_HINT)]


class Named(_Struct, frozen=True):
    name: Text


class Reference(_Struct, frozen=True):
    """A key of a Secret or a ConfigMap."""

    name: Text
    key: Text


class Variable(_Struct, frozen=True):
    """An environment variable; it has exactly one of the three."""

    name: Text
    value: str | int | float | bool | None = None
    secret: Reference | None = None
    configmap: Reference | None = None


class Volume(_Struct, frozen=True):
    name: Text
    claim_name: Text
    mount_path: Text


class GitClone(_Struct, frozen=True):
    """Access to private repositories by SSH."""

    secret_name: Name
    config_map_name: Name
    secret_mount_path: str = "/tmp/.ssh/keys"
    config_map_mount_path: str = "/tmp/.ssh/hosts"
    ssh_cmd: str = ""


class Nvme(_Struct, frozen=True):
    storage: Text
    mount_path: str = "/workspace/scratch-nvme"


class InitContainer(_Struct, frozen=True):
    name: Text
    image: Text
    command: tuple[str, ...]


class Values(_Struct, frozen=True):
    """All settings."""

    job_name: Annotated[str, Meta(pattern=_LABEL, max_length=50, description=_NAME_HINT.format(50))]
    container_image: Text
    namespace: Name | None = None
    queue_name: Name | None = "default-queue"
    priority: Literal["default-priority", "low-priority", "high-priority"] = "default-priority"
    custom_labels: tuple[Label, ...] | None = None
    image_pull_secrets: tuple[Named, ...] | None = None
    image_pull_policy: Literal["IfNotPresent", "Always", "Never"] | None = None
    num_pods: Annotated[int, Meta(ge=1)] = 1
    num_cpus_per_pod: Quantity = 1
    num_gpus_per_pod: Count = 0
    total_memory_per_pod: Quantity = "1Gi"
    limit_cpus_per_pod: Quantity | None = None
    limit_gpus_per_pod: Count | None = None
    limit_memory_per_pod: Quantity | None = None
    environment_variables: tuple[Variable, ...] | None = None
    env_from: tuple[dict[str, Any], ...] | None = None
    ssh_git_clone_config: GitClone | None = None
    setup_commands: tuple[str, ...] | None = None
    main_program: str | None = None
    volumes: tuple[Volume, ...] | None = None
    roce_gdr_res_name: str | None = None
    num_roce_gdr: Count | None = None
    topology_file_config_map: Name | None = None
    nccl_gdr_env_config_map: Name | None = None
    multi_nic_network_name: str | None = None
    disable_shared_memory: bool = False
    mount_nvme: Nvme | None = field(default=None, name="mountNVMe")
    init_containers: tuple[InitContainer, ...] | None = None
    autopilot_health_checks: tuple[Key, ...] | None = None
    host_ignore_list: tuple[Text, ...] | None = None
    scheduler_name: (
        Literal["sakkara", "scheduler-plugins-scheduler", "default-scheduler"] | None
    ) = None
    service_account_name: Name | None = None
    admission_grace_period_duration: str | None = None
    warmup_grace_period_duration: str | None = None
    failure_grace_period_duration: str | None = None
    retry_pause_period_duration: str | None = None
    retry_limit: Annotated[int, Meta(ge=0, le=100)] | None = None
    forceful_deletion_grace_period_duration: str | None = None
    deletion_on_failure_grace_period_duration: str | None = None
    success_ttl_duration: str | None = field(default=None, name="successTTLDuration")
    restart_policy: Literal["Never", "Always", "OnFailure"] = "Never"
    termination_grace_period_seconds: Count | None = None


def read_values(path: Path) -> tuple[Values, tuple[str, ...]]:
    """Return the settings of a file, and its settings that are ignored.

    Raises YamlError, with the line and path of each setting that cannot be used.
    """
    data = load_yaml_file(path)
    if not isinstance(data, dict):
        raise YamlError(f"{path}: has no settings; write jobName and containerImage at least")
    ignored = tuple(key for key in data if key in LEGACY)
    # A setting without a value has its default; but no queue name is a choice.
    known = {
        key: value
        for key, value in data.items()
        if key not in ignored and (value is not None or key == "queueName")
    }
    mistyped = some(mistakes_in(known, Values))
    if mistakes := [*mistyped, *_mistakes_of(known, mistyped)]:
        raise field_errors(path, mistakes)
    return msgspec.convert(known, Values), ignored


def _mistakes_of(data: Mapping[str, Any], mistyped: Sequence[Mistake]) -> Iterator[Mistake]:
    """Mistakes that types do not show, in the settings whose types are right."""
    for key in DURATIONS:
        if isinstance(data.get(key), str) and (problem := _problem_of_duration(data[key])):
            yield Mistake(key, problem)
    for key in ("numCpusPerPod", "totalMemoryPerPod", "limitCpusPerPod", "limitMemoryPerPod"):
        if type(data.get(key)) in (str, int) and (problem := _problem_of_quantity(data[key])):
            yield Mistake(key, problem)
    devices = data.get("numRoceGdr")
    # A misspelled or mistyped numPods may mean more than the default, 1.
    is_single = data.get("numPods", 1) == 1 and not any("numPods" in each.what for each in mistyped)
    if type(devices) is int and devices > 0 and is_single:
        yield Mistake("numRoceGdr", "one pod alone has no use for it; write 0, or more numPods")
    wrong = {each.field.partition("]")[0] for each in mistyped}
    listed = data.get("environmentVariables")
    variables = {
        index: each
        for index, each in enumerate(listed if isinstance(listed, list) else ())
        if f"environmentVariables[{index}" not in wrong
    }
    if data.get("topologyFileConfigMap") and any(
        each["name"] == "NCCL_TOPO_FILE" for each in variables.values()
    ):
        what = "NCCL_TOPO_FILE is among environmentVariables too; leave it out there"
        yield Mistake("topologyFileConfigMap", what)
    for index, each in variables.items():
        if sum(each.get(one) is not None for one in ("value", "secret", "configmap")) != 1:
            what = "has not exactly one of value, secret and configmap; write one"
            yield Mistake(f"environmentVariables[{index}]", what)


def _problem_of_duration(text: str) -> str:
    try:
        return "is negative; write 0s or more" if parse_duration(text) < 0 else ""
    except ValueError as error:
        return f"{error}; the controller would silently use its default"


def _problem_of_quantity(amount: Quantity) -> str:
    try:
        return "" if parse_quantity(amount) > 0 else f"is {amount}; write more than 0"
    except ValueError as error:
        return str(error)
