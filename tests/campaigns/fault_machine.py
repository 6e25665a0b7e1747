"""A bench on a machine that is at fault at random: what was lost, booked wrong or left behind."""

import argparse
import asyncio
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.results.trial import Effort, Job, Limits, Outcome
from mdh.tuner.measure import folder as bench_folder
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.measure.outage import LASTS
from mdh.tuner.measure.posts import Post
from tests.campaigns.fault_compiler import TOKENS, wrap
from tests.campaigns.fault_counts import Counts, report, summed
from tests.campaigns.fault_run import PROGRAM, ROOT, candidates

LIMITS = Limits(build=20.0, launch=20.0, measure=20.0, trial=60.0)
EFFORT = Effort(samples=3, seconds=0.05, give_up=1.0)
LONGEST = LASTS + 4 * LIMITS.trial
"""Seconds that a trial may take: a fault that lasts to the end, and every limit some times over."""
GONE = 10.0
_APART = 3.0
"""Seconds between two faults on average, where no trial ends before."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
COMPILERS = ("cc", "gcc", "clang", "cc1", "as", "ld", "collect2")


@dataclass
class Campaign:
    """compiles, links: the device starts a C compiler, or a linker for every kernel. disk: a small one, the
    folder for temporary files, None: none could be mounted. ended: trials."""

    bench: LocalBench
    rng: random.Random
    base: Path
    control: Path
    compiles: bool
    links: bool
    disk: Path | None
    injected: Counter[str] = field(default_factory=Counter)
    ended: int = 0

    async def inject(self, count: int) -> None:
        kinds = list(self._kinds())
        # these two last for seconds each
        weights = [2 if "stopped" in name or "waits" in name else 6 for name, _ in kinds]
        while self.injected.total() < count:
            name, act = self.rng.choices(kinds, weights)[0]
            before = self.ended
            if await act():
                self.injected[name] += 1
            # most faults meet a bench at work, some one that has not recovered
            end = time.monotonic() + self.rng.uniform(0.1, 2 * _APART)
            while self.ended == before and time.monotonic() < end:
                await asyncio.sleep(0.02)

    def _kinds(self) -> "Iterator[tuple[str, Callable[[], asyncio.Future[bool] | object]]]":
        yield "a worker is killed (KILL, TERM, INT, HUP)", self._kill
        yield "a worker is killed at its start", self._kill_start
        yield "a worker is stopped", self._stop
        yield "no descriptors", lambda: self._limited(resource.RLIMIT_NOFILE, 3, self._workers())
        yield "files may not grow", lambda: self._limited(resource.RLIMIT_FSIZE, 1, self._workers())
        yield "builders get no memory", lambda: self._limited(resource.RLIMIT_AS, 1 << 20, self._builders())
        yield "the clock jumps", self._clock
        if self.disk is not None:
            yield "the disk is full", self._full
            if self.compiles or self.links:
                yield "the disk runs no programs", self._noexec
        if self.links:
            yield "a linker fails once", self._token
            yield "a linker waits for ever", lambda: self._token("sleeps")
        if self.compiles:
            yield "a compiler fails once", self._token
            yield "a compiler waits for ever", lambda: self._token("sleeps")
            yield "a compiler's process is killed", self._kill_compiler

    def _posts(self) -> tuple[Post, ...]:
        return (*self.bench._measurers.all, *self.bench._builders.all)

    def _workers(self) -> list[int]:
        return [p._worker.pid for p in self._posts() if p._worker is not None and p._worker.running]

    def _builders(self) -> list[int]:
        found = (p._worker for p in self.bench._builders.all)
        return [w.pid for w in found if w is not None and w.running]

    async def _kill(self) -> bool:
        return _signal(self.rng.choice(self._workers() or [0]), self.rng.choice(SIGNALS))

    async def _kill_start(self) -> bool:
        post = self.rng.choice(self._posts())
        old = post._worker
        if old is None or not _signal(old.pid, signal.SIGKILL):
            return False
        end = time.monotonic() + 5.0
        while post._worker is old and time.monotonic() < end:
            await asyncio.sleep(0.01)
        await asyncio.sleep(self.rng.uniform(0.0, 0.5))
        new = post._worker
        return new is not None and new is not old and _signal(new.pid, signal.SIGKILL)

    async def _stop(self) -> bool:
        return _signal(self.rng.choice(self._workers() or [0]), signal.SIGSTOP)

    async def _kill_compiler(self) -> bool:
        """The driver, the compiler proper, the assembler or the linker, whichever is there."""
        number = self.rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV))
        for _ in range(200):
            found = [pid for pid in _of(self.base) if _name(pid) in COMPILERS]
            if found:
                return _signal(self.rng.choice(found), number)
            await asyncio.sleep(0.01)
        return False

    async def _token(self, what: str = "") -> bool:
        token = self.control / f"{self.injected.total()}.token"
        token.write_text(what or self.rng.choice(TOKENS), encoding="utf-8")
        end = time.monotonic() + 10.0
        while token.exists() and time.monotonic() < end:
            await asyncio.sleep(0.02)
        used = not token.exists()
        token.unlink(missing_ok=True)
        return used

    async def _limited(self, which: int, soft: int, pids: list[int]) -> bool:
        before = {}
        for pid in pids:
            with suppress(OSError):
                old = before[pid] = resource.prlimit(pid, which)
                resource.prlimit(pid, which, (soft, old[1]))
        await asyncio.sleep(self.rng.uniform(0.2, 1.5))
        for pid, limits in before.items():
            with suppress(OSError):
                resource.prlimit(pid, which, limits)
        return bool(before)

    async def _full(self) -> bool:
        assert self.disk is not None
        filler = self.disk / "filler"
        with suppress(OSError), open(filler, "wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        await asyncio.sleep(self.rng.uniform(0.3, 2.0))
        filler.unlink()
        return True

    async def _noexec(self) -> bool:
        done = _mount("-o", "remount,noexec", self.disk)
        await asyncio.sleep(self.rng.uniform(0.3, 2.0))
        return done and _mount("-o", "remount,exec", self.disk)

    async def _clock(self) -> bool:
        """As the tuner's own process sees it: the system's is everybody's."""
        jump = self.rng.uniform(-1e6, 1e6)
        bench_folder.time = lambda: time.time() + jump  # type: ignore[attr-defined]
        await asyncio.to_thread(bench_folder.trim_runtime, self.bench._folder)
        return True


def _signal(pid: int, number: int) -> bool:
    if not pid:
        return False
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


def _mount(*words: object) -> bool:
    return subprocess.run(["mount", *map(str, words)], capture_output=True, check=False).returncode == 0


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def _of(base: Path) -> list[int]:
    """Living processes that were started for the campaign: their TMPDIR is in its folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            mine = f"TMPDIR={base}".encode() in (path / "environ").read_bytes()
            if mine and int(path.name) != os.getpid():
                found.append(int(path.name))
    return found


@contextmanager
def small_disk(base: Path) -> Iterator[Path | None]:
    """A disk of its own where this user may mount one."""
    place = base / "disk"
    place.mkdir()
    if not _mount("-t", "tmpfs", "-o", "size=256m", "tmpfs", place):
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


@dataclass
class Found:
    """seconds: of each trial; left: processes and files after the end."""

    outcomes: list[Outcome] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    injected: Counter[str] = field(default_factory=Counter)


async def tune(given: argparse.Namespace, base: Path, disk: Path | None) -> Found:
    rng, found = random.Random(given.seed), Found()
    job, control = Job("matmul.c", PROGRAM, device=given.device), base / "control"
    supply = iter(candidates(1536, given.device.startswith("cuda"), rng))
    async with LocalBench(job, jobs=given.jobs, say=found.said.append) as bench:
        campaign = Campaign(bench, rng, base, control, given.device == "c", given.device == "opencl:0", disk)
        faults = asyncio.create_task(campaign.inject(given.machine))

        async def measure() -> None:
            while not faults.done():
                candidate = next(supply, None)
                if candidate is None:
                    break
                start = time.monotonic()
                found.outcomes.append(await bench.trial(candidate, EFFORT, LIMITS))
                campaign.ended += 1
                found.seconds.append(time.monotonic() - start)

        try:
            await asyncio.gather(*(measure() for _ in range(bench.slots)))
        except Failed as failed:
            found.left.append(f"the run, which ended with {failed.diagnostics[0]}")
        finally:
            faults.cancel()
            await asyncio.gather(faults, return_exceptions=True)
            found.injected = campaign.injected
    return found


def remains(base: Path, tmp: Path) -> list[str]:
    end = time.monotonic() + GONE
    while (pids := _of(base)) and time.monotonic() < end:
        time.sleep(0.1)
    files = [f"file {p.name}" for p in tmp.iterdir() if p.name.startswith("mdh-")]
    return [*(f"process {pid} {_name(pid)}" for pid in pids), *files]


TUNER = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from tests.campaigns.fault_machine import EFFORT, LIMITS, PROGRAM, candidates
from mdh.tuner.measure.local import LocalBench
from mdh.results.trial import Job
import random
async def run():
    async with LocalBench(Job("matmul.c", PROGRAM, device=sys.argv[2]), jobs=2) as bench:
        print("open", flush=True)
        some = candidates(40, sys.argv[2].startswith("cuda"), random.Random(int(sys.argv[3])))
        await asyncio.gather(*(bench.trial(c, EFFORT, LIMITS) for c in some))
asyncio.run(run())
"""


def kill_tuners(given: argparse.Namespace, base: Path, count: int) -> list[str]:
    """Tuners that end by SIGKILL while they work; compilers that wait are among what they have started."""
    left, rng = [], random.Random(given.seed)
    for at in range(count):
        (base / "control" / f"t{at}.token").write_text("sleeps", encoding="utf-8")
        words = [sys.executable, "-c", TUNER, str(ROOT / "scripts"), given.device, str(at)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as tuner:
            assert tuner.stdout is not None
            tuner.stdout.readline()
            time.sleep(rng.uniform(0.0, 4.0))
            tuner.kill()
        end = time.monotonic() + GONE
        while (pids := _of(base)) and time.monotonic() < end:
            time.sleep(0.05)
        left += [f"process {pid} {_name(pid)} of a killed tuner" for pid in pids]
        for token in (base / "control").glob("t*.token"):
            token.unlink()
    return left


def counts(given: argparse.Namespace, found: Found, killed: int, seconds: float) -> Counts:
    slow = sorted(found.seconds) or [0.0]
    return Counts(
        next((o.title for o in found.outcomes if o.title), given.device),
        {**found.injected, "the tuner is killed": killed},
        len(found.outcomes),
        sum(o.failure is None for o in found.outcomes),
        [f"{o.failure} {o.code}: {o.message[:160]}" for o in found.outcomes if o.failure is not None],
        found.left,
        slow[-1],
        slow[len(slow) // 2],
        LONGEST,
        len(found.said),
        seconds,
    )


def campaign(given: argparse.Namespace) -> Counts:
    """One bench and its faults, in a folder of its own."""
    killed = max(1, given.machine // 50)
    given = argparse.Namespace(**{**vars(given), "machine": given.machine - killed})
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="faulty-", ignore_cleanup_errors=True) as name:
        base = Path(name)
        (base / "control").mkdir()
        wrap(base, base / "control", given.device)
        with small_disk(base) as disk:
            tmp = disk or base / "tmp"
            tmp.mkdir(exist_ok=True)
            os.environ["TMPDIR"] = tempfile.tempdir = str(tmp)
            found = asyncio.run(tune(given, base, disk))
            found.left += remains(base, tmp)
            found.left += kill_tuners(given, base, killed)
    return counts(given, found, killed, time.perf_counter() - start)


def campaigns(given: argparse.Namespace) -> Counts:
    """Several campaigns at once. Each is a process with its own seed, and with its own processors where
    there are enough: a kernel that is timed uses every processor that it may."""
    started, cores = [], sorted(os.sched_getaffinity(0))
    for i in range(given.campaigns):
        share = given.machine // given.campaigns + (i < given.machine % given.campaigns)
        words = ["--machine", share, "--device", given.device, "--seed", given.seed + i, "--json"]
        words += [] if given.jobs is None else ["--jobs", given.jobs]
        command = [sys.executable, "-m", "tests.campaigns.fault_machine", *map(str, words)]
        # the new process has those of this one
        os.sched_setaffinity(0, cores[i :: given.campaigns] or cores)
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
    os.sched_setaffinity(0, cores)
    parts = []
    for one in started:
        told, _ = one.communicate()
        # one that ended early has told nothing, and its faults are missing in the sum
        parts += [Counts(**json.loads(told))] if told else []
    if not parts:
        raise SystemExit("no campaign came to its end")
    return summed(parts)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine", type=int, required=True)
    parser.add_argument("--device", default="c")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--campaigns", type=int, default=1, help="so many at once, on parts of the faults")
    parser.add_argument("--json", action="store_true", help="the counts as data, and no page")
    given = parser.parse_args()
    found = campaigns(given) if given.campaigns > 1 else campaign(given)
    if given.json:
        sys.stdout.write(json.dumps(asdict(found)))
        return 0
    text = report(given, found)
    sys.stdout.write(text)
    page = ROOT / "artifacts" / f"machine_faults_{given.device.partition(':')[0]}.md"
    page.write_text(text, encoding="utf-8")
    return 0 if found.good else 1


if __name__ == "__main__":
    sys.exit(main())
