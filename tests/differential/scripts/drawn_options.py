"""Lists with options that are drawn at random, and names of any form.

A generator with a seed draws them, so both sides get the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from tests.differential.dialogue import Dialogue
from tests.differential.exchange import TABLE, Answer
from tests.differential.script import script
from tests.differential.scripts.manifests import pod
from tests.differential.scripts.types import small_objects
from vocabulary.kinds import API_SERVICE, CUSTOM_RESOURCE_DEFINITION, POD
from vocabulary.objects import get_path


def _said(answer: Answer, *parts: str) -> list[Any]:
    if answer.code >= 300:
        return [answer.code, answer.body.get("message") or answer.body]
    return [answer.code, *(get_path(answer.body, part) for part in parts), *answer.warnings]


_LISTS: Final[Mapping[str, Sequence[str]]] = {
    "resourceVersion": ("", "0", "1", "odd", "-1", "0"),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "Odd", ""),
    "limit": ("1", "2", "0", "-1", "odd", "500"),
    "labelSelector": ("app=a", "app!=a", "app", "!app", "app in (a,b)", "app=", "a notin (b)"),
    "fieldSelector": (
        *("spec.nodeName=ghost", "spec.nodeName!=ghost", "status.phase=Pending", "spec.nodeName="),
        *("metadata.name=p1", "metadata.name!=p1", "spec.restartPolicy=Never", "odd=1"),
        *("spec.schedulerName=x", "spec.serviceAccountName=default", "status.podIP="),
        *("status.phase!=Pending,metadata.name=p2", "spec.hostNetwork=true", "="),
        "spec.hostNetwork=false",
    ),
    "timeoutSeconds": ("1", "odd", "-1"),
    "allowWatchBookmarks": ("true", "odd"),
    "sendInitialEvents": ("true", "false"),
    "watch": ("false", "0"),
}


@script("A list with any options is answered, or refused.", ["4.13"])
def drawn_reads(c: Dialogue) -> None:
    rng = c.random("reads")
    path = POD.path(c.namespace)
    for number in range(4):
        made: Any = pod(f"p{number}", schedulerName="x")
        made["metadata"]["labels"] = rng.choice(({}, {"app": "a"}, {"app": "b"}, {"app": ""}))
        made["spec"] |= rng.choice(({}, {"nodeName": "ghost"}, {"restartPolicy": "OnFailure"}))
        c.consult("POST", path, made)
    for number in range(220):
        names = rng.sample(sorted(_LISTS), rng.randint(1, 3))
        query = {name: rng.choice(_LISTS[name]) for name in names}
        accept = rng.choice(("application/json", "application/json", TABLE, "text/html", "*/*"))
        one = rng.randrange(6) == 0
        target = POD.path(c.namespace, rng.choice(("p1", "none"))) if one else path
        answer = c.consult("GET", f"{target}?{urlencode(query)}", accept=accept)
        label = f"{number}: {target.rpartition('/')[2]} {query} {accept}"
        if answer.code >= 300:
            c.note(label, _said(answer))
            continue
        body = answer.body
        found = [get_path(it, "metadata.name") for it in body.get("items") or ()]
        rows = [it["cells"][0] for it in body.get("rows") or ()]
        left = get_path(body, "metadata.remainingItemCount")
        c.note(label, [answer.code, body["kind"], found, rows, left])


_NAMES: Final = (
    *("a", "a.b", "a-b", "-a", "a-", "A", "a..b", "a.-b", "a_b", "a:b", "0", "1.2", "a" * 63),
    *("a" * 64, "a" * 253, "a" * 254, "é", "a b", "a%b", "system:a", "a.b.c", "v1.a.b"),
)


@script("A name of any form is taken or refused as its kind asks for.", ["4.5"])
def drawn_names(c: Dialogue) -> None:
    rng = c.random("names")
    objects = small_objects(c.namespace)
    for _ in range(150):
        kind = rng.choice(list(objects))
        name = rng.choice(_NAMES)
        obj = {**objects[kind], "metadata": {"name": name}}
        if rng.randrange(5) == 0 and kind not in (API_SERVICE, CUSTOM_RESOURCE_DEFINITION):
            obj["metadata"] = {"generateName": name}
        path = f"{kind.path(c.namespace if kind.namespaced else '')}?dryRun=All"
        answer = c.consult("POST", path, obj)
        causes = answer.body.get("details", {}).get("causes") or ()
        told = [
            f"{it['field']}: {_GENERATED.sub('', it['message'])}"
            for it in causes
            if it["field"] in ("metadata.name", "metadata.generateName")
        ]
        c.note(f"{kind} {obj['metadata']}", [answer.code, *told])


_GENERATED: Final = re.compile(r'"[^"]*[a-z0-9]{5}"')
"""A name that may have been generated."""
