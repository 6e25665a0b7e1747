"""Plays a newcomer: builds the sdist, of it the wheel, installs that into a fresh venv, and types what the
README and the tutorial say, with an empty home and from an empty folder. Then it reads the documentation's
site, if `scripts/site` built it before: `scripts/release` keeps such a wheel.

Every command must end as the page shows it: with its result, or with the error that stands below it. What is
printed need not be the same: times differ.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from tests.support.snippets import Snippet, snippets

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "mdh" / "docs" / "first_schedule.md")
SITE = "mdh/site"
"""What `mdh docs` serves."""
READ = ("index.html", "first_schedule.html", "codes/K152.html", "search/search_index.json")
"""Files of every kind that the site has."""
PATIENCE = 600.0
"""Seconds after which a command hangs."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a command. wrong: what must not be, empty: it was as the page shows it."""

    command: str
    seconds: float
    wrong: str
    text: str


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def environment(folder: Path) -> dict[str, str]:
    """What a new user has: a home without a file, and the venv first on the path. Settings of pip stay."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    path = f"{folder / 'venv' / 'bin'}:/usr/local/bin:/usr/bin:/bin"
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    return {**kept, "HOME": str(home), "PATH": path, "LANG": "C.UTF-8"}


def copied(folder: Path) -> Path:
    """The files that a clone would have, new ones, and the site: a build writes into its tree."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, done.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(ROOT / name):
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    if (ROOT / SITE).is_dir():
        shutil.copytree(ROOT / SITE, folder / SITE)
    return folder


def build(folder: Path) -> Path:
    """The wheel, made of the sdist that is made of this tree, both in `dist`. Prints what they hold."""
    tool = folder / "tool"
    venv.create(tool, with_pip=True)
    python = str(tool / "bin" / "python")
    _run([python, "-m", "pip", "install", "--quiet", "build"], folder)
    _run([python, "-m", "build", "--outdir", str(folder / "dist"), str(copied(folder / "tree"))], folder)
    (sdist,), (wheel,) = (sorted((folder / "dist").glob(end)) for end in ("*.tar.gz", "*.whl"))
    with tarfile.open(sdist) as packed:
        say(f"{sdist.name}: {sdist.stat().st_size:,} bytes, {len(packed.getnames()):,} files")
    with zipfile.ZipFile(wheel) as zipped:
        names = zipped.namelist()
        said = "with" if f"{SITE}/index.html" in names else "without"
        say(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {len(names):,} files, {said} the site")
    return wheel


def install(wheel: Path, folder: Path) -> None:
    venv.create(folder / "venv", with_pip=True)
    pip = str(folder / "venv" / "bin" / "pip")
    start = time.monotonic()
    _run([pip, "install", "--quiet", str(wheel)], folder)
    say(f"pip install: {time.monotonic() - start:.0f} s")


def _run(words: Sequence[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(words)}\n{done.stdout}{done.stderr}")


def play(page: Path, folder: Path, *, short: bool) -> list[Outcome]:
    """Types what the page says. The folder of each command is that which the ones before it led to."""
    place = folder / page.stem
    place.mkdir()
    env, out, text = environment(folder), [], page.read_text(encoding="utf-8")
    for one in snippets(page):
        if one.text.startswith("pip "):
            continue
        if one.words.startswith("cd "):
            place /= one.words[3:]
            continue
        out.append(_typed(one, place, env, f"$ {one.text}\n    error[" in text, short=short))
        verdict = "WRONG" if out[-1].wrong else "ok"
        say(f"{verdict:5} {out[-1].seconds:6.1f} s  {out[-1].command}")
        if out[-1].wrong:
            say(f"{out[-1].wrong}\n{out[-1].text}")
    return out


def _typed(one: Snippet, place: Path, env: dict[str, str], refused: bool, *, short: bool) -> Outcome:
    text = re.sub(r"\b1m\b", "30s", one.text) if short else one.text
    words = ["python", "-c", text] if one.python else ["bash", "-c", text]
    start = time.monotonic()
    done = subprocess.run(
        words, cwd=place, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    said, wrong = done.stdout + done.stderr, ""
    if done.returncode != (1 if refused else 0):
        wrong = f"exit code {done.returncode}"
    elif "Traceback" in said or "internal error" in said:
        wrong = "a bug shows"
    return Outcome("Python" if one.python else one.text, time.monotonic() - start, wrong, said)


def read_site(folder: Path) -> Outcome:
    """Starts `mdh docs` and reads some pages. An installation without a site must say how to get one."""
    start, mdh = time.monotonic(), str(folder / "venv" / "bin" / "mdh")
    server = subprocess.Popen(
        [mdh, "docs"], cwd=folder, env=environment(folder), stderr=subprocess.PIPE, text=True
    )
    try:
        first = server.stderr.readline() if server.stderr else ""
        found = re.search(r"http://\S+", first)
        if found is None:
            said = first + server.communicate(timeout=PATIENCE)[1]
            wrong = "" if "error[F101]" in said and "scripts/site" in said else "no site, and no advice"
        else:
            said = first
            sizes = {name: len(urlopen(f"{found[0]}{name}", timeout=30).read()) for name in READ}
            wrong = "" if min(sizes.values()) > 1000 else f"pages are empty: {sizes}"
    finally:
        server.terminate()
        server.wait(30)
    return Outcome("mdh docs", time.monotonic() - start, wrong, said)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dist", type=Path, help="keep sdist and wheel in this folder, and try nothing")
    parser.add_argument("--wheel", type=Path, help="a wheel that is there, instead of a new one")
    parser.add_argument("--short", action="store_true", help="tune for 30 s where a page says minutes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="newcomer-") as name:
        folder = Path(name)
        if given.dist is not None:
            given.dist.mkdir(parents=True, exist_ok=True)
            for made in build(folder).parent.iterdir():
                shutil.copy2(made, given.dist)
            return 0
        install(given.wheel or build(folder), folder)
        found = [one for page in PAGES for one in play(page, folder, short=given.short)]
        found.append(read_site(folder))
        say(f"{found[-1].wrong or 'ok':5} {found[-1].seconds:6.1f} s  mdh docs: {found[-1].text.strip()}")
    bad = [one for one in found if one.wrong]
    say(f"{len(found)} commands, {len(bad)} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
