"""OpenCL programs in the cache: loaded where they were kept, built anew where the runtime refuses them."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.device.cache import Cache, open_cache
from mdh.device.faults import faults_of
from mdh.device.opencl import OpenCLDevice
from mdh.device.programs import keep_program, kept_program, program_key
from mdh.device.protocols import Keeps
from mdh.diagnostics import Failed
from mdh.pipeline import Pipeline
from mdh.results.trial import Effort, Outcome
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.text import KernelText
from mdh.tuner.measure.local import LocalBench
from tests.tune.measure.bench import EFFORT, GOOD, JOB, LIMITS, MATMUL


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return open_cache(tmp_path / "mdh")


@pytest.fixture(scope="module")
def device() -> OpenCLDevice:
    opened = open_device("opencl:0")
    assert isinstance(opened, OpenCLDevice)
    assert isinstance(opened, Keeps)
    return opened


def text_of(device: OpenCLDevice, schedule: Schedule | None) -> KernelText:
    pipeline = Pipeline()
    program = pipeline.read(Source("matmul.c", MATMUL))
    checked = pipeline.check(program, schedule, device.machine, "opencl")
    return pipeline.emit(pipeline.lower(checked.plan), program, faults_of(device))


@pytest.fixture(scope="module")
def text(device: OpenCLDevice) -> KernelText:
    return text_of(device, None)


def test_a_kept_program_computes_what_the_built_one_does(
    device: OpenCLDevice, text: KernelText, cache: Cache
) -> None:
    assert kept_program(text, device, cache) is None
    keep_program(device.build(text), device, cache)
    image = kept_program(text, device, cache)
    assert image
    a, b = np.random.default_rng(1).random((2, 24, 24), np.float32)
    results = []
    for built in (device.build(text), device.load(text, image)):
        c = np.zeros((24, 24), np.float32)
        built.call({"A": a, "B": b, "C": c}, {}).launch()
        results.append(c)
    assert np.allclose(results[0], a @ b)
    assert results[0].tobytes() == results[1].tobytes()


def test_the_key_follows_all_that_the_binary_does(
    device: OpenCLDevice, text: KernelText, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(OpenCLDevice):
        identity = ()  # type: ignore[assignment]

        def __init__(self, at: int) -> None:
            parts = list(device.identity)
            parts[at] += " other"
            self.identity = tuple(parts)

    keys = {program_key(text, device)}
    keys.add(program_key(replace(text, source=text.source + " "), device))
    keys.add(program_key(replace(text, options=(*text.options, "-DX=1")), device))
    keys.update(program_key(text, Other(i)) for i in range(len(device.identity)))
    assert len(keys) == 3 + len(device.identity)
    monkeypatch.setenv("PYOPENCL_BUILD_OPTIONS", "-cl-fast-relaxed-math")
    assert program_key(text, device) not in keys


@pytest.mark.parametrize("image", [b"junk" * 100, b""], ids=["junk", "empty"])
def test_what_the_runtime_refuses_is_a_miss_and_goes(
    device: OpenCLDevice, text: KernelText, cache: Cache, image: bytes
) -> None:
    key = program_key(text, device)
    cache.put(key, image)
    assert kept_program(text, device, cache) is None
    assert cache.get(key) is None
    with pytest.raises(Failed, match="D105"):
        device.load(text, image)


def test_the_program_of_another_kernel_is_refused(
    device: OpenCLDevice, text: KernelText, cache: Cache
) -> None:
    other = replace(text, source="__kernel void other(__global int *x) { x[0] = 1; }", kernels=())
    cache.put(program_key(text, device), device.binary(device.build(other)))
    assert kept_program(text, device, cache) is None
    assert cache.usage().entries == 0


def test_pyopencl_unpickles_nothing() -> None:
    """In a process of its own: what imports pyopencl first decides."""
    code = "import mdh.device.opencl, pyopencl; print(pyopencl._PYOPENCL_NO_CACHE)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n", done.stderr


def test_finalists_alone_are_kept_and_built_faster_the_next_time(device: OpenCLDevice, cache: Cache) -> None:
    final = Effort(samples=2, seconds=0.1, inputs=4)

    async def first() -> tuple[Outcome, int, tuple[Outcome, ...]]:
        async with LocalBench(JOB, jobs=1, cache=cache) as bench:
            quick = await bench.trial(GOOD[0], EFFORT, LIMITS)
            before = cache.usage().entries
            duel = await bench.duel(GOOD[1:3], final, LIMITS)
            return quick, before, duel

    async def second() -> list[Outcome]:
        async with LocalBench(JOB, jobs=1, cache=cache) as bench:
            found = [await bench.trial(c, EFFORT, LIMITS) for c in GOOD[:2]]
            found.append(await bench.trial(GOOD[2], final, LIMITS))
            return found

    quick, before, duel = asyncio.run(first())
    assert (quick.failure, [o.failure for o in duel]) == (None, [None, None])
    assert (before, cache.usage().entries) == (0, 2)
    key = program_key(text_of(device, parse_schedule(Source("s.mdh", GOOD[2].schedule))), device)
    assert cache.get(key)
    refused = b"not what the runtime made"
    cache.put(key, refused)
    anew, kept, rebuilt = asyncio.run(second())
    assert [anew.failure, kept.failure, rebuilt.failure] == [None] * 3
    assert kept.build_seconds < 0.5 * anew.build_seconds
    assert cache.usage().entries == 2
    assert cache.get(key) not in (None, refused)
