"""Dealing the points of a box to the threads of a block, neighbours to neighbours."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from mdh.ir.construct import ZERO, add, digit, less, loop, loops, mul, when
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Var
from mdh.ir.kernel import ForKind, Let, Stmt
from mdh.lower.nest import Nest

MOST_UNROLLED = 16
"""Rounds that are unrolled, so that several loads are on their way at once."""


@dataclass(frozen=True, slots=True)
class Dealt:
    """Thread `tid` works `rounds` times (variable `counter`) at `coordinates`, where `guard` holds."""

    counter: str
    rounds: int
    lets: tuple[Let, ...]
    coordinates: tuple[Expr, ...]
    guard: Expr | None


def deal(nest: Nest, counts: list[int], stem: str, *, spare: float = 0.0) -> Dealt:
    """Points of a box of `counts`, last dim fastest, to the threads of the block.

    spare: by which share there may be more rounds than need be, for rounds of whole rows: all that a thread
    does is then at one distance, and so are the addresses that it would else hold.
    """
    total, threads = prod(counts), nest.threads
    rounds = -(-total // threads)
    counter = nest.fresh(f"{stem}_round")
    tid: Expr = Var(nest.tid) if threads > 1 else ZERO
    steady = _steady(counts, threads) if rounds > 1 else None
    if steady is not None:
        return Dealt(counter, rounds, (), _steady_coordinates(counts, steady, threads, tid, counter), None)
    rows = _whole_rows(counts, threads, rounds * (1.0 + spare)) if rounds > 1 and spare else None
    if rows is not None:
        return _by_rows(counts, rows, tid, counter)
    linear = tid if rounds == 1 else add(mul(Var(counter), threads), tid)
    guard = None if total % threads == 0 else less(linear, total)
    lets: tuple[Let, ...] = ()
    if sum(n > 1 for n in counts) > 1 and rounds > 1:
        name = nest.fresh(stem)
        lets, linear = (Let(name, linear),), Var(name)
    return Dealt(counter, rounds, lets, tuple(_digits(counts, linear)), guard)


def wrap(dealt: Dealt, body: Iterable[Stmt], *, unroll: bool = True) -> list[Stmt]:
    """`body` as each thread runs it at its points. unroll: a few rounds are unrolled."""
    inner = when(dealt.guard, (*dealt.lets, *body))
    if dealt.rounds == 1:
        return inner
    kind = ForKind.UNROLL if unroll and dealt.rounds <= MOST_UNROLLED else ForKind.SEQ
    return [loop(dealt.counter, dealt.rounds, inner, kind)]


def over_box(
    nest: Nest, shape: Sequence[int], stem: str, at: Callable[[tuple[Expr, ...]], list[Stmt]]
) -> list[Stmt]:
    """What `at` makes for each point of a box: by all threads together, or by the only one in loops."""
    if nest.threads > 1:
        dealt = deal(nest, list(shape), stem)
        return wrap(dealt, at(dealt.coordinates), unroll=False)
    names = [nest.fresh(f"{stem}{k}") for k in range(len(shape))]
    return loops(names, shape, at(tuple(Var(n) for n in names)))


def _steady(counts: list[int], threads: int) -> int | None:
    """The outermost dim with more than one point, if all inner dims are covered by each round exactly."""
    outer = next((k for k, n in enumerate(counts) if n > 1), None)
    if outer is None:
        return None
    inner = prod(counts[outer + 1 :])
    return None if threads % inner or counts[outer] % (threads // inner) else outer


def _whole_rows(counts: list[int], threads: int, most: float) -> tuple[int, int] | None:
    """(the outermost dim with more than one point, rows of it that a round covers), where rounds that leave
    some threads out are no more than `most`."""
    live = [k for k, n in enumerate(counts) if n > 1]
    if len(live) < 2:
        return None
    rows = threads // prod(counts[live[0] + 1 :])
    return (live[0], rows) if rows and -(-counts[live[0]] // rows) <= most else None


def _by_rows(counts: list[int], found: tuple[int, int], tid: Expr, counter: str) -> Dealt:
    """Rounds of whole rows of dim `outer`; threads beyond the last row of a round, and rows beyond the last
    of all, have nothing to do."""
    outer, rows = found
    inner = prod(counts[outer + 1 :])
    rounds = -(-counts[outer] // rows)
    coordinates = _steady_coordinates(counts, outer, rows * inner, tid, counter)
    guard: Expr = less(tid, rows * inner)
    whole, rest = divmod(counts[outer], rows)
    if rest:
        # where rounds are unrolled only the last one tests for its rows
        there = Binary("||", less(Var(counter), whole), less(tid, rest * inner), I32)
        guard = Binary("&&", guard, there, I32)
    return Dealt(counter, rounds, (), coordinates, guard)


def _steady_coordinates(
    counts: list[int], outer: int, threads: int, tid: Expr, counter: str
) -> tuple[Expr, ...]:
    """Inner coordinates depend on the thread alone; the outermost one moves on by a constant each round."""
    rows = threads // prod(counts[outer + 1 :])
    digits = _digits([*([1] * outer), rows, *counts[outer + 1 :]], tid)
    step = mul(Var(counter), rows) if rows > 1 else Var(counter)
    base = digits[outer]
    digits[outer] = step if isinstance(base, Const) else add(base, step)
    return tuple(digits)


def _digits(counts: list[int], linear: Expr) -> list[Expr]:
    """Mixed-radix digits of `linear`, last dim fastest."""
    out: list[Expr] = []
    radix, whole = 1, prod(counts)
    for n in reversed(counts):
        out.append(ZERO if n == 1 else digit(linear, radix, n, whole))
        radix *= n
    return out[::-1]
