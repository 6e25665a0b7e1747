"""Builds the site of the documentation, and walks it in a browser."""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from importlib.metadata import files
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlparse

from mdh.cli.docs import LOOPBACK, SITE, site_server
from mdh.cli.main import run
from mdh.release import release
from tests.support.browser import browser, errors, missing, resize

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "build" / "gallery"
SHOWN = (
    "matmul/generic-cpu/base", "matmul/h200/base", "matmul/h200/split_k", "conv2d/h200/base",
    "jacobi2d/h200/base", "ccsdt_1/generic-cpu/base", "prefix_sum/h200/base", "softmax/h200/base",
)  # fmt: skip
"""Shipped schedules whose pages are in the gallery."""
CODE_PAGE = "codes/K152.html"
"""Pages of codes are alike: one of them is walked."""
PICTURED = ("index.html", "first_schedule.html")


def gallery() -> None:
    """The pages of `mdh explain --html`, which needs no device."""
    GALLERY.mkdir(parents=True, exist_ok=True)
    for name in SHOWN:
        program = ROOT / "inputs_c" / f"{name.partition('/')[0]}.c"
        words = ["explain", str(program), "--schedule", str(ROOT / "schedules" / f"{name}.mdh")]
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            run([*words, "--html", str(GALLERY / f"{name.replace('/', '.')}.html")])


def build(out: Path, form: str = "mkdocs.yml") -> int:
    words = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--clean"]
    words += ["-f", f"website/{form}", "-d", str(out)]
    status = subprocess.run(words, cwd=ROOT, check=False).returncode
    if status == 0:
        (out / "LICENSE.material").write_text(_licence(), encoding="utf-8")
        _without_what_is_never_read(out / "assets")
    return status


def _without_what_is_never_read(assets: Path) -> None:
    """Wheels carry the site: so it goes without maps of scripts, and the stemmers of other languages."""
    for path in [*assets.rglob("*.map"), *(assets / "javascripts" / "lunr").rglob("*.js")]:
        path.unlink()


def _licence() -> str:
    """That of the theme, whose scripts and styles are in the site."""
    found = [f for f in files("mkdocs-material") or () if f.match("*.dist-info/licenses/LICENSE")]
    return found[0].read_text()


def publish(folder: Path) -> int:
    """Builds beside the versions that lie in `folder`, lists them for the menu, and leads to the newest."""
    version = release()
    status = build(folder / version, "published.yml")
    versions = sorted((p.parent.name for p in folder.glob("*/index.html")), key=_numbers, reverse=True)
    listed = [{"version": v, "title": v, "aliases": []} for v in versions]
    (folder / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    to = f'<meta http-equiv="refresh" content="0; url={versions[0]}/index.html">\n'
    (folder / "index.html").write_text(to, encoding="utf-8")
    return status


def _numbers(version: str) -> tuple[tuple[bool, int | str], ...]:
    return tuple((part.isdigit(), int(part) if part.isdigit() else part) for part in version.split("."))


class _Links(HTMLParser):
    """The places that a page leads to, and those that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.names: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.names |= {n for n in (found.get("id"), found.get("name")) if n}
        self.targets += [t for t in (found.get("href"), found.get("src")) if t]


def broken_links(site: Path) -> Iterator[str]:
    """Links within the site that lead nowhere, and whatever would be fetched from elsewhere."""
    pages: dict[Path, _Links] = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = _Links()
        pages[path].feed(path.read_text(encoding="utf-8"))
    for path, links in pages.items():
        for target in links.targets:
            parts = urlparse(target)
            if parts.scheme or parts.netloc:
                continue
            base = site if parts.path.startswith("/") else path.parent
            to = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            named = not parts.fragment or to not in pages or unquote(parts.fragment) in pages[to].names
            # pages of schedules make their places as they are drawn
            if not to.exists() or not (named or "gallery" in to.parts or "files" in to.parts):
                yield f"{path.relative_to(site)}: {target} leads nowhere"


COVERED = """
    return [...document.querySelectorAll(".md-code__nav")].filter(nav => {
      const button = nav.getBoundingClientRect();
      const code = nav.parentElement.querySelector("code").getBoundingClientRect();
      return button.width > 0 && code.right > button.left && code.bottom > button.top;
    }).length;"""
"""Counts the buttons that lie on the text that they copy."""


def walked(site: Path) -> list[str]:
    """The pages that the browser opens."""
    pages = sorted(p.relative_to(site).as_posix() for p in site.rglob("*.html"))
    return [p for p in pages if p in (CODE_PAGE, "codes/index.html") or not p.startswith("codes/")]


def walk(site: Path, pictures: Path | None) -> list[str]:
    """Opens pages, wide and narrow, light and dark; returns what is wrong with them."""
    wrong = list(broken_links(site))
    if said := missing():
        return [*wrong, said]
    with site_server(0, site) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        home = f"http://{LOOPBACK}:{server.server_port}"
        for width in (1280, 390):
            for dark in (False, True):
                # a browser each: the theme remembers the colours of the visit before
                with browser(dark=dark) as driver:
                    resize(driver, width, 900)
                    for page in walked(site):
                        driver.get(f"{home}/{page}")
                        wrong += _looked_at(driver, page, width, dark)
                        if pictures is not None and page in PICTURED:
                            name = f"{page.removesuffix('.html')}.{width}.{'dark' if dark else 'light'}.png"
                            driver.save_screenshot(str(pictures / name))
        server.shutdown()
    return wrong


def _looked_at(driver: Any, page: str, width: int, dark: bool) -> Iterator[str]:
    wide = driver.execute_script("return document.documentElement.scrollWidth")
    if wide > width:
        yield f"{page} is {wide} pixels wide in {width}"
    if covered := driver.execute_script(COVERED):
        yield f"{page}: {covered} copy buttons stand on code"
    shown = driver.execute_script("return document.body.dataset.mdColorScheme")
    if shown not in (None, "slate" if dark else "default"):
        yield f"{page} has the colours `{shown}` where the reader prefers {'dark' if dark else 'light'}"
    for message in errors(driver):
        yield f"{page}: {message}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="site", description=__doc__)
    parser.add_argument("--check", action="store_true", help="walk the site in a headless browser")
    parser.add_argument("--pictures", metavar="FOLDER", type=Path, help="with --check: screenshots")
    parser.add_argument("--publish", metavar="FOLDER", type=Path, help="build into FOLDER/VERSION")
    words = parser.parse_args()
    gallery()
    if words.publish is not None:
        return publish(words.publish.resolve())
    status = build(SITE)
    if words.pictures is not None:
        words.pictures.mkdir(parents=True, exist_ok=True)
    wrong = walk(SITE, words.pictures) if words.check and not status else []
    sys.stderr.write("".join(f"{line}\n" for line in wrong))
    return status or bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
