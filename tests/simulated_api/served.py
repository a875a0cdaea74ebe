"""A client of a served cluster that knows nothing but HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

from clusters.simulated.serve.server import ServedCluster

TOKEN = "a-token"


def ask(
    served: ServedCluster,
    path: str,
    method: str = "GET",
    body: Any = None,
    *,
    token: str = TOKEN,
    accept: str = "application/json",
    content_type: str = "application/json",
) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": accept,
        "Content-Type": content_type,
    }
    request = urllib.request.Request(served.url + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as refusal:
        text = refusal.read()
        is_json = refusal.headers["Content-Type"] == "application/json"
        return refusal.code, json.loads(text) if is_json else text.decode()
