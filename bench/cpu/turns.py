"""The contest: processes that take turns, ours before each peer's, so that a pair sees the same machine."""

import time
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.cases import program_of, written
from bench.cpu import by_numpy
from bench.cpu.cases import Case
from bench.cpu.data import moved_bytes, random_arrays
from bench.cpu.load import Meter
from bench.cpu.roof import Rates
from bench.cpu.worker import CALL, Turn, serve, serve_roof
from mdh.compare.calling import finish_of
from mdh.compare.calm import calm

PAUSE = 0.004
"""Seconds in which the threads that measured the machine's limits go to sleep."""
OTHERS, TICK = 0.1, 0.011
"""A pair of turns is quiet if others used that share of its time, and one tick of the system's clock."""
LEAST = 3
LIMIT = 300
"""Seconds after which a contestant's answer is no longer waited for."""
SLOW = 1.0
"""Seconds of a peer's call for which one pair must do."""
RATES = 12
"""Measurements of the machine's limits for a case."""
_CONTEXT = get_context("spawn")


@dataclass(frozen=True, slots=True)
class Settings:
    """rounds: pairs of turns of ours and each peer; cold: of them on evicted caches; seconds of a turn.

    alone: one thread each, and time is what a contestant's process spent on its processor.
    """

    rounds: int
    cold: int
    seconds: float
    budget: float
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Pairs:
    """A peer's turns, each with ours of just before. quiet: nobody else used much of the machine."""

    peer: tuple[Turn, ...]
    ours: tuple[Turn, ...]
    quiet: bool

    @property
    def whole(self) -> float:
        """Median of peer's whole call over ours."""
        return median(p.whole / o.whole for p, o in zip(self.peer, self.ours, strict=True))

    def turned(self) -> "Pairs":
        """The same turns with the sides exchanged."""
        return Pairs(self.ours, self.peer, self.quiet)

    @property
    def kernel(self) -> float:
        """Median of peer's call over our kernels alone."""
        return median(p.kernel / o.kernel for p, o in zip(self.peer, self.ours, strict=True))


@dataclass
class Result:
    """verdicts: contestant to `right`, `absent` or `wrong …`. rates: of the machine. device: on which ours is
    fastest; others: our other devices to their turns, in pairs with those of that one. call: turns of a call
    of `mdh.einsum` there. derived: whether ours is the schedule that mdh derives, as none ships or it is
    slower."""

    case: Case
    device: str = ""
    others: dict[str, Pairs] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    warm: dict[str, Pairs] = field(default_factory=dict)
    cold: dict[str, Pairs] = field(default_factory=dict)
    rates: list[Rates] = field(default_factory=list)
    default: Pairs | None = None
    derived: bool = False
    call: Pairs | None = None

    def roof(self) -> tuple[float, str]:
        """The least time of the case on this machine, by the best rates seen, and what bounds it."""
        best = Rates(*(max(getattr(r, n) for r in self.rates) for n in ("f32", "f64", "read", "copy")))
        program = program_of(self.case)
        double = any(b.dtype.name == "f64" for b in program.buffers)
        return best.seconds(self.case.flops, double, *moved_bytes(self.case, program))


def _default(device: str) -> str:
    """How the default schedule's process on a device is called in verdicts."""
    return f"default on {device}"


class LostError(Exception):
    """A contestant's process gave no answer."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}: {why}")
        self.name, self.why = name, why


class Process:
    """A contestant's process. `state`: ready or absent; `version`: of its library, or why it is absent."""

    def __init__(self, name: str, target: Any, *args: Any) -> None:
        self.name, self._target, self._args = name, target, args
        self._start()

    def _start(self) -> None:
        self.connection, other = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=self._target, args=(other, *self._args), daemon=True)
        self.process.start()
        other.close()
        try:
            self.state, self.version = self.connection.recv()
        except EOFError:
            self.state, self.version = "absent", "its process ended"

    def ask(self, *order: Any) -> Any:
        """The answer. LostError: there is none in time; then a fresh process awaits the next order."""
        try:
            self.connection.send(order)
            if self.connection.poll(LIMIT):
                return self.connection.recv()
            why = f"no answer in {LIMIT} s"
        except (EOFError, OSError):
            why = "died"
        self.process.kill()
        self.process.join()
        self._start()
        raise LostError(self.name, why)

    def stop(self) -> None:
        if self.process.is_alive():
            self.connection.send(None)
        self.process.join(10)


def _judge(one: Process, case: Case, expected: Path) -> str:
    try:
        return str(one.ask("prepare", case, expected))
    except LostError as lost:
        return lost.why


class Contest:
    """All processes. names: of the peers; default: ours without a schedule's file takes part, too; calls: and
    calls of `mdh.einsum`; devices: on which ours runs, a process each; `absent`: those that cannot be opened,
    and why."""

    def __init__(
        self, names: tuple[str, ...], devices: tuple[str, ...], folder: Path, threads: int, alone: bool,
        *, default: bool, calls: bool = False,
    ) -> None:  # fmt: skip
        def made(name: str, device: str) -> Process:
            return Process(name, serve, name, device, folder, threads, alone)

        self.folder = folder
        self.roof = Process("roof", serve_roof, folder, threads)
        asked = {d: made("ours", d) for d in devices}
        self.absent = {d: p.version for d, p in asked.items() if p.state != "ready"}
        self.ours = {d: p for d, p in asked.items() if d not in self.absent}
        self.defaults = {d: made("default", d) for d in self.ours} if default else {}
        self.calls = {d: made(CALL, d) for d in self.ours} if calls else {}
        self.peers = {n: made(n, devices[0]) for n in names}
        self.meter = Meter(lambda: [p.process.pid for p in self._every() if p.process.pid is not None])

    def stop(self) -> None:
        for one in self._every():
            one.stop()

    def _every(self) -> tuple[Process, ...]:
        mine = (*self.ours.values(), *self.defaults.values(), *self.calls.values())
        return (self.roof, *mine, *self.peers.values())

    def run(self, case: Case, settings: Settings) -> Result:
        """All turns of a case. A peer that dies or does not end loses the case and starts anew; where ours
        does, nothing is said of the others."""
        out = Result(case)
        try:
            self._run(out, case, settings)
        except LostError as lost:
            return Result(case, verdicts={"ours": str(lost)})
        return out

    def _run(self, out: Result, case: Case, settings: Settings) -> None:
        expected = self.expect(case)

        def right(some: dict[str, Process]) -> dict[str, Process]:
            ready = {n: p for n, p in some.items() if p.state == "ready"}
            out.verdicts.update({n: _judge(p, case, expected) for n, p in ready.items()})
            return {n: p for n, p in ready.items() if out.verdicts[n] == "right"}

        mine = right(self.ours)
        defaults = right({_default(d): p for d, p in self.defaults.items()})
        shipped = bool(mine)
        if not mine:
            mine = {d: defaults[_default(d)] for d in self.ours if _default(d) in defaults}
        out.verdicts["ours"] = "right" if shipped else "absent"
        out.derived = not shipped
        if not mine or any(out.verdicts.get(d, "").startswith("wrong") for d in self.ours):
            out.verdicts["ours"] = "wrong"
            return
        first, *rest = mine
        out.device = first
        for device in rest:
            pairs = self._pairs(out, mine[out.device], mine[device], settings.rounds, settings, False)
            faster = pairs.whole < 1
            out.others[out.device if faster else device] = pairs.turned() if faster else pairs
            out.device = device if faster else out.device
        if shipped and (derived := defaults.get(_default(out.device))) is not None:
            pairs = self._pairs(out, mine[out.device], derived, settings.rounds, settings, False)
            if pairs.whole < 1:
                mine[out.device], out.derived = derived, True
            else:
                out.default = pairs
        for one in right({CALL: self.calls[out.device]} if self.calls else {}).values():
            out.call = self._pairs(out, mine[out.device], one, settings.rounds, settings, False)
        for name, one in right(self.peers).items():
            try:
                warm = self._pairs(out, mine[out.device], one, settings.rounds, settings, False)
                cold = self._pairs(out, mine[out.device], one, settings.cold, settings, True)
            except LostError as lost:
                if lost.name != name:
                    raise
                out.verdicts[name] = lost.why
                continue
            out.warm[name], out.cold[name] = warm, cold

    def _pairs(
        self, out: Result, ours: Process, peer: Process, rounds: int, s: Settings, cold: bool
    ) -> Pairs:
        """Turn by turn until enough pairs had the machine for themselves, or the budget of seconds is spent.
        Where too few had, all count."""
        pairs, quiet = list[tuple[Turn, Turn]](), list[tuple[Turn, Turn]]()
        spent, least = 0.0, LEAST
        while len(quiet) < rounds and (len(pairs) < least or spent < s.budget):
            self.meter.seconds()
            began = time.perf_counter()
            first: Turn = ours.ask("turn", s.seconds, cold)
            rested = time.perf_counter()
            ours.ask("rest")
            began += time.perf_counter() - rested
            second: Turn = peer.ask("turn", s.seconds, cold)
            took = time.perf_counter() - began
            spent += took
            pairs.append((first, second))
            least = 1 if second.whole > SLOW else LEAST
            if s.alone or self.meter.seconds() <= OTHERS * took + TICK:
                quiet.append(pairs[-1])
            peer.ask("rest")
            if not cold and len(out.rates) < RATES:
                out.rates.append(self.roof.ask("rates"))
                time.sleep(PAUSE)
        kept = quiet if len(quiet) >= LEAST else pairs
        return Pairs(tuple(p for _, p in kept), tuple(o for o, _ in kept), kept is quiet)

    def expect(self, case: Case) -> Path:
        """numpy's results on doubles, kept for the processes to compare theirs with."""
        program = program_of(case)
        arrays = random_arrays(case, program)
        wide = {k: v.astype(np.float64) if v.dtype.kind == "f" else v for k, v in arrays.items()}
        call = by_numpy.prepare(case.program, wide)
        call()
        finish_of(call)()
        for name in written(program):
            np.save(self.folder / f"{name}.npy", wide[name])
        calm()
        return self.folder
