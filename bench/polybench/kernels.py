"""The programs of `inputs_c/polybench`: their parameters, and data for which they are well-conditioned."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bench.cases import ROOT

Array = np.ndarray[Any, Any]
FOLDER = ROOT / "inputs_c" / "polybench"
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.c")))
_TYPES: dict[str, Any] = {"double": np.float64, "float": np.float32, "int": np.int32}
_SCALARS = {"alpha": 1.5, "beta": 1.2}
_SMOOTHING = 0.25
"""Deriche's alpha."""
_TOLERANCE = {8: 1e-9, 4: 1e-4}
"""By the bytes of a number, in parts of the largest number of an array."""
_LINE = 64
"""Bytes of a line of the caches, at which arrays begin."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """shape: empty for a number. const: an array that is only read."""

    name: str
    type: Any
    shape: tuple[int, ...]
    const: bool


@dataclass(frozen=True, slots=True)
class Kernel:
    """sizes: the macros of the text and their values. function: what C calls it."""

    name: str
    text: str
    function: str
    sizes: Mapping[str, int]
    parameters: tuple[Parameter, ...]

    @property
    def arrays(self) -> tuple[Parameter, ...]:
        return tuple(p for p in self.parameters if p.shape)

    @property
    def written(self) -> tuple[str, ...]:
        return tuple(p.name for p in self.arrays if not p.const)

    @property
    def plain(self) -> Path:
        return FOLDER / f"{self.name}.c"

    @property
    def directives(self) -> Path:
        return FOLDER / "directives" / f"{self.name}.c"

    @property
    def scalars(self) -> dict[str, float]:
        """Values of the parameters that are numbers."""
        names = [p.name for p in self.parameters if not p.shape]
        return {n: _SMOOTHING if self.name == "deriche" else _SCALARS[n] for n in names}


def kernel_of(name: str, divisor: int = 1) -> Kernel:
    """The kernel of this name. divisor: every size is divided by it."""
    text = (FOLDER / f"{name}.c").read_text(encoding="utf-8")
    sizes = {m[1]: max(4, int(m[2]) // divisor) for m in re.finditer(r"#define (\w+) (\d+)", text)}
    found = re.search(r"\bvoid (\w+)\(([^)]*)\)", text)
    assert found is not None
    parameters = tuple(_parameter(words, sizes) for words in found[2].split(","))
    return Kernel(name, text, found[1], sizes, parameters)


def _parameter(words: str, sizes: Mapping[str, int]) -> Parameter:
    found = re.fullmatch(r"\s*(const )?(double|float|int) (\w+)((?:\[\w+\])*)\s*", words)
    assert found is not None, words
    shape = tuple(sizes[n] for n in re.findall(r"\w+", found[4]))
    return Parameter(found[3], _TYPES[found[2]], shape, bool(found[1]))


def random_arrays(kernel: Kernel) -> dict[str, Array]:
    """The same arrays each time: numbers from 0 to 1, or what the kernel needs to be well-conditioned."""
    rng = np.random.default_rng(4)
    out = {p.name: _aligned(p) for p in kernel.arrays}
    for array in out.values():
        array[...] = rng.random(array.shape) if array.dtype.kind == "f" else 0
    match kernel.name:
        case "cholesky":
            a = out["A"]
            a[...] = (a + a.T) / 2 + len(a) * np.eye(len(a))
        case "lu" | "ludcmp":
            out["A"] += len(out["A"]) * np.eye(len(out["A"]))
        case "trisolv":
            out["L"] += len(out["L"]) * np.eye(len(out["L"]))
        case "durbin":
            # the ones of the diagonal outweigh all others together
            out["r"] /= 2 * len(out["r"])
        case "floyd-warshall":
            out["path"][...] = rng.integers(1, 1000, out["path"].shape)
        case "nussinov":
            out["seq"][...] = rng.integers(0, 4, out["seq"].shape)
    return out


def _aligned(parameter: Parameter) -> Array:
    size = prod(parameter.shape) * np.dtype(parameter.type).itemsize
    memory = np.zeros(size + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    array: Array = memory[start : start + size].view(parameter.type).reshape(parameter.shape)
    return array


def wrong(kernel: Kernel, found: Mapping[str, Array], right: Mapping[str, Array]) -> str:
    """What differs from the right results; empty if nothing does. Errors are parts of an array's largest
    number."""
    for name in kernel.written:
        one, other = _told(kernel, name, found[name]), _told(kernel, name, right[name])
        if one.dtype.kind == "i":
            if not np.array_equal(one, other):
                return f"wrong {name}"
            continue
        limit = _TOLERANCE[one.dtype.itemsize] * float(np.abs(other).max())
        # a NaN is no small difference either
        if not float(np.abs(one - other).max()) <= limit:
            return f"wrong {name}"
    return ""


def _told(kernel: Kernel, name: str, array: Array) -> Array:
    """The part of a result that the data determine. Gram and Schmidt's matrix has more columns than rows, so
    that its last columns are noise divided by noise."""
    if kernel.name != "gramschmidt" or name == "A":
        return array
    rank = min(kernel.sizes.values())
    return array[:, :rank] if name == "Q" else array[:rank]
