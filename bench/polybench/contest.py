"""Starts the process that measures a kernel, and ends it if one measurement takes too long."""

import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path

from bench.polybench.kernels import FOLDER, kernel_of
from bench.polybench.results import Row
from bench.polybench.worker import Order, serve

_CONTEXT = get_context("spawn")
_WRONG = 4
"""How `mdh run --check` ends where a result is wrong."""


def measured(order: Order, folder: Path, limit: float) -> Row:
    """What was found out until the end, or until a measurement took more than `limit` seconds."""
    row, (mine, other) = Row(order.name), _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=serve, args=(other, order, folder), daemon=True)
    process.start()
    other.close()
    try:
        while mine.poll(limit):
            what, *given = mine.recv()
            match what:
                case "code":
                    row.code, row.why = given
                case "verdict":
                    row.verdicts[given[0]] = given[1]
                case "round":
                    row.rounds.append(given[0])
                case "end":
                    process.join(10)
                    return row
        row.why = row.why or f"a measurement took more than {limit:.0f} s"
    except EOFError:
        row.why = row.why or "its process died"
    process.kill()
    process.join()
    return row


def judged(name: str, divisor: int, seconds: float) -> str:
    """What mdh's own judge says of the default schedule: `right`, `wrong`, or why it says nothing."""
    sizes = [f"-D{n}={v}" for n, v in kernel_of(name, divisor).sizes.items()]
    words = [str(FOLDER / f"{name}.c"), "--device", "c", "--check", "--repeat", "0", *sizes]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mdh", "run", *words], capture_output=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return f"no end in {seconds:.0f} s"
    return {0: "right", _WRONG: "wrong"}.get(done.returncode, "refused")
