"""A Dask cluster of processes on loopback, as users start one."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from tests.support.source_tree import ROOT

_SECONDS = 60.0


class Process:
    """`dask scheduler` or `dask worker`, with all that it starts in a group of its own."""

    def __init__(self, folder: Path, name: str, *words: str, core: int | None = None,
                 environment: Mapping[str, str] = {}) -> None:  # fmt: skip
        self.log = folder / f"{name}.log"
        paths = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH", "")) if p)
        pinned = ["taskset", "-c", str(core)] if core is not None else []
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*pinned, sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
                cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, "PYTHONPATH": paths, **environment},
            )  # fmt: skip

    def said(self, pattern: str) -> str:
        """The first group of the pattern, as soon as the process says it."""
        end = monotonic() + _SECONDS
        while monotonic() < end and self.process.poll() is None:
            found = re.search(pattern, self.log.read_text(errors="replace"))
            if found is not None:
                return found[1]
            sleep(0.05)
        raise AssertionError(self.log.read_text(errors="replace"))

    def kill(self) -> None:
        """As a machine that loses its power: the process and its nanny at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Cluster:
    """address: of the scheduler; workers are separate processes without nannies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.scheduler = Process(folder, "scheduler", "scheduler", *words)
        self.address = self.scheduler.said(r"Scheduler at:\s+(tcp://[\d.]+:\d+)")
        self.workers: list[Process] = []

    def add(self, *, core: int | None = None, nanny: bool = False, **environment: str) -> Process:
        words = ["worker", self.address, "--host", "127.0.0.1", "--nworkers", "1", "--nthreads", "1"]
        words += ["--no-dashboard", "--nanny" if nanny else "--no-nanny", "--memory-limit", "0"]
        worker = Process(
            self.folder, f"worker-{len(self.workers)}", *words, core=core, environment=environment
        )
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()


@contextmanager
def cluster() -> Iterator[Cluster]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        made = Cluster(Path(folder))
        try:
            yield made
        finally:
            made.close()
