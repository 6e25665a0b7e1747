"""Time of calls on the GPU: graphs of many of them, replayed between two events."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from bench.gpu.gpu import torch
from bench.gpu.outcome import Algorithms
from mdh.compare.calling import Call

_FIRST, _MOST = 4, 4096
"""Calls of the first graph of a single call, and of a graph at most."""
_WAIT, _WAIT_EACH = 200_000, 500
"""Cycles of a graph's launch and of each of its calls, plentifully."""
_LONG, _AGES = 5e-3, 0.1
"""Seconds of a call for which two sets of arrays do, each evicting the other; of one that needs no graph."""


def nothing() -> None:
    """What a call has left to do that writes its results where they belong."""


@dataclass
class Made:
    """A contestant's calls, one for each set of arrays. finish: puts the first one's results into the arrays.

    graph: they can be captured. cold: others for rotated arrays, where a library chooses. note: for the page.
    tuned: what a library chose from, fastest first, for another process that need not search again.
    """

    calls: Sequence[Call]
    finish: Call = nothing
    graph: bool = True
    cold: Sequence[Call] | None = None
    note: str = ""
    tuned: Algorithms = ()


def made(calls: Sequence[Call], graph: bool = True) -> Made:
    return Made(calls, getattr(calls[0], "finish", nothing), graph)


@dataclass
class Runner:
    """A turn: `launch` makes `count` calls. wait: cycles that the GPU spins before it, in which all of it is
    handed over, so that handing over does not count."""

    launch: Call
    count: int
    wait: int = 0
    first: Any = field(default_factory=lambda: torch.cuda.Event(enable_timing=True))
    last: Any = field(default_factory=lambda: torch.cuda.Event(enable_timing=True))

    def seconds(self) -> float:
        """Of one call."""
        if self.wait:
            torch.cuda._sleep(self.wait)
        self.first.record()
        self.launch()
        self.last.record()
        self.last.synchronize()
        return float(self.first.elapsed_time(self.last)) * 1e-3 / self.count


def runner(calls: Sequence[Call], turn: float, graph: bool = True) -> Runner:
    """A turn goes round all calls as often as takes `turn` seconds."""
    # the first one compiles, allocates, and makes libraries choose
    calls[0]()
    alone = Runner(calls[0], 1).seconds()
    if alone > _LONG:
        calls = calls[:2]
    if alone > _AGES:
        return _runner(calls, len(calls), False)
    for call in calls[1:]:
        call()
    torch.cuda.synchronize()
    count = len(calls) if len(calls) > 1 else min(_FIRST, ceil(turn / alone))
    out = _runner(calls, count, graph)
    out.seconds()
    rounds = ceil(turn / max(out.seconds(), 1e-7) / len(calls))
    wanted = len(calls) * min(rounds, max(1, _MOST // len(calls)))
    return out if wanted == count else _runner(calls, wanted, graph)


def quick(calls: Sequence[Call]) -> float:
    """Seconds of a call, roughly."""
    calls[0]()
    alone = min(Runner(calls[0], 1).seconds() for _ in range(2))
    if alone > _LONG:
        return alone
    out = runner(calls, 2e-4)
    return min(out.seconds() for _ in range(3))


def _runner(calls: Sequence[Call], count: int, graph: bool) -> Runner:
    def launch() -> None:
        for i in range(count):
            calls[i % len(calls)]()

    if not graph:
        return Runner(launch, count)
    return Runner(_captured(launch).replay, count, _WAIT + _WAIT_EACH * count)


def _captured(launch: Call) -> Any:
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    # cupy's memory may grow while torch captures
    graph.capture_begin(capture_error_mode="relaxed")
    try:
        launch()
    except BaseException:
        # an open capture would spoil every launch after it
        with contextlib.suppress(RuntimeError):
            graph.capture_end()
        raise
    graph.capture_end()
    return graph
