"""Times of schedules on a device, in a process of its own that may hang or die."""

import multiprocessing
import os
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from mdh.checker.run import check
from mdh.device.api import open_device
from mdh.device.protocols import BoundCall
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.lower.run import lower
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.verify.arguments import guarded, make_arrays, make_scalars

CHUNK, CHUNKS = 0.08, 10
"""Seconds of timed runs between two looks at what else runs, and how often that is repeated."""
QUIET = 0.1
"""Cores that others may use while a chunk counts as undisturbed."""
LIMIT = 25.0
"""Seconds that building and measuring one schedule may take."""


@dataclass(frozen=True, slots=True)
class Measured:
    """seconds: the fastest run (others share the machine), None where it failed or took too long. note: why,
    or `busy` where other processes had the cores all the while."""

    seconds: float | None
    build: float
    note: str = ""


def _serve(pipe: Connection, path: str, sizes: dict[str, int], spec: str) -> None:
    source = Source(path, Path(path).read_text(encoding="utf-8"))
    program = read_program(source, defines=sizes)
    device = open_device(spec)
    default = default_schedule(program, device.machine, device.target)
    held = {name: guarded(array) for name, array in make_arrays(program, {}, 0, "random").items()}
    arrays = {name: g.array for name, g in held.items()}
    scalars = make_scalars(program, {}, 0)
    pipe.send(None)
    while True:
        text = pipe.recv()
        start = time.perf_counter()
        try:
            schedule = parse_schedule(Source("candidate", text))
            plan = check(program, schedule, device.machine, device.target, default=default)
            call = device.build(emit(lower(plan), program)).call(arrays, scalars)
            call.launch()
            built = time.perf_counter() - start
            seconds, quiet = _fastest(call)
            pipe.send(Measured(seconds, built, "" if quiet else "busy"))
        except Failed as failed:
            first = failed.diagnostics[0]
            pipe.send(Measured(None, time.perf_counter() - start, f"{first.code} {first.headline}"))


def _fastest(call: BoundCall) -> tuple[float, bool]:
    """Seconds of the fastest run, and whether others left the cores alone for a chunk; until then runs go on,
    but not for too long."""
    times: list[float] = []
    for _ in range(CHUNKS):
        start, others = time.perf_counter(), _others()
        while time.perf_counter() < start + CHUNK or len(times) < 2:
            one = call.sample()
            times.append(one.wall if one.device is None else one.device)
        if _others() - others < QUIET * (time.perf_counter() - start):
            return min(times), True
    return min(times), False


def _others() -> float:
    """Seconds that the cores have worked for other processes; 0 where the system does not tell."""
    if not Path("/proc/stat").exists():
        return 0.0
    user, nice, system = (int(n) for n in Path("/proc/stat").read_text().split()[1:4])
    mine = os.times()
    return (user + nice + system) / os.sysconf("SC_CLK_TCK") - mine.user - mine.system


class Bench:
    """One worker for one program; replaced when it dies or takes too long."""

    def __init__(self, path: Path, sizes: dict[str, int], spec: str) -> None:
        self._arguments = (str(path), sizes, spec)
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._arguments), daemon=True)
        self._process.start()
        theirs.close()
        self._pipe.recv()

    def time(self, schedule: str) -> Measured:
        self._pipe.send(schedule)
        if self._pipe.poll(LIMIT):
            try:
                answer = self._pipe.recv()
            except EOFError:
                answer = Measured(None, 0.0, "died")
            assert isinstance(answer, Measured)
            # a GPU takes nothing more from a process after an illegal access
            if answer.note != "died" and not answer.note.startswith("D105"):
                return answer
        else:
            answer = Measured(None, LIMIT, "timeout")
        self.close()
        self._start()
        return answer

    def close(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()
