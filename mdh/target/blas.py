"""Calls of linear-algebra libraries in C, by the interface that they share (cblas).

The text declares what it calls itself, so no header of a library is needed. Integers are `BLAS_INT`, which is
`int` unless the build says otherwise: some builds of OpenBLAS take 64 bits, and have names of their own.
"""

import re

from mdh.ir.library_call import MatrixCall
from mdh.target.clike import place, text
from mdh.target.dialect import Dialect, PrintScope

FUNCTIONS = ("cblas_sgemm", "cblas_dgemm", "cblas_sgemv", "cblas_dgemv")
INTEGER = "BLAS_INT"
LAYOUT = "CblasRowMajor"
_TURNS = {False: "CblasNoTrans", True: "CblasTrans"}
_NAMES = re.compile(r"cblas_([sd])(gemm|gemv)")


def call_line(s: MatrixCall, scope: PrintScope, dialect: Dialect) -> str:
    """The call as a statement."""
    left, right, out = (f"&{place(scope.buffers[x.buffer], x.index, scope, dialect)}" for x in s.operands)
    alpha, beta = (text(e, scope, dialect) for e in (s.alpha, s.beta))
    if s.vector:
        # of the matrix as it lies, whose rows are the lines
        rows, columns = (s.k, s.m) if s.left.turned else (s.m, s.k)
        head = [LAYOUT, _TURNS[s.left.turned], rows, columns]
    else:
        head = [LAYOUT, _TURNS[s.left.turned], _TURNS[s.right.turned], s.m, s.n, s.k]
    arguments = (*head, alpha, left, s.left.step, right, s.right.step, beta, out, s.out.step)
    return f"{s.function}({', '.join(map(str, arguments))});"


def blas_helper(name: str) -> str | None:
    """The definition of a name that calls need; None for any other name."""
    if name == INTEGER:
        return f"#ifndef {INTEGER}\n#define {INTEGER} int\n#endif\n"
    if name == LAYOUT:
        return f"enum {{ {LAYOUT} = 101, {_TURNS[False]} = 111, {_TURNS[True]} = 112 }};\n"
    found = _NAMES.fullmatch(name)
    if found is None:
        return None
    real = {"s": "float", "d": "double"}[found[1]]
    turns, sizes = (2, 3) if found[2] == "gemm" else (1, 2)
    given = f"const {real} *, {INTEGER}"
    taken = ["int"] * (1 + turns) + [INTEGER] * sizes
    return f"void {name}({', '.join(taken)},\n    {real}, {given}, {given}, {real}, {real} *, {INTEGER});\n"
