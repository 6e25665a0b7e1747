"""What runs in a GPU process: a case's contestants on the same arrays, judged, then timed in turns."""

import gc
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.cases import program_of, written
from bench.gpu import arrays, by_compile, by_cub, by_cupy, by_hand, by_lt, by_torch, lt_types, ours
from bench.gpu.cases import Case
from bench.gpu.clock import Made, Runner, quick, runner
from bench.gpu.gpu import Tensors, one_stream, torch, versions
from bench.gpu.kernels import Kernels
from bench.gpu.outcome import ABSENT, AGAIN, DEFAULT, OURS, PLAIN, RIGHT, Order, Outcome, Pairs
from bench.gpu.roof import Roof
from bench.gpu.work import moved_bytes

LEAST, SLOW = 3, 0.3
"""Pairs at least, and seconds of a pair of which one must do."""
_HEAT = 0.02
"""Seconds of calls before the first turn, in which the clocks rise."""
_QUERY = "clocks.sm,power.draw,temperature.gpu"


class Worker:
    """library: CUB's. peaks: FLOP/s of multiply-adds, in double precision or not."""

    def __init__(self, device: Any, library: Path) -> None:
        self.device = device
        self.stream, self._outer = one_stream()
        self.handle = int(self.stream.cuda_stream)
        self.versions = {"driver": dict(device.versions)["driver"], **versions()}
        self.roof = Roof(device.machine.units)
        self.cub = by_cub.Cub(library, self.handle)
        self.lt: by_lt.Tuned | None = None
        try:
            self.lt = by_lt.Tuned(self.handle)
            self.versions["cuBLASLt"] = self.lt.version
        except (ImportError, lt_types.RefusedError) as error:
            self.versions["cuBLASLt"] = f"{ABSENT} ({error})"
        self.peaks = {double: self.roof.peak(double) for double in (False, True)}

    def healthy(self) -> bool:
        """A kernel that went out of its arrays spoils the process for good."""
        try:
            torch.cuda.synchronize()
        except RuntimeError:
            return False
        return True

    def run(self, case: Case, kernels: dict[str, Kernels], order: Order) -> Outcome:
        """Never raises for what a contestant or the case does wrong."""
        out = Outcome()
        try:
            Contest(self, case, kernels, order, out).run()
        except Exception as error:
            # libraries fail in ways of their own, and the other cases must not pay for it
            out.verdicts.setdefault("case", _said(error))
        gc.collect()
        if self.healthy():
            torch.cuda.empty_cache()
        return out


class Contest:
    """One case."""

    def __init__(
        self, worker: Worker, case: Case, kernels: dict[str, Kernels], order: Order, out: Outcome
    ) -> None:
        self.worker, self.case, self.kernels, self.order, self.out = worker, case, kernels, order, out
        self.settings = order.settings
        self._since = time.perf_counter()
        self.program = program_of(case)
        cache = max(worker.device.machine.caches)
        out.sets = arrays.set_count(case, self.program, cache)
        self.sets: list[Tensors] = arrays.random_sets(case, self.program, out.sets)
        # scaled programs read what their outputs hold, so each contestant begins from the same
        self.start = {n: self.sets[0][n].clone() for n in written(self.program) if n in self.sets[0]}
        self.expected = arrays.expected(case, self.program, self.sets[0])
        self._took("arrays")

    def run(self) -> None:
        mine = self._ours()
        self._took("choice")
        if mine is None:
            return
        self.out.notes[OURS] = mine.note
        turn = self.settings.turn
        first = {cold: runner(_calls(mine, cold), turn) for cold in (False, True)}
        _heat(first[False])
        self._pair(AGAIN, mine, first)
        self._took(OURS)
        for name, make in self._peers().items():
            made = self._judged(name, make)
            if made is not None:
                if made.note:
                    self.out.notes[name] = made.note
                self.out.tuned = made.tuned or self.out.tuned
                self._pair(name, made, first)
            self._took(name)
        if self.case.like:
            moved = moved_bytes(self.case, self.program)
            plain = self.worker.roof.plain(self.case.like, moved, self.out.sets)
            self._guarded(PLAIN, lambda: self._pairs(PLAIN, plain, first[True], True))
            self._took(PLAIN)

    def _took(self, name: str) -> None:
        now = time.perf_counter()
        self.out.took[name], self._since = round(now - self._since, 3), now

    def _ours(self) -> Made | None:
        """The fastest right one of the shipped schedules and the derived one."""
        names = list(self.kernels)
        if self.order.chosen is not None:
            names = [n for n in names if n == (self.order.chosen or DEFAULT)]
        right = {
            name: made
            for name in names
            if (made := self._judged(name, partial(self._bound, name))) is not None
        }
        times = self.out.candidates
        for name, made in right.items():
            if not times:
                _heat(runner(made.calls[:1], self.settings.turn))
            self._guarded(name, partial(self._tried, name, made))
        if not times:
            return None
        name = min(times, key=lambda n: sum(times[n]))
        self.out.chosen = "" if name == DEFAULT else name
        self.out.verdicts[OURS] = RIGHT
        return right[name]

    def _tried(self, name: str, made: Made) -> None:
        """Short times of a schedule, on one set of arrays and round all of them."""
        self.out.candidates[name] = quick(made.calls[:1]), quick(made.calls)

    def _bound(self, name: str) -> Made:
        worker, numbers = self.worker, {**self.case.scalars, **self.program.sizes}
        return ours.prepare(worker.device, self.kernels[name], self.sets, numbers, worker.handle)

    def _peers(self) -> dict[str, Callable[[], Made | None]]:
        case, sets, worker = self.case, self.sets, self.worker
        every: dict[str, Callable[[], Made | None]] = {
            "torch": lambda: by_torch.prepare(case, sets),
            "other": lambda: by_torch.other(case, sets),
            "cupy": lambda: by_cupy.prepare(case, sets),
            "cublaslt": self._tuned,
            "cub": lambda: worker.cub.prepare(case, sets),
            "cutensor": lambda: by_cupy.cutensor(case, sets),
            "hand": lambda: by_hand.prepare(case, sets),
            "compiled": lambda: by_compile.prepare(case, sets, self.order.patient),
        }
        chosen = {n: every[n] for n in self.order.peers if n in every}
        if self.out.chosen and DEFAULT in self.kernels and DEFAULT in self.order.peers:
            chosen[DEFAULT] = lambda: self._bound(DEFAULT)
        return chosen

    def _tuned(self) -> Made | None:
        library = self.worker.lt
        if library is None:
            return None
        return library.prepare(self.case, self.sets, self.settings.tuning, self.order.tuned)

    def _judged(self, name: str, make: Callable[[], Made | None]) -> Made | None:
        """One call from outputs as before the first one, then what it wrote against what is right."""
        made: Made | None = None
        try:
            made = make()
            if made is None:
                self.out.verdicts[name] = ABSENT
                return None
            first = self.sets[0]
            for calls in [c for c in (made.calls, made.cold) if c is not None]:
                for output, held in self.start.items():
                    first[output].copy_(held)
                calls[0]()
                made.finish()
                torch.cuda.synchronize()
                self.out.verdicts[name] = arrays.judged(self.case, first, self.expected)
                if self.out.verdicts[name] != RIGHT:
                    return None
        except ImportError:
            self.out.verdicts[name] = ABSENT
            self.out.missing |= {name}
            return None
        except Exception as error:
            self.out.verdicts[name] = _said(error)
            self._live()
            return None
        return made

    def _pair(self, name: str, made: Made, first: dict[bool, Runner]) -> None:
        for cold in (False, True):
            self._guarded(name, partial(self._pairs, name, made, first[cold], cold))

    def _pairs(self, name: str, made: Made, mine: Runner, cold: bool) -> None:
        """Turn by turn, ours first unless swapped."""
        s = self.settings
        peer = runner(_calls(made, cold), s.turn, made.graph)
        watch = _Watch() if name == AGAIN and not cold else None
        for one in (mine, peer):
            one.seconds()
        pairs: Pairs = []
        start = time.perf_counter()
        least = LEAST
        while len(pairs) < s.rounds and (len(pairs) < least or time.perf_counter() < start + s.budget):
            began = time.perf_counter()
            if self.order.swapped:
                second = peer.seconds()
                pairs.append((mine.seconds(), second))
            else:
                taken = mine.seconds()
                pairs.append((taken, peer.seconds()))
            least = 1 if time.perf_counter() - began > SLOW else LEAST
        (self.out.cold if cold else self.out.warm)[name] = pairs
        if watch is not None:
            self.out.clock = watch.read()

    def _guarded(self, name: str, act: Callable[[], Any]) -> None:
        """A contestant that cannot be timed is out; the case goes on."""
        try:
            act()
        except Exception as error:
            self.out.verdicts[name] = _said(error)
            self._live()

    def _live(self) -> None:
        """Raises where the GPU is lost for this process."""
        if not self.worker.healthy():
            raise RuntimeError("the GPU cannot be used any more in this process")


class _Watch:
    """nvidia-smi, asked beside the turns."""

    def __init__(self) -> None:
        command = ["nvidia-smi", f"--query-gpu={_QUERY}", "--format=csv,noheader"]
        try:
            self._process: Any = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        except OSError:
            self._process = None

    def read(self) -> str:
        if self._process is None:
            return ""
        try:
            text, _ = self._process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return ""
        return str(text.decode(errors="replace")).strip().partition("\n")[0]


def _calls(made: Made, cold: bool) -> Any:
    if not cold:
        return made.calls[:1]
    return made.calls if made.cold is None else made.cold


def _heat(warm: Runner) -> None:
    end = time.perf_counter() + _HEAT
    while time.perf_counter() < end:
        warm.seconds()


def _said(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"failed: {type(error).__name__}: {text[:200]}"
