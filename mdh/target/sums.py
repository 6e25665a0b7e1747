"""Loops of which GCC makes wrong vectors: floats that are summed in order, several terms a turn.

From GCC 11 on to 11.4, 12.3 and 13.1 some terms count twice and others not at all, where the terms of a turn
are not read in the order of memory (`s += x[4 * i + 1]; s += x[4 * i];`). It is GCC's bug 110381. An empty
`asm` in the loop's body keeps GCC from making vectors of it.
"""

from collections.abc import Iterator

from mdh.ir.expr import Binary, Cast, Expr, Load, Var, walk
from mdh.ir.kernel import For, Stmt, Store
from mdh.ir.walk import bodies, trips
from mdh.target.dialect import PrintScope

IN_ORDER = "SUMS_IN_ORDER"
"""The macro that such a loop begins with."""
DEFINITION = f"""#if defined __GNUC__ && !defined __clang__ && __GNUC__ < 14
#define {IN_ORDER} __asm__("")  // no vectors here: GCC before 11.5, 12.4 and 13.2 gets such sums wrong
#else
#define {IN_ORDER} (void)0
#endif
"""


def sums_in_order(loop: For, scope: PrintScope) -> bool:
    """A float that outlives a turn of the loop gets several terms in it, in this body or in loops inside."""
    found: set[str] = set()
    for buffer, terms in _sums(loop.body, frozenset(), loop.var, scope):
        if terms > 1 or buffer in found:
            return True
        found.add(buffer)
    return False


def _sums(
    body: tuple[Stmt, ...], inside: frozenset[str], outer: str, scope: PrintScope
) -> Iterator[tuple[str, int]]:
    """Of each store that adds to a float whose place `outer` does not decide: the buffer, and how many terms
    it gets in a turn, 2 for any more. inside: loops around the store that run in a turn."""
    for s in body:
        match s:
            case Store(buffer, index, value) if s.lanes == 1 and _lanes(buffer, scope) == 1:
                named = {x.name for e in index for x in walk(e) if isinstance(x, Var)}
                terms = _added(value, s)
                if terms and outer not in named:
                    yield buffer, 2 if inside - named else terms
            case For():
                more = inside if trips(s) == 1 else inside | {s.var}
                yield from _sums(s.body, more, outer, scope)
            case _:
                for part in bodies(s):
                    yield from _sums(part, inside, outer, scope)


def _lanes(buffer: str, scope: PrintScope) -> int:
    """Buffers that the loop declares hold what does not outlive its turn."""
    return scope.buffers[buffer].lanes if buffer in scope.buffers else 0


def _added(value: Expr, s: Store) -> int:
    """Terms that are added to the element's own value: `y + a + b` has two."""
    match value:
        case Cast(arg, dtype) if dtype.is_float:
            return _added(arg, s)
        case Binary("+" | "-", left, right, dtype) if dtype.is_float:
            for side in (left, right):
                if any(
                    isinstance(x, Load) and (x.buffer, x.index) == (s.buffer, s.index) for x in walk(side)
                ):
                    return 1 + _added(side, s)
    return 0
