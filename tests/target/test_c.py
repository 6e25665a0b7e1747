"""C texts, built by the system's compiler and run, against numpy."""

import dataclasses
import gc
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.device.c import CDevice
from mdh.device.protocols import Keeps
from mdh.diagnostics import Failed
from mdh.folders import private_folder
from mdh.ir.dtype import BF16, F16, F32, F64, I8, I32, I64, U8, DType
from mdh.ir.kernel import Launch, Module
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.folder import folder
from mdh.target.text import KernelText
from tests.support.native import compiler
from tests.support.pairs import planned
from tests.target import features, modules
from tests.target.features import ATOMIC_CASES, Pair
from tests.target.test_folder import SCALED, build, with_source, write
from tests.target.test_opencl import NUMPY, folded, integers

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler here")
Arrays = dict[str, np.ndarray]


@pytest.fixture(scope="module")
def device() -> CDevice:
    opened = open_device("c")
    assert isinstance(opened, CDevice)
    return opened


def ran(
    device: CDevice, text: KernelText, arrays: Arrays, scalars: dict[str, object] | None = None
) -> Arrays:
    out = {k: v.copy() for k, v in arrays.items()}
    call = device.build(text).call(out, scalars or {})
    call.poison()
    call.launch()
    return out


def by_groups(made: Pair) -> Pair:
    """The module with its work-items as groups of one."""
    module, program = made
    kernels = tuple(
        dataclasses.replace(k, launch=Launch(k.launch.block, (1, 1, 1)), body=_groups(k.body))
        for k in module.kernels
    )
    changed: Module = dataclasses.replace(module, kernels=kernels)
    return changed, program


def _groups(body: tuple[object, ...]) -> tuple[object, ...]:
    _, *rest = body
    return (modules.coordinate("t", "block_id", 0), *rest)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64, I8, U8, I32, I64], ids=str)
def test_every_type(device: CDevice, dtype: DType, lanes: int) -> None:
    x, y = integers(dtype, 48), integers(dtype, 48)
    out = ran(device, emit(*features.scaled("c", dtype, lanes)), {"x": x, "y": y})
    assert (out["y"] == (3 * x + y).astype(x.dtype)).all()


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_rounding_of_16_bit_floats(device: CDevice, dtype: DType, lanes: int) -> None:
    """Nearest even, infinities, denormals and NaN come out as numpy's conversions have them."""
    x = np.array([1 / 3, 1e-7, 65504, 1e30, -np.inf, np.nan, 2049, 1e-5] * 6).astype(NUMPY[dtype.name])
    y = np.array([1.0, 1e-8, 3e38, -1, 0, 7, 1, 1e-7] * 6).astype(NUMPY[dtype.name])
    out = ran(device, emit(*features.scaled("c", dtype, lanes)), {"x": x, "y": y})
    with np.errstate(all="ignore"):
        want = (np.float32(3) * x.astype(np.float32) + y.astype(np.float32)).astype(x.dtype)
    np.testing.assert_array_equal(out["y"].astype(np.float32), want.astype(np.float32))


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_every_16_bit_float_survives(device: CDevice, dtype: DType) -> None:
    """All bit patterns to float and back: 3 * 0 + y is y."""
    y = np.arange(1 << 16, dtype=np.uint16).view(NUMPY[dtype.name])
    x = np.zeros_like(y)
    out = ran(device, emit(*features.scaled("c", dtype, 8, 1 << 16)), {"x": x, "y": y})
    with np.errstate(all="ignore"):
        want = y.astype(np.float32) + np.float32(0)
    np.testing.assert_array_equal(out["y"].astype(np.float32), want)


@pytest.mark.parametrize(("op", "dtype"), ATOMIC_CASES, ids=str)
def test_atomics(device: CDevice, op: str, dtype: DType) -> None:
    x = integers(dtype, 64, 1, 3 if op == "*" and dtype.bits > 8 else 8) if op == "*" else integers(dtype, 64)
    if op == "*":
        x[8:] = 1
    h = integers(dtype, 4)
    made = by_groups(features.atomics("c", op, dtype, shared=False))
    out = ran(device, emit(*made), {"x": x, "H": h})
    assert (out["H"] == folded(op, h, x)).all()


@pytest.mark.parametrize("dtype", [F32, F64, I32, I64, F16], ids=str)
def test_masks(device: CDevice, dtype: DType) -> None:
    x = integers(dtype, 16)
    arrays = {"x": x, "y": np.zeros_like(x), "z": np.zeros(16, np.int32)}
    out = ran(device, emit(*features.masks("c", dtype)), arrays)
    assert (out["y"] == np.where((x > 0) & (x <= 2), x + x, -1)).all()
    z = np.arange(16) % 4 + (x > 0)
    z[::4] = np.where(x[1::4] > 1, 100, z[::4])
    assert (out["z"] == z).all()


def test_a_library_is_loaded_elsewhere(device: CDevice) -> None:
    """What was built is all that another process needs; damaged bytes are refused with a code."""
    assert isinstance(device, Keeps)
    text = emit(*features.scaled("c", F32, 8))
    image = device.binary(device.build(text))
    x, y = integers(F32, 48), integers(F32, 48)
    again = {"x": x, "y": y.copy()}
    device.load(text, image).call(again, {}).launch()
    assert (again["y"] == 3 * x + y).all()
    with pytest.raises(Failed) as refused:
        device.load(text, b"no library")
    assert refused.value.diagnostics[0].code == "D105"


def test_libraries_are_unloaded(device: CDevice) -> None:
    """By turns of two kernels: no descriptor, library or file is left, and what is held stays loaded."""
    one, other = (emit(*features.scaled("c", F32, n)) for n in (8, 4))
    images = [device.binary(device.build(text)) for text in (one, other)]
    x, y = integers(F32, 48), integers(F32, 48)
    held = {"x": x, "y": y.copy()}
    call = device.load(one, images[0]).call(held, {})

    def loaded() -> tuple[int, int]:
        mapped = Path("/proc/self/maps").read_text().splitlines()
        names = {line.split()[5] for line in mapped if str(private_folder()) in line}
        return len(names), len(os.listdir("/proc/self/fd"))

    gc.collect()
    before = loaded()
    for turn in range(200):
        arrays = {"x": x, "y": y.copy()}
        built = device.load((one, other)[turn % 2], images[turn % 2])
        built.call(arrays, {}).launch()
        assert (arrays["y"] == 3 * x + y).all()
    del built
    gc.collect()
    assert loaded() == before and not list(private_folder().glob("*.so"))
    call.launch()
    assert (held["y"] == 3 * x + y).all()


def test_a_refused_text_is_kept(device: CDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = emit(*features.scaled("c", F32, 1))
    with pytest.raises(Failed) as refused:
        device.build(dataclasses.replace(text, source="int no C at all\n"))
    assert refused.value.diagnostics[0].code == "D103"
    note = refused.value.diagnostics[0].notes[-1]
    (source,), (log,) = (list((tmp_path / "mdh/refused").glob(f"*.{end}")) for end in ("c", "log"))
    assert str(source) in note and str(log) in note
    assert str(source) in log.read_text()


def test_folder_runs_and_agrees(tmp_path: Path) -> None:
    module, program = features.scaled("c", I32, 8)
    files = folder(
        emit(module, program), with_source(program, SCALED.replace("short", "int")), "1: (de-)comp( 8 )"
    )
    build(write(files, tmp_path))
    done = subprocess.run(
        [str(tmp_path / "scaled"), "--repeat", "2"], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("scaled: ok (worst error 0), 2 runs, median "), done.stderr


FOLDERS = {
    "shifted": "void f(const float x[40], float y[9], const int g[9])"
    " { for (int i = 0; i < 9; i++) y[i] = x[g[i] + 9]; }",
    "scaled": "void f(const float x[40000], float y[9], const int g[9])"
    " { for (int i = 0; i < 9; i++) y[i] = x[g[i] * 10000]; }",
    "histogram": "void f(int h[5], const int g[9]) { for (int i = 0; i < 9; i++) h[g[i] - 3] += 1; }",
    "narrow": "void f(int h[200], const signed char g[9]) { for (int i = 0; i < 9; i++) h[g[i]] += 1; }",
    "masked": "void f(int h[16], const int g[9]) { for (int i = 0; i < 9; i++) h[g[i] & 15] += 1; }",
    "with the loop": "void f(const int x[40], int y[9], const int g[9])"
    " { for (int i = 0; i < 9; i++) y[i] = x[g[i] + i - 10]; }",
    "static": "static inline void f(const int x[9], int y[9])"
    " { for (int i = 0; i < 9; i++) y[i] = x[i] * 2; }",
    "divided": "void f(const int x[9], const int z[9], int y[9])"
    " { for (int i = 0; i < 9; i++) y[i] = x[i] / z[i] + (1 << z[i]); }",
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_draws_what_the_program_takes(device: CDevice, name: str, tmp_path: Path) -> None:
    """Subscripts stay inside, nothing is divided by 0, and a static function is called all the same."""
    run = Pipeline()
    program = run.read(Source("f.c", FOLDERS[name]))
    plan = planned(program, None, device.machine, "c")
    build(write(folder(emit(lower(plan), program), program, ""), tmp_path))
    done = subprocess.run([str(tmp_path / "f"), "--repeat", "2"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("f: ok (worst error 0)"), done.stdout + done.stderr


def built(device: CDevice, code: str, schedule: str, arrays: Arrays, **scalars: float) -> Arrays:
    """The C function by a schedule on arrays."""
    run = Pipeline()
    program = run.read(Source("f.c", code))
    plan = run.check(program, run.schedule(Source("f.mdh", schedule)), device.machine, "c").plan
    typed = {s.name: NUMPY[s.dtype.name](scalars[s.name]) for s in program.scalars}
    return ran(device, run.emit(run.lower(plan), program), arrays, typed)


VECTORS = "1: (de-)comp( 8 ) ( {} ; ^ ) ( FOR.1 )\n2: (de-)comp( 1 ) ( {} ; ^ ) ( VEC.x )\n"
X = np.arange(64, dtype=np.float32)


@pytest.mark.parametrize("kind", ["float", "double", "int16_t", "uint8_t"])
@pytest.mark.parametrize("offset", [0, 1, 4])
def test_stores_past_the_caches(device: CDevice, kind: str, offset: int) -> None:
    """Of aligned and other arrays, by more groups than one; nothing around them is touched."""
    code = (
        f"#include <stdint.h>\nvoid f(const {kind} b[2000], {kind} c[2000])"
        "{ for (int i = 0; i < 2000; i++) c[i] = b[i]; }"
    )
    run = Pipeline()
    program = run.read(Source("f.c", code))
    schedule = run.schedule(Source("f.mdh", f"1: (de-)comp( 500 ) ( ^ ; ^ ) ( BLK.x )\n{STREAM}"))
    text = run.emit(run.lower(run.check(program, schedule, device.machine, "c").plan), program)
    assert f"stream_{program.buffers[0].dtype.name}x16(&c" in text.source and "left out" not in text.source
    given = (np.arange(2000) % 120).astype({"float": "f4", "double": "f8"}.get(kind, kind.removesuffix("_t")))
    room = np.zeros(4096, given.dtype)
    start = -room.ctypes.data % 64 // given.itemsize + offset
    out = room[start : start + 2000]
    device.build(text).call({"b": given, "c": out}, {}).launch()
    assert (out == given).all()
    assert not room[:start].any() and not room[start + 2000 :].any()


STREAM = "2: (de-)comp( 16 ) ( ^ ; ^ ) ( FOR.1 )\n3: (de-)comp( 1 ) ( ^ ; ^@cache(stream) ) ( VEC.x )\n"


@pytest.mark.parametrize("kind", ["int", "float"])
@pytest.mark.parametrize("other", ["2.0f", "b[i] * 2.0f", "-b[i]"])
def test_scalars_choose_between_vectors(device: CDevice, other: str, kind: str) -> None:
    code = (
        f"void f(const float b[64], float c[64], {kind} s)"
        f"{{ for (int i = 0; i < 64; i++) c[i] = s ? b[i] : {other}; }}"
    )
    arrays = {"b": X, "c": np.zeros_like(X)}
    schedule = VECTORS.format("^", "^")
    for s, want in ((1, X), (0, {"2.0f": 2 + 0 * X, "b[i] * 2.0f": 2 * X, "-b[i]": -X}[other])):
        assert (built(device, code, schedule, arrays, s=s)["c"] == want).all()


def test_functions_of_three_arguments(device: CDevice) -> None:
    code = (
        "#include <math.h>\nvoid f(const float b[64], float c[64])"
        "{ for (int i = 0; i < 64; i++) c[i] = fmaf(b[i], b[i], 3.0f); }"
    )
    out = built(device, code, VECTORS.format("^", "^"), {"b": X, "c": np.zeros_like(X)})
    assert (out["c"] == X * X + 3).all()


def test_shifts_by_counts_of_another_width(device: CDevice) -> None:
    code = (
        "#include <stdint.h>\nvoid f(const uint64_t a[64], const int s[64], uint64_t c[64])"
        "{ for (int i = 0; i < 64; i++) c[i] = a[i] >> s[i]; }"
    )
    a, s = np.arange(64, dtype=np.uint64) << np.uint64(40), np.arange(64, dtype=np.int32)
    out = built(device, code, VECTORS.format("^, ^", "^, ^"), {"a": a, "s": s, "c": np.zeros_like(a)})
    assert (out["c"] == a >> s.astype(np.uint64)).all()


TWO = """void two(const float A[64], float S[64], float S_group[64]) {
  for (int i = 0; i < 64; i++) S[i] = A[i] + 1.0f;
  for (int i = 0; i < 64; i++) S_group[i] = S[63 - i] * 2.0f;
}
"""
STAGES = "stage {} {{ 1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x ) }}\n"


def test_names_of_group_functions_are_kept_free(device: CDevice) -> None:
    arrays = {"A": X, "S": np.zeros_like(X), "S_group": np.zeros_like(X)}
    out = built(device, TWO, STAGES.format("S") + STAGES.format("S_group"), arrays)
    assert (out["S_group"] == 2 * (X + 1)[::-1]).all()
    code = (
        "void k(const float A[64], float k_kernel_group[64])"
        "{ for (int i = 0; i < 64; i++) k_kernel_group[i] = A[i]; }"
    )
    out = built(device, code, "1: (de-)comp( 8 ) ( ^ ; ^ ) ( BLK.x )\n", {"A": X, "k_kernel_group": 0 * X})
    assert (out["k_kernel_group"] == X).all()


def test_names_in_comments_define_nothing() -> None:
    code = "void f(const float a_x8[64], float c[64]) { for (int i = 0; i < 64; i++) c[i] = a_x8[i]; }"
    run = Pipeline()
    program, machine = run.read(Source("f.c", code)), load_machine("generic-cpu")
    schedule = "1: (de-)comp( 8 ) ( a_x8:SM[1] ; ^ ) ( BLK.x )\n"
    plan = run.check(program, run.schedule(Source("f.mdh", schedule)), machine, "c").plan
    text = run.emit(run.lower(plan), program).source
    assert "static inline" not in text.replace("static inline void f_kernel_group", "")


def test_more_groups_than_an_int_counts() -> None:
    code = (
        "void f(const float A[70000][70000], float B[70000][70000])"
        "{ for (int i = 0; i < 70000; i++) for (int j = 0; j < 70000; j++) B[i][j] = A[i][j]; }"
    )
    run = Pipeline()
    program, machine = run.read(Source("f.c", code)), load_machine("generic-cpu")
    schedule = "1: (de-)comp( 1, 1 ) ( ^ ; ^ ) ( BLK.y, BLK.x )\n"
    plan = run.check(program, run.schedule(Source("f.mdh", schedule)), machine, "c").plan
    assert "for (int64_t group = 0; group < 4900000000; ++group)" in run.emit(run.lower(plan), program).source


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("gcc '", "is no command"),
        ("/bin/true", "is no C compiler"),
        ("cc -nosuchoption", "does not take its options"),
        ("/nonexistent/cc", "is not there"),
    ],
)
def test_a_wrong_compiler_is_told(wanted: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", wanted)
    with pytest.raises(Failed) as refused:
        open_device("c")
    assert refused.value.diagnostics[0].code == "D113"
    assert said in refused.value.diagnostics[0].headline


def test_options_in_cc_are_part_of_the_key(monkeypatch: pytest.MonkeyPatch, device: CDevice) -> None:
    monkeypatch.setenv("CC", "cc -fno-inline")
    other = open_device("c")
    assert isinstance(other, CDevice)
    assert other.identity != device.identity
