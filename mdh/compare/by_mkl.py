"""oneMKL's BLAS, called as a C library, for products whose operands BLAS can read in place."""

import ctypes
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mdh.compare.library import Bound, UnfitError
from mdh.compare.product import matrix
from mdh.decompose.contraction import MatrixProduct
from mdh.reference.numbers import Array

_ROWS, _PLAIN, _TURNED = 101, 111, 112


def load() -> ctypes.CDLL:
    """The wheel's library. Raises ImportError if it is not installed."""
    for path in sorted((Path(sys.prefix) / "lib").glob("libmkl_rt.so*")):
        return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    raise ImportError("no libmkl_rt beside the interpreter; pip install mkl")


def version() -> str:
    text = ctypes.create_string_buffer(200)
    load().mkl_get_version_string(text, 200)
    return " ".join(text.value.decode().split()[:7])


def bind(what: MatrixProduct, arrays: Mapping[str, Array], place: str) -> Bound:
    """The product on these arrays. Raises UnfitError if an operand would have to be copied first."""
    library = load()
    real, letter = (ctypes.c_double, "d") if what.double else (ctypes.c_float, "s")
    batch, rows, columns = what.shape("batch", "rows", "columns")
    (summed,) = what.shape("summed")
    gemm = getattr(library, f"cblas_{letter}gemm_batch_strided")
    parts: list[Any] = []
    turns: list[int] = []
    views = ((what.left, "rows", "summed"), (what.right, "summed", "columns"), (what.out, "rows", "columns"))
    for view, first, second in views:
        give, copied = matrix(np, what, arrays, view, ("batch", first, second))
        laid = None if copied else _laid(give())
        if laid is None or (view is what.out and laid[0] != _PLAIN):
            raise UnfitError(f"mkl takes no operand that lies in memory as `{view.buffer}` does")
        turn, leading, step = laid
        turns.append(turn)
        parts += [ctypes.c_void_p(give().ctypes.data), leading, ctypes.c_longlong(step)]
    a, b, c = parts[:3], parts[3:6], parts[6:]
    start = real(1.0 if what.updated else 0.0)
    arguments = (_ROWS, turns[0], turns[1], rows, columns, summed, real(1.0), *a, *b, start, *c, batch)
    return Bound(lambda: gemm(*arguments), lambda: None)


def _laid(matrices: Array) -> tuple[int, int, int] | None:
    """(transposed or not, leading dimension, elements between matrices) for BLAS; None if BLAS cannot read
    the matrices."""
    size = matrices.itemsize
    (batch, rows, columns), (far, row, column) = matrices.shape, (s // size for s in matrices.strides)
    for turn, steps, lines, length in (
        (_PLAIN, (row, column), rows, columns),
        (_TURNED, (column, row), columns, rows),
    ):
        leading = steps[0] if lines > 1 else length
        # neither lines nor the matrices of a batch may overlap
        if (steps[1] == 1 or length == 1) and leading >= length and (batch == 1 or far >= lines * leading):
            return turn, leading, far if batch > 1 else lines * leading
    return None
