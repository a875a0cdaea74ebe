"""The controller is sound, and the manifests that it brings are not."""

from __future__ import annotations

from collections.abc import Sequence

from reference_controller.appwrapper.mutants.mutant import wrong_definition, wrong_role
from vocabulary.objects import Object

_COLUMNS = "additionalPrinterColumns"


@wrong_definition(
    "`kubectl get appwrappers` does not show whether a workload is unhealthy.",
    "MLB-040",
)
def unhealthy_has_no_column(definition: Object) -> Object:
    columns = [column for column in _columns(definition) if column["name"] != "Unhealthy"]
    return _with_columns(definition, columns)


@wrong_definition(
    "`kubectl get appwrappers` shows its columns in alphabetical order.",
    "MLB-040",
)
def columns_in_the_order_of_their_names(definition: Object) -> Object:
    columns = sorted(_columns(definition), key=lambda column: str(column["name"]))
    return _with_columns(definition, columns)


@wrong_definition("It serves the version of AppWrappers that is not compatible, too.", "MLB-030")
def old_version_is_served(definition: Object) -> Object:
    (version,) = definition["spec"]["versions"]
    old = {**version, "name": "v1beta1", "storage": False}
    return {**definition, "spec": {**definition["spec"], "versions": [version, old]}}


@wrong_role(
    "Its roles let it see ServiceAccounts but not create them, so that users cannot wrap them.",
    "MLB-073",
)
def service_accounts_cannot_be_wrapped(role: Object) -> Object:
    seen = {"apiGroups": [""], "resources": ["serviceaccounts"], "verbs": ["get", "list", "watch"]}
    return {**role, "rules": [*_rules_without("serviceaccounts", role), seen]}


@wrong_role("Its roles do not name PodGroups, so that users cannot wrap them.", "MLB-073")
def pod_groups_cannot_be_wrapped(role: Object) -> Object:
    return {**role, "rules": _rules_without("podgroups", role)}


def _rules_without(resource: str, role: Object) -> list[Object]:
    return [
        {**rule, "resources": [name for name in rule["resources"] if name != resource]}
        for rule in role["rules"]
        if rule["resources"] != [resource]
    ]


def _columns(definition: Object) -> Sequence[Object]:
    (version,) = definition["spec"]["versions"]
    columns: Sequence[Object] = version[_COLUMNS]
    return columns


def _with_columns(definition: Object, columns: Sequence[Object]) -> Object:
    (version,) = definition["spec"]["versions"]
    spec = {**definition["spec"], "versions": [{**version, _COLUMNS: list(columns)}]}
    return {**definition, "spec": spec}
