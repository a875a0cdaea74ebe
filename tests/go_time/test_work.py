"""A program's children are work of its until they end."""

from __future__ import annotations

import os
import subprocess

from fixtures.go_time.work import has_children


def test_a_child_that_has_ended_and_is_not_waited_for_is_no_work() -> None:
    script = "import os, sys; os.spawnlp(os.P_NOWAIT, 'cat', 'cat'); sys.stdout.write('up\\n'); "
    script += "sys.stdout.flush(); os.read(int(sys.argv[1]), 1)"
    ours, theirs = os.pipe()
    with subprocess.Popen(
        ["python3", "-c", script, str(ours)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[ours],
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdout.readline()
        assert has_children(parent.pid)
        parent.stdin.close()  # ends the child, which is not waited for
        while has_children(parent.pid):
            pass
        os.close(theirs)
    os.close(ours)
