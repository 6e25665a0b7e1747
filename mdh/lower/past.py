"""Reads past the edge of a copy in shared memory, on behalf of points past the edge of the results.

What such points compute is stored nowhere, so that it does not matter what they read, as long as it is there:
the copy's next row or, behind the last one, some slack. A test of each element would cost more than the
multiplications. Points past the edge of a sum must meet zeros instead, and keep their tests.
"""

from collections.abc import Sequence

from mdh.hardware import Space
from mdh.ir.affine import Affine
from mdh.ir.layout import Guard, strides_for
from mdh.ir.program import DimKind
from mdh.ir.tile import ALIGNMENT
from mdh.lower.instance import Instance
from mdh.lower.nest import Nest

MOST = 256
"""Elements of slack."""


class Past:
    """Asked axis by axis of one source; `settle` then gives the source the slack that was allowed.

    index: the access's index functions over dims. guards: of points that may not exist.
    """

    def __init__(
        self, nest: Nest, source: Instance | None, index: Sequence[Affine] = (), guards: Sequence[Guard] = ()
    ) -> None:
        self.nest, self.index = nest, index
        self.buf = source.buf if source is not None and not nest.cpu and _dense(source) else None
        self.over = 0
        cut = {g.dim for g in guards}
        self.summed = {str(d) for d in cut if nest.stage.dims[d].kind is not DimKind.CC}

    def allows(self, axis: int, count: int) -> bool:
        """Whether reads along the axis may go `count` elements past it."""
        if self.buf is None or self.summed & self.index[axis].names:
            return False
        over = self.over + count * self.buf.strides[axis]
        others = (
            n * self.nest.shared[name].dtype.bytes + ALIGNMENT
            for name, n in self.nest.slack.items()
            if name != self.buf.name
        )
        if over > MOST or over * self.buf.dtype.bytes + ALIGNMENT + sum(others) > self.nest.room:
            return False
        self.over = over
        return True

    def settle(self) -> None:
        if self.buf is not None and self.over:
            slack = self.nest.slack
            slack[self.buf.name] = max(slack.get(self.buf.name, 0), self.over)


def _dense(source: Instance) -> bool:
    """A copy in shared memory without gaps that nobody fills; behind one of several slots lies another, which
    is being filled."""
    buf = source.buf
    if source.axes is None or buf.space is not Space.SM or buf.swizzle or source.slot is not None:
        return False
    order = tuple(sorted(range(len(buf.shape)), key=lambda k: -buf.strides[k]))
    return not any(a.packed for a in source.axes) and buf.strides == strides_for(buf.shape, order)
