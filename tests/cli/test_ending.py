"""SIGINT and SIGTERM while the main thread is stuck: in a system call, in the event loop, in a library that
holds the interpreter."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.source_tree import ROOT

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
QUICK = "import mdh.ending; mdh.ending.GRACE = 1.0\n"
LOOP = """
import asyncio, sys
from mdh.cli.signals import end_quietly
from mdh.tuner.runtime.interrupt import Interrupt, on_signals
end_quietly()

async def body():
    asked = Interrupt()
    with on_signals(asked, lambda number: print("said", number.name, flush=True)):
        await work(asked)
    print("ended", flush=True)

def ready():
    print("ready", flush=True)
"""
STUCK = (
    LOOP
    + """
async def work(asked):
    ready()
    open(sys.argv[1]).read()

asyncio.run(body())
"""
)
ENDS = (
    LOOP
    + """
import time
async def work(asked):
    ready()
    await asked.event.wait()
    await asyncio.sleep(0.4)

asyncio.run(body())
"""
)
HELD = """
import ctypes
from mdh.cli.signals import end_quietly
end_quietly()
print("ready", flush=True)
own = ctypes.PyDLL(None)
lock = ctypes.create_string_buffer(64)
own.pthread_mutex_lock(lock)
own.pthread_mutex_lock(lock)
"""
BUSY = (
    LOOP
    + """
async def work(asked):
    ready()
    while True:
        pass

asyncio.run(body())
"""
)


class Running:
    """A process that has said that it is ready."""

    def __init__(self, text: str, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", text, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n", self.process.communicate()

    def ended_by(self, *numbers: signal.Signals, apart: float = 0.0) -> tuple[int, str, float]:
        """Status, what it said, seconds since the last signal."""
        for n, number in enumerate(numbers):
            time.sleep(apart if n else 0.0)
            self.process.send_signal(number)
        begun = time.monotonic()
        out, _ = self.process.communicate(timeout=30)
        return self.process.returncode, out, time.monotonic() - begun


@pytest.mark.parametrize("number", list(CODES))
def test_a_loop_that_waits_for_a_pipe_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    os.mkfifo(tmp_path / "pipe")
    code, out, seconds = Running(QUICK + STUCK, str(tmp_path / "pipe")).ended_by(number)
    assert (code, out) == (CODES[number], "")
    assert seconds < 4


def test_a_loop_that_computes_is_ended() -> None:
    code, _, seconds = Running(QUICK + BUSY).ended_by(signal.SIGINT)
    assert code == 130
    assert seconds < 4


@pytest.mark.parametrize("text", [BUSY, STUCK])
def test_a_second_signal_does_not_wait(tmp_path: Path, text: str) -> None:
    """Without it the guard would wait its 4.5 seconds."""
    os.mkfifo(tmp_path / "pipe")
    numbers = (signal.SIGINT, signal.SIGINT)
    code, _, seconds = Running(text, str(tmp_path / "pipe")).ended_by(*numbers, apart=1.0)
    assert code in (130, -signal.SIGINT)
    assert seconds < 2


@pytest.mark.parametrize("number", list(CODES))
def test_a_second_signal_ends_a_library_that_holds_the_interpreter(number: signal.Signals) -> None:
    running = Running(HELD)
    # it says that it is ready a moment before it is stuck
    time.sleep(0.5)
    code, _, seconds = running.ended_by(number, number, apart=0.1)
    assert code == -number
    assert seconds < 4


def test_a_signal_that_comes_twice_at_once_is_one() -> None:
    """`timeout` sends its own to the process and to the group."""
    code, out, _ = Running(ENDS).ended_by(signal.SIGTERM, signal.SIGTERM, apart=0.02)
    assert (code, out) == (0, "said SIGTERM\nended\n")


def test_a_program_that_is_told_to_end_while_it_opens_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    text = "from mdh.cli.signals import end_quietly\nend_quietly()\nimport sys\nprint('ready', flush=True)\n"
    code, _, seconds = Running(text + "open(sys.argv[1])", str(tmp_path / "pipe")).ended_by(signal.SIGTERM)
    assert code == 143
    assert seconds < 4
