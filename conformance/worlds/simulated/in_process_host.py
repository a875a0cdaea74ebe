"""Operators of one role that run in the harness's process: the reference and its mutants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from clusters.simulated.access.authorization import Authorizer
from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.custom_resources.conversion import of_definitions
from clusters.simulated.store import Key, Store
from conformance.implementations.ours import Implementation
from conformance.worlds.simulated.connection import Connection
from conformance.worlds.simulated.operator_process import OperatorProcess
from conformance.worlds.simulated.versions import Versions
from reference_controller.runtime.admission_review import UserInfo
from reference_controller.runtime.operator import Operator
from vocabulary.clock import Micros
from vocabulary.errors import ApiError
from vocabulary.kinds import NAMESPACE
from vocabulary.objects import Object, labels_of, name_of
from vocabulary.requests import Request


class InProcessHost:
    """Makes them; none is started."""

    def __init__(
        self,
        versions: Versions[Implementation],
        config: Callable[[], Mapping[str, Any]],
        *,
        cluster: SimulatedCluster,
        connection: Connection,
        namespace: str,
        elects: bool,
        on_crash: Callable[[str, Exception], None],
    ) -> None:
        """`config` returns the configuration of a process that starts now; that of the webhooks is
        the first one."""
        self._versions = versions
        self._config = config
        self._cluster = cluster
        self._connection = connection
        self._namespace = namespace
        self._elects = elects
        self._on_crash = on_crash
        user_of = partial(_user, cluster.api.access)  # a bound method would make a cycle
        labels = partial(_namespace_labels, cluster.store)
        hooks = {
            each.as_option: each.admission(config(), on_crash, user_of, labels)
            for each in versions.all
        }

        def validate(request: Request, actor: str, new: Object | None, old: Object | None) -> None:
            hooks[versions.present.as_option].validate(request, actor, new, old)

        self.validating_admission = validate

        def answered(
            request: Request, actor: str, new: dict[str, Any], old: Object | None
        ) -> dict[str, Any]:
            refused = connection.rules.refusal(request) if actor == "user" else None
            if refused is not None:
                raise ApiError(refused.code, refused.reason, refused.message)
            return hooks[versions.present.as_option].mutate(request, actor, new, old)

        self.admission = answered
        own = {name_of(crd) for each in versions.all for crd in each.crds()}

        def convert(definition: Object, body: bytes) -> bytes:
            return versions.present.convert(definition, body)

        cluster.api.conversion = of_definitions(own, convert, cluster.api.conversion)

    def add(self, name: str, stream: str) -> OperatorProcess:
        """The process of that name; `stream` names its random streams."""
        return OperatorProcess(
            name,
            partial(self._build, name),
            loop=self._cluster.loop,
            store=self._cluster.store,
            connection=self._connection,
            on_crash=self._on_crash,
            stream=stream,
        )

    def _build(self, name: str, now_us: Micros) -> Operator:
        build = self._versions.of_start(name).operator_builder(
            self._config(), namespace=self._namespace, identity=name, elect=self._elects
        )
        return build(now_us)


def _namespace_labels(store: Store, name: str) -> Mapping[str, str]:
    return labels_of(store.get(Key(str(NAMESPACE), "", name)) or {})


def _user(access: Authorizer, actor: str) -> UserInfo:
    user = access.user(actor)
    extra = {key: tuple(values) for key, values in user.extra.items()}
    return UserInfo(user.name, user.uid, user.groups, extra)
