"""First reviews of a webhook server in many threads."""

from __future__ import annotations

from tests.first_use import use_at_once

DEFINITIONS = """
import importlib
import reference_controller.runtime.admission_review as module
from vocabulary.kinds import POD

REVIEW = (
    b'{"apiVersion":"admission.k8s.io/v1","request":'
    b'{"uid":"u","operation":"DELETE","kind":{"group":"","version":"v1","kind":"Pod"},'
    b'"userInfo":{"username":"me"}}}'
)

def use(together):
    together.wait()
    module.review(REVIEW, {POD: module.Webhook(validate=max)}, "validate")
"""


def test_the_first_reviews_of_a_webhook_server_may_come_all_at_once() -> None:
    use_at_once(DEFINITIONS, "module = importlib.reload(module)", rounds=60)
