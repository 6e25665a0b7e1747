"""Runs one stage in any arithmetic: evaluates the scalar function over the iteration box, combines, finishes
and stores."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Generic

import numpy as np

from mdh.ir.dtype import I32
from mdh.ir.expr import Expr, Var, walk
from mdh.ir.numerics import Numerics
from mdh.ir.product_sum import summed_product
from mdh.ir.program import DimKind, Output, Program, Result, Stage, combined_where, component
from mdh.reference.arithmetic import Arithmetic, V
from mdh.reference.exact import identity
from mdh.reference.expression import EvaluationScope, index_of, met_where, value_of
from mdh.reference.numbers import Array

POINTS = 1 << 22
"""Points of the box that are evaluated at a time; this bounds the memory of temporaries. Sums of products are
not expanded over the box: for them, elements of a factor or of the sums."""

Box = tuple[tuple[int, int], ...]
"""Half-open range of each dimension."""


def run_stage(
    stage: Stage, program: Program, arithmetic: Arithmetic[V], buffers: dict[str, V], scalars: dict[str, V],
    numerics: Numerics,
) -> None:  # fmt: skip
    """Runs `stage`. It changes the written buffers of `buffers`; loads see their contents from before.
    numerics: as an implementation may add its products."""
    before = {b: arithmetic.copy(buffers[b]) if b in stage.written else buffers[b] for b in stage.read}
    walk = _PointWalk(stage, program, arithmetic, before, buffers, scalars, numerics)
    for result in stage.results:
        if stage.scattered:
            walk.scatter(result)
        else:
            walk.combine(result)


class _PointWalk(Generic[V]):
    def __init__(
        self, stage: Stage, program: Program, arithmetic: Arithmetic[V], before: dict[str, V],
        after: dict[str, V], scalars: dict[str, V], numerics: Numerics,
    ) -> None:  # fmt: skip
        self.stage, self.program, self.arithmetic = stage, program, arithmetic
        self.before, self.after, self.scalars = before, after, scalars
        kinds = [d.kind for d in stage.dims]
        self.reduced = tuple(i for i, k in enumerate(kinds) if k is DimKind.PW)
        self.scanned = tuple(i for i, k in enumerate(kinds) if k is DimKind.PS)
        self.numerics = numerics
        self.count = prod(stage.dims[i].extent for i in self.reduced)
        self.types = {s.name: s.dtype for s in program.numbers} | {d.name: I32 for d in stage.dims}

    def scope(self, box: Box, *, lets: bool = True) -> EvaluationScope[V]:
        names = dict(self.scalars)
        for axis, (dim, (lo, hi)) in enumerate(zip(self.stage.dims, box, strict=True)):
            shape = tuple(hi - lo if i == axis else 1 for i in range(len(box)))
            names[dim.name] = self.arithmetic.of(np.arange(lo, hi).reshape(shape), I32)
        scope = EvaluationScope(self.arithmetic, names, dict(self.types), self.before)
        for let in self.stage.lets if lets else ():
            scope.types[let.name] = let.dtype
            names[let.name] = self.arithmetic.cast(value_of(let.value, scope), let.value.dtype, let.dtype)
        return scope

    def combine(self, result: Result) -> None:
        whole = tuple((0, d.extent) for d in self.stage.dims)
        outer = tuple(i for i in range(len(whole)) if i not in self.reduced + self.scanned)
        inner = tuple(i for i in range(len(whole)) if i in self.reduced)
        held = self._held(result)
        for box in pieces(whole, outer, POINTS, held=held):
            firsts = self._firsts(result, box)
            # the start of a scan enters at the prefix and not in the reduction
            states: Sequence[V | None] = [None] * len(firsts) if self.scanned else firsts
            for part in pieces(box, inner, POINTS, held=held):
                states = done = self._partial(result, part, states)
            if self.scanned and result.op is not None:
                scan = partial(self.arithmetic.scan, result.op, axes=self.scanned, exclusive=result.exclusive)
                every = zip(firsts, done, result.types, strict=True)
                done = [scan(first, state, dtype=dtype) for first, state, dtype in every]
            self._store(result, box, done)

    def _contraction(self, result: Result) -> bool:
        """Whether the result is a sum of products that may be added in any order. Sums of floats may; so may
        those of integers if products and sum wrap at the same width."""
        if not self.arithmetic.reorders or result.op is None or result.op.rounded is not None:
            return False
        every = zip(result.values, result.types, strict=True)
        alike = all(v.dtype.is_float if t.is_float else v.dtype == t for v, t in every)
        return alike and all(summed_product(result.op, v) is not None for v in result.values)

    def _held(self, result: Result) -> tuple[tuple[int, ...], ...]:
        """The dimensions of each temporary array: all of them, but for sums of products. A factor of those
        has the dimensions that it depends on."""
        every = tuple(range(len(self.stage.dims)))
        if not self._contraction(result):
            return (every,)
        below = {name: {i} for i, name in enumerate(d.name for d in self.stage.dims)}
        for let in self.stage.lets:
            below[let.name] = _dims_of(let.value, below)
        factors = [f for v in result.values for f in summed_product(result.op, v) or (v,)]
        kept = tuple(i for i in every if i not in self.reduced)
        return (kept, *(tuple(_dims_of(f, below)) for f in factors))

    def _firsts(self, result: Result, box: Box) -> list[V | None]:
        """The start of each component, in its own type."""
        origin = tuple((0, 1) if i in self.reduced + self.scanned else r for i, r in enumerate(box))
        scope = self.scope(origin, lets=False)
        return [
            None if start is None else self.arithmetic.cast(value_of(start, scope), start.dtype, dtype)
            for start, dtype in zip(result.starts, result.types, strict=True)
        ]

    def _partial(self, result: Result, box: Box, states: Sequence[V | None]) -> list[V]:
        """The components combined over one part of the box, after `states`."""
        arithmetic, scope = self.arithmetic, self.scope(box)
        shape = tuple(hi - lo for lo, hi in box)
        axes = self.reduced
        if result.op is None or (not axes and all(s is None for s in states)):
            return [self._spread(e, scope, shape, i, result) for i, e in enumerate(result.values)]
        if result.op.name in ("argmin", "argmax"):
            values = tuple(self._spread(e, scope, shape, i, result) for i, e in enumerate(result.values))
            known = tuple(s for s in states if s is not None)
            start = known if len(known) == len(values) else None
            return list(arithmetic.reduce_record(result.op, start, values, axes))
        out = []
        for i, (e, state, dtype) in enumerate(zip(result.values, states, result.types, strict=True)):
            factors = summed_product(result.op, e) if self._contraction(result) else None
            if factors is not None:
                a, b = (value_of(f, scope) for f in factors)
                product = factors[0].dtype
                out.append(
                    arithmetic.contract(state, a, b, shape, axes, dtype, self.count, product, self.numerics)
                )
            else:
                spread = self._spread(e, scope, shape, i, result)
                out.append(arithmetic.reduce(result.op, state, spread, axes, dtype, self.count))
        return out

    def _spread(
        self, e: Expr, scope: EvaluationScope[V], shape: tuple[int, ...], component: int, result: Result
    ) -> V:
        value = self.arithmetic.cast(value_of(e, scope), e.dtype, result.types[component])
        return self.arithmetic.broadcast(value, shape)

    def _store(self, result: Result, box: Box, states: list[V]) -> None:
        flat = tuple((0, 1) if i in self.reduced and result.op is not None else r for i, r in enumerate(box))
        scope = self.scope(flat, lets=result.op is None or not self.reduced)
        for i, (state, dtype) in enumerate(zip(states, result.types, strict=True)):
            scope.names[component(i)] = state
            scope.types[component(i)] = dtype
        for output in result.outputs:
            self._write(output, index_of_output(output, scope, self.after), scope)

    def _write(self, output: Output, index: tuple[Array, ...], scope: EvaluationScope[V]) -> None:
        dtype = self.program.buffer_of[output.buffer].dtype
        value = self.arithmetic.cast(value_of(output.value, scope), output.value.dtype, dtype)
        self.arithmetic.put(self.after[output.buffer], index, value, dtype)

    def scatter(self, result: Result) -> None:
        """Runs a histogram: combines every point into the element that its data name, in C's order."""
        assert result.op is not None
        output = result.outputs[0]
        buffer = self.program.buffer_of[output.buffer]
        dtype = result.types[0]
        if result.starts[0] is None:
            empty = np.full(buffer.shape, identity(result.op, dtype))
            into = self.arithmetic.of(empty, dtype)
        else:
            into = self.arithmetic.copy(self.arithmetic.cast(self.after[output.buffer], buffer.dtype, dtype))
        whole = tuple((0, d.extent) for d in self.stage.dims)
        for box in pieces(whole, range(len(whole)), POINTS, in_order=True):
            scope = self.scope(box)
            shape = tuple(hi - lo for lo, hi in box)
            # elsewhere a point is not combined, and its index may be out of range
            mask = met_where(combined_where(result.values[0], result.op, dtype)[0], scope, shape)
            index = index_of_output(output, scope, self.after, mask)
            values = self._spread(result.values[0], scope, shape, 0, result)
            self.arithmetic.scatter(result.op, into, index, values, dtype, self.count)
        every = tuple(np.asarray(i) for i in np.indices(buffer.shape, sparse=True))
        names = self.scalars | {component(0): into}
        scope = EvaluationScope(self.arithmetic, names, self.types | {component(0): dtype}, self.before)
        self._write(output, every, scope)


def index_of_output(
    output: Output, scope: EvaluationScope[V], after: dict[str, V], active: Array | None = None
) -> tuple[Array, ...]:
    """Index arrays of the written elements; the written buffer need not be read."""
    seen = EvaluationScope(
        scope.arithmetic, scope.names, scope.types, scope.buffers | {output.buffer: after[output.buffer]}
    )
    return index_of(output.buffer, output.index, seen, active)


def _dims_of(e: Expr, below: Mapping[str, set[int]]) -> set[int]:
    """The dimensions that a value depends on. below: those of each name."""
    return {i for x in walk(e) if isinstance(x, Var) for i in below.get(x.name, ())}


def pieces(
    box: Box, axes: Sequence[int], limit: int, *, in_order: bool = False,
    held: Sequence[Sequence[int]] | None = None,
) -> Iterator[Box]:  # fmt: skip
    """The box in parts, split along `axes` only, with at most `limit` points along the axes of each of `held`
    (None: all axes). in_order: in C's order, outer axes first; else the longest axis is split, so that parts
    of arrays are small."""
    points = max(prod(hi - lo for lo, hi in (box[i] for i in each)) for each in held or (range(len(box)),))
    long = [i for i in axes if box[i][1] - box[i][0] > 1]
    if points <= limit or not long:
        yield box
        return
    axis = long[0] if in_order else max(long, key=lambda i: box[i][1] - box[i][0])
    lo, hi = box[axis]
    middle = (lo + hi) // 2
    for part in ((lo, middle), (middle, hi)):
        inside = (*box[:axis], part, *box[axis + 1 :])
        yield from pieces(inside, axes, limit, in_order=in_order, held=held)
