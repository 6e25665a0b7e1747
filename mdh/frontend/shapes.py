"""Shapes of plain pointers, read off their subscripts; and the proof that every access stays inside."""

from dataclasses import dataclass

from mdh.diagnostics import Diagnostic, Failed, Label
from mdh.frontend.scope import Array, LoopVar, Use
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import I32
from mdh.ir.expr import Expr, Load, map_children


@dataclass(frozen=True, slots=True)
class Shape:
    """Extents, and the row strides that a flat index is split by."""

    extents: tuple[int, ...]
    strides: tuple[int, ...]


def pointer_shapes(arrays: dict[str, Array], uses: list[Use]) -> dict[str, Shape]:
    """The shape of every plain pointer: rows where all subscripts agree on strides, else one dimension."""
    out = {}
    for array in arrays.values():
        if array.shape is None:
            mine = [u for u in uses if u.load.buffer == array.name]
            out[array.name] = _shape(mine)
    return out


def _shape(uses: list[Use]) -> Shape:
    accesses = []
    for u in uses:
        aff = from_expr(u.load.index[0])
        if aff is None:
            return Shape((1,), (1,))
        accesses.append((aff, {lv.name: (0, lv.extent - 1) for lv in u.loops}))
    if not accesses:
        return Shape((1,), (1,))
    strides = _strides([a for a, _ in accesses], [r for _, r in accesses])
    parts = [split(a, strides, r) for a, r in accesses]
    if any(p is None for p in parts):
        strides = (1,)
        parts = [(a,) for a, _ in accesses]
    extents = []
    for k in range(len(strides)):
        most = 0
        for p, (_, r) in zip(parts, accesses, strict=True):
            assert p is not None
            most = max(most, p[k].bounds(r)[1])
        extents.append(most + 1)
    for k in range(1, len(strides)):
        extents[k] = strides[k - 1] // strides[k]
    return Shape(tuple(extents), strides)


def _strides(accesses: list[Affine], ranges: list[dict[str, tuple[int, int]]]) -> tuple[int, ...]:
    """Row strides, largest first, that split every access into digits in range; ends in 1."""
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
    """Digits of a flat index by row strides, None where one leaves its row."""
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


def reshape(e: Expr, shapes: dict[str, Shape], loops: tuple[LoopVar, ...]) -> Expr:
    """`e` with the loads of pointers indexed by rows."""
    inner = map_children(e, lambda c: reshape(c, shapes, loops))
    if isinstance(inner, Load) and inner.buffer in shapes:
        return Load(inner.buffer, split_index(inner, shapes, loops), inner.dtype)
    return inner


def split_index(load: Load, shapes: dict[str, Shape], loops: tuple[LoopVar, ...]) -> tuple[Expr, ...]:
    shape = shapes[load.buffer]
    aff = from_expr(load.index[0])
    if aff is None or shape.strides == (1,):
        return load.index
    digits = split(aff, shape.strides, {lv.name: (0, lv.extent - 1) for lv in loops})
    assert digits is not None
    return tuple(to_expr(d, I32) for d in digits)


def check_bounds(uses: list[Use], extents: dict[str, tuple[int, ...]]) -> None:
    """Fails with the iteration of the first access outside of its array (affine over a box: a corner)."""
    found: list[Diagnostic] = []
    seen: set[tuple[str, int]] = set()
    for u in uses:
        if u.guarded:
            continue
        ranges = {lv.name: (0, lv.extent - 1) for lv in u.loops}
        for k, (e, n) in enumerate(zip(u.load.index, extents[u.load.buffer], strict=True)):
            aff = from_expr(e)
            if aff is None:
                continue
            low, high = aff.bounds(ranges)
            if low >= 0 and high < n:
                continue
            if (u.load.buffer, u.span.start) not in seen:
                found.append(_outside(u, k, aff, n, low if low < 0 else high))
            seen.add((u.load.buffer, u.span.start))
    if found:
        raise Failed(*found)


def _outside(u: Use, k: int, aff: Affine, extent: int, value: int) -> Diagnostic:
    """The corner of the iteration box at which subscript k takes `value`."""
    point = []
    for lv in u.loops:
        c = aff.coefficient(lv.name)
        high = (c > 0) == (value >= extent)
        at = (lv.extent - 1 if high else 0) if c else 0
        point.append((lv.cname, lv.start + lv.step * at))
    where = ", ".join(f"{n} = {v}" for n, v in point)
    verb = "writes" if u.write else "reads"
    return Diagnostic(
        "C140",
        f"`{u.load.buffer}` has extent {extent} in dimension {k + 1}, but the program {verb} index {value}"
        + (f" at {where}" if where else ""),
        (Label(u.span, f"index {value}"),),
        help="correct the loop bounds or the array's extents",
        witness=(
            ("buffer", u.load.buffer),
            ("dimension", k + 1),
            ("index", value),
            ("iteration", dict(point)),
        ),
    )
