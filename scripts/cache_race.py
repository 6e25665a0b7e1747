"""Processes that compile the same texts at the same time, with a cache that is empty at first."""

import argparse
import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import numpy as np

from mdh.device import cubins
from mdh.device.api import Keeps, open_device
from mdh.device.cache import Cache, open_cache
from mdh.device.programs import cached_program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.source import Source
from mdh.target.text import KernelText

PROGRAM = "void twice(const int x[64], int y[64]) { for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }"
TARGETS = {"none": "cuda", "c": "c", "opencl:0": "opencl"}
ARCH = "sm_90a"
MOST = 2
"""Times that a key may be built."""


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--device", choices=sorted(TARGETS), default="c")
    given = parser.parse_args()
    context, begun = get_context("spawn"), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        text = text_for(given.device)
        os.environ["XDG_CACHE_HOME"] = folder
        start, told = context.Barrier(given.processes), context.Queue()
        words = (given.device, text, given.rounds, start, told)
        racers = [context.Process(target=race, args=words) for _ in range(given.processes)]
        for racer in racers:
            racer.start()
        found = [told.get() for _ in racers]
        for racer in racers:
            racer.join()
    times = Counter(number for built, _ in found for number in built)
    wrong = [said for _, said in found if said]
    died = sum(racer.exitcode != 0 for racer in racers)
    most = max(times.values(), default=0)
    print("\n".join(wrong[:3]), file=sys.stderr)
    print(
        f"{given.device}: {given.processes} processes, {given.rounds} keys each: {len(wrong)} exceptions, "
        f"{died} died, {sum(times.values())} builds, at most {most} of a key, "
        f"{time.monotonic() - begun:.0f} s"
    )
    return int(bool(wrong) or bool(died) or most > MOST or len(times) != given.rounds)


if __name__ == "__main__":
    sys.exit(main())
