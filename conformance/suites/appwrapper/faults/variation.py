"""AppWrappers of another shape than the scenario wrote.

workload:
  appwrapper: a
  name: a-name.with-dots
  replicas: 3
  behaviour: run 20s, exit 1
  parameters: {retryLimit: "-1", failureGracePeriodDuration: 1.5s}
  beside: [{kind: Deployment, name: also-0}]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Annotated, Final, Literal, TypeAlias

from msgspec import Meta

from chaos.fields import Name, listed
from chaos.variation import Variation
from conformance.suites.appwrapper.faults.varied import varied
from vocabulary.objects import Object

MAX_PODS: Final = 100

AddedKind: TypeAlias = Literal["ConfigMap", "Service", "Pod", "Job", "Deployment", "StatefulSet"]
_Pods: TypeAlias = Annotated[int, Meta(ge=1, le=MAX_PODS)]


@dataclass(frozen=True, slots=True)
class Added:
    """One more component."""

    kind: AddedKind
    name: Name
    is_prefix: bool = False
    """True if the name is a `generateName`, which the API server completes."""

    def describe(self) -> str:
        return f"a {self.kind} {self.name}{'…' * self.is_prefix}"


@dataclass(frozen=True, slots=True)
class AppWrapperVariation(Variation):
    """How an AppWrapper differs from the scenario's; an unset field changes nothing."""

    appwrapper: Name
    """The name that the scenario gives the AppWrapper."""
    name: str = ""
    """The name that it has instead."""
    replicas: _Pods | None = None
    """Replicas of its Deployments and StatefulSets, and parallelism of its Jobs."""
    completions: _Pods | None = None
    """Completions of its Jobs."""
    backoff: Annotated[int, Meta(ge=0, le=MAX_PODS)] | None = None
    """`backoffLimit` of its Jobs."""
    restart: Literal["", "Never", "OnFailure"] = ""
    """Restart policy of the pods of its Jobs."""
    behaviour: str = ""
    """The behaviour of its pods, as in the annotation `assay.dev/behaviour`."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Its parameter annotations by the last part of their keys, over those of the scenario."""
    beside: tuple[Added, ...] = ()
    """Components after the scenario's own."""

    @property
    def new_name(self) -> str:
        return self.name

    def describe(self) -> str:
        """`AppWrapper a has 3 replicas, pods that run 20s, exit 1 and retryLimit="-1"`."""
        words = [f"the name {self.name}"] * bool(self.name)
        for attribute in ("replicas", "completions"):
            if getattr(self, attribute) is not None:
                words.append(f"{getattr(self, attribute)} {attribute}")
        words += [f"backoffLimit {self.backoff}"] * (self.backoff is not None)
        words += [f"restartPolicy {self.restart}"] * bool(self.restart)
        words += [f"pods that {self.behaviour}"] * bool(self.behaviour)
        words += [f'{key}="{value}"' for key, value in self.parameters.items()]
        words += [added.describe() for added in self.beside]
        return f"AppWrapper {self.appwrapper} has {listed(words)}"

    @property
    def is_as_written(self) -> bool:
        return self == AppWrapperVariation(self.appwrapper)

    def applied(self, obj: Object) -> Object:
        return varied(obj, self)

    def simpler(self) -> Iterator[AppWrapperVariation]:
        for each in fields(self):
            if each.default is not MISSING and getattr(self, each.name) != each.default:
                yield replace(self, **{each.name: each.default})
        for dropped in self.parameters:
            kept = {key: text for key, text in self.parameters.items() if key != dropped}
            yield replace(self, parameters=kept)
        for added in self.beside:
            yield replace(self, beside=tuple(other for other in self.beside if other != added))
