"""Small modules that each exercise one corner of the kernel language."""

from mdh.ir.dtype import BF16, F16, F32, F64, I8, I32, I64, U8, DType
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var
from mdh.ir.kernel import (
    Alloc,
    Atomic,
    Barrier,
    Buf,
    Commit,
    Fence,
    If,
    Launch,
    Let,
    Module,
    Move,
    Space,
    Stmt,
    Store,
    Wait,
    While,
    Workspace,
)  # fmt: skip
from mdh.ir.program import Program
from tests.target.modules import add, c, coordinate, dense, less, loop, module, mul, v

Pair = tuple[Module, Program]
ONE = Launch((1, 1, 1), (1, 1, 1))


def scaled(target: str, dtype: DType, lanes: int, n: int = 48) -> Pair:
    """y = 3 * x + y through registers, in vectors of `lanes`; 16-bit floats compute in f32."""
    x, y = dense("x", Space.DM, dtype, n, readonly=True), dense("y", Space.DM, dtype, n)
    wide = F32 if dtype in (F16, BF16) else I32 if dtype.bits < 32 else dtype
    i = mul(v("i"), c(lanes))

    def read(name: str) -> Expr:
        load = Load(name, (i,), dtype, lanes)
        return load if wide == dtype else Cast(load, wide)

    value = Binary("+", Binary("*", Const(3, wide), read("x"), wide), read("y"), wide)
    store = Store("y", (i,), value if wide == dtype else Cast(value, dtype), lanes)
    return module("scaled", target, ONE, (x, y), (loop("i", n // lanes, store),))


def atomics(target: str, op: str, dtype: DType, *, shared: bool) -> Pair:
    """H[i % 4] = op over 64 work-items' x[i], in DM or in SM then copied out."""
    x, h = dense("x", Space.DM, dtype, 64, readonly=True), dense("H", Space.DM, dtype, 4)
    value_type = F32 if dtype in (F16, BF16) else dtype
    t = v("t")
    place = (Binary("%", t, c(4), I32),)
    first = less(t, c(4))
    update = Atomic(op, "S" if shared else "H", place, Load("x", (t,), value_type))
    body: tuple[Stmt, ...] = (coordinate("t", "thread_id", 0), update)
    if shared:
        body = (
            coordinate("t", "thread_id", 0),
            Alloc(dense("S", Space.SM, dtype, 4)),
            If(first, (Move("S", (t,), "H", (t,)),)),
            Barrier(),
            update,
            Barrier(),
            If(first, (Move("H", (t,), "S", (t,)),)),
        )
    return module("atomics", target, Launch((1, 1, 1), (64, 1, 1)), (x, h), body)


def swizzled(target: str, span: int) -> Pair:
    """A transpose of 32x32 floats through a swizzled SM buffer."""
    x, y = dense("x", Space.DM, F32, 32, 32, readonly=True), dense("y", Space.DM, F32, 32, 32)
    buf = dense("S", Space.SM, F32, 32, 32, swizzle=span)
    t, i = v("t"), v("i")
    body = (
        coordinate("t", "thread_id", 0),
        Alloc(buf),
        loop("i", 32, Move("S", (i, t), "x", (i, t))),
        Barrier(),
        loop("i", 32, Move("y", (i, t), "S", (t, i))),
    )
    return module("swizzled", target, Launch((1, 1, 1), (32, 1, 1)), (x, y), body)


def predicated(target: str, fill: float, lanes: int, engine: str, dtype: DType = F32) -> Pair:
    """Copies 24 of 32 elements by way of SM; the rest is filled."""
    x, y = dense("x", Space.DM, dtype, 32, readonly=True, align=16), dense("y", Space.DM, dtype, 32, align=16)
    n = 32 // lanes
    i = mul(v("t"), c(lanes))
    value = Const(fill, dtype) if fill else None
    body = (
        coordinate("t", "thread_id", 0),
        Alloc(dense("S", Space.SM, dtype, 32)),
        Move("S", (i,), "x", (i,), lanes, engine, pred=less(i, c(24)), fill=value),
        Commit(), Wait(0), Barrier(),
        Move("y", (i,), "S", (i,), lanes, cache="stream"),
    )  # fmt: skip
    return module("predicated", target, Launch((1, 1, 1), (n, 1, 1)), (x, y), body)


def masks(target: str, dtype: DType, lanes: int = 4, n: int = 16) -> Pair:
    """Vector conditions as values and as selectors, with scalars in between, iota and lanes."""
    x, y = dense("x", Space.DM, dtype, n, readonly=True), dense("y", Space.DM, dtype, n)
    z = dense("z", Space.DM, I32, n)
    i = mul(v("i"), c(lanes))
    load = Load("x", (i,), dtype, lanes)
    positive = Binary(">", load, Const(0, dtype), I32)
    both = Binary("&&", positive, Unary("!", less(Const(2, dtype), load), I32), I32)
    chosen = Select(both, Binary("+", load, load, dtype), Const(-1, dtype), dtype)
    acc = Buf("acc", Space.RM, dtype, (2,), (1,), lanes=lanes)
    second = Call("lane", (Load("acc", (c(1),), dtype, lanes), c(1)), dtype)
    body = (
        Alloc(acc, Const(0, dtype)),
        loop(
            "i", n // lanes,
            Store("acc", (c(1),), load, lanes),
            Store("y", (i,), chosen, lanes),
            Store("z", (i,), add(Call("iota", (c(lanes),), I32), positive), lanes),
            If(
                Binary(">", second, Const(1, dtype), I32),
                (Store("z", (i,), c(100)),),
            ),
        ),
    )  # fmt: skip
    return module("masks", target, ONE, (x, y, z), body)


def ticket(target: str, blocks: int = 8) -> Pair:
    """Each block adds 1 behind a chain of flags: block b waits for flag b - 1 (CUDA's look-back)."""
    y = dense("y", Space.DM, I32, blocks)
    flags = dense("flags", Space.DM, I32, blocks)
    b = v("b")
    before = add(b, c(-1))
    wait = While(Binary("==", Load("flags", (before,), I32), c(0), I32), ())
    body = (
        coordinate("b", "block_id", 0),
        Let("first", Select(Binary("==", b, c(0), I32), c(1), c(0), I32)),
        If(Binary(">", b, c(0), I32), (wait, Fence(), Store("y", (b,), add(Load("y", (before,), I32), c(1)))),
           (Store("y", (b,), v("first")),)),
        Fence(),
        Atomic("+", "flags", (b,), c(1), result="old"),
    )  # fmt: skip
    space = (Workspace(flags, zero=True),)
    return module("ticket", target, Launch((blocks, 1, 1), (1, 1, 1)), (y,), body, space)


def names(target: str) -> Pair:
    """Parameters that the targets give meanings of their own."""
    buf = dense("float4", Space.DM, F32, 4)
    scalar = ("half", F32)
    body = (
        coordinate("threadIdx", "thread_id", 0),
        coordinate("kernel", "thread_id", 0),
        Store(
            "float4",
            (v("kernel"),),
            Binary("*", Var("half", F32), Load("float4", (v("threadIdx"),), F32), F32),
        ),
    )
    return module("global", target, Launch((1, 1, 1), (4, 1, 1)), (buf, scalar), body)


def huge(target: str) -> Pair:
    """Offsets beyond 2^31."""
    x = dense("x", Space.DM, I8, 70000, 70000)
    t = v("t")
    body = (coordinate("t", "thread_id", 0), Store("x", (add(t, c(60000)), t), Const(1, I8)))
    return module("huge", target, Launch((1, 1, 1), (32, 1, 1)), (x,), body)


def large_shared() -> Pair:
    """More shared memory than CUDA lets a kernel declare."""
    y = dense("y", Space.DM, F32, 256)
    t = v("t")
    body = (
        coordinate("t", "thread_id", 0),
        Alloc(dense("A_s", Space.SM, F32, 8, 1025)),
        Alloc(dense("B_s", Space.SM, F64, 4096)),
        Store("A_s", (c(7), t), Const(2.0, F32)),
        Store("B_s", (t,), Const(0.5, F64)),
        Barrier(),
        Store("y", (t,), Binary("+", Load("A_s", (c(7), t), F32), Cast(Load("B_s", (t,), F64), F32), F32)),
    )
    return module("large_shared", "cuda", Launch((1, 1, 1), (256, 1, 1)), (y,), body)


def cluster() -> Pair:
    """Two blocks of a cluster read one another's shared memory."""
    y = dense("y", Space.DM, F32, 64)
    t, r = v("t"), v("r")
    other = Call("peer", (Load("S", (t,), F32), Binary("-", c(1), r, I32)), F32)
    body = (
        coordinate("t", "thread_id", 0),
        Let("r", Call("cluster_rank", (), I32)),
        Alloc(dense("S", Space.SM, F32, 32)),
        Store("S", (t,), Cast(add(mul(r, c(100)), t), F32)),
        Barrier("cluster"),
        Store("y", (add(mul(r, c(32)), t),), other),
        Barrier("cluster"),
    )
    return module("cluster", "cuda", Launch((2, 1, 1), (32, 1, 1), (2, 1, 1)), (y,), body)


ATOMIC_CASES = tuple(
    (op, t)
    for t in (I32, I64, U8, F16, BF16, F32, F64)
    for op in ("+", "min", "max", "*", "&", "^")
    if not (t.is_float and op in "&^")
)
