"""A client of the language server: JSON-RPC over pipes, as an editor speaks it, and a log of the session."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue
from typing import Any

SECONDS = 60
"""After which an answer is missing, on a machine that does other things, too."""


class Client:
    """One server process. log: what was asked for and answered, and the messages that were waited for."""

    def __init__(self, root: Path, settings: dict[str, Any] | None = None) -> None:
        self.root, self.settings = root, settings or {}
        self.log: list[tuple[str, Any]] = []
        self.shown: dict[str, list[dict[str, Any]]] = {}
        self.versions: dict[str, int | None] = {}
        self.count = 0
        self.found: Queue[dict[str, Any] | None] = Queue()
        self.process = subprocess.Popen(
            # as VS Code's client library may say it
            [sys.executable, "-m", "mdh", "lsp", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        out = self.process.stdout
        assert out is not None
        while header := out.readline():
            length = 0
            while header.strip():
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
                header = out.readline()
            self.found.put(json.loads(out.read(length)))
        self.found.put(None)

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def next(self) -> dict[str, Any]:
        """The next message of the server. Answers what it asks for."""
        message = self.found.get(timeout=SECONDS)
        assert message is not None, self.process.stderr and self.process.stderr.read().decode()
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.shown[params["uri"]] = params["diagnostics"]
            self.versions[params["uri"]] = params.get("version")
        if message.get("method") == "workspace/configuration":
            self.send({"id": message["id"], "result": [self.settings]})
        elif "method" in message and "id" in message:
            self.send({"id": message["id"], "result": None})
        return message

    def request(self, method: str, params: Any) -> Any:
        """The result. Raises AssertionError for an error."""
        self.count += 1
        number = self.count
        self.send({"id": number, "method": method, "params": params})
        while (answer := self.next()).get("id") != number or "method" in answer:
            pass
        assert "error" not in answer, answer["error"]
        if method != "initialize":
            # what pygls says of itself depends on its version
            self.log.append((method, answer["result"]))
        return answer["result"]

    def notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def start(self) -> dict[str, Any]:
        """Opens the session. Returns what the server can do."""
        found = self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": self.root.as_uri(),
                "workspaceFolders": [{"uri": self.root.as_uri(), "name": "w"}],
                "capabilities": {"workspace": {"configuration": True, "workspaceFolders": True}},
            },
        )
        self.notify("initialized", {})
        return found["capabilities"]  # type: ignore[no-any-return]

    def open(self, path: Path, text: str | None = None) -> str:
        """Opens a file, and waits for its messages."""
        text = path.read_text(encoding="utf-8") if text is None else text
        item = {"uri": path.as_uri(), "languageId": path.suffix[1:], "version": 1, "text": text}
        self.shown.pop(path.as_uri(), None)
        self.notify("textDocument/didOpen", {"textDocument": item})
        return self.wait(path, 1)

    def change(self, path: Path, text: str, version: int) -> str:
        """Sends a new text, and waits for its messages."""
        self.shown.pop(path.as_uri(), None)
        document = {"uri": path.as_uri(), "version": version}
        self.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        return self.wait(path, version)

    def wait(self, path: Path, version: int) -> str:
        """Waits for the messages of a version of a file. Returns their codes."""
        while path.as_uri() not in self.shown or self.versions[path.as_uri()] != version:
            self.next()
        self.log.append(("messages", self.shown[path.as_uri()]))
        return " ".join(d.get("code", "") for d in self.shown[path.as_uri()])

    def at(self, path: Path, line: int, character: int) -> dict[str, Any]:
        return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}

    def stop(self) -> int:
        """Ends the session. Returns the exit code of the process."""
        self.request("shutdown", None)
        self.notify("exit", None)
        code = self.process.wait(timeout=SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code
