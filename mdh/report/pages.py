"""The page of a diagnostic code: docs/codes/<CODE>.md, part of the package."""

import re
import textwrap
from difflib import get_close_matches
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent.parent / "docs" / "codes"
CODE = re.compile(r"[ABCDEFKLNPST][0-9]{3}\Z")


def looks_like_code(word: str) -> bool:
    """Whether the word is a code such as `K104`, or nearly one, such as `k104`."""
    return CODE.match(word.upper()) is not None


def page_codes() -> tuple[str, ...]:
    return tuple(sorted(p.stem for p in _FOLDER.glob("*.md")))


def page_of(code: str) -> str | None:
    """The Markdown text of a code's page; None if there is no such code."""
    code = code.upper()
    return (_FOLDER / f"{code}.md").read_text(encoding="utf-8") if code in page_codes() else None


def page_file(code: str) -> str | None:
    """The path of a code's page; None if there is no such code."""
    path = _FOLDER / f"{code}.md"
    return str(path) if CODE.match(code) and path.is_file() else None


def plain(page: str, width: int) -> str:
    """A page for a terminal: prose wrapped at `width` columns, without Markdown marks; examples unchanged."""
    rows: list[str] = []
    for row in _whole_paragraphs(page):
        if row.startswith("    ") or not row:
            rows.append(row)
        elif row.startswith("> "):
            rows.extend(textwrap.wrap(row[2:], width, initial_indent="  ", subsequent_indent="  "))
        elif row.startswith("- "):
            rows.extend(textwrap.wrap(row, width, subsequent_indent="  ", break_on_hyphens=False))
        else:
            rows.extend(textwrap.wrap(row.lstrip("# "), width, break_on_hyphens=False))
    return "\n".join(rows) + "\n"


def _whole_paragraphs(page: str) -> list[str]:
    """The rows of a page, with each paragraph and item of a list in one row."""
    apart, rows = ("    ", "#", "|"), [""]
    for row in page.splitlines():
        before = rows[-1]
        ended = not before or before.startswith(apart) or row.startswith("> ") > before.startswith("> ")
        if not row or ended or row.startswith((*apart, "- ")):
            rows.append(row)
        else:
            rows[-1] = f"{before} {row.removeprefix('> ').strip()}"
    return rows[1:]


def near_codes(code: str) -> tuple[str, ...]:
    return tuple(get_close_matches(code.upper(), page_codes(), 3, 0.6))
