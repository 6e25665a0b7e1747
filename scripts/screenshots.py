"""Pages of some schedules and of a tuning, photographed: 1280 and 390 pixels wide, light and dark, at one of
their steps. --kept writes the few small pictures that artifacts/pages holds."""

import argparse
import sys
import tempfile
from base64 import b64decode
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from mdh.cli.main import run
from tests.support.browser import browser, errors, missing, resize, scheme, show

ROOT = Path(__file__).resolve().parent.parent
HEIGHT = 2600
"""Pixels of a page that are kept: its code may be long."""


@dataclass(frozen=True)
class Page:
    """`mdh explain` of a program and a schedule, at step `step` (from 0)."""

    program: str
    schedule: str
    step: int
    words: tuple[str, ...] = ()


PAGES = (
    Page("matmul", "matmul/h200/base", 3, ("-D", "M=1024", "-D", "N=1024", "-D", "K=1024")),
    Page("matmul", "matmul/generic-cpu/base", 4, ("-D", "M=512", "-D", "N=512", "-D", "K=512")),
    Page("conv2d", "conv2d/h200/base", 1),
    Page("jacobi2d", "jacobi2d/h200/base", 1),
    Page("ccsdt_1", "ccsdt_1/h200/base", 2),
    Page("prefix_sum", "prefix_sum/h200/base", 1),
    Page("softmax", "softmax/h200/base", 1),
)
REFUSED = """target h200
1: (de-)comp( 128, 128, ^ ) ( ^, ^ ; C:RM[1,2] )             ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^, ^, 8 )     ( A:SM[1,2], B:SM[1,2] ; ^ )     ( ^, ^, FOR.1 )
3: (de-)comp( 8, 256, ^ )   ( ^, ^ ; ^ )                     ( THR.y, THR.x, ^ )
4: (de-)comp( 1, 1, 1 )     ( ^, ^ ; ^ )                     ( FOR.2, FOR.3, FOR.1 )
"""
SCALE = 0.5
"""Of the pictures that are kept."""
CHOOSE = """const choose = (name, value) => { const node = document.querySelector(`[data-choose="${name}"]`);
  if (node) { node.value = value; node.dispatchEvent(new Event("change")); } };
choose("hole", document.querySelector('[data-choose="hole"]')?.options[0].value); choose("from", "1");"""
"""A range of the first hole of a tuning, but for its least value."""


def write(page: Page, folder: Path) -> Path:
    out = folder / f"{page.schedule.replace('/', '.')}.html"
    words = [str(ROOT / "inputs_c" / f"{page.program}.c"), "--schedule"]
    words += [str(ROOT / "schedules" / f"{page.schedule}.mdh"), "--html", str(out), *page.words]
    explain(words)
    return out


def write_refused(folder: Path) -> Path:
    schedule, out = folder / "refused.mdh", folder / "refused.html"
    schedule.write_text(REFUSED, encoding="utf-8")
    explain([str(ROOT / "inputs_c" / "matmul.c"), "--schedule", str(schedule), "--html", str(out)])
    return out


def write_tuning(folder: Path) -> Path:
    """Of a product on this machine's processors: half a minute."""
    out = folder / "tuned.html"
    words = [
        str(ROOT / "inputs_c" / "matmul.c"),
        "--device",
        "c",
        "--trials",
        "60",
        "-o",
        str(folder / "tuned"),
    ]
    quietly(["tune", *words, "-D", "M=192", "-D", "N=192", "-D", "K=192", "--html", str(out)])
    return out


def write_hot(folder: Path) -> Path:
    """With assembly, and with counters where they may be read."""
    out = folder / "hot.html"
    words = [str(ROOT / "inputs_c" / "matmul.c"), "--target", "c", "--asm", "--counters", "--html", str(out)]
    schedule = str(ROOT / "schedules" / "matmul/generic-cpu/base.mdh")
    explain([*words, "--schedule", schedule, "-D", "M=512", "-D", "N=512", "-D", "K=512"])
    return out


def keep(driver: Any, page: Path, folder: Path, width: int, *, dark: bool, part: str = "") -> None:
    """A small picture of a page, or of what begins at `part` of it."""
    scheme(driver, dark=dark)
    resize(driver, width, 900)
    show(driver, page)
    driver.execute_script(CHOOSE)
    begins = "const [p] = arguments; return p ? document.querySelector(p).getBoundingClientRect().top : 0"
    top = driver.execute_script(begins, part)
    whole = driver.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": max(0, top - 12), "width": width, "height": min(1700, whole - top), "scale": SCALE}
    taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
    (folder / f"{page.stem}.{width}.{'dark' if dark else 'light'}.png").write_bytes(b64decode(taken["data"]))


def write_comparison(folder: Path) -> Path:
    """Of machines that are not here: nothing runs."""
    out = folder / "compared.html"
    words = [str(ROOT / "inputs_c" / "matmul.c"), "-s", "default", "--html", str(out)]
    for name in ("matmul/h200/base", "matmul/h200/split_k", "matmul/generic-cpu/base"):
        words += ["-s", str(ROOT / "schedules" / f"{name}.mdh")]
    quietly(["compare", *words, "--machine", "h200", "--machine", "generic-cpu"])
    return out


def explain(words: list[str]) -> None:
    quietly(["explain", *words])


def quietly(words: list[str]) -> None:
    """The page alone: what the command says is left out."""
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        run(words)


def photograph(driver: Any, page: Path, step: int, out: Path) -> list[str]:
    """Four pictures; returns what the page complains about or does wrong."""
    wrong = []
    for width in (1280, 390):
        for dark in (False, True):
            scheme(driver, dark=dark)
            resize(driver, width, 900)
            show(driver, page)
            driver.execute_script("if (window.mdhPage) mdhPage.views[0].go(arguments[0])", step)
            driver.execute_script(
                "document.querySelectorAll('details:has(iframe)')[0]?.setAttribute('open', '')"
            )
            size = driver.execute_script(
                "const d = document.documentElement; return [d.scrollWidth, d.scrollHeight]"
            )
            if size[0] > width:
                wrong.append(f"{page.stem} is {size[0]} pixels wide in {width}")
            clip = {"x": 0, "y": 0, "width": width, "height": min(HEIGHT, size[1]), "scale": 1}
            taken = driver.execute_cdp_cmd(
                "Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip}
            )
            name = f"{page.stem}.{width}.{'dark' if dark else 'light'}.png"
            (out / name).write_bytes(b64decode(taken["data"]))
            wrong += [f"{page.stem}: {message}" for message in errors(driver)]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="screenshots", description=__doc__)
    parser.add_argument("folder", nargs="?", default="build/screenshots", help="where the pictures go")
    parser.add_argument(
        "--kept", metavar="FOLDER", help="write the pictures for artifacts/pages alone, there"
    )
    given = parser.parse_args()
    folder = Path(given.kept or given.folder)
    if said := missing():
        sys.stderr.write(f"{said}\n")
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    wrong = []
    with tempfile.TemporaryDirectory() as place, browser() as driver:
        tuned, hot = write_tuning(Path(place)), write_hot(Path(place))
        if given.kept:
            keep(driver, tuned, folder, 1280, dark=False)
            keep(driver, tuned, folder, 390, dark=True)
            keep(driver, write_refused(Path(place)), folder, 1280, dark=True)
            keep(driver, hot, folder, 1280, dark=False, part=".spent")
            keep(driver, hot, folder, 390, dark=True, part=".hot")
            return 0
        wrong += photograph(driver, tuned, 0, folder)
        wrong += photograph(driver, hot, 3, folder)
        for page in PAGES:
            wrong += photograph(driver, write(page, Path(place)), page.step, folder)
        wrong += photograph(driver, write_refused(Path(place)), 0, folder)
        wrong += photograph(driver, write_comparison(Path(place)), 0, folder)
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    sys.stdout.write(f"{len(list(folder.glob('*.png')))} pictures in {folder}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
