"""Kernels launched before those in front have ended await that before they touch memory."""

import ctypes
import json
import re
import shutil
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import mdh
from mdh.checker.run import check
from mdh.frontend.c.read import read_program
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target import nvrtc
from mdh.target.emit import emit
from mdh.target.folder import folder, manifest
from mdh.target.text import KernelText

ROOT = Path(__file__).parents[2]
WAIT, ANY_TIME = "griddepcontrol.wait", "ld.global.nc"
MEMORY = re.compile(r"\b(ld|st|red|atom|cp\.async)\.\S*global")
PROGRAMS = sorted(p.stem for p in (ROOT / "inputs_c").glob("*.c"))
SCHEDULES = [
    f"matmul/h200/{n}.mdh"
    for n in ("cluster", "large", "low", "middle", "parts", "rows", "split_k", "square")
]
PRODUCT = """void NAME(const float A[512][1024], const float early[1024][512], float stream[512][512]) {
  for (int i = 0; i < 512; i++) for (int j = 0; j < 512; j++) {
    stream[i][j] = 0.0f;
    for (int k = 0; k < 1024; k++) stream[i][j] += A[i][k] * early[k][j]; } }
"""
LARGE = """1: (de-)comp( 128, 128, 512 ) ( ^, ^ ; ^@combine(kernel) ) ( BLK.y, BLK.x, BLK.z )
2: (de-)comp( ^, ^, 64 ) ( A:SM[1,2], early:SM[1,2] ; stream:RM[1,2] ) ( ^, ^, FOR.1 )
3: (de-)comp( 8, 8, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )
"""
SIZES = {"M": "1024", "N": "1024", "K": "2048"}


def made(program: Program, schedule: str | None, machine: str, target: str = "cuda") -> KernelText:
    device = load_machine(machine)
    steps = (
        default_schedule(program, device, target)
        if schedule is None
        else parse_schedule(Source(schedule, (ROOT / "schedules" / schedule).read_text()))
    )
    return emit(lower(check(program, steps, device, target)), program)


def program_of(name: str, sizes: dict[str, str] | None = None) -> Program:
    path = ROOT / "inputs_c" / f"{name}.c"
    return read_program(Source(str(path), path.read_text()), defines=sizes or {})


def ptx_of(text: KernelText) -> str:
    lib, program = nvrtc._library(), ctypes.c_void_p()
    options = ["--gpu-architecture=compute_90a", *text.options]
    options += [f"-I{folder}" for folder in nvrtc._include_folders()]
    array = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
    assert not lib.nvrtcCreateProgram(ctypes.byref(program), text.source.encode(), b"k.cu", 0, None, None)
    try:
        assert not lib.nvrtcCompileProgram(program, len(options), array)
        return nvrtc._fetched(lib, program, "PTX").decode()
    finally:
        lib.nvrtcDestroyProgram(ctypes.byref(program))


def awaits(text: KernelText) -> None:
    """The compiler, too, leaves the wait in front of all that touches memory, and makes no loads of it that
    its second half may move in front of the wait."""
    entries = re.split(r"\.entry ", ptx_of(text))[1:]
    assert len(entries) == len(text.kernels)
    for kernel, entry in zip(text.kernels, entries, strict=True):
        first = MEMORY.search(entry)
        assert first is not None and entry.count(WAIT) == int(kernel.launch.early)
        if kernel.launch.early:
            assert entry.index(WAIT) < first.start() and ANY_TIME not in entry


@pytest.mark.parametrize("name", PROGRAMS)
def test_default_kernels_await_before_they_touch_memory(name: str) -> None:
    awaits(made(program_of(name), None, "h200"))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_shipped_kernels_await_before_they_touch_memory(schedule: str) -> None:
    text = made(program_of("matmul", SIZES), schedule, "h200")
    assert all(k.launch.early for k in text.kernels)
    awaits(text)


def early(program: str, schedule: str, machine: str = "h200") -> list[bool]:
    source = read_program(Source("f.c", program))
    plan = check(source, parse_schedule(Source("s.mdh", schedule)), load_machine(machine), "cuda")
    text = emit(lower(plan), source)
    awaits(text)
    return [k.launch.early for k in text.kernels]


def test_several_reads_between_which_the_wait_might_get() -> None:
    """The two loads of bytes came in front of it where the compiler might take A0 for constant."""
    program = """#include <stdint.h>
    void f(const int8_t A0[202], const int A1[101], const int A2[101], int C[64]) {
      for (int t = 0; t < 64; t++) { C[t] = 0;
        for (int i = 0; i < 101; i++) C[t] += A0[2*i] - A0[2*i+1] + A1[i] - A2[i] * t; } }"""
    assert early(program, "1: (de-)comp( 1, ^ ) ( ^, ^, ^ ; C:RM[1] ) ( THR.x, ^ )") == [True]


@pytest.mark.parametrize(("read", "written"), [("float", "int"), ("double", "float"), ("int", "double")])
def test_arrays_of_different_types(read: str, written: str) -> None:
    """That no number of the one type is written as one of the other tells the compiler nothing either."""
    program = f"""void f(const {read} A[4096], const int I[4096], {written} B[4096]) {{
      for (int i = 0; i < 4096; i++) B[i] = ({written})A[I[i]]; }}"""
    assert early(program, "1: (de-)comp( 1 ) ( ^, ^ ; ^ ) ( BLK.x )") == [True]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("1: (de-)comp( 1 ) ( ^ ; ^ ) ( BLK.x )", True),
        ("1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x )\n2: (de-)comp( 1 ) ( ^ ; ^ ) ( FOR.1 )", False),
        ("1: (de-)comp( 4 ) ( A:SM[1] ; ^ ) ( BLK.x )\n2: (de-)comp( 1 ) ( ^ ; ^ ) ( FOR.1 )", True),
        ("1: (de-)comp( 4 ) ( A:SM[1]@cache(keep) ; ^ ) ( BLK.x )\n2: (de-)comp( 1 ) ( ^ ; ^ ) ( ^ )", False),
        ("1: (de-)comp( 4 ) ( A:SM[1] ; ^ ) ( BLK.x ) @persistent\n2: (de-)comp( 1 ) ( ^ ; ^ ) ( ^ )", False),
    ],
)
def test_kernels_that_read_on_after_they_have_written_keep_other_loads(steps: str, expected: bool) -> None:
    program = (
        "void f(const float A[4096], float B[4096]) { for (int i = 0; i < 4096; i++) B[i] = A[i] + 1.0f; }"
    )
    assert early(program, steps) == [expected]


@pytest.mark.parametrize(("machine", "target"), [("a100", "cuda"), ("h200", "opencl"), ("generic-cpu", "c")])
def test_elsewhere_kernels_begin_one_after_another(machine: str, target: str) -> None:
    text = made(program_of("matmul", SIZES), None, machine, target)
    assert not any(k.launch.early for k in text.kernels)
    assert "griddepcontrol" not in text.source


def test_the_manifest_says_so() -> None:
    program = program_of("matmul", SIZES)
    for machine, early in (("h200", True), ("a100", False)):
        told = json.loads(manifest(made(program, None, machine), program, "matmul", ()))
        assert {k["early"] for k in told["kernels"]} == {early}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")
@pytest.mark.parametrize("name", ["product", "early", "config"])
def test_the_folder_builds(tmp_path: Path, name: str) -> None:
    """A kernel that must ask for its shared memory, and one that adds its parts; names that the launcher
    uses itself."""
    program = read_program(Source(f"{name}.c", PRODUCT.replace("NAME", name)))
    device = load_machine("h200")
    text = emit(lower(check(program, parse_schedule(Source("s.mdh", LARGE)), device, "cuda")), program)
    assert [bool(k.dynamic_shared) for k in text.kernels] == [True, False]
    for file, content in folder(text, program, LARGE, arch="sm_90a").items():
        (tmp_path / file).write_text(content)
    done = subprocess.run(["make", "-s"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stdout + done.stderr


@pytest.mark.gpu
def test_calls_in_turn_on_several_streams_see_what_came_before(tmp_path: Path) -> None:
    """Each call reads what the one before has written; threads have streams of their own."""
    cupy = pytest.importorskip("cupy")
    n = 256
    source = tmp_path / "next.c"
    source.write_text(
        "void next(const float A[N], float B[N]) { for (int i = 0; i < N; i++) B[i] = A[i] + 1.0f; }"
    )
    kernel = mdh.compile(source, device="cuda:0", defines={"N": n})
    wrong = []

    def chain() -> None:
        with cupy.cuda.Stream(non_blocking=True):
            one, other = cupy.zeros(n, cupy.float32), cupy.zeros(n, cupy.float32)
            for _ in range(500):
                kernel(one, other)
                kernel(other, one)
            if not np.array_equal(cupy.asnumpy(one), np.full(n, 1000, np.float32)):
                wrong.append(cupy.asnumpy(one))

    threads = [threading.Thread(target=chain) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
