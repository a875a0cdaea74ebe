"""Hostile requests: each of them malformed, excessive or meaningless in one way."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

NAMESPACED: Final = "/api/v1/namespaces/default"
MAPS: Final = f"{NAMESPACED}/configmaps"
MAP: Final = f"{MAPS}/c"
JOBS: Final = "/apis/batch/v1/namespaces/default/jobs"
PODS: Final = f"{NAMESPACED}/pods"
DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
JSON: Final = "application/json"
_MANY: Final = 9 * 10**30

_METHODS: Final = ("HEAD", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "G\0T", "X" * 300)
_PATHS: Final = (
    *("/", "//", "/.", "/..", "/../../etc/passwd", "*", "?", "#", "/api", "/api/", "/api/v1"),
    *("/api/v1/", "/api/v9/pods", "/api/v1//pods", "/apis//v1/pods", "/apis/batch", "/version"),
    *("/%00", "/%zz", "/%", "/\xff", f"{MAPS}/%00", f"{MAPS}/%ff", f"{MAPS}/a%2fb", f"{MAPS}/.."),
    *(
        f"{MAPS}/{'a' * 300}",
        f"{MAP}/status/x/y",
        f"{MAP}/scale",
        f"{MAP}/nothing",
        f"{PODS}/p/log",
    ),
    *(
        "/api/v1/namespaces//configmaps",
        "/api/v1/watch",
        "/api/v1/watch/pods?timeoutSeconds=1",
        "//[x",
        "/api/v1/[x",
    ),
    *(
        "http://x/api/v1/pods",
        "http://[/",
        "/openapi/v3/x",
        "/openapi/v2",
        "/metrics",
        "/assay/clock",
    ),
    *("/api/v1/namespaces/%0a/pods", "/apis/x/y/z", "/logs", "/api/v1/pods/%E0%80%80"),
)
_NUMBERS: Final = ("x", "-1", "1.5", "1e3", str(_MANY), "", " ", "\0", "0x10", "true", "٣", "1_000")
_SELECTORS: Final = (
    "=",
    "a=b=c",
    "a in (",
    "!",
    "a,",
    ",",
    "(",
    "a=\0",
    "a" * 5000,
    "é=ü",
    "a!=",
    "a>b",
)
_QUERIES: Final[Mapping[str, tuple[str, ...]]] = {
    "limit": _NUMBERS,
    "resourceVersion": _NUMBERS,
    "timeoutSeconds": _NUMBERS,
    "continue": ("x", "é", "\0", "e30", "eyJ2IjoxfQ", "bnVsbA", "W10", "eyJydiI6Ing.", "a" * 5000),
    "labelSelector": _SELECTORS,
    "fieldSelector": (
        *_SELECTORS,
        "metadata.name",
        "metadata.name=",
        "spec.x=y",
        "metadata.name=\\",
    ),
    "resourceVersionMatch": ("x", "Exact", "NotOlderThan", "\0"),
    "sendInitialEvents": ("x", "true", "false", "\0"),
    "watch": ("x", "2", "TRUE", "\0"),
    "allowWatchBookmarks": ("x",),
    "timeout": ("x", "-1s", "1h", "0", "9" * 30 + "s", "\0"),
    "pretty": ("x",),
    "includeObject": ("x",),
}
_WRITING_QUERIES: Final[Mapping[str, tuple[str, ...]]] = {
    "dryRun": ("x", "All", "", "\0"),
    "fieldManager": ("\0", "a" * 129, "é", ""),
    "fieldValidation": ("x", "", "\0"),
    "force": ("x", "true"),
    "timeout": ("x",),
}
_DELETING_QUERIES: Final[Mapping[str, tuple[str, ...]]] = {
    "propagationPolicy": ("x", "", "\0", "foreground"),
    "gracePeriodSeconds": ("x", "-1", str(_MANY), "1.5"),
    "orphanDependents": ("x", "true"),
    "dryRun": ("x",),
    "ignoreStoreReadErrorWithClusterBreakingPotential": ("x", "true"),
}
_BODIES: Final = (
    b"",
    b"{",
    b"null",
    b"[]",
    b"1",
    b'"x"',
    b"{}",
    b"\0",
    b"\xff\xfe",
    b'{"a":' * 20_000,
    b"[" * 100_000,
    b'{"metadata":null}',
    b'{"metadata":[]}',
    b'{"metadata":{"name":null}}',
    b'{"metadata":{"name":1}}',
    b'{"metadata":{"name":"a\\u0000"}}',
    b'{"metadata":{"name":"\\ud800"}}',
    b'{"metadata":{"labels":[]}}',
    b'{"metadata":{"annotations":{"a":1}}}',
    b'{"metadata":{"finalizers":"x"}}',
    b'{"metadata":{"ownerReferences":[1]}}',
    b'{"metadata":{"creationTimestamp":"x"}}',
    b'{"metadata":{"resourceVersion":1}}',
    b'{"metadata":{"generateName":["x"]}}',
    b'{"metadata":{"managedFields":[{"fieldsV1":1}]}}',
    b'{"kind":1,"apiVersion":[]}',
    b'{"kind":"Pod","apiVersion":"v9","metadata":{"name":"c"}}',
    b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":1}',
    b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"a":1e999}}',
    b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"binaryData":{"a":"!"}}',
    b'{"spec":1}',
    b'{"spec":{"template":{"spec":{"containers":[null]}}}}',
    b'{"spec":{"parallelism":9e99,"template":[]}}',
    b"a: &a [*a]",
    b"- ",
    b"!!python/object:os.system x",
    b"k8s\0\x0a\xff\xff\xff\xff\x0f",
    b"k8s\0",
)
_TYPES: Final = (
    *("", "x", "/", "text/plain", "application/xml", "application/cbor", "application/json;x=\0"),
    *("multipart/form-data", "application/vnd.kubernetes.protobuf", "application/yaml", "*/*"),
)
_PATCHES: Final[Mapping[str, tuple[Any, ...]]] = {
    "application/json-patch+json": (
        *(
            {},
            None,
            "x",
            [1],
            [None],
            [{}],
            [{"op": 1}],
            [{"op": "add"}],
            [{"op": "x", "path": "/a"}],
        ),
        [{"op": "add", "path": 1, "value": 1}],
        [{"op": "add", "path": "a", "value": 1}],
        [{"op": "add", "path": "", "value": 1}],
        [{"op": "add", "path": "/metadata", "value": 1}],
        [{"op": "remove", "path": "/metadata"}],
        [{"op": "remove", "path": ""}],
        [{"op": "replace", "path": "/metadata/name", "value": "d"}],
        [{"op": "replace", "path": "/metadata/uid", "value": [1]}],
        [{"op": "add", "path": "/data/~2", "value": "x"}],
        [{"op": "move", "from": "/data", "path": "/data/x"}],
        [{"op": "copy", "from": "", "path": "/x"}],
        [{"op": "copy", "from": 1, "path": "/x"}],
        [{"op": "add", "path": "/metadata/finalizers/-1", "value": "x"}],
        [{"op": "add", "path": "/metadata/finalizers/" + "9" * 5000, "value": "x"}],
        [{"op": "add", "path": "/" + "a/" * 50_000, "value": "x"}],
        [{"op": "test", "path": "/data", "value": 1}] * 10_001,
        [{"op": "add", "path": "/x", "value": ["y" * 1000]}]
        + [{"op": "copy", "from": "/x", "path": "/x/-"}] * 30,
    ),
    "application/merge-patch+json": (
        *([], None, "x", 1, {"metadata": None}, {"metadata": 1}, {"metadata": {"name": None}}),
        *(
            {"metadata": {"uid": 1}},
            {"kind": None},
            {"apiVersion": 1},
            {"data": {"a": [1]}},
            {"data": 1},
        ),
    ),
    "application/strategic-merge-patch+json": (
        *([], None, "x", {"metadata": None}, {"metadata": 1}, {"data": 1}, {"$patch": 1}),
        *({"$patch": "x"}, {"$retainKeys": 1}, {"metadata": {"$patch": "delete"}}),
        *(
            {"$setElementOrder/x": 1},
            {"$deleteFromPrimitiveList/finalizers": 1},
            {"$patch": "replace"},
        ),
        {"metadata": {"finalizers": [1], "$setElementOrder/finalizers": {}}},
        {"metadata": {"$deleteFromPrimitiveList/finalizers": {"a": 1}}},
        {"metadata": {"ownerReferences": [{}]}},
        {"metadata": {"ownerReferences": [1]}},
    ),
    "application/apply-patch+yaml": (
        *([], None, "x", {}, {"metadata": 1}, {"kind": "ConfigMap"}),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": 1},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"managedFields": [1]}},
        {"apiVersion": 1, "kind": {}, "metadata": []},
    ),
    "application/apply-patch+cbor": ({},),
    "application/x": ({},),
    "": ({},),
}
_DELETIONS: Final = (
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b'{"propagationPolicy":1}',
    b'{"propagationPolicy":"x"}',
    b'{"gracePeriodSeconds":"x"}',
    b'{"gracePeriodSeconds":1e99}',
    b'{"gracePeriodSeconds":[]}',
    b'{"preconditions":1}',
    b'{"preconditions":{"uid":1}}',
    b'{"preconditions":{"resourceVersion":[]}}',
    b'{"dryRun":"x"}',
    b'{"dryRun":1}',
    b'{"dryRun":[1]}',
    b'{"orphanDependents":1}',
    b'{"kind":"Pod","apiVersion":"v1"}',
)
_SUBRESOURCES: Final = (
    (f"{PODS}/p/binding", b'{"target":1}'),
    (f"{PODS}/p/binding", b'{"target":{"name":[]}}'),
    (f"{PODS}/p/eviction", b'{"deleteOptions":1}'),
    (f"{PODS}/p/eviction", b'{"metadata":1}'),
    (f"{NAMESPACED}/serviceaccounts/default/token", b'{"spec":1}'),
    (f"{NAMESPACED}/serviceaccounts/s/token", b'{"spec":{"audiences":1}}'),
    (f"{NAMESPACED}/serviceaccounts/s/token", b'{"spec":{"expirationSeconds":"x"}}'),
    (f"{NAMESPACED}/serviceaccounts/s/token", b'{"spec":{"boundObjectRef":1}}'),
    ("/apis/authentication.k8s.io/v1/tokenreviews", b'{"spec":1}'),
    ("/apis/authentication.k8s.io/v1/tokenreviews", b'{"spec":{"token":1}}'),
    ("/apis/authentication.k8s.io/v1/tokenreviews", b'{"spec":{"token":"a.b.c"}}'),
    ("/apis/authentication.k8s.io/v1/tokenreviews", b'{"spec":{"token":"\\u00e9","audiences":1}}'),
    ("/apis/authorization.k8s.io/v1/subjectaccessreviews", b'{"spec":{"user":1}}'),
    ("/apis/authorization.k8s.io/v1/subjectaccessreviews", b'{"spec":{"resourceAttributes":1}}'),
    ("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", b'{"spec":{"namespace":[]}}'),
    ("/assay/clock", b'{"advance":1}'),
    ("/assay/clock", b'{"advance":"9999999999h"}'),
    (DEFINITIONS, b'{"metadata":{"name":"a.b"},"spec":{"names":1,"versions":{}}}'),
    (DEFINITIONS, b'{"metadata":{"name":"a.b"},"spec":{"group":"b","versions":[null]}}'),
)


class Hostile:
    """Builds requests of one client."""

    def __init__(self, token: str) -> None:
        self._token = f"Authorization: Bearer {token}\r\n"

    def requests(self) -> Iterator[tuple[str, bytes]]:
        """All requests: what each of them is, and its bytes."""
        yield from self._of_methods_and_paths()
        yield from self._of_queries()
        yield from self._of_bodies()
        yield from self._of_http()

    def _of_methods_and_paths(self) -> Iterator[tuple[str, bytes]]:
        for method, path in itertools.product(_METHODS, (MAPS, MAP, "/version", "/nothing")):
            yield self._named(method, path)
        for path in _PATHS:
            yield self._named("GET", path)
        for path in ("/", "/api", "/version", MAP, "/readyz", f"{MAP}/status", "/api/v1"):
            yield self._named("POST", path, b"{}")

    def _of_queries(self) -> Iterator[tuple[str, bytes]]:
        for name, values in _QUERIES.items():
            for value in values:
                query = f"{name}={quote(value)}"
                yield self._named("GET", f"{MAPS}?{query}&timeoutSeconds=1")
                watch = f"{MAPS}?watch=1&timeoutSeconds=1&{query}"
                if name not in ("timeoutSeconds", "watch"):
                    yield self._named("GET", watch)
        for query in (
            "limit",
            "&&&=",
            "limit=1&limit=x",
            "%zz=1",
            "limit=%zz",
            "a;b",
            "=x",
            "watch",
        ):
            yield self._named("GET", f"{MAPS}?{query}&timeoutSeconds=1")
        body = b'{"metadata":{"name":"d"}}'
        for name, values in _WRITING_QUERIES.items():
            for value in values:
                query = f"{name}={quote(value)}"
                yield self._named("POST", f"{MAPS}?{query}", body)
                yield self._named("PUT", f"{MAP}?{query}", b"{}")
                merge = "application/merge-patch+json"
                yield self._named("PATCH", f"{MAP}?{query}", b"{}", merge)
        for name, values in _DELETING_QUERIES.items():
            for value in values:
                yield self._named("DELETE", f"{MAPS}/absent?{name}={quote(value)}")

    def _of_bodies(self) -> Iterator[tuple[str, bytes]]:
        for body in _BODIES:
            for method, path in (
                ("POST", MAPS),
                ("PUT", MAP),
                ("POST", JOBS),
                ("POST", DEFINITIONS),
            ):
                yield self._named(method, path, body)
            yield self._named("POST", MAPS, body, "application/yaml")
            yield self._named("POST", MAPS, body, "application/vnd.kubernetes.protobuf")
        for sort in _TYPES:
            yield self._named("POST", MAPS, b'{"metadata":{"name":"e"}}', sort)
        for sort, patches in _PATCHES.items():
            for patch in patches:
                for path in (MAP, f"{JOBS}/j"):
                    yield self._named(
                        "PATCH", f"{path}?fieldManager=m", json.dumps(patch).encode(), sort
                    )
            yield self._named("PATCH", MAP, b"{", sort)
        for body in _DELETIONS:
            yield self._named("DELETE", f"{MAPS}/absent", body)
            yield self._named("DELETE", f"{MAPS}?labelSelector=absent", body)
        for path, body in _SUBRESOURCES:
            yield self._named("POST", path, body)
        yield self._named("POST", MAPS, b" " * (3 * 1024 * 1024 + 1))

    def _of_http(self) -> Iterator[tuple[str, bytes]]:
        """Faults of the protocol, which come before those of a request."""
        ends = "Connection: close\r\n\r\n"
        for line in (
            "",
            " ",
            "GET",
            f"GET {MAPS}",
            "GARBAGE",
            "GET / HTTP/9.9",
            "GET / HTTP/x",
            "GET / HTTP/2.0",
        ):
            yield repr(line), f"{line}\r\nHost: x\r\n{self._token}{ends}".encode()
        for line in (
            f"GET {MAPS} x HTTP/1.1",
            f"GET\t{MAPS} HTTP/1.1",
            "\x16\x03\x01\x02",
            "\0" * 100,
        ):
            yield repr(line), f"{line}\r\nHost: x\r\n{self._token}{ends}".encode()
        for header in (
            *("Bad Header: x", "NoColon", ": x", "X: a\0b", " X: folded", "X\x01: y", "Host: y"),
            *(
                f"X: {'a' * 100_000}",
                f"X: {'a' * 2_000_000}",
                "\r\n".join(f"X{n}: a" for n in range(500)),
            ),
            *("Content-Length: x", "Content-Length: -1", "Content-Length: 1\r\nContent-Length: 2"),
            *(
                "Content-Length: " + "9" * 40,
                "Transfer-Encoding: gzip",
                "Transfer-Encoding: x, chunked",
            ),
            *(
                "Accept: x",
                "Accept: ;;;",
                "Accept: application/json;as=X;v=y;g=z",
                "Accept-Encoding: x",
            ),
            *("Authorization: Basic x", "Authorization: Bearer é", "Authorization:", "Expect: x"),
            *(
                "Impersonate-Group: a",
                "Impersonate-Extra-: a",
                "Impersonate-User: \0",
                "Upgrade: websocket",
            ),
            *(
                "Connection: \0",
                "Connection: upgrade",
                "Range: bytes=x",
                "If-Match: x",
                "User-Agent: \x7f",
            ),
        ):
            told = f"{header[:40]!r}"
            yield told, f"GET {MAP} HTTP/1.1\r\nHost: x\r\n{self._token}{header}\r\n{ends}".encode()
        long = f"GET {MAPS}?x={'a' * 2_000_000} HTTP/1.1\r\nHost: x\r\n{self._token}{ends}"
        yield "a long line", long.encode()
        yield "no host", f"GET {MAPS} HTTP/1.1\r\n{self._token}{ends}".encode()
        yield "HTTP/1.0", f"GET {MAPS} HTTP/1.0\r\n{self._token}\r\n".encode()
        chunked = (
            f"POST {MAPS} HTTP/1.1\r\nHost: x\r\n{self._token}Transfer-Encoding: chunked\r\n{ends}"
        )
        for chunks in (
            *(
                "0\r\n\r\n",
                "zz\r\n",
                "-1\r\n",
                "\r\n",
                "5;x=y\r\n{    \r\n0\r\n\r\n",
                "1\r\n{x",
                "f" * 40,
            ),
            *(
                "2\r\n{}\r\n0\r\nTrailer: x\r\n\r\n",
                "2\n{}\n0\n\n",
                f"400000\r\n{' ' * 0x400000}\r\n0\r\n\r\n",
            ),
            *("2\r\n{}\r\n", "1\r\n{\r\n" * 3 + "0\r\n\r\n", "0" * 100_000, "1;" + "x" * 100_000),
        ):
            yield f"chunks {chunks[:20]!r}", (chunked + chunks).encode()

    def _named(
        self, method: str, path: str, body: bytes | None = None, sort: str = JSON
    ) -> tuple[str, bytes]:
        length = b"" if body is None else f"Content-Length: {len(body)}\r\n".encode()
        lines = f"{method} {path} HTTP/1.1\r\nHost: x\r\n{self._token}Connection: close\r\n"
        content = f"Content-Type: {sort}\r\n" if body is not None else ""
        head = (lines + content).encode("latin-1") + length + b"\r\n"
        told = f"{method[:20]!r} {path[:90]!r} {content[14:].strip()} {(body or b'')[:60]!r}"
        return told, head + (body or b"")
