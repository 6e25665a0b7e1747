"""Derives the shapes of plain pointers from their subscripts, and proves that every access stays inside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.statements import Array, Use
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.clauses import clauses_of
from mdh.ir.dtype import I32
from mdh.ir.expr import Expr, Load, map_children
from mdh.ir.program import Buffer
from mdh.ir.statement import LoopVar
from mdh.poly.sets import Reach, reach

MOST_BYTES = 2**63 - 1
"""The most bytes of an array: C's largest object (PTRDIFF_MAX), and the range of 64-bit addresses."""


@dataclass(frozen=True, slots=True)
class PointerShape:
    """Extents, the row strides that split a flat index, and one more than the greatest flat index."""

    extents: tuple[int, ...]
    strides: tuple[int, ...]
    reach: int


def pointer_shapes(arrays: Mapping[str, Array], uses: Sequence[Use]) -> dict[str, PointerShape]:
    """The shape of every plain pointer: rows if all subscripts agree on strides, else one dimension."""
    out = {}
    for array in arrays.values():
        if array.shape is None:
            mine = [u for u in uses if u.load.buffer == array.name]
            out[array.name] = _shape(array, mine)
    return out


def open_extents(array: Array, uses: Sequence[Use]) -> tuple[int, ...]:
    """The extents of `A[][K]`; the first one is as large as the accesses reach."""
    if array.shape is None or array.shape[0] >= 0:
        return array.shape or ()
    mine = [u for u in uses if u.load.buffer == array.name]
    accesses = [_affine(array, u) for u in mine]
    return (_extent(accesses, mine), *array.shape[1:])


def check_volume(b: Buffer) -> None:
    """Raises Failed C117 if the extents of `b`, each legal, make it larger than C allows."""
    size = prod(b.shape) * b.dtype.bytes
    if size > MOST_BYTES:
        extents = "×".join(f"{n:,}" for n in b.shape)
        what = f"`{b.name}` has {extents} elements, which take more than 2^63 - 1 bytes"
        raise fail("C117", what, b.span, help="give it smaller extents")


def _affine(array: Array, u: Use) -> Affine:
    aff = from_expr(u.load.index[0])
    if aff is None:
        raise fail("C117", f"how long `{array.name}` is cannot be read off an index that is data", u.span,
                   label="the index is loaded", help=f"declare its extents: {array.name}[N]")  # fmt: skip
    return aff


def _extent(indices: list[Affine], uses: Sequence[Use]) -> int:
    """One more than the greatest index that is accessed."""
    tops = [_reach(a, u) for a, u in zip(indices, uses, strict=True)]
    return max([0, *(t[1][0] for t in tops if t is not None)]) + 1


def _shape(array: Array, uses: Sequence[Use]) -> PointerShape:
    flat = [_affine(array, u) for u in uses]
    ranges = [_box(u) for u in uses]
    strides = _strides(flat, ranges)
    digits = [split(a, strides, r) for a, r in zip(flat, ranges, strict=True)]
    parts = [p for p in digits if p is not None]
    if len(parts) < len(flat):
        strides, parts = (1,), [(a,) for a in flat]
    first = _extent([p[0] for p in parts], uses)
    extents = (first, *(strides[k - 1] // strides[k] for k in range(1, len(strides))))
    return PointerShape(extents, strides, _extent(flat, uses))


def _box(u: Use) -> dict[str, tuple[int, int]]:
    return {v.name: (0, v.extent - 1) for v in u.loops}


def _reach(a: Affine, u: Use) -> tuple[Reach, Reach] | None:
    """The least and greatest value of an index, each with its iteration; None if it is never used."""
    low, high = a.bounds(_box(u))
    ranges = {v.name: v.extent for v in u.loops}
    if not u.conds:
        corners = [
            {v.name: (v.extent - 1) * ((a.coefficient(v.name) > 0) == top) for v in u.loops}
            for top in (False, True)
        ]
        return (low, corners[0]), (high, corners[1])
    return reach(a, ranges, clauses_of(u.conds, ranges))


def _strides(accesses: list[Affine], ranges: list[dict[str, tuple[int, int]]]) -> tuple[int, ...]:
    """Row strides, largest first, that split every access into digits in range. The last one is 1."""
    candidates = sorted({abs(c) for a in accesses for _, c in a.terms if abs(c) > 1}, reverse=True)
    chosen: list[int] = []
    for c in candidates:
        if chosen and chosen[-1] % c:
            continue
        trial = (*chosen, c, 1)
        if all(split(a, trial, r) is not None for a, r in zip(accesses, ranges, strict=True)):
            chosen.append(c)
    return (*chosen, 1)


def split(
    a: Affine, strides: tuple[int, ...], ranges: dict[str, tuple[int, int]]
) -> tuple[Affine, ...] | None:
    """Digits of a flat index by row strides; None if one leaves its row."""
    digits: list[Affine] = []
    rest = a
    for k, s in enumerate(strides[:-1]):
        high = Affine.of({n: c // s for n, c in rest.terms if c % s == 0})
        low = Affine.of({n: c for n, c in rest.terms if c % s})
        least = low.bounds(ranges)[0]
        q = (rest.const + least) // s
        low = low.shift(rest.const - q * s)
        if low.bounds(ranges)[0] < 0 or low.bounds(ranges)[1] >= s:
            return None
        digits.append(high.shift(q))
        rest = low
        if k > 0 and (digits[k].bounds(ranges)[0] < 0 or digits[k].bounds(ranges)[1] >= strides[k - 1] // s):
            return None
    return (*digits, rest)


def reshape(e: Expr, shapes: dict[str, PointerShape], loops: tuple[LoopVar, ...]) -> Expr:
    """`e` with the loads of pointers indexed by rows."""
    inner = map_children(e, lambda c: reshape(c, shapes, loops))
    if isinstance(inner, Load) and inner.buffer in shapes:
        aff, strides = from_expr(inner.index[0]), shapes[inner.buffer].strides
        if aff is not None and strides != (1,):
            digits = split(aff, strides, {lv.name: (0, lv.extent - 1) for lv in loops})
            assert digits is not None
            return replace(inner, index=tuple(to_expr(d, I32) for d in digits))
    return inner


def check_bounds(uses: Sequence[Use], extents: Mapping[str, tuple[int, ...]], flat: frozenset[str]) -> None:
    """Raises with the iteration of the first access outside of its array. flat: arrays without extents."""
    found: list[Diagnostic] = []
    seen: set[tuple[str, int]] = set()
    for u in uses:
        pointer = u.load.buffer in flat
        for k, e in enumerate(u.load.index):
            n = None if pointer else extents[u.load.buffer][k]
            aff = from_expr(e)
            if aff is None or _within(aff, n, u):
                continue
            ends = _reach(aff, u)
            if ends is None:
                continue
            value, point = ends[0] if ends[0][0] < 0 else ends[1]
            if value >= 0 and (n is None or value < n):
                continue
            if (u.load.buffer, u.span.start) not in seen:
                found.append(_outside(u, k, n, value, point))
            seen.add((u.load.buffer, u.span.start))
    if found:
        raise Failed(*found)


def _within(a: Affine, n: int | None, u: Use) -> bool:
    """Whether the whole box is inside, so that conditions need not be asked."""
    low, high = a.bounds(_box(u))
    return low >= 0 and (n is None or high < n)


def _outside(u: Use, k: int, extent: int | None, value: int, point: dict[str, int]) -> Diagnostic:
    """The error for subscript k, which has `value` at the iteration `point`."""
    at = {v.cname: v.at(point) for v in u.loops}
    where = ", ".join(f"{n} = {v}" for n, v in at.items())
    verb = "writes" if u.write else "reads"
    size = "begins at 0" if extent is None else f"has extent {extent} in dimension {k + 1}"
    note = "the conditions around it do not keep the index inside" if u.conds else ""
    return Diagnostic(
        "C140",
        f"`{u.load.buffer}` {size}, but the program {verb} index {value}" + (f" at {where}" if where else ""),
        (Label(u.span, f"index {value}"),),
        notes=(note,) if note else (),
        help="correct the loop bounds or the array's extents",
        witness=(
            ("buffer", u.load.buffer),
            ("dimension", k + 1),
            ("index", value),
            ("iteration", at),
        ),
    )
