"""Lists, selectors, pages, and watches."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import urlencode

from tests.differential.dialogue import Dialogue
from tests.differential.exchange import METADATA, METADATA_LIST
from tests.differential.plane import WIDGET
from tests.differential.predicates import event, events, has
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, unscheduled, widget
from vocabulary.kinds import CONFIG_MAP, EVENT, JOB, POD, SECRET

NAMES = ["metadata.name"]
LATER = "999999999999"
"""A revision that no cluster reaches."""
OLD_TOKEN = (
    base64.urlsafe_b64encode(b'{"v":"meta.k8s.io/v0","rv":1,"start":"xy"}').decode().rstrip("=")
)


@script("Label selectors match by equality, by sets and by existence.", ["4.16"])
def label_selectors(c: Dialogue) -> None:
    for name, labels in {"a": {"x": "1"}, "b": {"x": "2", "y": ""}, "c": {}}.items():
        c.create(config_map(name, labels=labels))
    for selector in (
        "x=1",
        "x==2",
        "x!=1",
        "x in (1,2)",
        "x notin (1)",
        "x",
        "!x",
        "y=",
        "x,y",
        "x=3",
    ):
        c.list(CONFIG_MAP, labels=selector, show=NAMES)
    for selector in ("x>1", "x<+2", "x>-1", f"x<{2**63 - 1}", f"x>{-(2**63)}", "x>007"):
        c.list(CONFIG_MAP, labels=selector, show=NAMES)
    for wrong in ("x=1,", "x in 1", "=1", "x=a b", "x=bad!", "x>a", f"x>{2**63}", f"x<{10**80}"):
        c.list(CONFIG_MAP, labels=wrong, show=NAMES)
    for wrong in ("x in (a,-b,-c)", "x notin (-z,-a,m)", "x!=-a", "x in (a,-b),-y=-c,x>1"):
        c.list(CONFIG_MAP, labels=wrong, show=NAMES)


@script("Field selectors match by the fields that a kind supports.", ["4.16"])
def field_selectors(c: Dialogue) -> None:
    c.create(unscheduled("a"))
    c.create(unscheduled("b"))
    for selector in (
        "metadata.name=a",
        "metadata.name!=a",
        "status.phase=Pending",
        "spec.nodeName=",
        "spec.schedulerName=nobody",
        "spec.restartPolicy=Always,metadata.name=b",
    ):
        c.list(POD, fields=selector, show=NAMES)
    c.list(POD, fields="spec.priority=0", show=NAMES)
    c.list(CONFIG_MAP, fields="data=x", show=NAMES)
    c.list(POD, fields="metadata.name", show=NAMES)
    c.create(widget("s"))
    c.create(widget("l", "large"))
    c.list(WIDGET, fields="spec.size=large", show=NAMES)
    c.list(WIDGET, fields="spec.hidden=true", show=NAMES)
    c.list(JOB, fields="status.successful=0", show=NAMES)


@script("Commas, equals signs and backslashes are escaped in a field selector's values.", ["4.16"])
def escaped_field_selectors(c: Dialogue) -> None:
    reasons = {"plain": "a", "comma": "a,b", "equals": "a=b", "backslash": "a\\b", "all": ",=\\"}
    for name, reason in reasons.items():
        regarding = {"kind": "Pod", "namespace": c.namespace, "name": "a"}
        event = {"metadata": {"name": name}, "involvedObject": regarding, "reason": reason}
        c.create({"apiVersion": "v1", "kind": "Event", **event}, show=NAMES)
    for value in ("a", r"a\,b", r"a\=b", r"a\\b", r"\,\=\\", r"a\,c"):
        for equality in ("=", "==", "!="):
            c.list(EVENT, fields=f"reason{equality}{value}", show=NAMES)
    c.list(EVENT, fields=r"reason=a\,b,metadata.name=comma", show=NAMES)
    for wrong in ("a,b", "a=b", "a\\b", "\\", "a\\", r"a\,\b", r"a\\\c", r"\,=", r"\=\ "):
        c.list(EVENT, fields=f"reason={wrong}", show=NAMES)


@script("A list is read page by page, each page of the same state.", ["4.16"])
def pages(c: Dialogue) -> None:
    for name in "abcde":
        c.create(config_map(name), show=NAMES)
    first = c.list(CONFIG_MAP, limit=2)
    c.create(config_map("aa"), show=NAMES)
    second = c.list(CONFIG_MAP, limit=2, continue_=first.body["metadata"]["continue"])
    c.note("the revision is the first page's", first.revision == second.revision)
    c.list(CONFIG_MAP, limit=2, continue_=second.body["metadata"]["continue"])
    c.list(CONFIG_MAP, limit=6)
    c.list(CONFIG_MAP, limit=3, labels="!x")
    c.list(CONFIG_MAP, limit=2, continue_=OLD_TOKEN)
    c.list(
        CONFIG_MAP, limit=2, continue_=first.body["metadata"]["continue"], revision=first.revision
    )


@script("An expired token is refused with one for the rest as it is now.", ["4.16"], exclusive=True)
def expired_tokens(c: Dialogue) -> None:
    for name in "abcd":
        c.create(config_map(name), show=NAMES)
    first = c.list(CONFIG_MAP, limit=2)
    token = first.body["metadata"]["continue"]
    c.create(config_map("bb"), show=NAMES)
    c.delete(CONFIG_MAP, "c", show=NAMES)
    c.forget()
    path = f"{CONFIG_MAP.path(c.namespace)}?{urlencode({'limit': '1', 'continue': token})}"
    c.until_true("the token has expired", lambda: c.consult("GET", path).code == 410)
    fresh = c.list(CONFIG_MAP, limit=1, continue_=token).body["metadata"]["continue"]
    second = c.list(CONFIG_MAP, limit=1, continue_=fresh)
    c.create(config_map("e"), show=NAMES)
    c.list(CONFIG_MAP, limit=1, continue_=second.body["metadata"]["continue"])
    c.list(CONFIG_MAP, limit=5, continue_=fresh)


def _token(**fields: Any) -> str:
    text = json.dumps(fields, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@script("A token that no server has given is refused.", ["4.16"])
def tokens_of_nobody(c: Dialogue) -> None:
    c.create(config_map("a"), show=NAMES)
    for label, token in (
        ("no base64", "%"),
        ("no JSON", "e30x"),
        ("no object", "bnVsbA"),
        ("an empty object", _token()),
        ("another version", _token(v="v9", rv=5, start="a\0")),
        ("no revision", _token(v="meta.k8s.io/v1", start="a\0")),
        ("no start", _token(v="meta.k8s.io/v1", rv=5)),
        ("a revision of a wrong type", _token(v="meta.k8s.io/v1", rv="5", start="a\0")),
        ("a start that leads elsewhere", _token(v="meta.k8s.io/v1", rv=5, start="../a\0")),
    ):
        query = urlencode({"limit": "1", "continue": token})
        c.raw("GET", f"{CONFIG_MAP.path(c.namespace)}?{query}", label=label)


@script("A list can be requested at a revision.", ["4.16"])
def list_at_revision(c: Dialogue) -> None:
    first = c.create(config_map("a"), show=NAMES)
    c.create(config_map("b"), show=NAMES)
    for match in ("Exact", "NotOlderThan"):
        c.list(CONFIG_MAP, revision=first.revision, match=match, limit=5, show=NAMES)
    c.list(CONFIG_MAP, revision="0", show=NAMES)
    c.list(CONFIG_MAP, match="Exact", show=NAMES)
    c.list(CONFIG_MAP, revision="0", match="Exact", show=NAMES)
    c.list(CONFIG_MAP, revision="nonsense", show=NAMES)
    c.list(CONFIG_MAP, revision=first.revision, match="Sometimes", show=NAMES)


FAR = "999999999999"


@script("Future revisions cannot be read.", ["4.16"])
def future_revision(c: Dialogue) -> None:
    c.create(config_map("a"), show=NAMES)
    one = CONFIG_MAP.path(c.namespace, "a")
    c.raw("GET", f"{one}?resourceVersion={FAR}")
    c.raw("GET", f"{one}?resourceVersion=0", show=NAMES)
    c.raw("GET", f"{one}?resourceVersion=1", show=NAMES)
    c.raw("GET", f"{one}?resourceVersion=nonsense")
    c.raw("GET", f"{CONFIG_MAP.path(c.namespace, 'b')}?resourceVersion={FAR}")
    c.list(CONFIG_MAP, revision=FAR, show=NAMES)
    c.list(CONFIG_MAP, revision=FAR, match="NotOlderThan", show=NAMES)
    c.list(CONFIG_MAP, revision=FAR, match="Exact", show=NAMES)
    c.list(CONFIG_MAP, revision=FAR, limit=1, show=NAMES)
    c.list(WIDGET, revision=FAR, show=NAMES)


@script("A client can request metadata alone.", ["4.13", "4.16"])
def metadata_alone(c: Dialogue) -> None:
    c.create(config_map("a", {"k": "v"}, labels={"l": "1"}), show=NAMES)
    c.create(widget("a"), show=NAMES)
    both = f"{METADATA},application/json"
    for kind in (CONFIG_MAP, WIDGET):
        many, one = kind.path(c.namespace), kind.path(c.namespace, "a")
        c.raw("GET", one, accept=METADATA)
        c.raw("GET", one, accept=both)
        c.raw("GET", many, accept=METADATA_LIST)
        c.raw("GET", f"{many}?limit=1", accept=f"{METADATA_LIST},application/json", show=NAMES)
        c.raw("GET", many, accept=METADATA)
        c.raw("GET", one, accept=METADATA_LIST)
        absent = kind.path(c.namespace, "absent")
        c.raw("GET", absent, accept=METADATA)
        merge = "application/merge-patch+json"
        labels = {"metadata": {"labels": {"l": "2"}}}
        c.raw("PATCH", one, labels, content_type=merge, accept=METADATA)
        c.watch(kind, events(1), accept=METADATA, initial_events=True)
        c.watch(kind, event("BOOKMARK"), accept=both, initial_events=True)
    path = CONFIG_MAP.path(c.namespace)
    c.raw("POST", path, config_map("b", {"k": "v"}), accept=METADATA)
    c.raw("DELETE", f"{path}/b", accept=METADATA)
    c.raw("GET", f"{path}/a", accept="application/json;as=Nonsense;g=meta.k8s.io;v=v1,*/*")
    c.raw("GET", f"{path}/a", accept=METADATA.replace("v=v1", "v=v1beta1"))
    for kind in (CONFIG_MAP, WIDGET):
        for unknown in ("text/html", "application/json;as=Nonsense;g=meta.k8s.io;v=v1"):
            c.raw("GET", kind.path(c.namespace, "a"), accept=unknown)
            c.raw("GET", kind.path(c.namespace), accept=unknown)


@script("A list's revision is not older than any of its items.", ["4.13", "4.16"])
def list_revision(c: Dialogue) -> None:
    first = c.create(config_map("a"))
    listed = c.list(CONFIG_MAP)
    c.note("not older", int(listed.revision) >= int(first.revision))


@script("A watch from a revision reports changes since then, in order.", ["4.13", "4.16"])
def watch_replays(c: Dialogue) -> None:
    first = c.create(config_map("a", {"k": "1"}))
    c.patch(CONFIG_MAP, "a", {"data": {"k": "2"}})
    c.create(config_map("b"))
    c.delete(CONFIG_MAP, "a")
    c.create(config_map("a", {"k": "3"}))
    told = c.watch(CONFIG_MAP, events(4), since=first.revision)
    versions = [int(one["object"]["metadata"]["resourceVersion"]) for one in told]
    c.note("versions only grow", versions == sorted(set(versions)))


@script("A watch without a revision begins with the existing objects.", ["4.13"])
def watch_from_nothing(c: Dialogue) -> None:
    c.create(config_map("a", {"k": "1"}))
    c.patch(CONFIG_MAP, "a", {"data": {"k": "2"}})
    c.create(config_map("b"))
    c.watch(CONFIG_MAP, events(2))
    c.watch(CONFIG_MAP, events(2), since="0")


@script("On request, a watch marks the end of the existing objects.", ["4.13"])
def watch_initial_events(c: Dialogue) -> None:
    first = c.create(config_map("a"))
    c.create(config_map("b"))
    c.patch(CONFIG_MAP, "a", {"data": {"k": "1"}})
    c.delete(CONFIG_MAP, "b")
    c.create(config_map("c"))
    c.watch(CONFIG_MAP, event("BOOKMARK"), initial_events=True)
    # As clients do whose watch broke off: what exists, however old the revision is.
    c.watch(CONFIG_MAP, event("BOOKMARK"), since=first.revision, initial_events=True)
    c.watch(CONFIG_MAP, event("BOOKMARK"), since="0", initial_events=True)


@script("Initial events can be refused, and come without a mark unless bookmarks do.", ["4.13"])
def watch_initial_events_refused(c: Dialogue) -> None:
    first = c.create(config_map("a"))
    c.create(config_map("b"))
    c.watch(CONFIG_MAP, events(2), initial_events=True, bookmarks=False)
    c.watch(CONFIG_MAP, events(1), since=first.revision, initial_events=False)
    c.watch(CONFIG_MAP, event("ERROR"), since=LATER, initial_events=True, show=["kind"])
    c.watch(CONFIG_MAP, event("REFUSED"), since="nonsense", initial_events=True)


@script("Contradictory options of lists and watches are refused.", ["4.13", "4.16"])
def contradictory_list_options(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace)
    c.create(config_map("a"), show=["metadata.name"])
    initial, newer = "sendInitialEvents=true", "resourceVersionMatch=NotOlderThan"
    for options in (
        initial,
        "sendInitialEvents=false",
        f"{initial}&resourceVersionMatch=Odd",
        f"watch=1&{initial}",
        "watch=1&sendInitialEvents=false",
        f"watch=1&{initial}&resourceVersionMatch=Exact",
        f"watch=1&{initial}&resourceVersionMatch=Odd",
        f"watch=1&{newer}",
        f"watch=1&{newer}&resourceVersion=0",
        "watch=1&resourceVersionMatch=Odd&resourceVersion=1",
        "watch=1&continue=abc",
        f"watch=1&{initial}&{newer}&continue=abc",
    ):
        c.raw("GET", f"{path}?{options}", label=options)


@script(
    "A limit counts for lists of the latest or an exact revision, not for cached ones.", ["4.13"]
)
def limits_and_revisions(c: Dialogue) -> None:
    path = SECRET.path(c.namespace)
    for name in ("a", "b", "c"):
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
        second = c.create(body, show=["metadata.name"])
        if name == "b":
            revision = second.revision
    c.until_true("the cache has the last one", lambda: len(c.peek(SECRET, "")) == 3)
    newer, exact = "resourceVersionMatch=NotOlderThan", "resourceVersionMatch=Exact"
    for label, options in {
        "one": "limit=1",
        "one, of any revision": "limit=1&resourceVersion=0",
        "one, not older than any": f"limit=1&resourceVersion=0&{newer}",
        "one, of a revision": f"limit=1&resourceVersion={revision}",
        "one, not older than a revision": f"limit=1&resourceVersion={revision}&{newer}",
        "one, of exactly a revision": f"limit=1&resourceVersion={revision}&{exact}",
        "all, of a revision": f"resourceVersion={revision}",
        "all, of exactly a revision": f"resourceVersion={revision}&{exact}",
        "all, not older than a revision": f"resourceVersion={revision}&{newer}",
        "less than none": "limit=-1",
    }.items():
        listed = c.consult("GET", f"{path}?{options}").body
        names = [item["metadata"]["name"] for item in listed["items"]]
        told = {key: value for key, value in listed["metadata"].items() if key != "continue"}
        told["resourceVersion"] = listed["metadata"]["resourceVersion"] == revision
        c.note(label, {"names": names, "goes on": "continue" in listed["metadata"], **told})


@script("Who asks for what has not happened yet is told when to ask again.", ["4.13"])
def retry_after(c: Dialogue) -> None:
    c.create(config_map("a"), show=["metadata.name"])
    path = CONFIG_MAP.path(c.namespace)
    for target in (f"{path}?resourceVersion={LATER}", f"{path}/a?resourceVersion={LATER}"):
        label = f"GET {'one' if '/a?' in target else 'all'} of a later revision"
        c.raw("GET", target, label=label, headers=True)
    c.raw("GET", f"{path}/none", label="nothing", headers=True)


@script(
    "A watch with a selector adds matching objects, and deletes those that no longer match.",
    ["4.13"],
)
def watch_selected(c: Dialogue) -> None:
    first = c.create(config_map("a"))
    c.patch(CONFIG_MAP, "a", {"metadata": {"labels": {"x": "1"}}})
    c.patch(CONFIG_MAP, "a", {"data": {"k": "1"}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"labels": {"x": "2"}}})
    c.patch(CONFIG_MAP, "a", {"data": {"k": "2"}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"labels": {"x": "1"}}})
    c.delete(CONFIG_MAP, "a")
    c.watch(CONFIG_MAP, events(5), since=first.revision, labels="x=1")


@script("A watch by field reports pods once they match.", ["4.13"])
def watch_by_field(c: Dialogue) -> None:
    first = c.create(unscheduled("a"))
    c.patch(POD, "a", {"status": {"phase": "Running"}}, subresource="status", show=["status.phase"])
    c.patch(POD, "a", {"status": {"phase": "Failed"}}, subresource="status", show=["status.phase"])
    c.watch(
        POD,
        event("DELETED"),
        since=first.revision,
        fields="status.phase=Running",
        show=["metadata.name", "status.phase"],
    )


@script("A watch from an expired revision fails with 410.", ["4.13", "4.16"])
def watch_too_old(c: Dialogue) -> None:
    c.create(widget("w"))
    c.watch(WIDGET, event("ERROR"), since="1")
    c.watch(WIDGET, event("REFUSED"), since="nonsense")


@script("Who was told 410 lists again, and watches on from there without a gap.", ["4.13"])
def resync(c: Dialogue) -> None:
    c.create(widget("a"), show=NAMES)
    c.watch(WIDGET, event("ERROR"), since="1")
    listed = c.list(WIDGET, show=NAMES)
    c.create(widget("b"), show=NAMES)
    c.delete(WIDGET, "a", show=NAMES)
    c.watch(WIDGET, event("DELETED"), since=listed.revision, show=["metadata.name"])


@script(
    "An object's last event has its final state, with the deletion's resourceVersion.",
    ["4.2", "4.13"],
)
def deleted_event(c: Dialogue) -> None:
    first = c.create(config_map("a", {"k": "v"}))
    c.delete(CONFIG_MAP, "a")
    told = c.watch(CONFIG_MAP, event("DELETED"), since=first.revision)
    last = int(told[-1]["object"]["metadata"]["resourceVersion"])
    c.note("later than the last write", last > int(first.revision))


@script("A watch of one name reports only that object.", ["4.13"])
def one_object_by_name(c: Dialogue) -> None:
    c.create(config_map("a"))
    c.create(config_map("b"))
    c.watch(CONFIG_MAP, has("metadata.name", "b"), name="b")
    path = CONFIG_MAP.path(c.namespace)
    c.raw("GET", f"{path}/a?resourceVersion=0")


@script("Options of lists and watches that go together, and those that do not.", ["4.13"])
def options_together(c: Dialogue) -> None:
    for name in ("a", "b"):
        c.create(config_map(name, labels={"l": "m"}), show=["metadata.name"])
    path = CONFIG_MAP.path(c.namespace)
    first = c.consult("GET", f"{path}?labelSelector=l&limit=1").body
    token = first["metadata"]["continue"]
    revision = str(c.consult("GET", path).body["metadata"]["resourceVersion"])
    listed = "fieldSelector=metadata.name%3Da"
    for label, query in {
        "a page and a match": f"continue={token}&resourceVersionMatch=Exact",
        "a page and a match of any": (
            f"continue={token}&resourceVersion=0&resourceVersionMatch=Exact"
        ),
        "a page and a revision": f"continue={token}&resourceVersion={revision}",
        "a page of any": f"continue={token}&resourceVersion=0",
        "an unknown match": f"resourceVersion={revision}&resourceVersionMatch=Odd",
        "exactly any": "resourceVersion=0&resourceVersionMatch=Exact",
        "no older than any": f"{listed}&resourceVersion=0&resourceVersionMatch=NotOlderThan",
        "no older": f"{listed}&resourceVersion={revision}&resourceVersionMatch=NotOlderThan",
        "exactly": f"{listed}&resourceVersion={revision}&resourceVersionMatch=Exact",
        "a negative one": "resourceVersion=-1",
        "a text": "resourceVersion=x",
        "a negative limit": f"{listed}&limit=-1",
        "a text for a limit": "limit=x",
        "initial events of a list": "sendInitialEvents=true",
        "no initial events of a list": "sendInitialEvents=false",
        "a time": f"{listed}&timeoutSeconds=5",
        "a text for a time": "timeoutSeconds=x",
        "no watch": f"{listed}&watch=false&allowWatchBookmarks=true",
    }.items():
        c.raw("GET", f"{path}?labelSelector=l&{query}", label=label, show=["metadata.name"])
