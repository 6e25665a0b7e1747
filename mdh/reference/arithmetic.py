"""The arithmetics in which a Program is evaluated: C's own, or wide values with error bounds."""

from typing import Protocol, TypeVar

from mdh.ir.dtype import DType
from mdh.ir.numerics import Numerics
from mdh.ir.program import Operator
from mdh.reference.numbers import Array

V = TypeVar("V")


class Arithmetic(Protocol[V]):
    """Operations on `V`, an array of values over an iteration box (sizes of 1 broadcast).

    reorders: sums may be taken in any order, so sums of products need not be expanded over the box.
    """

    reorders: bool

    def of(self, array: Array, dtype: DType) -> V:
        """Exact values: coordinates, constants, arguments."""

    def plain(self, v: V) -> Array:
        """The values alone."""

    def take(self, v: V, index: tuple[Array, ...]) -> V: ...

    def put(self, v: V, index: tuple[Array, ...], value: V, dtype: DType) -> None:
        """v[index] = value, converted to the type of the buffer; `v` is changed."""

    def copy(self, v: V) -> V: ...

    def broadcast(self, v: V, shape: tuple[int, ...]) -> V: ...

    def unary(self, op: str, a: V, dtype: DType) -> V: ...

    def binary(self, op: str, a: V, b: V, operands: DType, dtype: DType) -> V:
        """a op b. operands: the type of the left operand (comparisons yield I32 for any type)."""

    def select(self, cond: V, then: V, other: V, dtype: DType) -> V: ...

    def cast(self, a: V, source: DType, dtype: DType) -> V: ...

    def call(self, fn: str, args: tuple[V, ...], dtype: DType) -> V: ...

    def reduce(
        self, op: Operator, start: V | None, values: V, axes: tuple[int, ...], dtype: DType,
        count: int,
    ) -> V:  # fmt: skip
        """Combine over `axes`, in C's order, after `start`; reduced axes keep the size 1. count: terms of the
        whole reduction, of which this may be a part."""

    def contract(
        self, start: V | None, a: V, b: V, shape: tuple[int, ...], axes: tuple[int, ...], dtype: DType,
        count: int, product: DType, numerics: Numerics,
    ) -> V:  # fmt: skip
        """The sum of a * b, each rounded to `product`, over `axes` of a box of `shape`. numerics: as an
        implementation may compute it."""

    def reduce_record(
        self, op: Operator, start: tuple[V, ...] | None, values: tuple[V, ...], axes: tuple[int, ...]
    ) -> tuple[V, ...]:
        """argmin/argmax of the key values[0] over `axes` with its payload."""

    def scan(
        self,
        op: Operator,
        start: V | None,
        values: V,
        axes: tuple[int, ...],
        *,
        exclusive: bool,
        dtype: DType,
    ) -> V:
        """Prefixes along `axes`, each after `start`; exclusive: without the point's own value."""

    def scatter(
        self, op: Operator, into: V, index: tuple[Array, ...], values: V, dtype: DType, count: int
    ) -> None:
        """into[index] = into[index] op value, point by point in C's order; `into` is changed."""
