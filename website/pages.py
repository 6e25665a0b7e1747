"""Pages of the site that are no files of `mdh/docs`: README, architecture, measurements, the list of codes,
the Python functions and the gallery. mkdocs calls `on_files`.

A link of a page to a file of the repository becomes a link to the page that shows the file. A file that is no
page is copied.
"""

import posixpath
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
DOCS = "mdh/docs"
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "mdh/ARCHITECTURE.md": "architecture.md",
    "mdh/CHANGING.md": "changing.md",
}
"""Files of the repository that are pages, and where in the site they lie."""
FIGURES = "artifacts"
"""The folder of measurements, whose Markdown files are pages if another page links to them."""
GALLERY = Path("build/gallery")
"""The pages of schedules that `scripts/site` has made."""
FAMILIES = {
    "A": "Python",
    "B": "bugs of mdh",
    "C": "C programs, and what all languages share",
    "D": "devices",
    "E": "einsum",
    "F": "files and command line",
    "K": "schedules that are not legal",
    "L": "Diesel",
    "N": "results that are wrong",
    "P": "performance",
    "S": "text of schedules",
    "T": "Tensor Comprehensions",
}
LINK = re.compile(r"(!?\[[^\]]*\])\(([^)\s#]+)(#[^)\s]*)?\)")
CODE = re.compile(r"(?<![\[\w/.-])[A-Z]\d{3}(?![\w\]/-])")
"""A diagnostic code in prose."""
STYLE = """.md-grid { max-width: 78rem; }
.md-typeset table:not([class]) { font-size: .7rem; }
.md-typeset table:not([class]) td, .md-typeset table:not([class]) th { padding: .4em .7em; min-width: 0; }
.md-typeset pre > code { font-size: .68rem; }
.md-typeset .highlight pre { background-color: var(--md-code-bg-color); }
.md-typeset .highlight pre > code { margin-right: 1.9rem; }
"""


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that `mdh/docs` does not have."""
    pages = {**OUTSIDE, **{p: p for p in _figures()}}
    for source, page in pages.items():
        files.append(File.generated(config, page, content=_rewritten(_text(source), source)))
    for one in list(files):
        if one.is_documentation_page() and one.generated_by is None:
            source = f"{DOCS}/{one.src_uri}"
            files.remove(one)
            files.append(File.generated(config, one.src_uri, content=_rewritten(_text(source), source)))
    for path in sorted(_copied(pages)):
        files.append(File.generated(config, f"files/{path}", abs_src_path=str(ROOT / path)))
    files.append(File.generated(config, "codes/index.md", content=_codes()))
    files.append(File.generated(config, "api.md", content=_functions()))
    files.append(File.generated(config, "gallery.md", content=_gallery()))
    for path in sorted((ROOT / GALLERY).glob("*.html")):
        files.append(File.generated(config, f"gallery/{path.name}", abs_src_path=str(path)))
    files.append(File.generated(config, "assets/site.css", content=STYLE))
    return files


def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _figures() -> set[str]:
    """The pages of measurements that other pages lead to."""
    found: set[str] = set()
    new = {t for s in (*OUTSIDE, *_documents()) for t in _targets(_text(s), s) if _is_figure(t)}
    while new:
        found |= new
        new = {t for s in new for t in _targets(_text(s), s) if _is_figure(t)} - found
    return found


def _documents() -> list[str]:
    return [p.relative_to(ROOT).as_posix() for p in (ROOT / DOCS).rglob("*.md")]


def _is_figure(path: str) -> bool:
    return path.startswith(f"{FIGURES}/") and path.endswith(".md")


def _page_of(path: str) -> str | None:
    """The page that shows a file of the repository, if there is one."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    return path if _is_figure(path) else None


def _targets(text: str, source: str) -> list[str]:
    """The files of the repository that a page links to."""
    found = (posixpath.normpath(posixpath.join(posixpath.dirname(source), m[2])) for m in LINK.finditer(text))
    return [path for path in found if "://" not in path and (ROOT / path).is_file()]


def _copied(pages: dict[str, str]) -> set[str]:
    sources = (*pages, *_documents())
    return {path for s in sources for path in _targets(_text(s), s) if _page_of(path) is None}


def _rewritten(text: str, source: str) -> str:
    """The text of a page with links that are right within the site."""
    here = posixpath.dirname(_page_of(source) or source)

    def change(m: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), m[2]))
        if "://" in m[2] or not (ROOT / path).is_file():
            return m[0]
        to = posixpath.relpath(_page_of(path) or f"files/{path}", here or ".")
        return f"{m[1]}({to}{m[3] or ''})"

    def linked(m: re.Match[str]) -> str:
        page = f"codes/{m[0]}.md"
        return f"[{m[0]}]({posixpath.relpath(page, here or '.')})" if (ROOT / DOCS / page).is_file() else m[0]

    text = LINK.sub(change, text)
    return "".join(_prose(line, linked) for line in text.splitlines(keepends=True))


def _prose(line: str, linked: Callable[[re.Match[str]], str]) -> str:
    """A line whose codes are links. `B[0][3]` is an element of an array, not a link with a label."""
    if line.startswith(("    ", "#")):
        return line
    parts = line.split("`")
    for k in range(0, len(parts), 2):
        parts[k] = CODE.sub(linked, re.sub(r"\]\[(?=\d)", r"]\\[", parts[k]))
    return "`".join(parts)


def _codes() -> str:
    """A table for each family of codes."""
    rows: dict[str, list[str]] = {}
    for path in sorted((ROOT / DOCS / "codes").glob("*.md")):
        code, _, title = (
            path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ").partition(": ")
        )
        rows.setdefault(code[0], []).append(f"| [{code}]({path.name}) | {title} |")
    out = ["# Diagnostic codes", "", "`mdh explain K152` prints a page in the terminal.", ""]
    for family, lines in rows.items():
        title = FAMILIES[family]
        out += [f"## {family}: {title}", "", "| code | what is wrong |", "|---|---|", *lines, ""]
    return "\n".join(out)


def _functions() -> str:
    """The public names of `mdh`, by their docstrings."""
    homes = dict(re.findall(r'^    "(\w+)": "([\w.]+)",$', _text("mdh/__init__.py"), re.MULTILINE))
    out = [
        "# Python functions",
        "",
        "All of these are names of the package: `mdh.compile`, `mdh.tune`, …",
        "",
    ]
    for name, home in homes.items():
        out += [f"::: {home}.{name}", ""]
    out += ["## In PyTorch and JAX", ""]
    out += [line for one in ("torch", "jax") for line in (f"::: mdh.{one}.operator.op", "")]
    return "\n".join(out)


def _gallery() -> str:
    out = [
        "# Gallery",
        "",
        "Pages that `mdh explain --html` writes of shipped schedules. [Pages of schedules](page.md)",
    ]
    out += ["says how to read one.", ""]
    for path in sorted((ROOT / GALLERY).glob("*.html")):
        program, machine, variant = path.stem.split(".")
        out.append(f"- [{program} on {machine}, {variant}](gallery/{path.name})")
    return "\n".join(out) + "\n"
