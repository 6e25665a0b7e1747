"""Programs by hand, one a class, so that the checker is tested without the C front end."""

from dataclasses import replace

from mdh.frontend.c.read import read_program
from mdh.ir.affine import Affine
from mdh.ir.dtype import F32, I32, DType
from mdh.ir.expr import Binary, Const, Expr, Load, Var
from mdh.ir.open_size import OpenSize, open_extent
from mdh.ir.program import Buffer, Dim, DimKind, Operator, Output, Program, Result, Scalar, Stage, component
from mdh.source import Source

CC, PW, PS = DimKind.CC, DimKind.PW, DimKind.PS


def load(buffer: str, *index: Expr | str, dtype: DType = F32) -> Load:
    return Load(buffer, tuple(Var(i) if isinstance(i, str) else i for i in index), dtype)


def plus(a: Expr | str, b: Expr | str | int) -> Expr:
    left = Var(a) if isinstance(a, str) else a
    right = Const(b, I32) if isinstance(b, int) else Var(b) if isinstance(b, str) else b
    return Binary("+", left, right, I32)


def _program(name: str, buffers: tuple[Buffer, ...], stage: Stage, strict: bool = False) -> Program:
    return Program(name, tuple(b.name for b in buffers), buffers, (), (stage,), strict_fp=strict)


def matmul(m: int = 64, n: int = 64, k: int = 64, dtype: DType = F32, strict: bool = False) -> Program:
    value = Binary("*", load("A", "i", "k", dtype=dtype), load("B", "k", "j", dtype=dtype), dtype)
    output = Output("C", (Var("i"), Var("j")), Var(component(0), dtype))
    result = Result(Operator("+"), (value,), (load("C", "i", "j", dtype=dtype),), (dtype,), (output,))
    dims = (Dim("i", m, CC), Dim("j", n, CC), Dim("k", k, PW))
    buffers = (Buffer("A", dtype, (m, k)), Buffer("B", dtype, (k, n)), Buffer("C", dtype, (m, n)))
    return _program("matmul", buffers, Stage("C", dims, (), (result,)), strict)


def matmul_constant(n: int = 64, k: int = 600) -> Program:
    """A product whose second factor is a constant."""
    program = matmul(64, n, k)
    b = replace(program.buffer_of["B"], values=(1.0,) * (n * k))
    buffers = tuple(b if x.name == "B" else x for x in program.buffers)
    return replace(program, params=("A", "C"), buffers=buffers)


def open_matmul(most: int = 256, n: int = 64, k: int = 64) -> Program:
    """The rows stay open, from 1 to `most`."""
    size = OpenSize("M", 1, most)
    extent = open_extent(Affine.var("M"), (size,))
    program = matmul(most, n, k)
    stage = program.stages[0]
    dims = (replace(stage.dims[0], open=extent), *stage.dims[1:])
    open_rows = (extent, None)
    buffers = tuple(b if b.name == "B" else replace(b, open=open_rows) for b in program.buffers)
    return replace(
        program,
        params=("M", *program.params),
        buffers=buffers,
        scalars=(Scalar("M", I32, most, open=size),),
        stages=(replace(stage, dims=dims),),
    )


def dot(n: int = 1024, dtype: DType = F32, op: str = "+", strict: bool = False) -> Program:
    value = Binary("*", load("x", "i", dtype=dtype), load("y", "i", dtype=dtype), dtype)
    output = Output("r", (Const(0, I32),), Var(component(0), dtype))
    result = Result(Operator(op), (value,), (None,), (dtype,), (output,))
    buffers = (Buffer("x", dtype, (n,)), Buffer("y", dtype, (n,)), Buffer("r", dtype, (1,)))
    return _program("dot", buffers, Stage("r", (Dim("i", n, PW),), (), (result,)), strict)


def rowsum(m: int = 8, a: int = 8, b: int = 8, dtype: DType = F32, strict: bool = False) -> Program:
    """Two reduction dims: r[i] += x[i][p][q]."""
    output = Output("r", (Var("i"),), Var(component(0), dtype))
    value = load("x", "i", "p", "q", dtype=dtype)
    result = Result(Operator("+"), (value,), (None,), (dtype,), (output,))
    dims = (Dim("i", m, CC), Dim("p", a, PW), Dim("q", b, PW))
    buffers = (Buffer("x", dtype, (m, a, b)), Buffer("r", dtype, (m,)))
    return _program("rowsum", buffers, Stage("r", dims, (), (result,)), strict)


def scan(n: int = 1024, dtype: DType = F32) -> Program:
    output = Output("s", (Var("i"),), Var(component(0), dtype))
    result = Result(Operator("+"), (load("x", "i", dtype=dtype),), (None,), (dtype,), (output,))
    buffers = (Buffer("x", dtype, (n,)), Buffer("s", dtype, (n,)))
    return _program("scan", buffers, Stage("s", (Dim("i", n, PS),), (), (result,)))


def histogram(n: int = 1024, bins: int = 64, dtype: DType = I32, op: str = "+") -> Program:
    output = Output("h", (load("b", "i", dtype=I32),), Var(component(0), dtype))
    start = load("h", load("b", "i", dtype=I32), dtype=dtype)
    result = Result(Operator(op), (Const(1, dtype),), (start,), (dtype,), (output,))
    buffers = (Buffer("b", I32, (n,)), Buffer("h", dtype, (bins,)))
    return _program("histogram", buffers, Stage("h", (Dim("i", n, PW),), (), (result,)))


def gather(n: int = 64, d: int = 32, rows: int = 100) -> Program:
    value = load("t", load("ix", "i", dtype=I32), "j")
    output = Output("y", (Var("j"),), Var(component(0), F32))
    result = Result(Operator("+"), (value,), (None,), (F32,), (output,))
    dims = (Dim("j", d, CC), Dim("i", n, PW))
    buffers = (Buffer("t", F32, (rows, d)), Buffer("ix", I32, (n,)), Buffer("y", F32, (d,)))
    return _program("gather", buffers, Stage("y", dims, (), (result,)))


def jacobi(n: int = 64) -> Program:
    """b[i] = a[i] + a[i+1] + a[i+2]."""
    inner = Binary("+", load("a", "i"), load("a", plus("i", 1)), F32)
    value = Binary("+", inner, load("a", plus("i", 2)), F32)
    result = Result(None, (value,), (None,), (F32,), (Output("b", (Var("i"),), Var(component(0), F32)),))
    buffers = (Buffer("a", F32, (n + 2,)), Buffer("b", F32, (n,)))
    return _program("jacobi", buffers, Stage("b", (Dim("i", n, CC),), (), (result,)))


def conv(h: int = 16, r: int = 3) -> Program:
    """y[i] += x[i + p] * w[p]."""
    value = Binary("*", load("x", plus("i", "p")), load("w", "p"), F32)
    output = Output("y", (Var("i"),), Var(component(0), F32))
    result = Result(Operator("+"), (value,), (None,), (F32,), (output,))
    buffers = (Buffer("x", F32, (h + r - 1,)), Buffer("w", F32, (r,)), Buffer("y", F32, (h,)))
    return _program("conv", buffers, Stage("y", (Dim("i", h, CC), Dim("p", r, PW)), (), (result,)))


def swept(n: int = 62) -> Program:
    """One stage, y, in turns of j. Iterations of i do not depend on one another."""
    text = f"""void swept(const float x[{n}][8], float y[{n}][8]) {{
      for (int i = 0; i < {n}; i++)
        for (int j = 1; j < 8; j++) y[i][j] = x[i][j] - y[i][j - 1] / 2;
    }}"""
    return read_program(Source("swept.c", text))


def smoothed(n: int = 62, own: bool = True) -> Program:
    """Two stages, T and O, each a mean of three neighbours. own: T is an array of the function's own."""
    local, argument = (f"float T[{n + 2}];", "") if own else ("", f", float T[{n + 2}]")
    text = f"""void smoothed(const float A[{n + 4}], float O[{n}]{argument}) {{
      {local}
      for (int i = 0; i < {n + 2}; i++) T[i] = (A[i] + A[i + 1] + A[i + 2]) / 3;
      for (int i = 0; i < {n}; i++) O[i] = (T[i] + T[i + 1] + T[i + 2]) / 3;
    }}"""
    return read_program(Source("smoothed.c", text))
