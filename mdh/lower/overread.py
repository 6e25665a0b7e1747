"""Reads past the edge of a copy in shared memory, on behalf of points past the edge of the results.

What such points compute is stored nowhere, so that it does not matter what they read, as long as it is there:
the copy's next row or, behind the last one, some slack. A test of each element would cost more than the
multiplications. Points past the edge of a sum must meet zeros instead, and keep their tests.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mdh.hardware import Space
from mdh.ir.affine import Affine
from mdh.ir.construct import ZERO, add, loop
from mdh.ir.expr import Const, Expr, Var
from mdh.ir.kernel import Buf, Stmt, Store
from mdh.ir.layout import Guard, strides_for
from mdh.ir.program import DimKind
from mdh.ir.tile import ALIGNMENT
from mdh.lower.deal import deal, wrap
from mdh.lower.nest import Nest
from mdh.lower.scope import Instance

MOST = 256
"""Elements of slack."""
Slack = Mapping[str, int]
"""Elements behind the last one of each buffer that are read, too."""


@dataclass(frozen=True, slots=True)
class Overread:
    """Reads that go `count` elements past the end of `buf` (None: none may). index: their functions over
    dims. summed: dims along which the points past the edge are terms of sums. given: slack of all buffers."""

    nest: Nest
    buf: Buf | None
    index: Sequence[Affine]
    summed: frozenset[str]
    given: Slack
    count: int = 0

    def along(self, axis: int, count: int) -> "Overread | None":
        """With reads that go `count` elements further along an axis, None where they may not."""
        if self.buf is None or self.summed & self.index[axis].names:
            return None
        over = self.count + count * self.buf.strides[axis]
        shared = self.nest.declarations.shared
        others = [
            n * shared[name].dtype.bytes + ALIGNMENT
            for name, n in self.given.items()
            if name != self.buf.name
        ]
        needed = over * self.buf.dtype.bytes + ALIGNMENT + sum(others)
        return None if over > MOST or needed > self.nest.room else replace(self, count=over)

    @property
    def slack(self) -> Slack:
        """Of all buffers, with what these reads need."""
        if self.buf is None or not self.count:
            return self.given
        return {**self.given, self.buf.name: max(self.given.get(self.buf.name, 0), self.count)}


def no_overread(nest: Nest) -> Overread:
    """Reads that must stay inside."""
    return Overread(nest, None, (), frozenset(), nest.declarations.slack)


def overread(
    nest: Nest, source: Instance, index: Sequence[Affine], guards: Sequence[Guard], given: Slack
) -> Overread:
    """Reads of a copy, none of which goes past its end so far. guards: of the points that may not exist."""
    sums = nest.dims(DimKind.PW, DimKind.PS)
    summed = frozenset(str(g.dim) for g in guards if g.dim in sums)
    alone = nest.cpu or nest.plan.roles is not None
    buf = source.buf if not alone and _is_dense(source) else None
    return Overread(nest, buf, index, summed, given)


def _is_dense(source: Instance) -> bool:
    """A copy in shared memory without gaps that nobody fills; behind one of several slots lies another, which
    is being filled."""
    buf = source.buf
    if buf.space is not Space.SM or buf.swizzle or source.slot is not None:
        return False
    order = tuple(sorted(range(len(buf.shape)), key=lambda k: -buf.strides[k]))
    return not any(a.packed for a in source.axes) and buf.strides == strides_for(buf.shape, order)


def clear_slack(nest: Nest) -> list[Stmt]:
    """The slack of all buffers becomes zero, by all threads of a block together."""
    out: list[Stmt] = []
    for name, count in nest.declarations.slack.items():
        buf = nest.declarations.shared[name]
        var = nest.fresh(f"s_{name}")
        dealt = deal(nest, [count], var) if nest.threads > 1 else None
        place: Expr = Var(var) if dealt is None else dealt.coordinates[0]
        row = buf.strides.index(1)
        index = tuple(add(place, buf.elements) if k == row else ZERO for k in range(len(buf.shape)))
        zero = Store(name, index, Const(0, buf.dtype))
        out.extend([loop(var, count, [zero])] if dealt is None else wrap(dealt, [zero]))
    return out
