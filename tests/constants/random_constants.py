"""Random programs with an array that may be a constant, and random arrays for it.

A program is C text with the array as a parameter. The same program with a constant has `static const` in
front of the function, or gets the array from outside. Both must compute the same.
"""

from dataclasses import dataclass
from random import Random

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from tests.languages.kinds import Array

KINDS = ("float", "double", "int", "int8_t", "int64_t", "uint8_t", "_Float16", "__bf16")
_NUMPY: dict[str, DTypeLike] = {
    "float": "float32", "double": "float64", "int": "int32", "int64_t": "int64", "int8_t": "int8",
    "uint8_t": "uint8", "_Float16": "float16", "__bf16": ml_dtypes.bfloat16,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """text: with the constant `C` as a parameter. declared: `const float C[2][3]`. values: as numbers of C.
    array: the same of numpy."""

    text: str
    declared: str
    values: str
    array: Array

    @property
    def sized(self) -> str:
        """The text with parameters as the constant's extents: `int s0, const float C[s0][4]`."""
        sizes = self.sizes
        extents = "".join(f"[{s if s in sizes else n}]" for s, n in self._extents)
        ahead = "".join(f"int {s}, " for s in sizes)
        kind = self.declared.partition(" C[")[0]
        return self.text.replace(self.declared, f"{ahead}{kind} C{extents}", 1)

    @property
    def sizes(self) -> dict[str, int]:
        """Of every other extent of the constant, the name of its parameter, and its value."""
        return {s: n for s, n in self._extents if n % 2 or s == "s0"}

    @property
    def _extents(self) -> list[tuple[str, int]]:
        return [(f"s{d}", n) for d, n in enumerate(self.array.shape)]

    @property
    def static(self) -> str:
        """The text with the constant in it."""
        function = self.text.replace(f"{self.declared}, ", "", 1)
        return f"#include <stdint.h>\nstatic {self.declared} = {self.values};\n{function}"


def case(seed: str) -> Case:
    rng = Random(seed)
    kind = rng.choice(KINDS)
    whole = "int" in kind
    wide = "int64_t" if whole else "double"
    # a maximum is one only if its terms have the type of the result
    result = wide if kind == wide else rng.choice((wide, "int" if whole else "float"))
    extents = {"n": rng.randint(1, 70), "m": rng.randint(1, 4)} | {d: rng.randint(1, 6) for d in "jkl"}
    own = [d for d in "jkl" if rng.random() < 0.8] or ["k"]
    shift = rng.choice((0, 0, 0, 1))
    sums = [d for d in ("k", "l") if d in own or rng.random() < 0.3]
    kept = [d for d in ("m", "n", "j") if d not in sums and (d != "m" or rng.random() < 0.4)]
    rng.shuffle(kept)
    shape = [extents[d] + shift * (d == own[0]) for d in own]
    table = "".join(f"[{d} + {shift}]" if shift and d == own[0] else f"[{d}]" for d in own)
    array, values = _array(rng, kind, shape)
    declared = f"const {kind} C{''.join(f'[{n}]' for n in shape)}"
    factors = [
        f"C{table}",
        f"A[{sums[0] if sums else kept[0]}][n]",
        *(["B[n]"] if rng.random() < 0.5 else []),
    ]
    rng.shuffle(factors)
    term = rng.choice((" * ", " * ", " * ", " + ")).join(factors)
    chosen = rng.random() < 0.2
    if chosen:
        term = f"C{table} > 0 ? {term} : {rng.choice(('0', 'B[n]'))}"
    target = "O" + "".join(f"[{d}]" for d in kept)
    greatest = f"{target} = {target} > {term} ? {target} : {term};"
    update = f"{target} += {term};" if chosen or rng.random() < 0.75 else greatest
    if not sums:
        update = f"{target} = {term};"
    loops = [*kept, *sums]
    if rng.random() < 0.3:
        rng.shuffle(loops)
    lines = [f"for (int {d} = 0; {d} < {extents[d]}; {d}++)" for d in loops]
    outputs = "".join(f"[{extents[d]}]" for d in kept)
    rows = max(extents.values())
    head = f"void f({declared}, const {result} A[{rows}][70], const {result} B[70], {result} O{outputs})"
    return Case("\n  ".join([f"{head} {{", *lines, f"  {update}", "}"]), declared, values, array)


def _array(rng: Random, kind: str, shape: list[int]) -> tuple[Array, str]:
    """Zeros, ones and other numbers, and the same as an initialiser."""
    whole = "int" in kind
    some = [0, 0, 0, 1, 1, 2, 3] + ([] if kind.startswith("uint") else [-1, -2])
    numbers = np.array([rng.choice(some) for _ in range(int(np.prod(shape)))]).reshape(shape)
    if not whole and rng.random() < 0.5:
        numbers = numbers / 4
    return numbers.astype(_NUMPY[kind]), _braced(numbers, flat=rng.random() < 0.3)


def _braced(numbers: Array, *, flat: bool) -> str:
    if flat:
        return "{" + ", ".join(str(x) for x in numbers.ravel().tolist()) + "}"
    return str(numbers.tolist()).replace("[", "{").replace("]", "}")
