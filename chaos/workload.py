"""Another workload than the scenario wrote: what a plan changes about one AppWrapper.

    workload:
      appwrapper: a
      name: a-name.with-dots
      replicas: 3
      behaviour: run 20s, exit 1
      parameters: {retryLimit: "-1", failureGracePeriodDuration: 1.5s}
      beside: [{kind: Deployment, name: also-0}]

A failure may need a shape that no scenario has. Like faults, what is changed is written into the
plan, so that a replay gives the same run, and is taken away again by shrinking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Annotated, Any, Final, Literal, TypeAlias

from chaos.fields import Many, Name, Part, Text, Whole, listed, mapping, write_fields

MAX_PODS: Final = 100

AddedKind: TypeAlias = Literal["ConfigMap", "Service", "Pod", "Job", "Deployment", "StatefulSet"]
_Pods: TypeAlias = Annotated[int, Whole(1, MAX_PODS)]


class _TextsCodec:
    """A mapping of names to texts."""

    def read(self, data: Any, path: str) -> Mapping[str, str]:
        return {
            key: Text().read(value, f"{path}.{key}") for key, value in mapping(data, path).items()
        }

    def write(self, value: Any) -> Any:
        return dict(value)


@dataclass(frozen=True, slots=True)
class Added:
    """One more component."""

    kind: AddedKind
    name: Name
    is_prefix: bool = False
    """Whether the name is a `generateName`, which the API server completes."""

    def describe(self) -> str:
        return f"a {self.kind} {self.name}{'…' * self.is_prefix}"


@dataclass(frozen=True, slots=True)
class Workload:
    """How an AppWrapper differs from the scenario's; an unset field changes nothing."""

    appwrapper: Name
    """The name that the scenario gives the AppWrapper."""
    name: str = ""
    """The name that it has instead."""
    replicas: _Pods | None = None
    """Replicas of its Deployments and StatefulSets, and parallelism of its Jobs."""
    completions: _Pods | None = None
    """Completions of its Jobs."""
    backoff: Annotated[int, Whole(0, MAX_PODS)] | None = None
    """`backoffLimit` of its Jobs."""
    restart: Literal["", "Never", "OnFailure"] = ""
    """Restart policy of the pods of its Jobs."""
    behaviour: str = ""
    """What its pods do, as in the annotation `assay.dev/behaviour`."""
    parameters: Annotated[Mapping[str, str], _TextsCodec()] = field(default_factory=dict)
    """Its parameter annotations by the last part of their keys, over those of the scenario."""
    beside: Annotated[tuple[Added, ...], Many(Part(Added))] = ()
    """Components after the scenario's own."""

    def to_data(self) -> dict[str, Any]:
        return write_fields(self)

    def describe(self) -> str:
        """`AppWrapper a has 3 replicas, behaviour run 20s, exit 1 and retryLimit="-1"`."""
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
        return self == Workload(self.appwrapper)

    def simpler(self) -> Iterator[Workload]:
        """Variants that change less, one after the other."""
        for each in fields(self):
            if each.default is not MISSING and getattr(self, each.name) != each.default:
                yield replace(self, **{each.name: each.default})
        for dropped in self.parameters:
            kept = {key: text for key, text in self.parameters.items() if key != dropped}
            yield replace(self, parameters=kept)
        for added in self.beside:
            yield replace(self, beside=tuple(other for other in self.beside if other != added))
