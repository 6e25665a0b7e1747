"""A short test of a device's compiler and runtime, by kernels in its language.

Each kernel tests one thing that some compilers and runtimes get wrong, in the form that mdh's texts use:
functions of math.h with extreme lanes, reads under conditions, rounding to 16 bits, and barriers.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from mdh.device.protocols import Device
from mdh.device.self_test_text import (
    TESTED,
    TESTS,
    TURNS,
    TWO,
    VALUES,
    functions_text,
    halves_text,
    masked_text,
    mirror_text,
)
from mdh.ir.dtype import BY_NAME
from mdh.ir.kernel import Launch
from mdh.reference.functions import FUNCTIONS
from mdh.reference.numbers import Array, numpy_dtype
from mdh.target.emit import OPTIONS
from mdh.target.faults import CompilerFaults, Fault
from mdh.target.text import Arg, BufferArg, EntryPoint, KernelText

WIDTHS = (("f32", 1), ("f32", 2), ("f32", 4), ("f32", 8), ("f64", 1), ("f64", 2), ("f64", 4))
_TYPES = {numpy_dtype(t): t for t in BY_NAME.values()}
_COUNT = 2048
_DOUBLE = frozenset({"erf", "erfc"})
"""Functions that the judge has in doubles only."""
_SLACK = 2
"""Units in the last place that the judge itself may be wrong by, in doubles."""
_PLACE = 96
"""Work-items and elements of the test of barriers."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The faults that were found, and single functions that are wrong for single numbers."""

    faults: CompilerFaults
    functions: tuple[str, ...] = ()


def self_test(device: Device) -> Passed:
    """Tests a device. Raises Failed if it cannot build or run a test."""
    kinds: set[Fault] = set()
    lanes: set[str] = set()
    single: list[str] = []
    if device.target != "cuda":
        for dtype, width in WIDTHS if device.target == "opencl" else (("f32", 1), ("f64", 1)):
            wrong = tuple(wrong_functions(device, dtype, width))
            if width > 1:
                lanes |= {f"{fn}_{dtype}x{width}" for fn in wrong}
            else:
                single += [f"{fn} of {dtype}" for fn in wrong]
        if not masked_right(device):
            kinds.add(Fault.MASKED_READS)
        if not all(halves_right(device, name) for name in ("f16", "bf16")):
            kinds.add(Fault.HALVES)
    if device.target == "opencl" and not barriers_right(device):
        kinds.add(Fault.BARRIERS)
    if single:
        kinds.add(Fault.FUNCTIONS)
    return Passed(CompilerFaults(frozenset(kinds), frozenset(lanes)), tuple(single))


def wrong_functions(device: Device, dtype: str, width: int) -> Iterator[str]:
    """The functions of TESTED with an element that is less exact than the judge of runs allows."""
    kind = np.float32 if dtype == "f32" else np.float64
    x, u = extreme(np.dtype(kind), 1), extreme(np.dtype(kind), 2)
    out = np.zeros((len(TESTED), _COUNT), kind)
    source = functions_text(device.target, TESTED, dtype, width, _COUNT)
    _run(device, source, {"x": x, "u": u, "y": out})
    wide = np.float64 if dtype == "f32" else np.longdouble
    for name, got in zip(TESTED, out, strict=True):
        with np.errstate(all="ignore"):
            given = (x, u) if name in TWO else (x,)
            exact = FUNCTIONS[name].apply(*(a.astype(np.float64 if name in _DOUBLE else wide) for a in given))
            if not _near(got, exact, FUNCTIONS[name].ulps):
                yield name


def _near(got: Array, exact: Array, ulps: int) -> bool:
    want = exact.astype(got.dtype)
    finite = np.abs(np.where(np.isfinite(want), want, 0)).astype(got.dtype)
    unit = np.spacing(np.maximum(finite, np.finfo(got.dtype).tiny)).astype(exact.dtype)
    close = np.abs(got.astype(exact.dtype) - exact) <= (ulps + _SLACK) * unit
    good = (got == want) | (np.isnan(got) & np.isnan(want)) | close
    # a denormal result may be flushed to zero, and a result near overflow may be infinite
    good |= (np.abs(want) < np.finfo(got.dtype).tiny) & (got == 0)
    return bool(good.all())


def extreme(kind: "np.dtype[np.floating]", seed: int) -> Array:
    """Numbers of all sizes with extreme ones among them, so that vectors hold both."""
    rng, limits = np.random.default_rng(seed), np.finfo(kind)
    large = [1e4, 39000.0, 105615.0, 1e6, 1e7, 1.5e7, 1e10, 1e15, 1e22, 1e30, float(limits.max), np.inf]
    small = [float(limits.smallest_subnormal), float(limits.tiny) / 2, float(limits.tiny), 1e-20, 1e-5, 0.0]
    plain = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 35.0, 88.8, 104.0, 127.0, 128.0, 149.0, 710.0, 745.2, 1023.0]
    some = np.array([*large, *small, *plain])
    values = rng.choice(np.concatenate([some, -some, [np.nan]]), _COUNT)
    return np.where(rng.random(_COUNT) < 0.25, values, rng.uniform(-10, 10, _COUNT)).astype(kind)


def masked_right(device: Device) -> bool:
    """Whether `y = c ? a : y` works in short inner loops."""
    place = np.arange(8 * max(TURNS))
    arrays: dict[str, Array] = {}
    want: dict[str, Array] = {}
    for value in VALUES:
        a = arrays[f"a_{value}"] = (place % 97 + 1).astype(numpy_dtype(BY_NAME[value]))
        for test in TESTS:
            for turns in TURNS:
                name = f"y_{value}_{test}_{turns}"
                arrays[name] = np.full(8 * turns, 100, a.dtype)
                want[name] = np.where(place * 7 % 3 != 0, a, arrays[name][0])[: 8 * turns]
    arrays |= {f"c_{test}": (place * 7 % 3).astype(numpy_dtype(BY_NAME[test])) for test in TESTS}
    _run(device, masked_text(device.target), arrays)
    return all(np.array_equal(arrays[name], right) for name, right in want.items())


def halves_right(device: Device, name: str) -> bool:
    """Whether floats round correctly to 16 bits: halfway cases, denormals, overflow, and random bits."""
    wide = np.float16 if name == "f16" else ml_dtypes.bfloat16
    rng = np.random.default_rng(3)
    below = rng.integers(0, 1 << 16, _COUNT, dtype=np.uint16).view(wide).astype(np.float32)
    bits = rng.integers(0, 1 << 32, _COUNT, dtype=np.uint32).view(np.float32)
    steps = below.view(np.uint32) + np.uint32(1 << (12 if name == "f16" else 15))
    x = np.where(np.arange(_COUNT) % 2 == 0, steps.view(np.float32), bits)
    y = np.zeros(_COUNT, np.uint16)
    _run(device, halves_text(device.target, name, _COUNT), {"x": x, "y": y})
    with np.errstate(all="ignore"):
        want = x.astype(wide)
    got = y.view(wide)
    return bool(((y == want.view(np.uint16)) | (np.isnan(got) & np.isnan(want))).all())


def barriers_right(device: Device) -> bool:
    """Whether every work-item reads what another one wrote."""
    x = np.arange(4 * _PLACE, dtype=np.int32)
    y = np.zeros_like(x)
    _run(device, mirror_text(_PLACE), {"x": x, "y": y}, Launch((4, 1, 1), (_PLACE, 1, 1)))
    return bool(np.array_equal(y.reshape(4, _PLACE), x.reshape(4, _PLACE)[:, ::-1]))


def _run(device: Device, source: str, arrays: dict[str, Array], launch: Launch | None = None) -> None:
    """Runs the kernel `test` on these arrays. It writes those whose names begin with a y."""
    args: tuple[Arg, ...] = tuple(
        BufferArg(n, _TYPES[a.dtype], a.shape, a.nbytes, not n.startswith("y")) for n, a in arrays.items()
    )
    entry = EntryPoint("test", "test", launch or Launch((1, 1, 1), (1, 1, 1)), args)
    options = OPTIONS[device.target]
    text = KernelText("test", device.target, "", source, (entry,), (), tuple(arrays), options)
    device.build(text).call(arrays, {}).launch()
