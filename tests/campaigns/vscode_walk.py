"""VS Code as a user has it: the packed extension in code-server, which is VS Code's own workbench for
browsers, driven by a headless Chromium. `python -m tests.campaigns.vscode_walk mdh.vsix PICTURES`.

Opens a schedule, looks at messages, hover, completion and a quick fix, jumps to the program, and opens
programs of each language. Each step waits for what a user would see; what does not come ends the walk with a
picture.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from selenium.webdriver import ActionChains, Keys

from tests.support.browser import browser, missing, resize
from tests.support.source_tree import ROOT

WAIT = 60.0
"""Seconds in which a step must show something; the first start of the extension's host takes ten."""
FILES = {
    "inputs_c/matmul.c": "matmul.c",
    "schedules/matmul/h200/base.mdh": "base.mdh",
    "inputs_c/MLP1.tc": "MLP1.tc",
    "inputs_c/matmul_init.diesel": "matmul_init.diesel",
}
SETTINGS = {
    "mdh.command": [sys.executable, "-m", "mdh", "lsp"],
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "files.autoSave": "off",
    "editor.minimap.enabled": False,
    "chat.commandCenter.enabled": False,
    "telemetry.telemetryLevel": "off",
}


@contextmanager
def served(place: Path, extension: Path) -> Iterator[str]:
    """code-server with the extension in `place`; its address."""
    command = [str(shutil.which("code-server")), "--user-data-dir", str(place / "data")]
    command += ["--extensions-dir", str(place / "extensions")]
    environment = {
        **os.environ, "HOME": str(place), "XDG_CONFIG_HOME": str(place / "config"),
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([*command, "--install-extension", str(extension)], env=environment, check=True, **quiet)
    settings = place / "data" / "User" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps(SETTINGS), encoding="utf-8")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{found.getsockname()[1]}"
    command += ["--auth", "none", "--bind-addr", address, "--disable-workspace-trust", "--disable-telemetry"]
    process = subprocess.Popen(
        [*command, "--disable-update-check"], env=environment, start_new_session=True, **quiet
    )
    try:
        until(lambda: answers(f"http://{address}/healthz"), "code-server starts")
        yield address
    finally:
        process.terminate()
        process.wait(30)


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


class MissedError(Exception):
    """What a user would wait for in vain."""


def until(arrow: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        if found := arrow():
            return found
        time.sleep(0.1)
    raise MissedError(what)


class Editor:
    """driver: the browser. folder: what is open. pictures: where screenshots go."""

    def __init__(self, driver: Any, address: str, folder: Path, pictures: Path) -> None:
        self.driver, self.folder, self.pictures = driver, folder, pictures
        resize(driver, 1100, 640)
        file = f"vscode-remote://{address}{folder / 'base.mdh'}"
        payload = quote(json.dumps([["openFile", file]]))
        driver.get(f"http://{address}/?folder={quote(str(folder))}&payload={payload}")

    def text(self, where: str) -> str:
        """What is written in the elements that match `where`."""
        script = "return [...document.querySelectorAll(arguments[0])].map(x => x.innerText).join('\\n')"
        return str(self.driver.execute_script(script, where)).replace("\xa0", " ")

    def shows(self, where: str, *words: str) -> str:
        what = f"{where} shows {' '.join(words)}"
        found = until(lambda: all(w in (t := self.text(where)) for w in words) and t, what)
        return " ".join(str(found).split())

    def keys(self, *keys: str) -> None:
        """Keys that are pressed together, the last of them once the others are held."""
        actions = ActionChains(self.driver)
        for key in keys[:-1]:
            actions.key_down(key)
        actions.send_keys(keys[-1])
        for key in reversed(keys[:-1]):
            actions.key_up(key)
        actions.perform()

    def type(self, text: str) -> None:
        ActionChains(self.driver).send_keys(text).perform()

    def command(self, name: str) -> None:
        self.keys(Keys.F1)
        until(lambda: self.text(".quick-input-list"), "the list of commands")
        self.type(name)
        self.shows(".quick-input-list .focused", name)
        self.keys(Keys.ENTER)

    def open(self, name: str) -> None:
        row = f".explorer-folders-view .monaco-list-row[aria-label^='{name}']"
        (found,) = self.driver.find_elements("css selector", row)
        ActionChains(self.driver).double_click(found).perform()
        self.shows(".tab.active", name)
        self.command("View: Focus Active Editor Group")
        self.shows(".editor-instance .monaco-editor.focused .view-lines", "")

    def go(self, word: str, text: str, within: int = 0) -> None:
        """The cursor to the first `word` of a text, `within` characters into it."""
        at = text.index(word) + within
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        self.keys(Keys.CONTROL, "g")
        self.type(f"{line}:{column}")
        self.keys(Keys.ENTER)

    def picture(self, name: str) -> None:
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        (self.pictures / f"vscode.{name}.png").write_bytes(b64decode(taken["data"]))


def walk(editor: Editor) -> Iterator[str]:
    """What a user does and sees, a line a step."""
    schedule = (editor.folder / "base.mdh").read_text(encoding="utf-8")
    panel, hover, menu = ".markers-panel", ".monaco-hover:not(.hidden)", ".action-widget"
    editor.shows(".view-lines", "(de-)comp")
    editor.command("Problems: Focus on Problems View")
    yield f"messages: {editor.shows(panel, 'P102')}"
    editor.command("View: Focus Active Editor Group")

    editor.go("BLK.y", schedule, 3)
    editor.command("Show or Focus Hover")
    yield f"hover: {editor.shows(hover, 'Blocks of the grid')}"
    editor.keys(Keys.ESCAPE)
    editor.go("2:", schedule)
    editor.command("Show or Focus Hover")
    yield f"hover on a step: {editor.shows(hover, 'step 2', 'bytes')}"
    editor.picture("hover")
    editor.keys(Keys.ESCAPE)

    editor.go("BLK.y", schedule, 3)
    editor.keys(Keys.BACKSPACE)
    editor.shows(panel, "S107")
    editor.keys(Keys.CONTROL, ".")
    editor.shows(menu, "Write `BLK`")
    editor.picture("fix")
    editor.keys(Keys.ENTER)
    yield f"quick fix: {editor.shows(panel, 'P102')}"

    editor.go("BLK.y", schedule)
    for _ in range(5):
        editor.keys(Keys.DELETE)
    editor.keys(Keys.CONTROL, " ")
    found = editor.shows(".suggest-widget", "BLK.y", "WGP.x")
    editor.picture("completion")
    yield f"completion: {found}"
    editor.keys(Keys.ESCAPE)
    editor.command("File: Revert File")
    editor.shows(panel, "P102")

    editor.go("A:SM", schedule)
    editor.keys(Keys.F12)
    editor.shows(".tab.active", "matmul.c")
    editor.picture("definition")
    yield "definition: matmul.c"
    for name, code in (("MLP1.tc", "T100"), ("matmul_init.diesel", "L100"), ("matmul.c", "C109")):
        editor.open(name)
        editor.keys(Keys.CONTROL, Keys.HOME)
        editor.type("x")
        yield f"{name}: {editor.shows(panel, name, code)}"
        if name == "MLP1.tc":
            editor.picture("program")
        editor.command("File: Revert File")
        until(lambda name=name: name not in editor.text(panel), f"messages of {name} go")


def main() -> int:
    parser = argparse.ArgumentParser(prog="vscode_walk", description=__doc__)
    parser.add_argument("extension", type=Path, help="mdh.vsix")
    parser.add_argument("pictures", type=Path, help="where screenshots go")
    given = parser.parse_args()
    lost = missing() or ("" if shutil.which("code-server") else "no code-server: npm install code-server")
    if lost:
        sys.stderr.write(f"{lost}\n")
        return 2
    given.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "work"
        folder.mkdir()
        for source, name in FILES.items():
            shutil.copy(ROOT / source, folder / name)
        with served(Path(place), given.extension.resolve()) as address, browser() as driver:
            editor = Editor(driver, address, folder, given.pictures)
            try:
                for line in walk(editor):
                    sys.stdout.write(f"{line}\n")
                    sys.stdout.flush()
            except MissedError as error:
                editor.picture("missed")
                sys.stderr.write(f"not seen in {WAIT:g} seconds: {error}\n")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
