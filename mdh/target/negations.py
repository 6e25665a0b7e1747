"""Negations that ptxas gets wrong are hidden from it.

ptxas of CUDA 12.6 to 13.3 joins two minima of signed 32-bit numbers into one instruction of sm_90 and sm_100,
and loses the minus of the second operand: min(min(a, -b), c) becomes min(a, b, c). It finds minima in
comparisons, and NVVM makes negations of products with -1 and of differences from 0, once loops are unrolled.
ptxas of CUDA 12.6 to 13.2 also takes (short)-x for -(int)x: -32768 becomes 32768.

So a number that may be a negation passes through an instruction that ptxas leaves as it is, where a minimum,
a maximum or a choice by data may take it, and where it is narrowed to 16 bits.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from mdh.ir.dtype import I32
from mdh.ir.expr import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Load,
    Select,
    Unary,
    Var,
    map_children,
    walk,
)
from mdh.ir.intrinsic import EXTREMA
from mdh.ir.kernel import If, Kernel, Let, Stmt, Store
from mdh.ir.walk import expressions, map_expressions, statements, with_bodies

ORDERS = frozenset({"<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class Compared:
    """names: variables and buffers whose values a minimum, a maximum or a choice may take, or that are
    narrowed to 16 bits. data: variables that are calculated from what is read."""

    names: frozenset[str]
    data: frozenset[str]


def hidden_negations(kernel: Kernel) -> Kernel:
    """The same kernel; `kept_i32` and `kept_u32` stand around numbers that may be negations."""
    data = _data(kernel.body)
    names = _compared(kernel.body, data)
    every = (n for s in statements(kernel.body) for e in expressions(s) for n in walk(e))
    if not names and not any(_chooses(n) for n in every):
        return kernel
    body = _body(kernel.body, Compared(names, data))
    return kernel if body == kernel.body else replace(kernel, body=body)


def _chooses(e: Expr) -> bool:
    """What numbers may be hidden in."""
    return isinstance(e, Select | Cast) or (isinstance(e, Call) and e.fn in EXTREMA)


def _data(body: tuple[Stmt, ...]) -> frozenset[str]:
    data: frozenset[str] = frozenset()
    for s in statements(body):
        if isinstance(s, Let) and _by_data(s.value, data):
            data |= {s.name}
    return data


def _by_data(e: Expr, data: frozenset[str]) -> bool:
    return any(isinstance(n, Load) or (isinstance(n, Var) and n.name in data) for n in walk(e))


def _compared(body: tuple[Stmt, ...], data: frozenset[str]) -> frozenset[str]:
    """The names of `Compared`: those that an expression takes, and those that they are assigned from."""
    assigned = [(s.name if isinstance(s, Let) else s.buffer, s.value) for s in statements(body)
        if isinstance(s, Let | Store) and not s.value.dtype.is_float]  # fmt: skip
    names = set(_chosen_stores(body, data))
    for s in statements(body):
        for e in expressions(s):
            names |= {n for taken in _taken(e, data) for n in _sources(taken)}
    while True:
        more = {n for name, value in assigned if name in names for n in _sources(value)} - names
        if not more:
            return frozenset(names)
        names |= more


def _chosen_stores(body: Iterable[Stmt], data: frozenset[str]) -> Iterator[str]:
    """Buffers that are written under a condition on data: a compiler may turn the branch into a choice."""
    for s in statements(tuple(body)):
        if isinstance(s, If) and _by_data(s.cond, data):
            yield from (
                inner.buffer for inner in statements((*s.then, *s.orelse)) if isinstance(inner, Store)
            )


def _taken(e: Expr, data: frozenset[str]) -> Iterator[Expr]:
    """What the minima, maxima, choices and narrowings inside an expression take."""
    for n in walk(e):
        match n:
            case Call(fn, args, dtype) if fn in EXTREMA and dtype.kind == "int" and _by_data(n, data):
                yield from args
            case Select(cond, then, other, dtype) if dtype.kind == "int" and _by_data(cond, data):
                yield then
                yield other
            case Cast(arg, _) if _narrows(n):
                yield arg


def _sources(e: Expr) -> Iterator[str]:
    """Variables and buffers from which a value is calculated in a way that a compiler may undo."""
    match e:
        case Var(name):
            yield name
        case Load(buffer):
            yield buffer
        case Cast(arg, dtype) if not dtype.is_float and not arg.dtype.is_float:
            yield from _sources(arg)
        case Binary("+" | "-" | "*", left, right) | Select(_, left, right):
            yield from _sources(left)
            yield from _sources(right)
        case _:
            pass


def _body(body: tuple[Stmt, ...], known: Compared) -> tuple[Stmt, ...]:
    return tuple(_statement(s, known) for s in body)


def _statement(s: Stmt, known: Compared) -> Stmt:
    out = map_expressions(s, partial(_expression, data=known.data))
    match out:
        case Let(name, value) if name in known.names:
            out = replace(out, value=_hidden(value))
        case Store(buffer, _, value) if buffer in known.names:
            out = replace(out, value=_hidden(value))
        case _:
            pass
    return with_bodies(out, lambda b: _body(b, known))


def _expression(e: Expr, data: frozenset[str]) -> Expr:
    out = map_children(e, partial(_expression, data=data))
    match out:
        case Call(fn, args, dtype) if fn in EXTREMA and dtype.kind == "int" and _by_data(e, data):
            return replace(out, args=tuple(map(_hidden, args)))
        case Select(cond, then, other, dtype) if dtype.kind == "int" and _by_data(cond, data):
            return replace(out, cond=_condition(cond), then=_hidden(then), other=_hidden(other))
        case Cast(arg, _) if _narrows(out):
            return replace(out, arg=_hidden(Cast(arg, I32) if arg.dtype.bits == 64 else arg))
        case _:
            return out


def _narrows(e: Cast) -> bool:
    """An integer to 16 bits."""
    kinds = {e.dtype.kind, e.arg.dtype.kind}
    return e.dtype.bits == 16 and e.arg.dtype.bits >= 32 and "float" not in kinds


def _condition(e: Expr) -> Expr:
    """The operands of a comparison, hidden as the chosen values are: compilers still see a minimum in it."""
    match e:
        case Binary(op, left, right) if op in ORDERS and not left.dtype.is_float:
            return replace(e, left=_hidden(left), right=_hidden(right))
        case _:
            return e


def _hidden(e: Expr) -> Expr:
    """The same number; where it is calculated in 32 bits and may be a negation, as a call of `kept_…`."""
    if isinstance(e, Select):
        return replace(e, then=_hidden(e.then), other=_hidden(e.other))
    if isinstance(e, Cast) and not e.arg.dtype.is_float and (e.dtype.bits != 32 or e.arg.dtype.bits < 64):
        return replace(e, arg=_hidden(e.arg))
    if e.dtype.bits != 32 or e.dtype.is_float or not _may_be_negation(e):
        return e
    return Call(f"kept_{e.dtype.name}", (e,), e.dtype)


def _may_be_negation(e: Expr) -> bool:
    """A compiler may calculate the integer by a negation. Variables and choices count as none here: they are
    hidden where they are assigned and where they choose."""
    match e:
        case Cast(arg, _):
            return not arg.dtype.is_float and _may_be_negation(arg)
        case Binary("+", left, right) | Binary("-", left, Const() as right):
            return _may_be_negation(left) or _may_be_negation(right)
        case Binary("*" | "/", left, Const(int() as value)):
            # as 32 bits: unsigned numbers are multiplied by 4294967295 to negate them
            return (value + 2**31) % 2**32 - 2**31 <= 1 or _may_be_negation(left)
        case Binary("*", left, right):
            return not (_read(left) and _read(right))
        case Unary() | Call("abs") | Binary("-" | "/" | "^" | "<<" | ">>"):
            return True
        case _:
            return False


def _read(e: Expr) -> bool:
    """A number that is loaded, so that no compiler knows its value."""
    return isinstance(e, Load) or (isinstance(e, Cast) and _read(e.arg))
