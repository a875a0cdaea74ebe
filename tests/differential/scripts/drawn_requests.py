"""Deletes and lists with options that are drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, pod
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.objects import get_path

_OPTIONS: Final[Sequence[dict[str, Any]]] = (
    *({"propagationPolicy": it} for it in ("Foreground", "Background", "Orphan", "Odd")),
    {"orphanDependents": True},
    {},
)
_FINALIZERS: Final[Sequence[list[str]]] = (
    [],
    ["orphan"],
    ["foregroundDeletion"],
    ["a.b/c"],
    ["a.b/c", "orphan"],
)


def _delete(c: Dialogue, label: str, path: str, options: Any) -> None:
    answer = c.consult("DELETE", path, options)
    shown = ("deletionGracePeriodSeconds", "finalizers", "generation")
    if answer.code >= 300:
        c.note(label, [answer.code, answer.body["message"]])
    else:
        metadata = answer.body.get("metadata", {})
        told = [metadata.get(it) for it in shown]
        c.note(label, [answer.code, answer.body.get("kind"), answer.body.get("status"), *told])


@script("A delete with any options does what they say, or is refused.", ["4.1"])
def drawn_deletes(c: Dialogue) -> None:
    rng = c.random("deletes")
    for number, finalizers in enumerate(_FINALIZERS):
        path = CONFIG_MAP.path(c.namespace)
        c.consult("POST", path, config_map(f"c{number}", finalizers=finalizers))
    for number in range(70):
        options: dict[str, Any] = {**rng.choice(_OPTIONS)}
        if options.get("propagationPolicy") != "Odd":
            options |= rng.choice(_OPTIONS[4:])
        if rng.randrange(3) == 0:
            options["gracePeriodSeconds"] = rng.choice((-1, 0, 1))
        if rng.randrange(3) == 0:
            options["preconditions"] = {"uid": rng.choice(("x", ""))}
        name = rng.choice("012345")
        path = CONFIG_MAP.path(c.namespace, f"c{name}")
        # What a body says takes the place of all that a query says.
        _delete(c, f"{number}: c{name} {options}", path, {**options, "dryRun": ["All"]})
    for number in range(8):
        # Nobody plays a kubelet of that node.
        made: Any = pod(f"p{number}", nodeName="ghost", **rng.choice(_GRACES))
        made["metadata"]["finalizers"] = rng.choice(([], ["a.b/c"]))
        c.consult("POST", POD.path(c.namespace), made)
        for _ in range(5):
            seconds = rng.choice((None, None, 0, 1, 5, 10, 20, 60, -1))
            options = {} if seconds is None else {"gracePeriodSeconds": seconds}
            if rng.randrange(3) == 0:
                options["propagationPolicy"] = "Background"
            if rng.randrange(3) == 0:
                options["dryRun"] = ["All"]
            _delete(c, f"p{number} {options}", POD.path(c.namespace, f"p{number}"), options)


_GRACES: Final[Sequence[dict[str, Any]]] = (
    {},
    {"terminationGracePeriodSeconds": 10},
    {"terminationGracePeriodSeconds": 0},
)
_LABELS: Final = (
    *("a=b", "a==b", "a!=b", "a", "!a", "a in (b,c)", "a notin (b)", "a in (b),c=d", "c,!a", "a="),
    *(
        "a in ()",
        "a in",
        "=b",
        "a b",
        "a=b=c",
        "(a)",
        "a in (b,,c)",
        "a notin (b,c),a",
        "x/y=z",
        ",",
    ),
    *("a>1", "n>1", "n<2", "n>x", " a = b , c ", "a,a=b", "!a,!c", "a!=", "a in (,)", "/=x"),
)
_FIELDS: Final = (
    *("metadata.name=l1", "metadata.name!=l1", "metadata.namespace=x", "metadata.name==l2", ""),
    *("metadata.uid=x", "metadata.name", "metadata.name=l1,metadata.name!=l2", "=", "a=b"),
)


@script("A list has what its selectors choose, in pages.", ["4.16"])
def drawn_lists(c: Dialogue) -> None:
    rng = c.random("lists")
    path = CONFIG_MAP.path(c.namespace)
    given: Sequence[dict[str, str]] = (
        {},
        {"a": "b"},
        {"a": "c", "c": "d"},
        {"c": "d", "n": "2"},
        {"n": "1"},
        {"a": "", "x/y": "z"},
    )
    for number, labels in enumerate(given):
        c.consult("POST", path, config_map(f"l{number}", labels=labels))
    for number in range(90):
        query = {"labelSelector": rng.choice(_LABELS), "fieldSelector": rng.choice(_FIELDS[:6])}
        if rng.randrange(3) == 0:
            query["fieldSelector"] = rng.choice(_FIELDS)
        if rng.randrange(3) == 0:
            query["limit"] = rng.choice(("0", "1", "2", "5", "6", "-1", "x"))
        answer = c.consult("GET", f"{path}?{urlencode(query)}")
        names = [each["metadata"]["name"] for each in answer.body.get("items") or ()]
        left = get_path(answer.body, "metadata.remainingItemCount")
        said = answer.body.get("message") if answer.code >= 400 else [*names, left]
        c.note(f"{number}: {query}", [answer.code, said])
