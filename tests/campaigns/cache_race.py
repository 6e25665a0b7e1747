"""Processes that compile the same texts at the same time, with a cache that is empty at first.

The figures go to artifacts/cache_race.md, a row a device; rows of devices that are not run now stay.
"""

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from mdh.device import cubins
from mdh.device.api import open_device
from mdh.device.cache import Cache, open_cache
from mdh.device.programs import cached_program
from mdh.device.protocols import Keeps
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.source import Source
from mdh.target.text import KernelText

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "void twice(const int x[64], int y[64]) { for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }"
TARGETS = {"none": "cuda", "c": "c", "opencl:0": "opencl"}
ARCH = "sm_90a"
MOST = 2
"""Times that a key may be built."""
HEAD = """\
# Many processes, one cold cache

`./scripts/cache-race --devices {devices}` prints this table again: processes that start at the same moment
compile the same texts and share a cache that is empty at first. Each checks what its kernels compute; `none`
are cubins by NVRTC, which run nowhere here. A key may be built {most} times.

| device | processes | keys each | exceptions | died | built | most often | s |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Race:
    """built: keys, by how often; wrong: what processes said that failed."""

    device: str
    processes: int
    rounds: int
    wrong: tuple[str, ...]
    died: int
    built: Counter[int]
    seconds: float

    @property
    def most(self) -> int:
        return max(self.built.values(), default=0)

    @property
    def good(self) -> bool:
        return not self.wrong and not self.died and self.most <= MOST and len(self.built) == self.rounds

    @property
    def line(self) -> str:
        return (
            f"| {self.device} | {self.processes} | {self.rounds} | {len(self.wrong)} | {self.died} |"
            f" {sum(self.built.values())} | {self.most} | {self.seconds:.0f} |"
        )


def text_for(device: str) -> KernelText:
    pipeline, target = Pipeline(), TARGETS[device]
    program = pipeline.read(Source("twice.c", PROGRAM))
    machine = load_machine("h200") if device == "none" else open_device(device).machine
    checked = pipeline.check(program, None, machine, target)
    return pipeline.emit(pipeline.lower(checked.plan), program)


def race(device: str, text: KernelText, rounds: int, start: Any, told: Any) -> None:
    """One process: which rounds it built, and what went wrong."""
    built: list[int] = []
    try:
        opened, cache = None if device == "none" else open_device(device), open_cache()
        start.wait()
        for number in range(rounds):
            one = replace(text, source=f"{text.source}\n// {number}\n")
            if _compiled(one, opened, cache):
                built.append(number)
        told.put((built, ""))
    except BaseException:
        start.abort()
        told.put((built, traceback.format_exc()))


def _compiled(text: KernelText, device: Any, cache: Cache) -> bool:
    """Whether it was built here; what comes out is judged."""
    if device is None:
        made: list[int] = []
        compile_cubin = cubins.compile_cubin

        def counted(*words: Any) -> Any:
            made.append(1)
            return compile_cubin(*words)

        cubins.compile_cubin = counted
        try:
            assert cubins.cached_cubin(text, ARCH, cache).image.startswith(b"\x7fELF")
        finally:
            cubins.compile_cubin = compile_cubin
        return bool(made)
    assert isinstance(device, Keeps)
    image, new = cached_program(text, device, cache)
    arrays = {"x": np.arange(64, dtype=np.int32), "y": np.zeros(64, np.int32)}
    device.load(text, image).call(arrays, {}).launch()
    assert (arrays["y"] == 2 * arrays["x"]).all(), "a wrong result"
    return new


def raced(device: str, processes: int, rounds: int) -> Race:
    context, begun = get_context("spawn"), time.monotonic()
    text, before = text_for(device), os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        start, told = context.Barrier(processes), context.Queue()
        racers = [
            context.Process(target=race, args=(device, text, rounds, start, told)) for _ in range(processes)
        ]
        for racer in racers:
            racer.start()
        found = [told.get() for _ in racers]
        for racer in racers:
            racer.join()
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before
    return Race(
        device, processes, rounds, tuple(said for _, said in found if said),
        sum(racer.exitcode != 0 for racer in racers), Counter(n for built, _ in found for n in built),
        time.monotonic() - begun,
    )  # fmt: skip


def page(path: Path, races: list[Race]) -> str:
    known = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = {line.split()[1]: line for line in known if line.startswith(tuple(f"| {d} |" for d in TARGETS))}
    lines |= {one.device: one.line for one in races}
    return HEAD.format(devices=",".join(lines), most=MOST) + "\n".join(lines.values()) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--devices", "--device", default="c", help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--out", type=Path, default=ROOT / "artifacts" / "cache_race.md")
    given = parser.parse_args()
    races: list[Race] = []
    for device in given.devices.split(","):
        races.append(raced(device, given.processes, given.rounds))
        sys.stderr.write("".join(f"{said}\n" for said in races[-1].wrong[:3]))
        sys.stdout.write(f"{races[-1].line}\n")
        given.out.write_text(page(given.out, races), encoding="utf-8")
    return 0 if all(one.good for one in races) else 1


if __name__ == "__main__":
    sys.exit(main())
