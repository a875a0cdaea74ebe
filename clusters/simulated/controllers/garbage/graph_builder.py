"""Keeps the garbage collector's graph, and finds out what is worth a worker's look.

It only judges what it has seen, in the order in which it has seen it. What it is unsure of
it hands to the workers, who read live.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from clusters.simulated.controllers.garbage.ownership_graph import (
    GraphNode,
    Identity,
    OwnershipGraph,
)
from clusters.simulated.store import Change
from vocabulary.kinds import Kind
from vocabulary.objects import Object, finalizers_of, is_terminating

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"
_ABSENT_OWNERS: Final = 500
_RELEVANT: Final = ("ownerReferences", "deletionTimestamp", "finalizers", "uid")


class GraphBuilder:
    """The graph, and the owners that are known to be gone.

    `attempt` and `release` receive uids: of objects that may have to be deleted, and of owners
    whose dependents are to be orphaned.
    """

    def __init__(self, attempt: Callable[[str], None], release: Callable[[str], None]) -> None:
        self.graph = OwnershipGraph()
        self._attempt = attempt
        self._release = release
        self._absent: OrderedDict[Identity, None] = OrderedDict()

    def seen(self, kind: Kind, obj: Object, old: Object | None) -> None:
        """An object was seen: its node, its references, and where it stands in its deletion."""
        node, doubtful = self.graph.observe(kind, obj)
        for uid in doubtful:
            self._attempt(uid)
        if not is_terminating(obj):
            return
        node.being_deleted = True
        finalizers = finalizers_of(obj)
        before = () if old is None or not is_terminating(old) else finalizers_of(old)
        if ORPHAN in finalizers and ORPHAN not in before:
            self._release(node.identity.uid)
        elif FOREGROUND in finalizers and FOREGROUND not in before:
            node.deleting_dependents = True
            for dependent in node.dependents:
                self._attempt(dependent)
            self._attempt(node.identity.uid)

    def gone(self, uid: str) -> None:
        """An object was seen to be gone."""
        node = self.graph.nodes.get(uid)
        if node is not None:
            self._remove(node, node.identity)

    def found_absent(self, identity: Identity) -> None:
        """A live read has found no object with these coordinates and this uid."""
        node = self.graph.nodes.get(identity.uid)
        if node is None:
            return
        matching, others = self.graph.split_dependents(node, identity)
        if not (node.virtual and others) and (node.virtual or node.identity == identity):
            self._remove(node, identity)
            return
        # Its dependents disagree on who it is: only those that mean the absent one may go.
        if matching:
            self.remember_absent(identity)
        for dependent in matching:
            self._attempt(dependent)
        if node.virtual and node.identity == identity:
            node.identity = self.graph.other_identity(others, identity)
            self._attempt(identity.uid)

    def _remove(self, node: GraphNode, identity: Identity) -> None:
        """Take a node out, and let the workers look at all that depended on it."""
        self.graph.remove(node)
        if node.dependents:
            self.remember_absent(identity)
        for dependent in node.dependents:
            self._attempt(dependent)
        for reference in node.owners:
            owner = self.graph.nodes.get(reference["uid"])
            if owner is not None and owner.deleting_dependents:
                self._attempt(owner.identity.uid)

    def is_absent(self, identity: Identity) -> bool:
        """True if the owner is remembered as deleted, so that no live read is needed."""
        return identity in self._absent

    def remember_absent(self, identity: Identity) -> None:
        """Uids never come back, so this needs no expiry but for its size."""
        self._absent[identity] = None
        self._absent.move_to_end(identity)
        if len(self._absent) > _ABSENT_OWNERS:
            self._absent.popitem(last=False)


def matters(change: Change) -> bool:
    """True if a change can alter the graph: most updates of a status cannot."""
    old, new = change.old, change.object
    if change.event != "MODIFIED" or old is None:
        return True
    before, after = old["metadata"], new["metadata"]
    return any(before.get(member) != after.get(member) for member in _RELEVANT)
