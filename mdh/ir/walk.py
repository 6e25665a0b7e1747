"""Generic traversal of kernel statements: expressions, children, buffers touched."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from mdh.ir.copy_engine import (
    Arrive,
    Await,
    BoxCopy,
    BoxStore,
    Expect,
    FetchMap,
    InitTokens,
    SetRegisters,
    StoreCommit,
    StoreFence,
    StoreWait,
    TokensReady,
)
from mdh.ir.expr import Const, Expr, Load, map_children, mapped, substitute, walk
from mdh.ir.kernel import (
    Alloc,
    Atomic,
    AwaitKernels,
    Barrier,
    Buf,
    Comment,
    Commit,
    Fence,
    For,
    If,
    Let,
    Move,
    Stmt,
    Store,
    Wait,
    While,
)
from mdh.ir.library_call import MatrixCall
from mdh.ir.matrix import (
    GroupMma,
    LoadMatrix,
    LoadWord,
    Mma,
    MmaCommit,
    MmaFence,
    MmaWait,
    SharedMatrix,
    StoreMatrix,
)


def bodies(s: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The statement lists inside a statement."""
    match s:
        case For() | While():
            return (s.body,)
        case If():
            return (s.then, s.orelse)
        case _:
            return ()


def with_bodies(s: Stmt, f: Callable[[tuple[Stmt, ...]], tuple[Stmt, ...]]) -> Stmt:
    """`s` with `f` applied to each statement list inside it."""
    match s:
        case For() | While():
            return replace(s, body=f(s.body))
        case If():
            return replace(s, then=f(s.then), orelse=f(s.orelse))
        case _:
            return s


def statements(body: tuple[Stmt, ...]) -> Iterator[Stmt]:
    """All statements of a body, parents first."""
    for s in body:
        yield s
        for inner in bodies(s):
            yield from statements(inner)


def rewritten(body: tuple[Stmt, ...], f: Callable[[Stmt], Stmt]) -> tuple[Stmt, ...]:
    """A body with `f` applied to every statement, after those inside it."""
    return tuple(f(with_bodies(s, lambda b: rewritten(b, f))) for s in body)


def map_expressions(s: Stmt, f: Callable[[Expr], Expr]) -> Stmt:
    """`s` with `f` applied to each of its own expressions; nested statements are left as they are."""
    match s:
        case Comment() | Barrier() | Fence() | Commit() | Wait() | AwaitKernels() | FetchMap():
            return s
        case MmaFence() | MmaCommit() | MmaWait() | InitTokens() | TokensReady() | SetRegisters():
            return s
        case StoreFence() | StoreCommit() | StoreWait():
            return s
        case BoxStore():
            return replace(s, start=tuple(map(f, s.start)), index=tuple(map(f, s.index)))
        case Alloc(buf, init):
            return Alloc(buf, None if init is None else f(init))
        case Let():
            value = f(s.value)
            return s if value is s.value else replace(s, value=value)
        case Store():
            index, value = mapped(s.index, f), f(s.value)
            return s if index is s.index and value is s.value else replace(s, index=index, value=value)
        case Move():
            return replace(
                s,
                dst_index=tuple(map(f, s.dst_index)),
                src_index=tuple(map(f, s.src_index)),
                pred=None if s.pred is None else f(s.pred),
                fill=None if s.fill is None else f(s.fill),
            )
        case Atomic():
            return replace(s, index=tuple(map(f, s.index)), value=f(s.value))
        case For():
            return replace(s, start=f(s.start), stop=f(s.stop), step=f(s.step))
        case While() | If():
            return replace(s, cond=f(s.cond))
        case LoadMatrix() | LoadWord() | StoreMatrix() | Mma() | GroupMma():
            return _mapped_matrix(s, f)
        case MatrixCall():
            left, right, out = (replace(x, index=tuple(map(f, x.index))) for x in s.operands)
            return replace(s, left=left, right=right, out=out, alpha=f(s.alpha), beta=f(s.beta))
        case Expect():
            return replace(s, index=tuple(map(f, s.index)))
        case Arrive():
            return replace(s, index=tuple(map(f, s.index)), rank=None if s.rank is None else f(s.rank))
        case Await():
            return replace(s, index=tuple(map(f, s.index)), parity=f(s.parity))
        case BoxCopy():
            return replace(
                s,
                start=tuple(map(f, s.start)),
                index=tuple(map(f, s.index)),
                slot=tuple(map(f, s.slot)),
                peers=None if s.peers is None else f(s.peers),
            )
        case _:
            assert_never(s)


def _mapped_matrix(
    s: LoadMatrix | LoadWord | StoreMatrix | Mma | GroupMma, f: Callable[[Expr], Expr]
) -> Stmt:
    match s:
        case LoadMatrix():
            return replace(s, dst=_places(s.dst, f), index=tuple(map(f, s.index)))
        case LoadWord():
            return replace(
                s,
                dst=_places((s.dst,), f)[0],
                places=tuple(tuple(map(f, index)) for index in s.places),
                conditions=tuple(None if e is None else f(e) for e in s.conditions),
            )
        case StoreMatrix():
            return replace(s, src=_places((s.src,), f)[0], index=tuple(map(f, s.index)))
        case Mma():
            return replace(s, acc=_places(s.acc, f), a=_places(s.a, f), b=_places(s.b, f))
        case GroupMma():
            keep = None if s.keep is None else f(s.keep)
            return replace(s, acc=_places((s.acc,), f)[0], a=_factor(s.a, f), b=_matrix(s.b, f), keep=keep)
        case _:
            assert_never(s)


def _places(registers: tuple[Load, ...], f: Callable[[Expr], Expr]) -> tuple[Load, ...]:
    """Registers with `f` applied to their indices: they stay the places that they are."""
    return tuple(replace(r, index=tuple(map(f, r.index))) for r in registers)


def _factor(a: SharedMatrix | tuple[Load, ...], f: Callable[[Expr], Expr]) -> SharedMatrix | tuple[Load, ...]:
    return _places(a, f) if isinstance(a, tuple) else _matrix(a, f)


def _matrix(m: SharedMatrix, f: Callable[[Expr], Expr]) -> SharedMatrix:
    return replace(m, index=tuple(map(f, m.index)))


def expressions(s: Stmt) -> tuple[Expr, ...]:
    """A statement's own expressions. Registers that it is given are loads, those that it fills are not."""
    match s:
        case Store() | Atomic():
            return (*s.index, s.value)
        case Let():
            return (s.value,)
        case For():
            return (s.start, s.stop, s.step)
        case While() | If():
            return (s.cond,)
        case Move():
            return (*s.dst_index, *s.src_index, *_given(s.pred), *_given(s.fill))
        case Alloc(_, init):
            return _given(init)
        case LoadMatrix() | LoadWord() | StoreMatrix() | Mma() | GroupMma():
            return _of_matrix(s)
        case MatrixCall():
            return (*(e for x in s.operands for e in x.index), s.alpha, s.beta)
        case BoxStore():
            return (*s.start, *s.index)
        case Expect():
            return s.index
        case Arrive():
            return (*s.index, *_given(s.rank))
        case Await():
            return (*s.index, s.parity)
        case BoxCopy():
            return (*s.start, *s.index, *s.slot, *_given(s.peers))
        case Comment() | Barrier() | Fence() | Commit() | Wait() | AwaitKernels() | FetchMap():
            return ()
        case MmaFence() | MmaCommit() | MmaWait() | InitTokens() | TokensReady() | SetRegisters():
            return ()
        case StoreFence() | StoreCommit() | StoreWait():
            return ()
        case _:
            assert_never(s)


def _given(e: Expr | None) -> tuple[Expr, ...]:
    return () if e is None else (e,)


def _of_matrix(s: LoadMatrix | LoadWord | StoreMatrix | Mma | GroupMma) -> tuple[Expr, ...]:
    match s:
        case LoadMatrix():
            return (*_indices(s.dst), *s.index)
        case LoadWord():
            conditions = (e for e in s.conditions if e is not None)
            return (*s.dst.index, *(e for index in s.places for e in index), *conditions)
        case StoreMatrix():
            return (*s.src.index, *s.index, s.src)
        case Mma():
            return (*_indices((*s.acc, *s.a, *s.b)), *s.acc, *s.a, *s.b)
        case GroupMma():
            own = (*s.acc.index, *_indices(s.held), *(e for m in s.shared for e in m.index))
            return (*_given(s.keep), *own, s.acc, *s.held)
        case _:
            assert_never(s)


def _indices(registers: tuple[Load, ...]) -> tuple[Expr, ...]:
    return tuple(e for r in registers for e in r.index)


def substitute_in(body: tuple[Stmt, ...], values: dict[str, Expr]) -> tuple[Stmt, ...]:
    """A body with variables replaced everywhere."""
    return rewritten(body, lambda s: map_expressions(s, lambda e: substitute(e, values)))


def declared_by(s: Stmt) -> str | None:
    """The name that a statement itself declares."""
    match s:
        case Alloc():
            return s.buf.name
        case Let():
            return s.name
        case For():
            return s.var
        case Atomic():
            return s.result
        case _:
            return None


def allocated(body: tuple[Stmt, ...]) -> dict[str, Buf]:
    """The buffers that a body declares, by name."""
    return {s.buf.name: s.buf for s in statements(body) if isinstance(s, Alloc)}


def trips(s: For) -> int | None:
    """How often the loop's body runs, where its bounds are numbers."""
    match s.start, s.stop, s.step:
        case Const(int() as start, _), Const(int() as stop, _), Const(int() as step, _):
            return len(range(start, stop, step))
        case _:
            return None


@dataclass(frozen=True, slots=True)
class BufferElement:
    """An element of a buffer, or the first one of several."""

    buffer: str
    index: tuple[Expr, ...]


def loaded(s: Stmt) -> list[BufferElement]:
    """What a statement's own expressions load, and the source of a Move. Of a matrix: its first element."""
    out = [BufferElement(n.buffer, n.index) for e in expressions(s) for n in walk(e) if isinstance(n, Load)]
    match s:
        case Move():
            return [*out, BufferElement(s.src, s.src_index)]
        case LoadMatrix():
            return [*out, BufferElement(s.src, s.index)]
        case LoadWord():
            return [*out, *(BufferElement(s.src, index) for index in s.places)]
        case GroupMma():
            return [*out, *(BufferElement(m.buffer, m.index) for m in s.shared)]
        case MatrixCall():
            read = s.operands[:2] if s.beta == Const(0.0, s.dtype) else s.operands
            return [*out, *(BufferElement(x.buffer, x.index) for x in read)]
        case BoxStore():
            return [*out, BufferElement(s.src, s.index)]
        case Await() | Arrive() | Expect():
            return [*out, BufferElement(s.buffer, s.index)]
        case _:
            return out


def stored(s: Stmt) -> list[BufferElement]:
    """What a statement itself writes."""
    match s:
        case Store() | Atomic():
            return [BufferElement(s.buffer, s.index)]
        case Move():
            return [BufferElement(s.dst, s.dst_index)]
        case LoadMatrix():
            return [BufferElement(r.buffer, r.index) for r in s.dst]
        case LoadWord():
            return [BufferElement(s.dst.buffer, s.dst.index)]
        case StoreMatrix():
            return [BufferElement(s.dst, s.index)]
        case Mma():
            return [BufferElement(r.buffer, r.index) for r in s.acc]
        case GroupMma():
            return [BufferElement(s.acc.buffer, s.acc.index)]
        case MatrixCall():
            return [BufferElement(s.out.buffer, s.out.index)]
        case BoxCopy():
            return [BufferElement(s.dst, s.index), BufferElement(s.token, s.slot)]
        case Arrive() | Expect():
            return [BufferElement(s.buffer, s.index)]
        case _:
            return []


def reads(s: Stmt) -> set[str]:
    """Buffers a statement's own expressions load, and the source of a Move."""
    return {a.buffer for a in loaded(s)}


def writes(s: Stmt) -> set[str]:
    return {a.buffer for a in stored(s)}


def _renamed(registers: tuple[Load, ...], names: Mapping[str, str]) -> tuple[Load, ...]:
    return tuple(replace(r, buffer=names.get(r.buffer, r.buffer)) for r in registers)


def with_buffers(s: Stmt, names: Mapping[str, str]) -> Stmt:
    """The statement itself with other names for buffers; nested statements are left as they are."""

    def swap(e: Expr) -> Expr:
        e = map_children(e, swap)
        return replace(e, buffer=names[e.buffer]) if isinstance(e, Load) and e.buffer in names else e

    s = map_expressions(s, swap)
    match s:
        case Alloc(buf):
            return replace(s, buf=replace(buf, name=names.get(buf.name, buf.name)))
        case Store() | Atomic():
            return replace(s, buffer=names.get(s.buffer, s.buffer))
        case Move():
            return replace(s, dst=names.get(s.dst, s.dst), src=names.get(s.src, s.src))
        case LoadMatrix():
            return replace(s, dst=_renamed(s.dst, names), src=names.get(s.src, s.src))
        case LoadWord():
            return replace(s, dst=_renamed((s.dst,), names)[0], src=names.get(s.src, s.src))
        case StoreMatrix():
            return replace(s, src=_renamed((s.src,), names)[0], dst=names.get(s.dst, s.dst))
        case Mma():
            return replace(s, acc=_renamed(s.acc, names), a=_renamed(s.a, names), b=_renamed(s.b, names))
        case GroupMma():
            *_, b = found = [replace(m, buffer=names.get(m.buffer, m.buffer)) for m in s.shared]
            held = _renamed(s.held, names)
            return replace(s, acc=_renamed((s.acc,), names)[0], a=held or found[0], b=b)
        case InitTokens() | Expect() | Arrive() | Await():
            return replace(s, buffer=names.get(s.buffer, s.buffer))
        case MatrixCall():
            left, right, out = (replace(x, buffer=names.get(x.buffer, x.buffer)) for x in s.operands)
            return replace(s, left=left, right=right, out=out)
        case BoxStore():
            return replace(s, src=names.get(s.src, s.src))
        case BoxCopy():
            return replace(s, dst=names.get(s.dst, s.dst), token=names.get(s.token, s.token))
        case _:
            return s
