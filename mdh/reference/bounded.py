"""Wide arithmetic with error bounds: the results that a correct kernel may give.

Floats are computed in double. Beside each value is a bound on the difference to an implementation in the
program's own types. It counts one rounding for each operation, the stated ulps of a function, and for a sum
of n terms in any order (4 sqrt(n) + 16) u S, with S the sum of absolute values. If m terms are equal it is m
u S more, since equal terms are rounded alike. For sums of products this is the bound |out - ref| <= (4
sqrt(n) + 16) u_acc S + u_out |ref|; through further operations it is propagated to first order. Integers are
C's and have no bound unless they come from a rounded float.
"""

from dataclasses import replace

import numpy as np

from mdh.ir.dtype import EIGHTHS, F32, F64, DType
from mdh.ir.numerics import Numerics
from mdh.ir.program import Operator
from mdh.reference import error
from mdh.reference.contraction import contraction
from mdh.reference.error import Bounded
from mdh.reference.exact import CArithmetic, best
from mdh.reference.functions import FUNCTIONS
from mdh.reference.numbers import Array, largest, precision, smallest, unit_roundoff
from mdh.reference.windows import taken

_C = CArithmetic()


class BoundedArithmetic:
    """exact: the inputs are small integers. If every operation and every partial sum is then exact in its
    type, the bound stays None, and an implementation must agree bit for bit. passing: comparisons skip NaNs
    that they would take. met: a comparison has met a NaN."""

    reorders = True

    def __init__(self, *, exact: bool, passing: bool = False) -> None:
        self.exact, self.passing, self.met = exact, passing, False

    def _compared(self, op: Operator, start: Bounded | None, values: Bounded) -> Operator:
        """The operator for this evaluation."""
        if op.name not in ("min", "max") or op.nan:
            return op
        seen = (values.value,) if start is None else (values.value, start.value)
        self.met = self.met or any(bool(np.isnan(v).any()) for v in seen)
        return replace(op, takes=False, tie="first") if self.passing and op.takes else op

    def of(self, array: Array, dtype: DType) -> Bounded:
        typed = _C.of(array, dtype)
        return Bounded(typed.astype(np.float64) if dtype.is_float else typed)

    def plain(self, v: Bounded) -> Array:
        return v.value

    def take(self, v: Bounded, index: tuple[Array, ...]) -> Bounded:
        return Bounded(taken(v.value, index), None if v.bound is None else taken(v.bound, index))

    def put(self, v: Bounded, index: tuple[Array, ...], value: Bounded, dtype: DType) -> None:
        _C.put(v.value, index, value.value, _wide(dtype))
        if v.bound is None and value.bound is not None:
            v.bound = np.zeros(v.value.shape)
        if v.bound is not None:
            slack = np.broadcast_to(value.slack, value.value.shape)
            _C.put(v.bound, index, slack, F64)

    def copy(self, v: Bounded) -> Bounded:
        return Bounded(v.value.copy(), None if v.bound is None else v.bound.copy())

    def broadcast(self, v: Bounded, shape: tuple[int, ...]) -> Bounded:
        bound = None if v.bound is None else np.broadcast_to(v.bound, shape)
        return Bounded(np.broadcast_to(v.value, shape), bound)

    def unary(self, op: str, a: Bounded, dtype: DType) -> Bounded:
        return Bounded(_C.unary(op, a.value, _wide(dtype)), a.bound)

    def binary(self, op: str, a: Bounded, b: Bounded, operands: DType, dtype: DType) -> Bounded:
        if op in error.COMPARISONS:
            return Bounded(_C.binary(op, a.value, b.value, operands, dtype), error.ambiguous(op, a, b))
        value = _C.binary(op, a.value, b.value, _wide(operands), _wide(dtype))
        bound = error.propagated(op, a, b, value)
        if not dtype.is_float:
            return Bounded(value, bound)
        # OpenCL's full profile allows an error of 2.5 ulp in a float division
        return self.rounded(
            value, bound, dtype, ulps=3 if op == "/" and dtype.bits <= 32 else 0, sure=op != "/"
        )

    def rounded(
        self, value: Array, bound: Array | None, dtype: DType, *, ulps: int = 0, sure: bool = True
    ) -> Bounded:
        """The error of computing `value` in `dtype`: a rounding, or `ulps` where that many are allowed.
        sure: an exactly representable value is certain to come out exactly."""
        if self.exact and sure and bound is None and representable(value, dtype):
            return Bounded(value)
        with np.errstate(all="ignore"):
            own = np.abs(value) * (unit_roundoff(dtype) * max(1, 2 * ulps)) + smallest(dtype)
            if sure:
                # an infinity is not rounded
                own = np.where(np.isinf(value), 0.0, own)
            return Bounded(value, own if bound is None else error.clean(own + bound))

    def select(self, cond: Bounded, then: Bounded, other: Bounded, dtype: DType) -> Bounded:
        value = _C.select(cond.value, then.value, other.value, _wide(dtype))
        return Bounded(value, error.selected(cond, then, other))

    def cast(self, a: Bounded, source: DType, dtype: DType) -> Bounded:
        if source == dtype:
            return a
        value = _C.cast(a.value, _wide(source), _wide(dtype))
        if not dtype.is_float:
            return Bounded(value, error.truncated(a, value) if source.is_float else a.bound)
        if source.is_float and precision(source) <= precision(dtype) and source.bits <= dtype.bits:
            return a
        if self.exact and a.bound is None:
            # one rounding of an exact value is the same in every implementation
            return Bounded(_C.cast(value, F64, dtype).astype(np.float64))
        if dtype in EIGHTHS:
            value = np.clip(value, -largest(dtype), largest(dtype))
        return self.rounded(value, a.bound, dtype)

    def call(self, fn: str, args: tuple[Bounded, ...], dtype: DType) -> Bounded:
        function = FUNCTIONS[fn]

        def apply(*values: Array) -> Array:
            return _C.call(fn, values, _wide(dtype))

        value = apply(*(a.value for a in args))
        bound = error.through(apply, args, value)
        if not dtype.is_float:
            return Bounded(value, bound)
        if function.ulps == 0 and bound is None:
            return Bounded(value)
        return self.rounded(value, bound, dtype, ulps=function.ulps, sure=function.ulps == 0)

    def reduce(
        self,
        op: Operator,
        start: Bounded | None,
        values: Bounded,
        axes: tuple[int, ...],
        dtype: DType,
        count: int,
    ) -> Bounded:
        op = self._compared(op, start, values)
        if op.rounded is not None and op.name in ("+", "*"):
            return self._rounding(op, start, values, axes, count)
        op = replace(op, rounded=None)
        if op.name == "+" and dtype.is_float:
            total = np.add.reduce(values.value, axis=axes, keepdims=True)
            size = np.add.reduce(np.abs(values.value), axis=axes, keepdims=True)
            slack = None if values.bound is None else np.add.reduce(values.bound, axis=axes, keepdims=True)
            whole = self.exact and values.bound is None and error.whole(values.value)
            alike = None if whole else error.repeats(values.value, axes)
            terms = error.sum_factor(count)
            return self._summed(start, total, size, slack, dtype, terms, exact=whole, alike=alike)
        first = None if start is None else start.value
        if dtype.is_float:
            value = error.wide_combined(op, first, values.value, axes)
        else:
            value = _C.reduce(op, first, values.value, axes, dtype, count)
        bound = error.reduced(op, start, values, value, axes, dtype, count, exact=self.exact)
        return Bounded(value, bound)

    def _rounding(
        self, op: Operator, start: Bounded | None, values: Bounded, axes: tuple[int, ...], count: int
    ) -> Bounded:
        """A state rounded at each point, in C's order: the same everywhere for values that are."""
        assert op.rounded is not None
        value = _C.reduce(op, None if start is None else start.value, values.value, axes, F32).astype(
            np.float64
        )
        if values.bound is None and (start is None or start.bound is None):
            return Bounded(value)
        plain = replace(op, rounded=None)
        bound = error.reduced(Operator("*"), start, values, value, axes, op.rounded, count, exact=False)
        if op.name == "+":
            size = Bounded(np.abs(values.value) + values.slack)
            most = None if start is None else Bounded(np.abs(start.value) + start.slack)
            total = self.reduce(plain, most, size, axes, F64, count).value
            moved = self.reduce(plain, None, Bounded(values.slack + 0 * values.value), axes, F64, count).value
            first = np.zeros(()) if start is None else start.slack
            own = (count + 16) * unit_roundoff(op.rounded) * total + smallest(op.rounded)
            bound = error.clean(own + moved + first)
        return Bounded(value, bound)

    def contract(
        self, start: Bounded | None, a: Bounded, b: Bounded, shape: tuple[int, ...], axes: tuple[int, ...],
        dtype: DType, count: int, product: DType, numerics: Numerics,
    ) -> Bounded:  # fmt: skip
        if not dtype.is_float:
            return self._contract_whole(start, a, b, shape, axes, dtype)

        def over(x: Array, y: Array) -> Array:
            return contraction(x, y, shape, axes)

        total, size = over(a.value, b.value), over(np.abs(a.value), np.abs(b.value))
        whole = self.exact and a.bound is None and b.bound is None and error.whole(a.value, b.value)
        whole = whole and all(bool((np.abs(x.value) <= numerics.exact_factor).all()) for x in (a, b))
        slack = error.added(
            None if a.bound is None else over(a.bound, np.abs(b.value) + b.slack),
            None if b.bound is None else over(np.abs(a.value), b.bound),
            None if whole else size * (unit_roundoff(product) + numerics.product_error),
        )
        terms = error.sum_factor(count) + numerics.sum_error(count) / unit_roundoff(dtype)
        term = float(np.abs(a.value).max(initial=0)) * float(np.abs(b.value).max(initial=0))
        most = numerics.exact_sum(precision(dtype), term)
        return self._summed(start, total, size, slack, dtype, terms, exact=whole, most=most)

    def _summed(
        self, start: Bounded | None, total: Array, size: Array, slack: Array | None, dtype: DType,
        terms: float, *, exact: bool, most: float = 0.0, alike: Array | None = None,
    ) -> Bounded:  # fmt: skip
        """The result of a sum. terms: the error in units of u S. exact: the terms are integers, and sums up
        to `most` have no error; 0 stands for the largest integers that the type holds exactly. alike: how
        many terms are equal, if that is known."""
        if start is not None:
            total, size = start.value + total, np.abs(start.value) + size
            slack = error.added(start.bound, slack)
            exact = exact and start.bound is None and error.whole(start.value)
        if exact and bool((size <= (most or 2.0 ** precision(dtype))).all()):
            return Bounded(total)
        factor: Array | float = terms
        if alike is not None:
            factor = np.where(alike > 1, factor + alike, factor)
        own = factor * unit_roundoff(dtype) * size + smallest(dtype)
        return Bounded(total, error.clean(own + (0.0 if slack is None else slack)))

    def _contract_whole(
        self, start: Bounded | None, a: Bounded, b: Bounded, shape: tuple[int, ...], axes: tuple[int, ...],
        dtype: DType,
    ) -> Bounded:  # fmt: skip
        """As `contract` for integers, which wrap: so do the sums of their exact products."""
        total = _C.of(contraction(a.value, b.value, shape, axes), dtype)
        bound = error.added(
            None if start is None else start.bound,
            None if a.bound is None else contraction(a.bound, np.abs(b.value) + b.slack, shape, axes),
            None if b.bound is None else contraction(np.abs(a.value) + 0.0, b.bound, shape, axes),
        )
        if start is not None:
            total = _C.binary("+", start.value, total, dtype, dtype)
        return Bounded(total, None if bound is None else error.clean(bound))

    def reduce_record(
        self,
        op: Operator,
        start: tuple[Bounded, ...] | None,
        values: tuple[Bounded, ...],
        axes: tuple[int, ...],
    ) -> tuple[Bounded, ...]:
        lines = [error.line(v, axes) for v in values]
        kept = tuple(1 if i in axes else n for i, n in enumerate(values[0].value.shape))
        if start is not None:
            lines = [error.prepended(s, v, kept) for s, v in zip(start, lines, strict=True)]
        at = np.expand_dims(best(op, lines[0].value, started=start is not None), -1)
        doubt = error.close_keys(op, lines[0], at)
        out = []
        for i, v in enumerate(lines):
            value = np.take_along_axis(v.value, at, axis=-1).reshape(kept)
            bound = None if v.bound is None else np.max(error.certain(v), axis=-1).reshape(kept)
            if doubt is not None and i > 0:
                other = np.where(doubt.reshape(kept), np.inf, 0.0)
                bound = other if bound is None else bound + other
            out.append(Bounded(value, bound))
        return tuple(out)

    def scan(
        self, op: Operator, start: Bounded | None, values: Bounded, axes: tuple[int, ...], *, exclusive: bool,
        dtype: DType,
    ) -> Bounded:  # fmt: skip
        def prefixes(f: Operator, first: Array | None, v: Array) -> Array:
            held = _wide(dtype) if f.rounded is None else F32
            done = _C.scan(f, first, v, axes, exclusive=exclusive, dtype=held)
            return done if f.rounded is None else done.astype(np.float64)

        op = self._compared(op, start, values)
        if op.name in ("min", "max"):
            op = replace(op, rounded=None)
        value = prefixes(op, None if start is None else start.value, values.value)
        if op.rounded is not None and values.bound is None and (start is None or start.bound is None):
            return Bounded(value)
        plain, held = replace(op, rounded=None), op.rounded or dtype
        bound = error.scanned(prefixes, plain, start, values, value, held, axes, exact=self.exact)
        return Bounded(value, bound)

    def scatter(
        self, op: Operator, into: Bounded, index: tuple[Array, ...], values: Bounded, dtype: DType, count: int
    ) -> None:
        op = self._compared(op, into, values)
        if op.name in ("min", "max"):
            op = replace(op, rounded=None)
        held, dtype = _wide(dtype) if op.rounded is None else F32, op.rounded or dtype
        sums = op.name == "+" and dtype.is_float
        rounds = dtype.is_float and op.name in ("+", "*")
        if rounds and self.exact and values.bound is None and into.bound is None:
            size = float(np.abs(values.value).max(initial=0)) * count + float(
                np.abs(into.value).max(initial=0)
            )
            rounds = not (sums and error.whole(values.value, into.value) and size <= 2.0 ** precision(dtype))
        if rounds or values.bound is not None:
            if into.bound is None:
                into.bound = np.zeros(into.value.shape)
            own = np.zeros(())
            if rounds:
                factor = (error.sum_factor(count) if sums else count + 16.0) * unit_roundoff(dtype)
                own = np.abs(values.value) * factor
                # the start of an element is rounded with each addition to it
                into.bound += np.abs(into.value) * factor
            spread = np.broadcast_to(own + values.slack, values.value.shape)
            gather = Operator("max" if op.name in ("min", "max") else "+")
            _C.scatter(gather, into.bound, index, spread, F64)
        _C.scatter(op, into.value, index, values.value, held)


def representable(value: Array, dtype: DType) -> bool:
    """Whether every value is a multiple of 1/64 in `dtype`; such values add exactly in double."""
    if not error.whole(value * 64):
        return False
    return bool((_C.cast(value, F64, dtype).astype(np.float64) == value).all())


def _wide(dtype: DType) -> DType:
    return F64 if dtype.is_float else dtype
