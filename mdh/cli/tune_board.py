"""What `mdh tune --serve` knows of its runs, and an HTTP server of it for browsers on this machine.

A page costs the tuning something: it is rendered in the tuner's process, at most once in `_PAUSE` seconds for
all readers together, and not at all while nobody reads.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Lock, Thread
from time import monotonic, perf_counter, sleep
from typing import Any

from mdh.printable import encodable
from mdh.report.html import tuned_picture
from mdh.report.trials.live import begun, live_page, run_html
from mdh.report.tune_text import progress_line
from mdh.results.trial import Trial
from mdh.results.tuning import RunProgress, Tuned
from mdh.tuner.records.best import best

LOOPBACK = "127.0.0.1"
"""Other machines cannot connect."""
_PAUSE = 2.0
"""Seconds between two texts of a run."""
_RARELY = 50.0
"""The least time between two texts, in times that rendering took: it takes 2 % of a processor at most."""
_IDLE = 10.0
"""Seconds after which a reader is sent a line, so that one who has gone is noticed."""
_READERS = 8
"""The most pages that are kept up to date at a time; each has a thread."""
_LEAVE = 10.0
"""The most seconds that readers get for the end."""
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The pages load nothing, whatever names and messages stand in them."""
_HEADERS = (
    ("Cache-Control", "no-store"), ("Content-Security-Policy", _POLICY),
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)  # fmt: skip


@dataclass
class BoardRun:
    """A run as it is known so far. version: grows with every change. result: of a run that has ended. html:
    its text, of version `written`."""

    name: str
    defines: tuple[tuple[str, int | str], ...]
    devices: tuple[str, ...]
    sampler: str
    trials: list[Trial] = field(default_factory=list)
    now: RunProgress | None = None
    result: Tuned | None = None
    version: int = 1
    html: str = ""
    written: int = 0


@dataclass
class Board:
    """The runs of a tuning, which its own thread writes and readers' threads read."""

    title: str
    runs: list[BoardRun] = field(default_factory=list)
    changed: Condition = field(default_factory=Condition)
    pen: Lock = field(default_factory=Lock)
    """Of the reader that renders."""
    over: bool = False
    rendering: float = 0.0
    """Seconds that the last text took."""

    @property
    def pause(self) -> float:
        """Seconds until a reader gets the next text: long ones of many trials come less often."""
        return max(_PAUSE, _RARELY * self.rendering)

    def begin(self, run: BoardRun) -> BoardRun:
        with self.changed:
            self.runs.append(run)
            self.changed.notify_all()
        return run

    def tell(self, run: BoardRun, now: RunProgress, trial: Trial | None) -> None:
        """A watch's call."""
        with self.changed:
            run.now = now
            if trial is not None and all(t.number != trial.number for t in run.trials[-3:]):
                run.trials.append(trial)
            run.version += 1
            self.changed.notify_all()

    def end(self, run: BoardRun, result: Tuned | None) -> None:
        with self.changed:
            run.result = result
            run.version += 1
            self.changed.notify_all()

    def close(self) -> None:
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def news(self, seen: list[int]) -> Iterator[tuple[int, str]]:
        """The texts of runs that changed; `seen` has the versions that the reader knows."""
        for n, run in enumerate(list(self.runs)):
            if n == len(seen):
                seen.append(0)
            if seen[n] < run.version:
                html, seen[n] = self.text(run)
                yield n, html

    def text(self, run: BoardRun) -> tuple[str, int]:
        """The text of a run and its version. One request renders at a time. The others wait for its text; the
        tuning does not wait."""
        with self.pen:
            with self.changed:
                seen = replace(run, trials=list(run.trials))
            if run.written < seen.version:
                start = perf_counter()
                run.html, run.written = _html(seen), seen.version
                self.rendering = perf_counter() - start
            return run.html, run.written

    def wait(self, seen: list[int]) -> None:
        """Until something is new, for `_IDLE` seconds at most."""
        with self.changed:
            self.changed.wait_for(
                lambda: self.over or [r.version for r in self.runs] != seen[: len(self.runs)], _IDLE
            )


def _html(run: BoardRun) -> str:
    if run.result is not None:
        return run_html(run.result, "", tuned_picture(run.result))
    now = run.now or RunProgress("starting", 0.0, 0, (), None, None, None, None)
    found = best((*now.earlier, *run.trials))
    tuned = begun(run.name, run.defines, run.devices, run.sampler, tuple(run.trials), now, found)
    return run_html(tuned, f"{now.phase}: {progress_line(now, now.elapsed)}")


class _BoardHandler(BaseHTTPRequestHandler):
    """Two places: `/`, the page, and `/events`, what changes. Nothing is read from a disk."""

    server: "BoardServer"
    protocol_version, timeout = "HTTP/1.0", 30.0
    server_version, sys_version = "mdh", ""

    def do_GET(self) -> None:
        host = self.headers.get("Host", "")
        if host not in self.server.hosts:
            # another name for this address: a page elsewhere may have set it up, to read this one
            self._send(403, "text/plain", f"this page is served as http://{self.server.hosts[0]}/ alone\n")
        elif self.path == "/":
            board = self.server.board
            runs = [board.text(run)[0] for run in list(board.runs)]
            self._send(200, "text/html", live_page(board.title, runs))
        elif self.path == "/events":
            self._events()
        else:
            self._send(404, "text/plain", "there is only /\n")

    def _send(self, status: int, kind: str, text: str) -> None:
        body = encodable(text).encode()
        self._head(status, kind, (("Content-Length", str(len(body))),))
        self.wfile.write(body)

    def _head(self, status: int, kind: str, more: tuple[tuple[str, str], ...] = ()) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", f"{kind}; charset=utf-8"), *_HEADERS, *more):
            self.send_header(name, value)
        self.end_headers()

    def _events(self) -> None:
        """Server-sent events until the reader leaves or the tuning ends."""
        server = self.server
        if not server.admit():
            self._send(503, "text/plain", f"{_READERS} pages are open already: close one\n")
            return
        try:
            self._head(200, "text/event-stream")
            self._stream(server.board, [])
        finally:
            server.dismiss()

    def _stream(self, board: Board, seen: list[int]) -> None:
        while True:
            over, start = board.over, monotonic()
            sent = False
            for n, html in board.news(seen):
                self._event("run", json.dumps({"run": n, "html": html}))
                sent = True
            if over:
                self._event("end", "{}")
                return
            if not sent:
                self.wfile.write(b": idle\n\n")
            self.wfile.flush()
            while not board.over and (left := start + board.pause - monotonic()) > 0:
                sleep(min(left, 0.2))
            board.wait(seen)

    def _event(self, name: str, data: str) -> None:
        self.wfile.write(f"event: {name}\ndata: {encodable(data)}\n\n".encode())
        self.wfile.flush()

    def handle(self) -> None:
        with suppress(ConnectionError, TimeoutError):
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: the terminal shows the tuning."""


class BoardServer(ThreadingHTTPServer):
    """Serves a board to this machine until `leave`. port: 0 is any that is free. Raises OSError."""

    daemon_threads, block_on_close = True, False
    # two tunings must not share a port
    allow_reuse_address = True
    allow_reuse_port = False

    def __init__(self, board: Board, port: int) -> None:
        self.board, self.readers = board, 0
        super().__init__((LOOPBACK, port), _BoardHandler)
        self.hosts = tuple(f"{name}:{self.server_port}" for name in (LOOPBACK, "localhost"))
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._thread.start()

    def admit(self) -> bool:
        """Whether there is room for one more reader, who is counted then."""
        with self.board.changed:
            free = self.readers < _READERS
            self.readers += free
            return free

    def dismiss(self) -> None:
        with self.board.changed:
            self.readers -= 1

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing: a reader who has gone, or a page that cannot be made, costs no tuning."""

    @property
    def address(self) -> str:
        return f"http://{self.hosts[0]}/"

    def leave(self) -> None:
        """Tells the readers of the end, and stops."""
        self.board.close()
        until = monotonic() + _LEAVE
        while self.readers and monotonic() < until:
            sleep(0.05)
        self.shutdown()
        self.server_close()
        self._thread.join(_LEAVE)
