"""docs/benchmarks.md: an opening, and sections that other measurements write, each for itself."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
_SECTION = "\n## "


def write_opening(text: str, page: Path = PAGE) -> None:
    """Replace all that stands before the first section."""
    _, *sections = _parts(page)
    _write(page, [text, *sections])


def write_section(heading: str, body: str, page: Path = PAGE) -> None:
    """Replace the section of that heading where it stands, or add it at the end."""
    opening, *sections = _parts(page)
    written = f"{heading}\n\n{body}"
    positions = [n for n, each in enumerate(sections) if each.splitlines()[0] == heading]
    if positions:
        sections[positions[0]] = written
    else:
        sections.append(written)
    _write(page, [opening, *sections])


def _parts(page: Path) -> list[str]:
    return page.read_text(encoding="utf-8").split(_SECTION)


def _write(page: Path, parts: list[str]) -> None:
    text = _SECTION.join(f"{part.rstrip()}\n" for part in parts)
    page.write_text(text, encoding="utf-8")
