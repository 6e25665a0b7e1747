"""A headless Chromium for pages, driven through chromedriver; what is missing is said in one sentence."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    from selenium import webdriver
except ImportError:  # the extra `test` brings it
    webdriver = None

INSTALL = "apt-get install chromium chromium-driver; pip install selenium"


def missing() -> str:
    """What there is not, and how to get it; empty where a browser can be opened."""
    found = {name: _program(name) for name in ("chromium", "chromedriver")}
    lost = [name for name, path in found.items() if path is None]
    lost += ["selenium"] if webdriver is None else []
    return f"no {', '.join(lost)}: {INSTALL}" if lost else ""


def _program(name: str) -> str | None:
    others = {"chromium": ("chromium", "chromium-browser", "google-chrome")}.get(name, (name,))
    return next((path for other in others if (path := shutil.which(other))), None)


@contextmanager
def browser(*, dark: bool = False) -> Iterator[Any]:
    """A window of 1280 × 900; `dark`: what pages learn of the reader's preference."""
    options = webdriver.ChromeOptions()
    options.binary_location = _program("chromium")
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
    ):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=_program("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        scheme(driver, dark=dark)
        resize(driver, 1280, 900)
        yield driver
    finally:
        driver.quit()


def scheme(driver: Any, *, dark: bool) -> None:
    feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def resize(driver: Any, width: int, height: int) -> None:
    """The page's own size in CSS pixels; windows cannot be as narrow as telephones."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def scripts(driver: Any, *, on: bool) -> None:
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not on})


def show(driver: Any, page: Path) -> None:
    driver.get(page.resolve().as_uri())


def errors(driver: Any) -> list[str]:
    """Messages of the console since the last call, remarks left out."""
    return [row["message"] for row in driver.get_log("browser") if row["level"] in ("SEVERE", "WARNING")]
