"""C functions as text: their syntax, what gcc makes of them, and random ones of random expressions."""

import ctypes
import subprocess
from collections.abc import Mapping
from pathlib import Path
from random import Random
from shutil import which
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mdh.frontend.c.cparse import parse_function
from mdh.frontend.c.preprocess import preprocess
from mdh.frontend.c.syntax_of import function_of
from mdh.ir.syntax import Function
from mdh.source import Source

FLAGS = ("-std=gnu11", "-O0", "-w", "-fwrapv", "-ffp-contract=off", "-fPIC", "-shared")
HEADERS = ("float", "limits", "math", "stddef", "stdint", "stdlib")
HEAD = "".join(f"#include <{name}.h>\n" for name in HEADERS)
INTEGERS = {
    "int8_t": np.int8, "uint8_t": np.uint8, "int16_t": np.int16, "uint16_t": np.uint16, "int": np.int32,
    "unsigned": np.uint32, "int64_t": np.int64, "uint64_t": np.uint64,
}  # fmt: skip
FLOATS = {"float": np.float32, "double": np.float64}
HALVES = {"_Float16": np.float16}
LENGTH = 8

COMPILERS = [
    pytest.param(c, marks=pytest.mark.skipif(which(c) is None, reason=f"no {c}")) for c in ("cc", "clang")
]
"""What the interpreter is compared with, where it is there."""

Arrays = dict[str, NDArray[Any]]


def syntax_of(text: str) -> Function:
    """The abstract syntax, whether or not the front end accepts the function."""
    parsed = parse_function(preprocess(Source("f.c", text), {}), None)
    return function_of(parsed.node, parsed.globals, parsed.places)


def native(text: str, arrays: Mapping[str, NDArray[Any]], folder: Path, compiler: str = "cc") -> Arrays:
    """The arrays (all of the parameters, in this order) as the compiled function leaves them."""
    path, library = folder / "f.c", folder / "f.so"
    path.write_text(text, encoding="utf-8")
    command = [compiler, *FLAGS, str(path), "-o", str(library), "-lm"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    mine = {k: v.copy() for k, v in arrays.items()}
    function = ctypes.CDLL(str(library)).f
    function.restype = None
    function(*(ctypes.c_void_p(v.ctypes.data) for v in mine.values()))
    return mine


class Expressions:
    """Random expressions over arrays `a0`… of the given types at index `i`. Divisors are never 0, counts of
    shifts are in range, and what is converted to an integer fits: C leaves the rest open."""

    def __init__(self, rng: Random, types: Mapping[str, str]) -> None:
        self.rng = rng
        self.types = types

    def integer(self, depth: int) -> str:
        """An expression of some integer type."""
        rng, more = self.rng, depth - 1
        if depth == 0:
            return self._leaf()
        kind = rng.randrange(12)
        x = self.integer(more)
        match kind:
            case 0 | 1 | 2 | 3:
                return f"({x} {rng.choice('+-*&|^')} {self.integer(more)})"
            case 4:
                return f"({x} {rng.choice('/%')} (({self.integer(more)} & 7) {rng.choice(('+ 1', '- 9'))}))"
            case 5:
                return f"({x} {rng.choice(('<<', '>>'))} ({self.integer(more)} & 15))"
            case 6:
                return f"({x} {rng.choice(('<', '<=', '>', '>=', '==', '!='))} {self.integer(more)})"
            case 7:
                return f"({x} {rng.choice(('&&', '||'))} {self.integer(more)})"
            case 8:
                return f"({x} ? {self.integer(more)} : {self.integer(more)})"
            case 9:
                return f"({rng.choice('-~!+')}{x})"
            case 10:
                types = (*INTEGERS, "char", "unsigned short", "long", "size_t", "long long", "signed char")
                return f"(({rng.choice(types)}){x})"
            case _:
                return rng.choice((f"abs({x})", f"labs({x})", x))

    def floating(self, depth: int) -> str:
        """An expression of some float type."""
        rng, more = self.rng, depth - 1
        if depth == 0:
            return self._leaf()
        kind = rng.randrange(12)
        x = self.floating(more)
        match kind:
            case 0 | 1 | 2 | 3 | 4:
                return f"({x} {rng.choice('+-*')} {self.floating(more)})"
            case 5:
                return f"({x} / ({rng.choice(list(FLOATS))}){self.floating(more)})"
            case 6:
                sign = rng.choice(("<", "<=", ">", ">=", "==", "!="))
                return f"({x} {sign} {self.floating(more)} ? {self.floating(more)} : {self.floating(more)})"
            case 7:
                return f"(({rng.choice([t for t in self.types.values() if t not in INTEGERS])})({x}))"
            case 8:
                call = rng.choice(("sqrt", "fabs", "floor", "ceil", "trunc", "round", "rint"))
                return f"{call}{rng.choice(('', 'f'))}({x})"
            case 9:
                # which of two zeros fmax gives, and the sign of a NaN, are left open
                call = rng.choice(("fmax", "fmin", "fdim", "fmod"))
                return f"({call}{rng.choice(('', 'f'))}({x}, {self.floating(more)}) + 0)"
            case 10:
                suffix = rng.choice(("", "f"))
                return f"fma{suffix}({x}, {self.floating(more)}, {self.floating(more)})"
            case _:
                clipped = f"fmin(fmax({x}, -100), 100)"
                return rng.choice(
                    (f"(-{x})", f"((int){clipped})", f"(!{x})", f"({x} && {self.floating(more)})")
                )

    def _leaf(self) -> str:
        rng = self.rng
        if rng.random() < 0.7:
            return f"{rng.choice(list(self.types))}[i]"
        if any(t in FLOATS for t in self.types.values()):
            return rng.choice(
                ("0.1", "0.1f", "3", "1e-3f", "2.5", "i", "0x1p-3", "7u", "FLT_EPSILON", "M_PI")
            )
        return rng.choice(
            ("1", "7u", "0x7fffffff", "255", "100000", "3000000000", "0xffffffff", "2l", "5ul", "i", "'a'",
             "INT_MAX", "INT_MIN", "UINT_MAX", "INT8_MIN", "UINT8_MAX", "LONG_MAX", "SIZE_MAX")
        )  # fmt: skip


def random_function(seed: int, family: str, count: int = 40) -> tuple[str, Arrays]:
    """`count` assignments of random expressions, some of them compound, and arrays to run them on.

    family: `integers`, `floats` (float and double) or `halves` (and _Float16).
    """
    rng, data = Random(f"expressions {family} {seed}"), np.random.default_rng(seed)
    pool = INTEGERS if family == "integers" else FLOATS | (HALVES if family == "halves" else {})
    if family != "integers":
        pool = pool | {"int": np.int32, "unsigned": np.uint32}
    types = {f"a{n}": t for n, t in enumerate([*pool, *pool])}
    arrays = {name: _values(data, pool[t]) for name, t in types.items()}
    maker, lines = Expressions(rng, types), []
    floats = family != "integers"
    for n in range(count):
        target = rng.choice(list(pool if not floats else [t for t in pool if t not in INTEGERS]))
        name = f"r{n}"
        arrays[name] = _values(data, pool[target])
        types[name] = target
        value = maker.floating(rng.randint(1, 4)) if floats else maker.integer(rng.randint(1, 4))
        op = rng.choice(
            ("=", "=", "=", "+=", "-=", "*=", *(() if floats else ("&=", "|=", "^=", ">>=", "<<=")))
        )
        lines.append(f"    {name}[i] {op} {value if op[0] not in '<>' else f'({value}) & 15'};")
    parameters = ", ".join(f"{t} {name}[{LENGTH}]" for name, t in types.items())
    body = "\n".join(lines)
    text = f"{HEAD}void f({parameters}) {{\n  for (int i = 0; i < {LENGTH}; i++) {{\n{body}\n  }}\n}}\n"
    return text, arrays


def _values(data: np.random.Generator, dtype: type) -> NDArray[Any]:
    if np.issubdtype(dtype, np.integer):
        raw = data.integers(0, 256, LENGTH * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
        small = data.integers(0, 5, LENGTH).astype(dtype)
        return np.where(data.random(LENGTH) < 0.5, raw, small).astype(dtype)
    plain = data.uniform(-2, 2, LENGTH)
    return np.where(data.random(LENGTH) < 0.8, plain, np.round(plain)).astype(dtype)
