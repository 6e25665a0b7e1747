"""Where launches on the wheel's PoCL run: one work-group in the caller's thread, more on its threads."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from time import perf_counter

import numpy as np

import mdh
from mdh.device.api import list_devices, open_device
from mdh.device.opencl_door import PAIR
from tests.support.source_tree import ROOT

SIZES = {"M": 10, "N": 50, "K": 64}
ONE_GROUP = """
1: (de-)comp( 5, 8, ^ ) ( ^, ^ ; ^ )         ( FOR.1, FOR.2, ^ )
2: (de-)comp( ^, ^, 1 ) ( ^, ^ ; C:RM[1,2] ) ( ^, ^, FOR.1 )
"""
SEVERAL = "1: (de-)comp( 5, 25, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"


def _kernel(schedule: str | None, tmp_path: Path) -> "mdh.Kernel":
    path = None
    if schedule is not None:
        path = tmp_path / "one.mdh"
        path.write_text(schedule, encoding="utf-8")
    return mdh.compile(ROOT / "inputs_c" / "matmul_init.c", path, device="opencl:0", defines=SIZES)


def test_one_group_runs_in_the_calling_thread_and_several_do_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(-4, 5, (10, 64)).astype(np.float32)
    b = rng.integers(-4, 5, (64, 50)).astype(np.float32)
    names = []
    for schedule in (ONE_GROUP, SEVERAL):
        kernel = _kernel(schedule, tmp_path)
        c = np.full((10, 50), np.nan, np.float32)
        for _ in range(3):
            kernel(a, b, c)
            np.testing.assert_array_equal(c, a @ b)
        (variant,) = kernel.variants.values()
        names.append(str(variant.built.seat.device.name).partition("-")[0])
    assert names == ["basic", "pthread"]


def test_many_threads_share_the_calling_seat(tmp_path: Path) -> None:
    kernels = [_kernel(ONE_GROUP, tmp_path) for _ in range(3)]
    a, b = np.ones((10, 64), np.float32), np.ones((64, 50), np.float32)

    def work(n: int) -> bool:
        c = np.zeros((10, 50), np.float32)
        for i in range(100):
            kernels[(n + i) % 3](a, b, c)
        return bool((c == 64).all())

    with ThreadPoolExecutor(5) as pool:
        assert all(pool.map(work, range(5)))


def test_calls_of_one_kernel_keep_their_own_arguments(tmp_path: Path) -> None:
    device = open_device("opencl:0")
    kernel = _kernel(ONE_GROUP, tmp_path)
    (variant,) = kernel.variants.values()
    a = np.ones((10, 64), np.float32)
    b = np.ones((64, 50), np.float32)
    calls, outs = [], []
    for scale in (1, 2):
        c = np.zeros((10, 50), np.float32)
        calls.append(variant.built.call({"A": a * scale, "B": b, "C": c}, {}))
        outs.append(c)
    for _ in range(2):
        for call, scale, out in zip(calls, (1, 2), outs, strict=True):
            out[:] = np.nan
            call.launch()
            assert (out == 64 * scale).all()
    assert device.spec == "opencl:0"


def test_the_second_device_of_the_pair_is_not_listed() -> None:
    assert os.environ.get("POCL_DEVICES") == PAIR
    assert not any(d.title.startswith("basic") for d in list_devices())


def test_what_the_user_asks_of_pocl_is_what_there_is() -> None:
    script = "from mdh.device.api import list_devices; print([d.title.split('-')[0] for d in list_devices()])"
    out = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "POCL_DEVICES": "basic"}, cwd=ROOT,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "basic" in out.stdout
    assert "pthread" not in out.stdout


def test_on_one_core_all_launches_run_in_the_calling_thread() -> None:
    script = (
        "import mdh; k = mdh.compile('inputs_c/transpose.c', device='opencl:0', defines={'M': 64, 'N': 64});"
        "(v,) = k.variants.values(); print(v.built.seat.device.name)"
    )
    out = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "POCL_MAX_PTHREAD_COUNT": "1"}, cwd=ROOT,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert out.stdout.startswith("basic")


def test_threads_share_a_kernel_that_runs_in_their_own(tmp_path: Path) -> None:
    kernel = _kernel(ONE_GROUP, tmp_path)
    b = np.ones((64, 50), np.float32)

    def right(scale: int) -> bool:
        a, c = np.full((10, 64), scale, np.float32), np.zeros((10, 50), np.float32)
        seen = []
        for _ in range(100):
            c[:] = np.nan
            kernel(a, b, c)
            seen.append(bool((c == 64 * scale).all()))
        return all(seen)

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(right, range(1, 13)))


def test_other_threads_go_on_while_a_launch_runs_in_the_calling_one(tmp_path: Path) -> None:
    path = tmp_path / "long.mdh"
    path.write_text("1: (de-)comp( 1, 1, 1 ) ( ^, ^ ; ^ ) ( FOR.1, FOR.2, FOR.3 )\n", encoding="utf-8")
    sizes = {"M": 400, "N": 400, "K": 400}
    kernel = mdh.compile(ROOT / "inputs_c" / "matmul_init.c", path, device="opencl:0", defines=sizes)
    a = np.ones((400, 400), np.float32)
    c = np.empty_like(a)
    ticks, over = [], Event()

    def tick() -> None:
        while not over.wait(0.001):
            ticks.append(perf_counter())

    with ThreadPoolExecutor(1) as pool:
        pool.submit(tick)
        begun = perf_counter()
        kernel(a, a, c)
        ended = perf_counter()
        over.set()
    assert (c == 400).all()
    seen = sum(begun < t < ended for t in ticks)
    assert seen >= 2 or ended - begun < 0.01
