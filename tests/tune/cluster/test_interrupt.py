"""Ctrl-C and SIGTERM on a cluster: the best schedule is on disk, and the worker serves the next tuner."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.source_tree import ROOT
from tests.tune.cluster.dask import Cluster, Process, cluster
from tests.tune.measure.bench import MATMUL

CODES = {signal.SIGTERM: 143, signal.SIGINT: 130}
ENDED = 5.0
"""Seconds from the signal to the end of the process."""


@pytest.fixture(scope="module")
def one() -> Iterator[Cluster]:
    with cluster() as made:
        made.add()
        made.workers[0].said(r"Registered to:\s+(\S+)")
        yield made


class Tuner:
    def __init__(self, folder: Path, address: str) -> None:
        (folder / "matmul.c").write_text(MATMUL)
        self.folder, self.log = folder, folder / "said.txt"
        words = ("tune", "matmul.c", "--cluster", address, "--jobs", "1", "--trials", "500")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "mdh", *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, env={**os.environ, "PYTHONPATH": str(ROOT)}, start_new_session=True,
            )  # fmt: skip

    @property
    def said(self) -> str:
        return self.log.read_text(errors="replace")

    @property
    def lines(self) -> int:
        return sum(f.read_bytes().count(b"\n") for f in self.folder.glob("*.jsonl"))

    def until(self, true: Callable[[], bool], seconds: float = 60.0) -> None:
        end = time.monotonic() + seconds
        while not true():
            assert self.process.poll() is None and time.monotonic() < end, self.said
            time.sleep(0.02)

    def ended_by(self, number: signal.Signals) -> float:
        begun = time.monotonic()
        self.process.send_signal(number)
        assert self.process.wait(30) == CODES[number], self.said
        return time.monotonic() - begun


def catches(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    return bool(int(status.partition("SigCgt:")[2].split()[0], 16) >> (number - 1) & 1)


def benches(pid: int) -> list[str]:
    """Processes that a worker has started to build and measure."""
    words = " ".join(p.read_text() for p in Path(f"/proc/{pid}/task").glob("*/children")).split()
    return [w for w in words if b"measure.worker" in Path(f"/proc/{w}/cmdline").read_bytes()]


def free(worker: Process) -> bool:
    """The bench is closed within a while: the worker serves whoever comes."""
    end = time.monotonic() + ENDED
    while benches(worker.process.pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not benches(worker.process.pid)


def test_while_workers_open_their_devices(one: Cluster, tmp_path: Path) -> None:
    tuner = Tuner(tmp_path, one.address)
    tuner.until(lambda: bool(benches(one.workers[0].process.pid)))
    assert tuner.ended_by(signal.SIGTERM) < ENDED
    assert "Traceback" not in tuner.said
    assert "takes part" not in tuner.said
    assert free(one.workers[0])
    assert one.workers[0].process.poll() is None


def test_while_trials_are_in_flight(one: Cluster, tmp_path: Path) -> None:
    tuner = Tuner(tmp_path, one.address)
    tuner.until(lambda: tuner.lines >= 3 and any(tmp_path.glob("matmul.*.mdh")))
    worker = one.workers[0].process
    assert benches(worker.pid)
    assert tuner.ended_by(signal.SIGTERM) < ENDED
    assert "Traceback" not in tuner.said
    (best,) = tmp_path.glob("matmul.*.mdh")
    assert "(de-)comp" in best.read_text()
    assert free(one.workers[0])
    assert worker.poll() is None
    assert "Traceback" not in one.workers[0].log.read_text()


def test_while_the_scheduler_hangs(one: Cluster, tmp_path: Path) -> None:
    """The worker has served another tuner before this one, and begins with this one at once."""
    tuner = Tuner(tmp_path, one.address)
    tuner.until(lambda: tuner.lines >= 2)
    one.scheduler.process.send_signal(signal.SIGSTOP)
    try:
        assert tuner.ended_by(signal.SIGINT) < ENDED
    finally:
        one.scheduler.process.send_signal(signal.SIGCONT)
    assert "Traceback" not in tuner.said
    assert any(tmp_path.glob("matmul.*.mdh"))
