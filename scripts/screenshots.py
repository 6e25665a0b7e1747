"""Pages of some schedules, photographed: 1280 and 390 pixels wide, light and dark, at one of their steps."""

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
REFUSED = "target h200\n1: (de-)comp( 128, 4096, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"


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
    folder = Path(parser.parse_args().folder)
    if said := missing():
        sys.stderr.write(f"{said}\n")
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    wrong = []
    with tempfile.TemporaryDirectory() as place, browser() as driver:
        for page in PAGES:
            wrong += photograph(driver, write(page, Path(place)), page.step, folder)
        wrong += photograph(driver, write_refused(Path(place)), 0, folder)
        wrong += photograph(driver, write_comparison(Path(place)), 0, folder)
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    sys.stdout.write(f"{len(list(folder.glob('*.png')))} pictures in {folder}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
