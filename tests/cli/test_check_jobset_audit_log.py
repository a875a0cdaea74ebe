"""`assay check --audit-log` of a JobSet controller: its Jobs are removed by the garbage collector,
which asks the API server for metadata alone."""

from __future__ import annotations

import gzip
from pathlib import Path

from conformance.audit_log.events import read_log
from conformance.audit_log.history import to_history
from tests.cli.conftest import Assay
from tests.cli.recording_jobset import OPERATOR_USER, SOUND_LOG, WRONG_LOG
from vocabulary.history import Write

KNOWN = ("--operator-user", OPERATOR_USER)


def test_the_log_of_a_sound_controller_violates_nothing(assay: Assay) -> None:
    ended = assay("check", "--audit-log", SOUND_LOG, *KNOWN)
    assert ended.code == 0, ended
    for claim in ("JS-001", "JS-022", "JS-047", "JS-090"):
        assert f"✓ passed       {claim}" in ended.out
    assert "✗" not in ended.out


def test_the_log_of_a_mutant_shows_the_restart_too_many(assay: Assay) -> None:
    ended = assay("check", "--audit-log", WRONG_LOG, *KNOWN)
    assert ended.code == 1
    assert "JS-022 restarts-are-limited  FAILED" in ended.out


def test_jobs_are_whole_until_they_are_removed_after_their_pods() -> None:
    found = to_history(read_log([SOUND_LOG]), "log", operator_user=OPERATOR_USER)
    writes = [entry for entry in found.entries if isinstance(entry, Write)]
    assert "PartialObjectMetadata" in gzip.decompress(SOUND_LOG.read_bytes()).decode()
    assert "PartialObjectMetadata.meta.k8s.io" not in {write.kind for write in writes}
    removed = [write for write in writes if (write.kind, write.event) == ("Job.batch", "DELETED")]
    assert removed
    for job in removed:
        assert job.object is not None
        assert "template" in job.object["spec"]
        pods = [
            write
            for write in writes
            if write.kind == "Pod"
            and write.object is not None
            and write.object["metadata"]["ownerReferences"][0]["uid"] == job.uid
        ]
        assert pods
        assert all(pod.n < job.n for pod in pods)


def test_a_log_is_evaluated_by_the_edition_that_is_asked_for(assay: Assay, tmp_path: Path) -> None:
    def told(*more: str) -> str:
        return assay("check", "--audit-log", SOUND_LOG, *KNOWN, "--all", *more).out

    assert " JS-097 " in told()
    assert " JS-097 " not in told("--edition", "released")
    ended = assay("check", "--audit-log", SOUND_LOG, *KNOWN, "--edition", "newest")
    assert (ended.code, ended.out) == (2, "")
    assert (
        "--edition: there is no edition 'newest' of jobset; write kep or kep-v0.12 or released"
        in ended.err
    )
    kept = tmp_path / "kept.jsonl.gz"
    assay("check", "--audit-log", SOUND_LOG, *KNOWN, "--save", kept)
    ended = assay("check", kept, "--edition", "kep")
    assert ended.code == 2
    assert "--edition and --save belong to --audit-log" in ended.err
