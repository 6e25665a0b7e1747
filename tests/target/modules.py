"""Hand-written kernel modules that the target tests print, compile and run."""

from mdh.hardware import Space
from mdh.ir.dtype import F32, I32, DType
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var
from mdh.ir.kernel import (
    Alloc,
    Atomic,
    Barrier,
    Buf,
    Comment,
    Commit,
    For,
    ForKind,
    If,
    Kernel,
    Launch,
    Let,
    Module,
    Move,
    Stmt,
    Store,
    Wait,
    Workspace,
)
from mdh.ir.program import Buffer, Program, Scalar


def c(value: int) -> Const:
    return Const(value, I32)


def v(name: str) -> Var:
    return Var(name, I32)


def add(a: Expr, *rest: Expr) -> Expr:
    for b in rest:
        a = Binary("+", a, b, a.dtype)
    return a


def mul(a: Expr, b: Expr) -> Expr:
    return Binary("*", a, b, a.dtype)


def less(a: Expr, b: Expr) -> Expr:
    return Binary("<", a, b, I32)


def dense(name: str, space: Space, dtype: DType, *shape: int, **more: object) -> Buf:
    """A row-major buffer."""
    strides = [1]
    for n in reversed(shape[1:]):
        strides.append(strides[-1] * n)
    return Buf(name, space, dtype, shape, tuple(reversed(strides)), **more)  # type: ignore[arg-type]


def loop(var: str, stop: int, *body: Stmt, step: int = 1, unroll: bool = False) -> For:
    return For(var, c(0), c(stop), c(step), body, ForKind.UNROLL if unroll else ForKind.SEQ)


def coordinate(name: str, fn: str, axis: int) -> Let:
    return Let(name, Call(fn, (c(axis),), I32))


def program(name: str, params: tuple[Buf | tuple[str, DType], ...], *, strict: bool = False) -> Program:
    buffers = tuple(Buffer(b.name, b.dtype, b.shape, const=b.readonly) for b in params if isinstance(b, Buf))
    scalars = tuple(Scalar(*p) for p in params if not isinstance(p, Buf))
    names = tuple(p.name if isinstance(p, Buf) else p[0] for p in params)
    return Program(name, names, buffers, scalars, (), strict_fp=strict)


def module(
    name: str, target: str, launch: Launch, params: tuple[Buf | tuple[str, DType], ...],
    body: tuple[Stmt, ...],
    workspaces: tuple[Workspace, ...] = (), comment: str = "",
) -> tuple[Module, Program]:  # fmt: skip
    bufs = tuple(p for p in params if isinstance(p, Buf)) + tuple(w.buf for w in workspaces)
    scalars = tuple(p for p in params if not isinstance(p, Buf))
    kernel = Kernel(name, name, bufs, scalars, launch, body, comment)
    prog = program(name, params)
    return Module(name, target, "test", (kernel,), workspaces, prog.params), prog


def saxpy(target: str, n: int = 1000, dtype: DType = F32) -> tuple[Module, Program]:
    """y = a * x + y, guarded, 256 threads a block."""
    x, y = dense("x", Space.DM, dtype, n, readonly=True), dense("y", Space.DM, dtype, n)
    i = add(mul(v("b"), c(256)), v("t"))
    value = Binary(
        "+", Binary("*", Var("a", F32), Load("x", (v("i"),), dtype), F32), Load("y", (v("i"),), dtype), F32
    )
    body = (
        coordinate("b", "block_id", 0),
        coordinate("t", "thread_id", 0),
        Let("i", i),
        If(less(v("i"), c(n)), (Store("y", (v("i"),), value),)),
    )
    launch = Launch((-(-n // 256), 1, 1), (256, 1, 1))
    return module("saxpy", target, launch, (("a", F32), x, y), body)


def matmul(target: str, size: int = 128, *, engine: str = "plain", slots: int = 1) -> tuple[Module, Program]:
    """C = A B: 64x64 tiles in 256 threads, 4x4 accumulators, A transposed and padded in SM.

    engine async with slots 2 is the double-buffered form: B travels by cp.async ahead of its use.
    """
    bm = bn = 64
    bk = 16
    a = dense("A", Space.DM, F32, size, size, readonly=True, align=16)
    b = dense("B", Space.DM, F32, size, size, readonly=True, align=16)
    out = dense("C", Space.DM, F32, size, size, align=16)
    a_s = Buf("A_s", Space.SM, F32, (slots, bm, bk), (bk * (bm + 4), 1, bm + 4))
    b_s = dense("B_s", Space.SM, F32, slots, bk, bn)
    acc = dense("acc", Space.RM, F32, 4, 4)
    a_r, b_r = dense("a_r", Space.RM, F32, 4), dense("b_r", Space.RM, F32, 4)
    t = v("t")
    row, col = Binary("/", t, c(16), I32), Binary("%", t, c(16), I32)

    def fill(k: Expr, slot: Expr) -> tuple[Stmt, ...]:
        return (
            loop(
                "e",
                4,
                Move(
                    "A_s", (slot, add(row, mul(v("e"), c(16))), col),
                    "A", (add(mul(v("by"), c(bm)), row, mul(v("e"), c(16))), add(k, col)),
                ),
                unroll=True,
            ),
            Move(
                "B_s", (slot, row, mul(col, c(4))),
                "B", (add(k, row), add(mul(v("bx"), c(bn)), mul(col, c(4)))), lanes=4, engine=engine,
            ),
        )  # fmt: skip

    product = Binary("*", Load("a_r", (v("i"),), F32), Load("b_r", (v("j"),), F32), F32)
    update = Store("acc", (v("i"), v("j")), add(Load("acc", (v("i"), v("j")), F32), product))
    slot: Expr = Binary("%", Binary("/", v("k"), c(bk), I32), c(2), I32) if slots > 1 else c(0)
    compute = loop(
        "kk",
        bk,
        Move("a_r", (c(0),), "A_s", (slot, mul(v("ty"), c(4)), v("kk")), lanes=4),
        Move("b_r", (c(0),), "B_s", (slot, v("kk"), mul(v("tx"), c(4))), lanes=4),
        loop("i", 4, loop("j", 4, update, unroll=True), unroll=True),
        unroll=True,
    )
    steps: tuple[Stmt, ...]
    if slots > 1:
        ahead = add(v("k"), c(bk))
        other = Binary("%", Binary("/", ahead, c(bk), I32), c(2), I32)
        steps = (
            *fill(c(0), c(0)),
            Commit(),
            loop(
                "k", size,
                If(less(ahead, c(size)), fill(ahead, other)),
                Commit(), Wait(1), Barrier(reason="the slot is filled"),
                compute, Barrier(reason="the slot is free"),
                step=bk,
            ),
        )  # fmt: skip
    else:
        steps = (loop("k", size, *fill(v("k"), c(0)), Barrier(), compute, Barrier(), step=bk),)
    where = (
        add(mul(v("by"), c(bm)), mul(v("ty"), c(4)), v("i")),
        add(mul(v("bx"), c(bn)), mul(v("tx"), c(4))),
    )
    body: tuple[Stmt, ...] = (
        coordinate("by", "block_id", 1),
        coordinate("bx", "block_id", 0),
        coordinate("t", "thread_id", 0),
        Let("ty", Binary("/", t, c(16), I32)),
        Let("tx", Binary("%", t, c(16), I32)),
        Alloc(a_s),
        Alloc(b_s),
        Alloc(acc, Const(0.0, F32)),
        Alloc(a_r),
        Alloc(b_r),
        *steps,
        Comment("merge C:RM outward"),
        loop("i", 4, Move("C", where, "acc", (v("i"), c(0)), lanes=4), unroll=True),
    )
    launch = Launch((size // bn, size // bm, 1), (256, 1, 1), min_blocks=2)
    return module("matmul", target, launch, (a, b, out), body, comment="1: (de-)comp( 64,64,^ )")


def warp_sum(n: int = 4096) -> tuple[Module, Program]:
    """out[b] = sum of 32 elements by shuffles, a warp a block (CUDA only)."""
    x, out = dense("x", Space.DM, F32, n, readonly=True), dense("out", Space.DM, F32, n // 32)
    body: list[Stmt] = [
        coordinate("b", "block_id", 0),
        coordinate("t", "thread_id", 0),
        Alloc(Buf("s", Space.RM, F32, (), ()), Load("x", (add(mul(v("b"), c(32)), v("t")),), F32)),
    ]
    for mask in (16, 8, 4, 2, 1):
        s = Load("s", (), F32)
        body.append(Store("s", (), add(s, Call("shfl_xor", (s, c(mask)), F32))))
    first = Binary("==", v("t"), c(0), I32)
    body.append(If(first, (Store("out", (v("b"),), Load("s", (), F32)),)))
    return module("warp_sum", "cuda", Launch((n // 32, 1, 1), (32, 1, 1)), (x, out), tuple(body))


def histogram(target: str, n: int = 4096, bins: int = 64) -> tuple[Module, Program]:
    """H[B[i]] += 1: block-private counts in SM, then added to DM."""
    b = dense("B", Space.DM, I32, n, readonly=True)
    h = dense("H", Space.DM, I32, bins)
    h_s = dense("H_s", Space.SM, I32, bins)
    t = v("t")
    body = (
        coordinate("t", "thread_id", 0),
        coordinate("g", "block_id", 0),
        Alloc(h_s),
        Store("H_s", (t,), c(0)),
        Barrier(),
        loop(
            "i", 16,
            Atomic("+", "H_s", (Load("B", (add(mul(v("g"), c(1024)), mul(v("i"), c(64)), t),), I32),), c(1)),
        ),
        Barrier(),
        Atomic("+", "H", (t,), Load("H_s", (t,), I32)),
    )  # fmt: skip
    return module("histogram", target, Launch((n // 1024, 1, 1), (bins, 1, 1)), (b, h), body)


def cpu_matmul(m: int = 1008, n: int = 1008, k: int = 1024, groups: int = 8) -> tuple[Module, Program]:
    """The 6x16 register tile on a packed panel of B (n / 16 panels of k x 16), one work-item a group."""
    a = dense("A", Space.DM, F32, m, k, readonly=True)
    b = dense("B", Space.DM, F32, n // 16, k, 16, readonly=True)
    out = dense("C", Space.DM, F32, m, n)
    acc = Buf("acc", Space.RM, F32, (6, 2), (2, 1), lanes=8)
    b_r = Buf("b_r", Space.RM, F32, (2,), (1,), lanes=8)
    i, j, r = v("i"), v("j"), v("r")
    value = Binary("*", Load("A", (add(i, r), v("p")), F32), Load("b_r", (v("q"),), F32, 8), F32)
    target = Store("acc", (r, v("q")), add(Load("acc", (r, v("q")), F32, 8), value), 8)
    inner = loop(
        "p", k,
        loop("q", 2, Move("b_r", (v("q"),), "B", (j, v("p"), mul(v("q"), c(8))), lanes=8), unroll=True),
        loop("r", 6, loop("q", 2, target, unroll=True), unroll=True),
    )  # fmt: skip
    where = (add(i, r), add(mul(j, c(16)), mul(v("q"), c(8))))
    out_loop = loop(
        "r", 6, loop("q", 2, Move("C", where, "acc", (r, v("q")), lanes=8), unroll=True), unroll=True
    )
    rows = m // groups
    body = (
        coordinate("g", "block_id", 0),
        loop(
            "j", n // 16,
            For(
                "i", mul(v("g"), c(rows)), add(mul(v("g"), c(rows)), c(rows)), c(6),
                (Alloc(acc, Const(0.0, F32)), Alloc(b_r), inner, out_loop),
            ),
        ),
    )  # fmt: skip
    return module("cpu_matmul", "opencl", Launch((groups, 1, 1), (1, 1, 1)), (a, b, out), body)


def relu(target: str, n: int = 64) -> tuple[Module, Program]:
    """y = x > 0 ? x : 0 in vectors of four."""
    x, y = dense("x", Space.DM, F32, n, readonly=True), dense("y", Space.DM, F32, n)
    i = mul(v("i"), c(4))
    load = Load("x", (i,), F32, 4)
    value = Select(Binary(">", load, Const(0.0, F32), I32), load, Const(0.0, F32), F32)
    body = (loop("i", n // 4, Store("y", (i,), value, 4)),)
    return module("relu", target, Launch((1, 1, 1), (1, 1, 1)), (x, y), body)
