"""How often a loop's body runs in C, by the counter's type and the type in which the header compares."""

from dataclasses import dataclass

from mdh.frontend.typing_rules import COMPARED, wrap
from mdh.ir.affine import Affine, to_expr
from mdh.ir.dtype import I32, I64, U32, DType, common, integer_range, promote_integer
from mdh.ir.expr import Binary, Cast, Const, Expr, Var

INT_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class LoopHeader:
    """`for (T name = start; name op bound; name += step)`; start has been converted to T.

    bound: as C compares it: a negative one of a signed type is large if `compared` is unsigned.
    """

    start: int
    op: str
    bound: int
    step: int
    counter: DType
    compared: DType


@dataclass(frozen=True, slots=True)
class CounterRun:
    """The iterations of a loop. trips: how often the body runs; None if the counter overflows its type, or
    never moves, and the loop continues. last: the counter in the last known iteration; after: its value after
    that."""

    trips: int | None
    last: int
    after: int


def header(start: Const, op: str, bound: Const, step: int, counter: DType) -> LoopHeader:
    """The parts of a `for` for a counter of type `counter`."""
    compared = common(promote_integer(counter), bound.dtype)
    # steps that are equal modulo 2^bits change the counter in the same way: `i += -1`, `i += 4294967295u`
    step = wrap(step, DType("", "int", counter.bits)) if abs(step) >= 2 ** (counter.bits - 1) else step
    return LoopHeader(
        wrap(int(start.value), counter), op, wrap(int(bound.value), compared), step, counter, compared
    )


def compared(value: int, h: LoopHeader) -> int:
    """The counter's value as the condition sees it."""
    return wrap(value, h.compared)


def holds(value: int, h: LoopHeader) -> bool:
    """Whether C's condition holds for a value of the counter."""
    return COMPARED[h.op](compared(value, h), h.bound)


def run(h: LoopHeader) -> CounterRun:
    """Simulates the loop, a range of equal comparisons at a time."""
    low, high = integer_range(h.counter)
    parts = [(low, -1), (0, high)] if h.counter.kind == "int" and h.compared.kind == "uint" else [(low, high)]
    trips, value = 0, h.start
    while low <= value <= high and holds(value, h):
        if h.step == 0:
            return CounterRun(None, value, value)
        first, last = next((a, b) for a, b in parts if a <= value <= b)
        count = ((last - value) if h.step > 0 else (value - first)) // abs(h.step) + 1
        ends = _until_false(compared(value, h), h)
        count = count if ends is None else min(count, ends)
        trips, value = trips + count, value + count * h.step
    if low <= value <= high:
        return CounterRun(trips, value - h.step, value)
    after = wrap(value, h.counter)
    # an unsigned counter wraps around: `for (unsigned i = 63; i < 64; i--)` ends there
    ended = h.counter.kind == "uint" and not holds(after, h)
    return CounterRun(trips if ended else None, value - h.step, after)


def _until_false(u: int, h: LoopHeader) -> int | None:
    """Steps until the condition fails, if the type were unbounded; None if it never does."""
    away = (h.bound - u) if h.step > 0 else (u - h.bound)
    size = abs(h.step)
    match h.op, h.step > 0:
        case ("<", True) | (">", False):
            return -(-away // size)
        case ("<=", True) | (">=", False):
            return away // size + 1
        case "!=", _:
            return away // size if away > 0 and away % size == 0 else None
        case _:
            return None


def counter_value(name: str, start: int, step: int, extent: int, declared: DType) -> Expr:
    """The C variable's value, start + step * name, with its type in arithmetic."""
    ends = (start, start + step * (extent - 1), step)
    wide = declared.bits == 64 or declared == U32
    if all(abs(n) <= INT_MOST for n in ends):
        value = to_expr(Affine.of({name: step}, start), I32)
        return Cast(value, declared) if wide else value
    # int could not hold an intermediate value
    term: Expr = Cast(Var(name), I64)
    if step != 1:
        term = Binary("*", term, Const(step, I64), I64)
    if start:
        term = Binary("+", term, Const(start, I64), I64)
    return term if declared == I64 else Cast(term, declared)
