"""Generic traversal of kernel statements: expressions, children, buffers touched."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from mdh.ir.expr import Expr, Load, substitute, walk
from mdh.ir.kernel import (
    Alloc,
    Atomic,
    Barrier,
    Comment,
    Commit,
    Fence,
    For,
    If,
    Let,
    LoadMatrix,
    Mma,
    Move,
    Stmt,
    Store,
    Wait,
    While,
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


def map_expressions(s: Stmt, f: Callable[[Expr], Expr]) -> Stmt:
    """`s` with `f` applied to each of its own expressions; nested statements are left as they are."""
    match s:
        case Comment() | Barrier() | Fence() | Commit() | Wait():
            return s
        case Alloc(buf, init):
            return Alloc(buf, None if init is None else f(init))
        case Let():
            return replace(s, value=f(s.value))
        case Store():
            return replace(s, index=tuple(map(f, s.index)), value=f(s.value))
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
        case LoadMatrix():
            return replace(s, dst=_places(s.dst, f), index=tuple(map(f, s.index)))
        case Mma():
            return replace(s, acc=_places(s.acc, f), a=_places(s.a, f), b=_places(s.b, f))
        case _:
            assert_never(s)


def _places(registers: tuple[Load, ...], f: Callable[[Expr], Expr]) -> tuple[Load, ...]:
    """Registers with `f` applied to their indices: they stay the places that they are."""
    return tuple(replace(r, index=tuple(map(f, r.index))) for r in registers)


def expressions(s: Stmt) -> tuple[Expr, ...]:
    """A statement's own expressions. Registers that it is given are loads, those that it fills are not."""
    out: list[Expr] = []

    def note(e: Expr) -> Expr:
        out.append(e)
        return e

    map_expressions(s, note)
    if isinstance(s, Mma):
        out.extend((*s.acc, *s.a, *s.b))
    return tuple(out)


def substitute_in(body: tuple[Stmt, ...], values: dict[str, Expr]) -> tuple[Stmt, ...]:
    """A body with variables replaced everywhere."""
    return tuple(
        with_bodies(map_expressions(s, lambda e: substitute(e, values)), lambda b: substitute_in(b, values))
        for s in body
    )


def reads(s: Stmt) -> set[str]:
    """Buffers a statement's own expressions load, and the source of a Move."""
    out = {n.buffer for e in expressions(s) for n in walk(e) if isinstance(n, Load)}
    if isinstance(s, Move | LoadMatrix):
        out.add(s.src)
    return out


def writes(s: Stmt) -> set[str]:
    match s:
        case Store(buffer=b) | Atomic(buffer=b):
            return {b}
        case Move():
            return {s.dst}
        case LoadMatrix():
            return {r.buffer for r in s.dst}
        case Mma():
            return {r.buffer for r in s.acc}
        case _:
            return set()
