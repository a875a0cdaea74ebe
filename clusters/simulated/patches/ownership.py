"""The managers of one object's fields, as `metadata.managedFields` lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from clusters.simulated.patches.field_paths import Path, fields_v1, shown
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.errors import ApiError

_NOTHING: frozenset[Path] = frozenset()


class Manager(NamedTuple):
    """A field manager. Each subresource and each version that a client updates makes another one
    of the same name, and each apply one more."""

    name: str
    subresource: str = ""
    updates: str = ""
    """The API version of its updates; "" for one that applies."""

    def __str__(self) -> str:
        of = f' with subresource "{self.subresource}"' if self.subresource else ""
        using = f" using {self.updates}" if self.updates else ""
        return f'"{self.name}"{of}{using}'


class Stamp(NamedTuple):
    """The API version and the time of a manager's last change."""

    api_version: str
    at_us: Micros


@dataclass(slots=True)
class Ownership:
    """The fields of one object by manager; each has at least one."""

    fields: dict[Manager, frozenset[Path]] = field(default_factory=dict)
    stamps: dict[Manager, Stamp] = field(default_factory=dict)
    _listed: list[dict[str, Any]] | None = field(default=None, compare=False)

    def of(self, manager: Manager) -> frozenset[Path]:
        """The fields that a manager owns."""
        return self.fields.get(manager, _NOTHING)

    def others(self, manager: Manager) -> Mapping[Manager, frozenset[Path]]:
        """The managers but one."""
        return {name: owned for name, owned in self.fields.items() if name != manager}

    def after(
        self,
        manager: Manager,
        owned: Iterable[Path],
        changed: Set[Path],
        removed: Set[Path],
        stamp: Stamp,
    ) -> Ownership:
        """The ownership after a write: others lose what it has changed or removed."""
        lost = changed | removed
        fields = {name: rest - lost for name, rest in self.others(manager).items()}
        fields[manager] = frozenset(owned)
        if manager in self.fields and fields[manager] == self.fields[manager] and not lost:
            stamp = self.stamps[manager]
        stamps = {**self.stamps, manager: stamp}
        kept = {name: paths for name, paths in fields.items() if paths}
        return Ownership(kept, {name: stamps[name] for name in kept})

    def after_update(
        self, manager: Manager, changed: Set[Path], removed: Set[Path], stamp: Stamp
    ) -> Ownership:
        """The ownership after an update: its manager owns what it has changed, too."""
        owned = (self.of(manager) | changed) - removed
        return self.after(manager, owned, changed, removed, stamp)

    def managed_fields(self) -> list[dict[str, Any]]:
        """The entries of `metadata.managedFields`: who applies comes first, then by time.

        They are kept, since lists and watches ask for those of many objects again and again.
        """
        if self._listed is None:
            self._listed = self._list()
        return self._listed

    def _list(self) -> list[dict[str, Any]]:
        return [
            {
                "manager": manager.name,
                "operation": "Update" if manager.updates else "Apply",
                "apiVersion": self.stamps[manager].api_version,
                "time": to_rfc3339(self.stamps[manager].at_us),
                "fieldsType": "FieldsV1",
                "fieldsV1": fields_v1(self.fields[manager]),
                **({"subresource": manager.subresource} if manager.subresource else {}),
            }
            for manager in sorted(self.fields, key=self._place)
        ]

    def _place(self, manager: Manager) -> tuple[bool, str, Manager]:
        return bool(manager.updates), to_rfc3339(self.stamps[manager].at_us), manager


def conflict(contested: Sequence[tuple[Manager, Path]]) -> ApiError:
    """The 409 for an apply that others' fields stand against."""
    causes = [
        {
            "reason": "FieldManagerConflict",
            "message": f"conflict with {manager}",
            "field": shown(path),
        }
        for manager, path in contested
    ]
    by_manager: dict[Manager, list[str]] = {}
    for manager, path in contested:
        by_manager.setdefault(manager, []).append(shown(path))
    noun = "conflict" if len(causes) == 1 else "conflicts"
    if len(causes) == 1:
        told = f"{causes[0]['message']}: {causes[0]['field']}"
    else:
        told = "\n".join(
            f"conflicts with {manager}:" + "".join(f"\n- {path}" for path in paths)
            for manager, paths in by_manager.items()
        )
    return ApiError(
        409, "Conflict", f"Apply failed with {len(causes)} {noun}: {told}", {"causes": causes}
    )
