"""First decoding in many threads: msgspec crashes the process if two of them build the same type's
codec at once, and only a signal shows it."""

from __future__ import annotations

import subprocess
import sys

ROUNDS = 60
FIRST_USE = f"""
import importlib, sys, threading
import reference_controller.runtime.admission_review as module
from vocabulary.kinds import POD

REVIEW = (
    b'{{"apiVersion":"admission.k8s.io/v1","request":'
    b'{{"uid":"u","operation":"DELETE","kind":{{"group":"","version":"v1","kind":"Pod"}},'
    b'"userInfo":{{"username":"me"}}}}}}'
)

def use(together):
    together.wait()
    module.review(REVIEW, {{POD: module.Webhook(validate=max)}}, "validate")

sys.setswitchinterval(1e-6)
for _ in range({ROUNDS}):
    module = importlib.reload(module)
    together = threading.Barrier(6)
    users = [threading.Thread(target=use, args=(together,)) for _ in range(6)]
    for user in users:
        user.start()
    for user in users:
        user.join()
"""


def test_the_first_reviews_of_a_webhook_server_may_come_all_at_once() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FIRST_USE], capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
