"""Hooks of the site, for MkDocs: pages link to files of the repository, which the site has not."""

import re
from pathlib import Path
from typing import Any, Final

DOCS: Final = Path(__file__).parents[1] / "docs"
_LINK: Final = re.compile(r"\[([^]]*)\]\((?![a-z]+:|#)([^)#]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn each link to a file that is not part of the site into the file's path."""
    folder = (DOCS / page.file.src_path).parent

    def as_path(link: re.Match[str]) -> str:
        target = (folder / link[2]).resolve()
        if target.is_relative_to(DOCS) and target.suffix in {".md", ".png"}:
            return link[0]
        path = f"`{target.relative_to(DOCS.parent)}`"
        return path if link[1].strip("`") == path.strip("`") else f"{link[1]} ({path})"

    return _LINK.sub(as_path, markdown)
