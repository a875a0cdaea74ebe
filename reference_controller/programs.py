"""The reference controllers by name, put together for a process on a real cluster.

This is the one place that knows both the runtime and its controllers. What a controller needs
from a real API server beyond its reconciles is connected here: the question whether a user
may create a component himself is a SubjectAccessReview.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reference_controller.runtime import logs
from reference_controller.runtime.admission_review import Operation, UserInfo
from reference_controller.runtime.connection import Connection, connect
from reference_controller.runtime.discovery import Discovery
from reference_controller.runtime.options import OperatorOptions, OptionsError
from reference_controller.runtime.process import Program, run
from vocabulary.errors import ApiError
from vocabulary.kinds import APPWRAPPER, Kind
from vocabulary.objects import Object, get_path
from vocabulary.requests import Create
from vocabulary.safe_yaml import YamlError, load_yaml_file

SUBJECT_ACCESS_REVIEW: Final = Kind(
    "authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False
)
ALL_RESOURCES: Final = "*"
_PROCESS_SECTIONS: Final = ("certManagement", "controllerManager", "webhooksEnabled")
"""Keys of the released operator's file that are about its process; ours takes options."""


def run_operator(options: OperatorOptions, name: str = "appwrapper") -> int:
    """Run a reference controller until it is told to stop; returns the process' exit code."""
    logs.set_up(options.log_level)
    try:
        program = program_for(name, options)
    except OptionsError as error:
        logs.LOG.error(str(error))
        return 2
    return run(program, options)


def program_for(name: str, options: OperatorOptions) -> Program:
    """The controller of that name under its configuration; raises OptionsError."""
    build = _PROGRAMS.get(name)
    if build is None:
        raise OptionsError(f"there is no controller {name!r}; there is {', '.join(_PROGRAMS)}")
    return build(options)


def _appwrapper(options: OperatorOptions) -> Program:
    from reference_controller.appwrapper import AppWrapperController, ConfigError, OperatorConfig
    from reference_controller.appwrapper.admission import MayCreate, admit
    from reference_controller.appwrapper.metrics import HELP
    from reference_controller.appwrapper.mutants import MUTANTS
    from reference_controller.appwrapper.rules import RIGHT

    rules = RIGHT
    if options.mutant is not None:
        if options.mutant not in MUTANTS:
            raise OptionsError(
                f"mutant: there is no {options.mutant!r}; list them with: assay mutants --list"
            )
        rules = MUTANTS[options.mutant].rules()
    try:
        config = OperatorConfig.from_data(_section(options, "appwrapper"))
    except ConfigError as error:
        raise OptionsError(f"config_file {options.config_file}: {error}") from error
    controller = AppWrapperController(config, rules)
    may_create: MayCreate | None = None
    if options.webhook_port is not None and config.user_rbac_admission_check:
        may_create = _access_reviewer(options)

    def admit_reviewed(
        operation: Operation, new: Object, old: Object | None, user: UserInfo
    ) -> Object:
        return admit(operation, new, old, user, config, rules=rules, may_create=may_create)

    return Program(
        name="appwrapper",
        controller=controller,
        primary=APPWRAPPER,
        admit=admit_reviewed,
        samples=controller.metrics.samples,
        samples_help=HELP,
    )


_PROGRAMS: Final[Mapping[str, Callable[[OperatorOptions], Program]]] = {"appwrapper": _appwrapper}


def _section(options: OperatorOptions, name: str) -> Mapping[str, Any]:
    """The controller's part of its config file: the whole, or the section of its name."""
    if options.config_file is None:
        return {}
    try:
        data = load_yaml_file(options.config_file)
    except YamlError as error:
        raise OptionsError(f"config_file: {error}") from error
    section = data
    if isinstance(data, Mapping) and name in data:
        section = data[name]
        unknown = [key for key in data if key not in (name, *_PROCESS_SECTIONS)]
        if unknown:
            raise OptionsError(
                f"config_file {options.config_file}: unknown key {unknown[0]}; beside {name} "
                f"there may be {', '.join(_PROCESS_SECTIONS)}"
            )
    if section is not None and not isinstance(section, Mapping):
        raise OptionsError(f"config_file {options.config_file}: must be a map, see {name}'s docs")
    return section or {}


def _access_reviewer(options: OperatorOptions) -> Callable[[UserInfo, Kind, str], bool]:
    """Asks the API server whether a user may create objects of a kind in a namespace."""
    connection = connect(
        options.kubeconfig,
        options.context,
        user_agent=options.user_agent,
        timeout_us=options.request_timeout_us,
        pool_size=2,
    )

    return AccessReviewer(connection)


class AccessReviewer:
    """Asks an API server, by SubjectAccessReviews, what the users of its requests may create."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._discovery = Discovery(connection)

    def __call__(self, user: UserInfo, kind: Kind, namespace: str) -> bool:
        """Whether the user may create such an object there; raises ApiError if it is not known."""
        spec: dict[str, Any] = {
            "user": user.username,
            "uid": user.uid,
            "groups": list(user.groups),
            "extra": {key: list(values) for key, values in user.extra.items()},
            "resourceAttributes": {
                "verb": "create",
                "group": kind.group,
                "version": kind.version,
                "resource": self._resource(kind, user),
                "namespace": namespace,
            },
        }
        review = {
            "apiVersion": SUBJECT_ACCESS_REVIEW.api_version,
            "kind": SUBJECT_ACCESS_REVIEW.kind,
            "spec": spec,
        }
        try:
            answer = self._connection.handle(Create(SUBJECT_ACCESS_REVIEW, review))
        except ApiError as error:
            raise _unknown(user, error) from error
        return get_path(answer, "status.allowed") is True

    def _resource(self, kind: Kind, user: UserInfo) -> str:
        """The plural that the server gives the kind; for a kind that it does not serve, all
        resources of its group."""
        try:
            return self._discovery.served(kind).plural
        except ApiError as error:
            if error.is_not_found:
                return ALL_RESOURCES
            raise _unknown(user, error) from error


def _unknown(user: UserInfo, error: ApiError) -> ApiError:
    return ApiError(500, "InternalError", f"cannot ask what {user.username!r} may do: {error}")
