"""A scenario's handle of one object: its state, conditions to wait for, its user's actions.

A suite derives a handle for each kind that it tests. `submit` returns it. It stores nothing but
the name: callers see the object stored at that moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from conformance.manifests.files import load_manifests
from conformance.manifests.pod_templates import with_behaviour
from conformance.world import Condition, World
from vocabulary.kinds import Kind, kind_of
from vocabulary.objects import Object, controller_of, name_of, namespace_of, uid_of
from vocabulary.requests import PropagationPolicy


class Handle:
    """One object of a scenario. A subclass sets `kind`, and adds what its suite knows of it."""

    kind: ClassVar[Kind]

    def __init__(self, world: World, name: str, namespace: str = "") -> None:
        self.world = world
        self.name = name
        self.namespace = namespace or world.namespace

    def __str__(self) -> str:
        return f"{self.kind.kind} {self.name}"

    @classmethod
    def submit(
        cls,
        world: World,
        manifest: str | Mapping[str, Any],
        behaviour: str = "",
        *,
        actor: str = "user",
        **parameters: str | int,
    ) -> Self:
        """Create what a manifest says, as the user unless another client is named; return the
        handle of the object of this kind in it.

        `manifest` is a file beside the scenario, or an object. `behaviour` is what its pods
        do: `run 5s, exit 1`. Other keyword arguments are the suite's: see `asked`.
        """
        documents = (
            load_manifests(world.folder / manifest)
            if isinstance(manifest, str)
            else [dict(manifest)]
        )
        handle: Self | None = None
        for document in documents:
            if not cls._is_of_kind(document):
                world.create(document, actor)
                continue
            behaving = with_behaviour(document, behaviour) if behaviour else document
            stored = world.create(cls.asked(behaving, **parameters), actor)
            handle = cls(world, name_of(stored), namespace_of(stored))
        if handle is None:
            raise ValueError(f"{manifest}: holds no {cls.kind.kind}; use world.create for others")
        return handle

    @classmethod
    def asked(cls, manifest: Object, **parameters: str | int) -> Object:
        """The manifest with the parameters that a scenario names; a suite says how."""
        if parameters:
            raise TypeError(f"{cls.kind.kind} takes no parameters: {', '.join(parameters)}")
        return manifest

    @classmethod
    def manifest(cls, world: World, file: str) -> Mapping[str, Any]:
        """The object of this kind in a manifest beside the scenario, for steps that change it."""
        return next(
            document
            for document in load_manifests(world.folder / file)
            if cls._is_of_kind(document)
        )

    @classmethod
    def _is_of_kind(cls, document: Object) -> bool:
        """True for an object of this kind, in whichever version it is spelled."""
        return kind_of(document).group_kind == cls.kind.group_kind

    @property
    def now(self) -> Object:
        """The object as it is stored now; empty once it is gone."""
        return self.world.get(self.kind, self.name, namespace=self.namespace) or {}

    def owned(self, kind: Kind) -> list[Object]:
        """The objects of a kind that it controls, in order of their names."""
        uid = uid_of(self.now)
        owned = (
            obj
            for obj in self.world.list(kind, namespace=self.namespace)
            if (controller_of(obj) or {}).get("uid") == uid
        )
        return sorted(owned, key=name_of)

    def changes(self) -> Condition:
        """It is no longer as it is now."""
        before = self.now
        return Condition(f"{self} changes", lambda: self.now != before)

    def is_gone(self) -> Condition:
        """The object itself no longer exists."""
        return Condition(f"{self} is gone", lambda: not self.now)

    def patch(self, body: Object) -> None:
        """Merge-patch it, as the user."""
        self.world.patch(self.kind, self.name, body, namespace=self.namespace)

    def delete(self, propagation_policy: PropagationPolicy | None = None) -> None:
        """Delete it, as the user."""
        self.world.delete(
            self.kind, self.name, propagation_policy=propagation_policy, namespace=self.namespace
        )
