"""Dealing the points of a box to the threads of a block, neighbours to neighbours."""

from dataclasses import dataclass

from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Var
from mdh.ir.kernel import For, ForKind, If, Let, Stmt
from mdh.lower.nest import Nest


@dataclass(frozen=True, slots=True)
class Dealt:
    """Thread `tid` works `rounds` times (variable `counter`) at `coordinates`, where `guard` holds."""

    counter: str
    rounds: int
    lets: tuple[Let, ...]
    coordinates: tuple[Expr, ...]
    guard: Expr | None


def deal(nest: Nest, counts: list[int], stem: str) -> Dealt:
    """Points of a box of `counts`, last dim fastest, to the threads of the block."""
    total = 1
    for n in counts:
        total *= n
    threads = nest.threads
    rounds = -(-total // threads)
    counter = nest.fresh(f"{stem}_round")
    tid: Expr = Var(nest.tid) if threads > 1 else Const(0, I32)
    steady = _steady(counts, threads) if rounds > 1 else None
    if steady is not None:
        return Dealt(counter, rounds, (), _steady_coordinates(counts, steady, threads, tid, counter), None)
    linear: Expr = tid
    if rounds > 1:
        linear = Binary("+", Binary("*", Var(counter), Const(threads, I32), I32), tid, I32)
    guard = None if total % threads == 0 else Binary("<", linear, Const(total, I32), I32)
    lets: tuple[Let, ...] = ()
    if sum(n > 1 for n in counts) > 1 and rounds > 1:
        name = nest.fresh(stem)
        lets, linear = (Let(name, linear),), Var(name)
        if guard is not None:
            guard = Binary("<", Binary("+", Binary("*", Var(counter), Const(threads, I32), I32), tid, I32),
                           Const(total, I32), I32)  # fmt: skip
    return Dealt(counter, rounds, lets, tuple(_digits(counts, linear)), guard)


def wrap(dealt: Dealt, body: list[Stmt]) -> list[Stmt]:
    """`body` as each thread runs it at its points."""
    inner = (*dealt.lets, *body)
    if dealt.guard is not None:
        inner = (If(dealt.guard, inner),)
    if dealt.rounds == 1:
        return list(inner) if dealt.guard is not None or not dealt.lets else [If(Const(1, I32), inner)]
    kind = ForKind.UNROLL if dealt.rounds <= 16 else ForKind.SEQ
    return [For(dealt.counter, Const(0, I32), Const(dealt.rounds, I32), Const(1, I32), inner, kind)]


def _steady(counts: list[int], threads: int) -> int | None:
    """The outermost dim with more than one point, if all inner dims are covered by each round exactly."""
    outer = next((k for k, n in enumerate(counts) if n > 1), None)
    if outer is None:
        return None
    inner = 1
    for n in counts[outer + 1 :]:
        inner *= n
    if threads % inner or counts[outer] % (threads // inner):
        return None
    return outer


def _steady_coordinates(
    counts: list[int], outer: int, threads: int, tid: Expr, counter: str
) -> tuple[Expr, ...]:
    """Inner coordinates depend on the thread alone; the outermost one moves on by a constant each round."""
    inner = 1
    for n in counts[outer + 1 :]:
        inner *= n
    rows = threads // inner
    digits = _digits([*([1] * outer), rows, *counts[outer + 1 :]], tid)
    step = Binary("*", Var(counter), Const(rows, I32), I32) if rows > 1 else Var(counter)
    base = digits[outer]
    digits[outer] = step if isinstance(base, Const) else Binary("+", base, step, I32)
    return tuple(digits)


def _digits(counts: list[int], linear: Expr) -> list[Expr]:
    """Mixed-radix digits of `linear`, last dim fastest."""
    out: list[Expr] = []
    radix = 1
    live = [k for k, n in enumerate(counts) if n > 1]
    for k in reversed(range(len(counts))):
        n = counts[k]
        if n == 1:
            out.append(Const(0, I32))
            continue
        e = linear if radix == 1 else Binary("/", linear, Const(radix, I32), I32)
        out.append(e if k == live[0] else Binary("%", e, Const(n, I32), I32))
        radix *= n
    return list(reversed(out))
