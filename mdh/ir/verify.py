"""What every Kernel must satisfy before a target prints it; a violation is a bug of the lowering."""

from mdh.hardware import Space, SyncScope
from mdh.ir.copy_engine import Arrive, Await, BoxCopy, BoxStore, Expect, InitTokens
from mdh.ir.dtype import U64
from mdh.ir.expr import Call, Expr, Load, Var, walk
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import (
    Alloc,
    Atomic,
    Barrier,
    Buf,
    For,
    ForKind,
    If,
    Kernel,
    Let,
    Module,
    Move,
    Stmt,
    Store,
    While,
)
from mdh.ir.library_call import MatrixCall
from mdh.ir.matrix import GroupMma, LoadMatrix, LoadWord, Mma, StoreMatrix
from mdh.ir.walk import bodies, declared_by, expressions, statements


class Malformed(AssertionError):  # noqa: N818 - the name says what the kernel is
    """A kernel breaks a rule of its IR: name of the kernel, the rule, the statement."""


def verify(module: Module) -> None:
    """Each kernel by itself, and names that kernels share."""
    _distinct(module.name, "kernels", [k.name for k in module.kernels])
    _distinct(module.name, "buffers", [*module.params, *(w.buf.name for w in module.workspaces)])
    for kernel in module.kernels:
        verify_kernel(kernel)
        for s in statements(kernel.body):
            if isinstance(s, For) and s.kind is ForKind.VEC:
                raise Malformed(f"{kernel.name}: a VEC loop over {s.var} is left")


def verify_kernel(kernel: Kernel) -> None:
    """What holds before and after each pass: names are defined before use and hide no other; an index has
    its buffer's rank; what is stored has the buffer's type; no barrier stands under a condition or a loop
    whose bounds name the thread."""
    arrays = (*kernel.buffers, *kernel.constants)
    params = [*(b.name for b in arrays), *(name for name, _ in kernel.scalars)]
    _distinct(kernel.name, "parameters", params)
    bufs = {b.name: b for b in arrays}
    _body(kernel, kernel.body, bufs, {name for name, _ in kernel.scalars})
    _barriers(kernel, kernel.body, frozenset())


def _distinct(where: str, what: str, names: list[str]) -> None:
    again = {n for n in names if names.count(n) > 1}
    if again:
        raise Malformed(f"{where}: two {what} are called {', '.join(sorted(again))}")


def _body(kernel: Kernel, body: tuple[Stmt, ...], outer: dict[str, Buf], names: set[str]) -> None:
    bufs, seen = dict(outer), set(names)
    for s in body:
        new = declared_by(s)
        if new is not None and (new in seen or new in bufs):
            raise Malformed(f"{kernel.name}: {new} is declared where it has a meaning already")
        for e in expressions(s):
            inside = {s.var} if isinstance(s, For) else set[str]()
            _expression(kernel, s, e, bufs, seen | inside)
        _accesses(kernel, s, bufs)
        for inner in bodies(s):
            _body(kernel, inner, bufs, seen | ({s.var} if isinstance(s, For) else set()))
        match s:
            case Alloc(buf, _):
                if buf.space is Space.DM:
                    raise Malformed(f"{kernel.name}: {buf.name} allocates device memory")
                bufs[buf.name] = buf
            case Let(name, _, _):
                seen.add(name)
            case Atomic(result=result) if result is not None:
                seen.add(result)


def _expression(kernel: Kernel, s: Stmt, e: Expr, bufs: dict[str, Buf], seen: set[str]) -> None:
    for n in walk(e):
        match n:
            case Var(name) if name not in seen:
                raise Malformed(f"{kernel.name}: {name} is used before it is defined, in {s}")
            case Load(buffer, index, _, _):
                _rank(kernel, buffer, index, bufs)
            case Call(Intrinsic.THREAD_ID) if kernel.launch.block == (1, 1, 1):
                raise Malformed(f"{kernel.name}: a block of one thread asks for its thread")


def _accesses(kernel: Kernel, s: Stmt, bufs: dict[str, Buf]) -> None:
    match s:
        case Store(buffer=b, index=index) | Atomic(buffer=b, index=index):
            _rank(kernel, b, index, bufs)
            if s.value.dtype != bufs[b].dtype:
                raise Malformed(f"{kernel.name}: {b} of {bufs[b].dtype} is given {s.value.dtype}, in {s}")
        case Move():
            _rank(kernel, s.dst, s.dst_index, bufs)
            _rank(kernel, s.src, s.src_index, bufs)
        case LoadMatrix():
            _rank(kernel, s.src, s.index, bufs)
            _registers(kernel, s.dst, bufs)
        case LoadWord():
            _registers(kernel, (s.dst,), bufs)
            for index in s.places:
                _rank(kernel, s.src, index, bufs)
        case StoreMatrix():
            _rank(kernel, s.dst, s.index, bufs)
            _registers(kernel, (s.src,), bufs)
        case Mma(_, acc, a, b):
            _registers(kernel, (*acc, *a, *b), bufs)
        case GroupMma():
            _registers(kernel, (s.acc, *s.held), bufs)
            for m in s.shared:
                _rank(kernel, m.buffer, m.index, bufs)
        case MatrixCall():
            for x in s.operands:
                _rank(kernel, x.buffer, x.index, bufs)
                if bufs[x.buffer].dtype != s.dtype:
                    raise Malformed(f"{kernel.name}: {x.buffer} is no matrix of {s.dtype}")
        case InitTokens(buffer, _):
            _token(kernel, buffer, bufs)
        case Expect() | Arrive() | Await():
            _rank(kernel, s.buffer, s.index, bufs)
            _token(kernel, s.buffer, bufs)
        case BoxCopy():
            _rank(kernel, s.dst, s.index, bufs)
            _rank(kernel, s.token, s.slot, bufs)
            _token(kernel, s.token, bufs)
            _map(kernel, s.map, s.start)
        case BoxStore():
            _rank(kernel, s.src, s.index, bufs)
            _map(kernel, s.map, s.start)


def _map(kernel: Kernel, name: str, start: tuple[Expr, ...]) -> None:
    if all(m.name != name or len(m.shape) != len(start) for m in kernel.maps):
        raise Malformed(f"{kernel.name}: {name} is no tensor map of this rank")


def _token(kernel: Kernel, buffer: str, bufs: dict[str, Buf]) -> None:
    if buffer not in bufs or (bufs[buffer].space, bufs[buffer].dtype) != (Space.SM, U64):
        raise Malformed(f"{kernel.name}: {buffer} holds no tokens")


def _registers(kernel: Kernel, places: tuple[Load, ...], bufs: dict[str, Buf]) -> None:
    for r in places:
        _rank(kernel, r.buffer, r.index, bufs)
        if bufs[r.buffer].space is not Space.RM or bufs[r.buffer].dtype != r.dtype:
            raise Malformed(f"{kernel.name}: {r.buffer} is no register of type {r.dtype}")


def _rank(kernel: Kernel, buffer: str, index: tuple[Expr, ...], bufs: dict[str, Buf]) -> None:
    buf = bufs.get(buffer)
    if buf is None:
        raise Malformed(f"{kernel.name}: {buffer} is not declared here")
    if len(index) != len(buf.shape):
        raise Malformed(f"{kernel.name}: {buffer} has {len(buf.shape)} dims, its index has {len(index)}")


def _barriers(kernel: Kernel, body: tuple[Stmt, ...], varying: frozenset[str], *, some: bool = False) -> None:
    """varying: names whose value depends on the thread; some: only some threads come here. A barrier of the
    device is a fence, and may stand anywhere; one of a warp group may where whole groups come."""
    for s in body:
        anywhere = (SyncScope.DEVICE, SyncScope.GROUP)
        if isinstance(s, Barrier) and s.scope not in anywhere and some:
            raise Malformed(f"{kernel.name}: a barrier ({s.reason}) that only some threads reach")
        if isinstance(s, Let) and _varies(s.value, varying):
            varying |= {s.name}
        if isinstance(s, If | While):
            asked: tuple[Expr, ...] = (s.cond,)
        else:
            asked = (s.start, s.stop, s.step) if isinstance(s, For) else ()
        inner = any(_varies(e, varying) for e in asked)
        own = {s.var} if isinstance(s, For) and inner else set()
        for one in bodies(s):
            _barriers(kernel, one, varying | own, some=some or inner)


def _varies(e: Expr, varying: frozenset[str]) -> bool:
    return any(
        (isinstance(n, Var) and n.name in varying) or (isinstance(n, Call) and n.fn == Intrinsic.THREAD_ID)
        for n in walk(e)
    )
