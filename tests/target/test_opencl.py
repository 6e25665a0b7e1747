"""OpenCL texts, run on a CPU runtime and under the checking simulator, against numpy."""

import ml_dtypes
import numpy as np
import pytest

from mdh.ir.dtype import BF16, F16, F32, F64, I8, I32, I64, U8, DType
from mdh.target.emit import emit
from tests.target import features, modules
from tests.target.features import ATOMIC_CASES
from tests.target.opencl_runner import Run

RNG = np.random.default_rng(7)
NUMPY = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
    "i32": np.int32, "i64": np.int64, "u8": np.uint8,
}  # fmt: skip


def integers(dtype: DType, n: int, low: int = -4, high: int = 5) -> np.ndarray:
    low = max(low, 0) if dtype.kind == "uint" else low
    return RNG.integers(low, high, n).astype(NUMPY[dtype.name])


def test_saxpy(opencl: Run) -> None:
    x, y = integers(F32, 1000), integers(F32, 1000)
    out = opencl(emit(*modules.saxpy("opencl")), {"x": x, "y": y, "a": np.float32(2)})
    assert (out["y"] == 2 * x + y).all()


@pytest.mark.parametrize(("engine", "slots"), [("plain", 1), ("async", 2)])
def test_staged_product(opencl: Run, engine: str, slots: int) -> None:
    a, b = integers(F32, 64 * 64).reshape(64, 64), integers(F32, 64 * 64).reshape(64, 64)
    text = emit(*modules.matmul("opencl", 64, engine=engine, slots=slots))
    out = opencl(text, {"A": a, "B": b, "C": np.full((64, 64), np.nan, np.float32)})
    assert (out["C"] == a @ b).all()


def test_histogram(opencl: Run) -> None:
    b = RNG.integers(0, 64, 4096).astype(np.int32)
    out = opencl(emit(*modules.histogram("opencl")), {"B": b, "H": np.zeros(64, np.int32)})
    assert (out["H"] == np.bincount(b, minlength=64)).all()


@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize("dtype", [F16, BF16, F32, F64, I8, U8, I32, I64], ids=str)
def test_every_type(pocl: Run, dtype: DType, lanes: int) -> None:
    x, y = integers(dtype, 48), integers(dtype, 48)
    out = pocl(emit(*features.scaled("opencl", dtype, lanes)), {"x": x, "y": y})
    assert (out["y"] == (3 * x + y).astype(x.dtype)).all()


@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
def test_rounding_of_16_bit_floats(pocl: Run, dtype: DType) -> None:
    """Nearest even, infinities, denormals and NaN come out as numpy's conversions have them."""
    x = np.array([1 / 3, 1e-7, 65504, 1e30, -np.inf, np.nan, 2049, 1e-5] * 6).astype(NUMPY[dtype.name])
    y = np.array([1.0, 1e-8, 3e38, -1, 0, 7, 1, 1e-7] * 6).astype(NUMPY[dtype.name])
    out = pocl(emit(*features.scaled("opencl", dtype, 8)), {"x": x, "y": y})
    with np.errstate(all="ignore"):
        want = (np.float32(3) * x.astype(np.float32) + y.astype(np.float32)).astype(x.dtype)
    np.testing.assert_array_equal(out["y"].astype(np.float32), want.astype(np.float32))


@pytest.mark.parametrize("shared", [False, True], ids=["global", "local"])
@pytest.mark.parametrize(("op", "dtype"), ATOMIC_CASES, ids=str)
def test_atomics(pocl: Run, op: str, dtype: DType, shared: bool) -> None:
    x = integers(dtype, 64, 1, 3 if op == "*" and dtype.bits > 8 else 8) if op == "*" else integers(dtype, 64)
    if op == "*":
        x[8:] = 1
    h = integers(dtype, 4)
    out = pocl(emit(*features.atomics("opencl", op, dtype, shared=shared)), {"x": x, "H": h})
    assert (out["H"] == folded(op, h, x)).all()


def folded(op: str, start: np.ndarray, x: np.ndarray) -> np.ndarray:
    functions = {
        "+": np.add, "*": np.multiply, "min": np.minimum, "max": np.maximum, "&": np.bitwise_and,
        "^": np.bitwise_xor,
    }  # fmt: skip
    out = start.copy()
    for i, value in enumerate(x):
        out[i % 4] = functions[op](out[i % 4], value)
    return out


@pytest.mark.parametrize("span", [32, 64, 128])
def test_swizzle_is_a_permutation(opencl: Run, span: int) -> None:
    x = np.arange(1024, dtype=np.float32).reshape(32, 32)
    out = opencl(emit(*features.swizzled("opencl", span)), {"x": x, "y": np.zeros_like(x)})
    assert (out["y"] == x.T).all()


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("fill", [0.0, -1.5])
def test_predicated_copy(opencl: Run, fill: float, lanes: int) -> None:
    x = integers(F32, 32)
    text = emit(*features.predicated("opencl", fill, lanes, "plain"))
    out = opencl(text, {"x": x, "y": np.zeros_like(x)})
    assert (out["y"] == np.where(np.arange(32) < 24, x, fill)).all()


@pytest.mark.parametrize("dtype", [F32, F64, I32, I64, F16], ids=str)
def test_masks(pocl: Run, dtype: DType) -> None:
    x = integers(dtype, 16)
    text = emit(*features.masks("opencl", dtype))
    out = pocl(text, {"x": x, "y": np.zeros_like(x), "z": np.zeros(16, np.int32)})
    assert (out["y"] == np.where((x > 0) & (x <= 2), x + x, -1)).all()
    z = np.arange(16) % 4 + (x > 0)
    z[::4] = np.where(x[1::4] > 1, 100, z[::4])
    assert (out["z"] == z).all()


def test_names_of_the_target_are_avoided(opencl: Run) -> None:
    x = integers(F32, 4)
    out = opencl(emit(*features.names("opencl")), {"float4": x, "half": np.float32(3)})
    assert (out["float4"] == 3 * x).all()


def test_register_tile_on_a_packed_panel(pocl: Run) -> None:
    m, n, k = 48, 32, 20
    a, b = integers(F32, m * k).reshape(m, k), integers(F32, k * n).reshape(k, n)
    panels = np.ascontiguousarray(b.reshape(k, n // 16, 16).transpose(1, 0, 2))
    text = emit(*modules.cpu_matmul(m, n, k, groups=2))
    out = pocl(text, {"A": a, "B": panels, "C": np.full((m, n), np.nan, np.float32)})
    assert (out["C"] == a @ b).all()
