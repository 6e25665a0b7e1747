"""C texts, built by the system's compiler and run, against numpy."""

import dataclasses
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mdh.device.api import Keeps, open_device
from mdh.device.c import CDevice
from mdh.diagnostics import Failed
from mdh.ir.dtype import BF16, F16, F32, F64, I8, I32, I64, U8, DType
from mdh.ir.kernel import Launch, Module
from mdh.target.emit import emit
from mdh.target.folder import folder
from mdh.target.text import KernelText
from tests.native import compiler
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


def test_a_refused_text_is_kept(device: CDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    text = emit(*features.scaled("c", F32, 1))
    with pytest.raises(Failed) as refused:
        device.build(dataclasses.replace(text, source="int no C at all\n"))
    assert refused.value.diagnostics[0].code == "D103"
    assert list(tmp_path.glob("mdh-*.c")) and list(tmp_path.glob("mdh-*.log"))


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
