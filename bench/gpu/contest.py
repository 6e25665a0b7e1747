"""Two GPU processes, one after the other: ours has the first turn in one of them, the peer in the other."""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.gpu.kernels import Prepared
from bench.gpu.outcome import Order, Outcome, Result
from bench.gpu.serve import LOST, NO_GPU, READY, serve
from mdh.machine import Machine

_START = 180.0
"""Seconds for the process to import its libraries."""
_CONTEXT = get_context("spawn")


class NoGpuError(Exception):
    """The message says what is missing."""


class Process:
    """Raises NoGpuError where there is none to work with."""

    def __init__(self, device: str, library: Path) -> None:
        self.connection, other = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=serve, args=(other, device, library), daemon=True)
        self.process.start()
        other.close()
        answer = self._answer(_START)
        if answer is None or answer[0] != READY:
            why = answer[1] if answer is not None and answer[0] == NO_GPU else "its process gave no answer"
            self.stop()
            raise NoGpuError(why)
        self.machine: Machine = answer[1]
        self.versions: dict[str, str] = answer[2]
        self.peaks: dict[bool, float] = answer[3]

    def ask(self, limit: float, *order: Any) -> tuple[str, Outcome]:
        """READY or LOST, and what was found out. A process that gives no answer is lost."""
        try:
            self.connection.send(order)
            answer = self._answer(limit)
        except BrokenPipeError:
            answer = None
        if answer is None:
            # one that has just ended says so
            self.process.join(1)
            alive = self.process.is_alive()
            how = f"did not end in {limit:.0f} s" if alive else "the process ended"
            return LOST, Outcome({"case": f"failed: {how}"})
        return answer[0], answer[1]

    def stop(self) -> None:
        if self.process.is_alive():
            with contextlib.suppress(OSError):
                self.connection.send(None)
            self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
        self.process.join(5)

    def kill(self) -> None:
        self.process.kill()
        self.process.join(5)

    def _answer(self, limit: float) -> Any:
        try:
            return self.connection.recv() if self.connection.poll(limit) else None
        except (EOFError, ConnectionResetError):
            return None


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: that a case may take beyond its own limit, and after which a process begins no other one."""

    extra: float
    whole: float


def run(
    prepared: Sequence[Prepared],
    results: Sequence[Result],
    start: Callable[[], Process],
    first: Process,
    order: Order,
    limits: Limits,
    tell: Callable[[int, Sequence[Result]], None],
) -> None:
    """results: of earlier parts, to which this one adds. start: of the second process, and of others where
    one is lost. tell: called with the place of each result that has changed."""
    process = first
    for swapped in (False, True):
        if swapped:
            process.stop()
            process = start()
        end = time.perf_counter() + limits.whole
        for place, (one, result) in enumerate(zip(prepared, results, strict=True)):
            if time.perf_counter() > end:
                break
            if len(result.outcomes) > swapped:
                continue
            result.refused, result.resources = dict(one.refused), one.resources
            # a process that was lost has chosen nothing
            chosen = next((o.chosen for o in result.outcomes if o.warm), None)
            tuned = next((o.tuned for o in result.outcomes if o.tuned), ())
            mine = replace(order, swapped=swapped, chosen=chosen, tuned=tuned)
            state, outcome = process.ask(one.case.limit + limits.extra, one.case, one.kernels, mine)
            result.outcomes.append(outcome)
            tell(place, results)
            if state == LOST:
                process.kill()
                process = start()
    process.stop()
