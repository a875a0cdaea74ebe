"""The state that the controllers of one process share: settings, decisions, and own acts."""

from __future__ import annotations

from dataclasses import dataclass, field

from reference_controller.shared.reading import Reading, read
from reference_controller.streams.config import StreamsConfig
from reference_controller.streams.names import JOB, JOB_UID, OF_JOB
from reference_controller.streams.parts import Compiled
from reference_controller.streams.rules import Rules
from vocabulary.canonical import digest
from vocabulary.kinds import CONFIG_MAP
from vocabulary.objects import (
    Object,
    get_path,
    is_terminating,
    labels_of,
    namespace_of,
    uid_of,
)


@dataclass(slots=True, eq=False)
class Office:
    """Shared by all controllers. None of it outlives the process, and nothing needs it to."""

    config: StreamsConfig
    rules: Rules
    driven: set[str] = field(default_factory=set)
    """The uids of Jobs that this process submits."""
    launched: set[tuple[str, int]] = field(default_factory=set)
    """The launches that it began: uid of the ProcessingElement, and its launchCount."""
    _compiled: dict[str, Compiled] = field(default_factory=dict)
    """By the uid of a Job: its version that was compiled last."""

    def compiled(self, job: Object) -> Compiled:
        """A Job's parts, which are made once for each of its versions."""
        found = self._compiled.get(uid_of(job))
        if found is None or found.job is not job:
            found = self._compiled[uid_of(job)] = Compiled(job)
        return found

    def job_of(self, part: Object, *, live: bool) -> Reading[Compiled | None]:
        """The Job that a part belongs to; None if it is gone, or being deleted, or the cache is
        behind and shows it without its id."""
        labels = labels_of(part)
        job = yield from read(JOB, namespace_of(part), labels.get(OF_JOB, ""), live=live)
        if job is None or uid_of(job) != labels.get(JOB_UID) or is_terminating(job):
            return None
        if get_path(job, "spec.id") is None:
            return None
        return self.compiled(job)

    def acts_for(self, job: Compiled) -> bool:
        """True if pods of the Job are this process's to make."""
        if not self.rules.design().guards_pods:
            return True
        is_submitted = self.rules.is_submitted(get_path(job.job, "spec.phase", ""))
        return self.rules.may_launch(is_submitted, job.uid in self.driven)


def pulled_bundle(job: Object) -> Reading[str]:
    """The revision of a Job's bundle as it is pulled now; empty if there is none."""
    name = str(get_path(job, "spec.bundle.name", ""))
    found = yield from read(CONFIG_MAP, namespace_of(job), name, live=True)
    return "" if found is None else digest(found.get("data") or {})[:12]
