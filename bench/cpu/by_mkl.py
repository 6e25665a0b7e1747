"""oneMKL's BLAS, called as a C library."""

import ctypes
from collections.abc import Callable
from typing import Any

from bench.cpu.data import Arrays

Call = Callable[[], Any]
_ROWS, _PLAIN, _TURNED = 101, 111, 112


def prepare(library: ctypes.CDLL, program: str, a: Arrays, threads: int) -> Call | None:
    library.mkl_set_num_threads(ctypes.byref(ctypes.c_int(threads)))
    make = _CALLS.get(program)
    return None if make is None else make(library, a)


def _at(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _bound(function: Any, *args: Any) -> Call:
    return lambda: function(*args)


def _gemm(library: ctypes.CDLL, left: Any, right: Any, out: Any) -> Call:
    (m, k), n = left.shape, right.shape[1]
    double = left.dtype.itemsize == 8
    function, real = (
        (library.cblas_dgemm, ctypes.c_double) if double else (library.cblas_sgemm, ctypes.c_float)
    )
    shape = (m, n, k, real(1), _at(left), k, _at(right), n, real(0), _at(out), n)
    return _bound(function, _ROWS, _PLAIN, _PLAIN, *shape)


def _batched(library: ctypes.CDLL, a: Arrays, turned: bool) -> Call:
    (batch, m, k), n = a["A"].shape, a["C"].shape[2]
    step, one, none = ctypes.c_longlong, ctypes.c_float(1), ctypes.c_float(0)
    right = (_at(a["B"]), k if turned else n, step(k * n))
    return _bound(
        library.cblas_sgemm_batch_strided, _ROWS, _PLAIN, _TURNED if turned else _PLAIN, m, n, k, one,
        _at(a["A"]), k, step(m * k), *right, none, _at(a["C"]), n, step(m * n), batch,
    )  # fmt: skip


def _matvec(library: ctypes.CDLL, a: Arrays) -> Call:
    m, k = a["A"].shape
    one, none = ctypes.c_float(1), ctypes.c_float(0)
    return _bound(
        library.cblas_sgemv, _ROWS, _PLAIN, m, k, one, _at(a["A"]), k, _at(a["B"]), 1, none, _at(a["C"]), 1
    )


def _dot(library: ctypes.CDLL, a: Arrays) -> Call:
    library.cblas_sdot.restype = ctypes.c_float
    size, left, right = a["A"].size, _at(a["A"]), _at(a["B"])

    def call() -> None:
        a["C"][0] = library.cblas_sdot(size, left, 1, right, 1)

    return call


_CALLS: dict[str, Callable[[ctypes.CDLL, Arrays], Call]] = {
    "matmul_init": lambda library, a: _gemm(library, a["A"], a["B"], a["C"]),
    "matmul_double": lambda library, a: _gemm(library, a["A"], a["B"], a["C"]),
    "matmul_t": lambda library, a: _gemm(library, a["B"], a["A"], a["C"]),
    "batched_matmul": lambda library, a: _batched(library, a, False),
    "batched_matmul_t": lambda library, a: _batched(library, a, True),
    "matvec": _matvec,
    "dot": _dot,
}
