"""The 8-bit floats of mdh.h: every bit pattern, every tie, and what may be done with them in C."""

import ctypes
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from mdh.device.api import open_device
from mdh.diagnostics import Failed
from mdh.include import FOLDER, HEADER
from mdh.ir.dtype import F8E4M3, F8E5M2, F32, DType
from mdh.ir.expr import Const
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.reference.c.types import E4M3, E5M2, FLOAT
from mdh.reference.interpreter.bounded import BoundedScalarArithmetic
from mdh.reference.interpreter.rounding import rounded
from mdh.reference.numbers import converted, largest, numpy_dtype
from mdh.source import Source
from mdh.target.folder import folder
from mdh.target.nvrtc import compile_cubin
from tests.support.native import compiler
from tests.target.test_folder import build, run, write

NAMES = {"e4m3": (F8E4M3, E4M3, ml_dtypes.float8_e4m3fn), "e5m2": (F8E5M2, E5M2, ml_dtypes.float8_e5m2)}
BITS = np.arange(256, dtype=np.uint8)


def numbers(kind: str, count: int = 1000) -> np.ndarray:
    """Random bits, all numbers of the type, the ties between them, and what lies next to those."""
    held = BITS.view(NAMES[kind][2]).astype(np.float32)
    finite = np.sort(held[np.isfinite(held)]).astype(np.float64)
    ties = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)
    near = [np.nextafter(ties, np.float32(end)) for end in (np.inf, -np.inf)]
    drawn = np.random.default_rng(8).integers(0, 1 << 32, count, dtype=np.uint32).view(np.float32)
    ends = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 465, 57344, 61439, 61440, 65536])
    return np.concatenate([held, ties, *near, drawn, ends, -ends]).astype(np.float32)


def nearest(kind: str, x: np.ndarray) -> np.ndarray:
    """By ml_dtypes, which does not saturate."""
    t, _, held = NAMES[kind]
    with np.errstate(all="ignore"):
        return np.clip(x, -largest(t), largest(t)).astype(held)


def same(got: np.ndarray, want: np.ndarray) -> bool:
    """Bit for bit, apart from NaNs."""
    missing = np.isnan(want.astype(np.float32))
    bits = (x.view(f"u{x.dtype.itemsize}") for x in (got, want))
    return bool((np.equal(*bits) | (missing & np.isnan(got.astype(np.float32)))).all())


def text(kind: str, count: int) -> str:
    parameters = f"const fp8_{kind} a[256], fp8_{kind} y[{count}], float z[256], fp8_{kind} c[256]"
    return f"""#include <{HEADER}>
void both(const float x[{count}], {parameters}) {{
  for (int i = 0; i < {count}; i++)
    y[i] = fp8_{kind}_from_float(x[i]);
  for (int i = 0; i < 256; i++)
    z[i] = fp8_{kind}_to_float(a[i]);
  for (int i = 0; i < 256; i++)
    c[i] = a[i];
}}
"""


def arrays(kind: str, count: int = 1000) -> dict[str, np.ndarray]:
    x, held = numbers(kind, count), NAMES[kind][2]
    out = {"x": x, "a": BITS.view(held), "y": np.zeros(x.size, held), "z": np.zeros(256, np.float32)}
    return {**out, "c": np.zeros(256, held)}


def judged(kind: str, out: dict[str, np.ndarray]) -> None:
    assert same(out["y"], nearest(kind, out["x"]))
    assert same(out["z"], BITS.view(NAMES[kind][2]).astype(np.float32))
    # an infinity that is copied stays one
    assert same(out["c"], out["a"])


@pytest.mark.parametrize("kind", NAMES)
def test_header(kind: str, tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    given = arrays(kind, 1_000_000)
    (tmp_path / "f.c").write_text(text(kind, given["x"].size))
    warnings = ("-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror")
    command = ["cc", *warnings, "-O2", f"-I{FOLDER}", "-fPIC", "-shared", "f.c", "-o", "f.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    both = ctypes.CDLL(str(tmp_path / "f.so")).both
    both(*(ctypes.c_void_p(given[n].ctypes.data) for n in "xayzc"))
    judged(kind, given)


@pytest.mark.parametrize("device", ["c", "opencl:0", "oclgrind"])
@pytest.mark.parametrize("kind", NAMES)
def test_devices(kind: str, device: str) -> None:
    if device == "c" and compiler() is None:
        pytest.skip("no C compiler here")
    given, pipeline, opened = arrays(kind), Pipeline(), open_device(device)
    program = pipeline.read(Source("f.c", text(kind, given["x"].size)))
    plan = pipeline.check(program, None, opened.machine, opened.target).plan
    call = pipeline.build(opened, pipeline.emit(pipeline.lower(plan), program)).call(given, {})
    call.launch()
    judged(kind, given)


@pytest.mark.parametrize("machine", ["h100", "rtx4090", "a100", "v100"])
@pytest.mark.parametrize("kind", NAMES)
def test_cuda_builds(kind: str, machine: str) -> None:
    pipeline, on = Pipeline(), load_machine(machine)
    program = pipeline.read(Source("f.c", text(kind, 1000)))
    made = pipeline.emit(pipeline.lower(pipeline.check(program, None, on, "cuda").plan), program)
    assert compile_cubin(made, on.arch if machine != "v100" else "sm_75").warnings == ()


@pytest.mark.parametrize("kind", NAMES)
def test_reference(kind: str) -> None:
    """The three that judge: the interpreter of the C, numpy's arithmetic, folded constants."""
    t, ctype, held = NAMES[kind]
    x = numbers(kind, 3000)
    want = nearest(kind, x)
    each = [rounded(float(v), ctype) for v in x]
    assert same(np.array(each, np.float32), want.astype(np.float32))
    assert same(converted(x, t), want)
    program = Pipeline().read(Source("f.c", text(kind, 4)))
    assert program.buffer_of["a"].dtype == t
    assert numpy_dtype(t) == held


@pytest.mark.parametrize("kind", NAMES)
def test_folded_constants(kind: str) -> None:
    from_float = {v: nearest(kind, np.float32([v])).astype(float)[0] for v in (0.1, 1e-4, 447.0, 1e9, -3.3)}
    lines = "".join(f"  y[{i}] = fp8_{kind}_from_float({v!r}f);\n" for i, v in enumerate(from_float))
    c = f"#include <{HEADER}>\nvoid f(fp8_{kind} y[5]) {{\n{lines}}}\n"
    stored = [o.value for s in Pipeline().read(Source("f.c", c)).stages for r in s.results for o in r.outputs]
    values = [s.results[0].values[0] for s in Pipeline().read(Source("f.c", c)).stages]
    found = {e.value for e in (*stored, *values) if isinstance(e, Const) and e.dtype == NAMES[kind][0]}
    assert found == set(from_float.values())


def test_a_bounded_value_saturates() -> None:
    """An error cannot lead beyond the largest number."""
    convert = BoundedScalarArithmetic().conversion
    to = convert(FLOAT, E4M3)
    assert to is not None
    value = to((500.0, 1.0, 500.0, 1, 0.0, 1, 0.0, -1))
    assert value[0] == 448.0
    assert np.isfinite(value[1])


HEAD = f"#include <{HEADER}>\n"
REFUSED = {
    "C114": (
        "void f(const fp8_e4m3 a[4], float y[4]) { for (int i = 0; i < 4; i++) y[i] = a[i]; }",
        "void f(const fp8_e4m3 a[4], float y[4]) { for (int i = 0; i < 4; i++) y[i] = a[i] * 2; }",
        "void f(const fp8_e4m3 a[4], float y[4]) { for (int i = 0; i < 4; i++) y[i] = (float)a[i]; }",
        "void f(const fp8_e4m3 a[4], float y[4]) { for (int i = 0; i < 4; i++) y[i] = sqrtf(a[i]); }",
        "void f(const fp8_e4m3 a[4], float y[4]) { for (int i = 0; i < 4; i++) y[i] = -a[i]; }",
        "void f(const fp8_e4m3 a[4], float y[4]) { for (int i = 0; i < 4; i++) if (a[i]) y[i] = 1; }",
        "void f(const float x[4], fp8_e4m3 y[4]) { for (int i = 0; i < 4; i++) y[i] = x[i]; }",
        "void f(const float x[4], fp8_e4m3 y[4]) { for (int i = 0; i < 4; i++) y[i] = (fp8_e4m3)x[i]; }",
        "void f(const float x[4], fp8_e4m3 y[4]) { for (int i = 0; i < 4; i++) y[i] += x[i]; }",
        "void f(const fp8_e5m2 x[4], fp8_e4m3 y[4]) { for (int i = 0; i < 4; i++) y[i] = x[i]; }",
        "void f(const fp8_e5m2 x[4], float y[4]) {"
        " for (int i = 0; i < 4; i++) y[i] = fp8_e4m3_to_float(x[i]); }",
        "void f(const fp8_e4m3 a[4], fp8_e4m3 y[4]) { for (int i = 0; i < 4; i++) y[i] = i ? a[i] : a[0]; }",
    ),
    "C113": (
        "void f(const fp8_e4m3 a[4], float y[4]) { for (int i = 0; i < 4; i++) y[i] = a[i].bits; }",
        "void f(float y[2]) { const fp8_e4m3 w[2] = {{56}, {64}};"
        " for (int i = 0; i < 2; i++) y[i] = fp8_e4m3_to_float(w[i]); }",
    ),
    "C112": (
        "void f(const fp8_e4m3 a[4], float y[4]) { for (int i = 0; i < 4; i++) y[i] = fp8_e4m3_to_float(); }",
    ),
    "C110": ("void f(fp8_e4m3 s, float y[4]) { for (int i = 0; i < 4; i++) y[i] = fp8_e4m3_to_float(s); }",),
}  # fmt: skip


@pytest.mark.parametrize(("code", "c"), [(code, c) for code, texts in REFUSED.items() for c in texts])
def test_refused(code: str, c: str) -> None:
    with pytest.raises(Failed) as failed:
        Pipeline().read(Source("f.c", HEAD + "#include <math.h>\n" + c + "\n"))
    assert {d.code for d in failed.value.diagnostics} == {code}
    assert all(d.help for d in failed.value.diagnostics) or code == "C113"


def test_names_without_the_header_are_the_users() -> None:
    c = "typedef unsigned char fp8_e4m3;\nvoid f(const fp8_e4m3 a[4], float y[4])"
    loop = " { for (int i = 0; i < 4; i++) y[i] = a[i] + 1; }\n"
    assert str(Pipeline().read(Source("f.c", c + loop)).buffer_of["a"].dtype) == "u8"
    own = "typedef struct { unsigned char bits; } fp8_e4m3;\nvoid f(const fp8_e4m3 a[4], fp8_e4m3 y[4])"
    with pytest.raises(Failed, match="C110"):
        Pipeline().read(Source("f.c", own + " { for (int i = 0; i < 4; i++) y[i] = a[i]; }\n"))


def test_locals_and_branches() -> None:
    c = f"""#include "{HEADER}"
void f(const fp8_e5m2 a[64], const float x[64], fp8_e5m2 y[64]) {{
  for (int i = 0; i < 64; i++) {{
    fp8_e5m2 held = a[i];
    if (x[i] > 0)
      held = fp8_e5m2_from_float(x[i]);
    y[i] = held;
  }}
}}
"""
    given = {
        "a": BITS[64:128].view(ml_dtypes.float8_e5m2),
        "x": np.random.default_rng(1).uniform(-1, 1, 64).astype(np.float32),
        "y": np.zeros(64, ml_dtypes.float8_e5m2),
    }
    want = np.where(given["x"] > 0, nearest("e5m2", given["x"]), given["a"])
    pipeline, device = Pipeline(), open_device("opencl:0")
    program = pipeline.read(Source("f.c", c))
    plan = pipeline.check(program, None, device.machine, device.target).plan
    pipeline.build(device, pipeline.emit(pipeline.lower(plan), program)).call(given, {}).launch()
    assert same(given["y"], want)


def test_sums_are_not_held_across_a_conversion() -> None:
    """C saturates each time."""
    c = """void f(const float x[64], fp8_e4m3 y[1]) {
  for (int i = 0; i < 64; i++) y[0] = fp8_e4m3_from_float(fp8_e4m3_to_float(y[0]) + x[i]); }"""
    with pytest.raises(Failed):
        Pipeline().read(Source("f.c", HEAD + c + "\n"))


def test_folders_build_alone(tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("no C compiler here")
    c = (Path(__file__).parent.parent / "inputs_c" / "matmul_fp8.c").read_text()
    pipeline, machine = Pipeline(), load_machine("generic-cpu")
    program = pipeline.read(Source("matmul_fp8.c", c), defines={"M": 33, "N": 40, "K": 50})
    plan = pipeline.check(program, None, machine, "opencl").plan
    made = pipeline.emit(pipeline.lower(plan), program)
    files = folder(made, program, plan.text, defines={"M": 33, "N": 40, "K": 50})
    assert files[HEADER] == (FOLDER / HEADER).read_text()
    build(write(files, tmp_path))
    done = run(tmp_path, "matmul_fp8", "Portable", "--repeat", "0")
    assert done.stdout == "matmul_fp8: ok (worst error 0)\n", done.stderr


def test_types_are_those_of_numpy_and_torch() -> None:
    torch = pytest.importorskip("torch")
    for name in ("float8_e4m3fn", "float8_e5m2"):
        assert numpy_dtype(F8E4M3 if "e4m3" in name else F8E5M2).name == name
        assert hasattr(torch, name)


def test_every_number_is_one_of_float() -> None:
    for t in (F8E4M3, F8E5M2):
        assert isinstance(t, DType)
        held = BITS.view(numpy_dtype(t)).astype(np.float32)
        assert same(
            converted(converted(held, F32), t).astype(np.float32)[np.isfinite(held)], held[np.isfinite(held)]
        )
