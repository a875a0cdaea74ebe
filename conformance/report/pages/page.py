"""The basis of all HTML pages: templates that escape, one file each, and a strict policy.

Every page stands alone: no request leaves it, and its content security policy names by hash
the one script and the one stylesheet that may act, so that markup which slipped in from a
cluster could still do nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import jinja2
from markupsafe import Markup

_TEMPLATES: Final = Path(__file__).parent / "templates"
_HTML_IN_JSON: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)

_LABEL: Final = 21
_LABEL_END: Final = 13
_LETTERS_PER_PERCENT: Final = 1.75


@lru_cache(maxsize=1)
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["shortened"] = shortened
    environment.filters["fitting"] = fitting
    return environment


def render(
    template: str, *, styles: tuple[str, ...], scripts: tuple[str, ...], **values: Any
) -> str:
    """A whole page from a template; styles and scripts are files beside it, put inline."""
    style = "".join(_text(name) for name in styles)
    script = "".join(_text(name) for name in scripts)
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash_source(style)}; script-src {_hash_source(script)}"
    )
    return (
        _environment()
        .get_template(template)
        .render(policy=policy, style=Markup(style), script=Markup(script), **values)
    )


def shortened(text: str) -> str:
    """A label that fits its column; names of pods and Jobs differ at their ends, which stay."""
    if len(text) <= _LABEL:
        return text
    return f"{text[: _LABEL - _LABEL_END - 1]}…{text[-_LABEL_END:]}"


def fitting(text: str, percent: float) -> str:
    """The text of a band that takes so much of the picture's width, cut where it ends."""
    room = int(percent * _LETTERS_PER_PERCENT)
    return text if len(text) <= room else f"{text[: max(room - 1, 0)]}…"


def embedded_json(value: Any) -> Markup:
    """Data for a `<script type="application/json">`: nothing in it can end that element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return Markup(text.translate(_HTML_IN_JSON))


@lru_cache(maxsize=16)
def _text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def _hash_source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
