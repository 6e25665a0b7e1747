"""Open sizes: parameters of the C function that get their values at the call, from a range.

A kernel serves the range. The compiler sees each extent that depends on open sizes as its largest value,
and as a function of the sizes. What it concludes from the largest value holds for all others:

- The iterations, and the elements of arrays, at smaller sizes are some of those at the largest. Index
  functions hold no open size. So two iterations that meet in an element at some size also meet at the
  largest, and every claim that no two meet, that each belongs to one part, or that something has room,
  carries over. So does a claim that a number fits into 32 bits, as every number grows with the sizes.
- A claim that something lies inside an array or a range compares affine functions of the sizes. It is made
  of the differences between them, at the ends of the range (`OpenExtent.least`, `most`).
- A claim that a number is a multiple of another is made of `OpenExtent.divisor`, and of no value. Strides
  stand in it with `OpenExtent.stride_factor` in place of the extent.

Only the outermost split of a dimension sees an open extent. All tiles inside of it are literals.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import gcd

from mdh.ir.affine import Affine, to_expr
from mdh.ir.expr import Expr

UNALIGNED = 1_000_003
"""A prime number that no width, tile or alignment is a multiple of."""


@dataclass(frozen=True, slots=True)
class OpenSize:
    """A size from `least` to `most`, both of them multiples of `multiple`, and multiples of it only. In cases
    of schedules, the range may have one value."""

    name: str
    least: int
    most: int
    multiple: int = 1

    def __str__(self) -> str:
        if self.least == self.most:
            return str(self.least)
        return f"{self.least}..{self.most}" + (f":{self.multiple}" if self.multiple > 1 else "")

    @property
    def value(self) -> int | None:
        """The only value; None if there are several."""
        return self.least if self.least == self.most else None

    def takes(self, value: int) -> bool:
        return self.least <= value <= self.most and value % self.multiple == 0

    @property
    def legal(self) -> str:
        """The legal values, in words."""
        what = f"multiples of {self.multiple}" if self.multiple > 1 else "values"
        return f"{what} from {self.least:,} to {self.most:,}"


@dataclass(frozen=True, slots=True)
class OpenExtent:
    """An extent that is an affine function of open sizes, with factors above 0. least, most: its values at
    the ends of the ranges. divisor: all its values are multiples of it."""

    form: Affine
    least: int
    most: int
    divisor: int

    def at(self, sizes: Mapping[str, int]) -> int:
        return self.form.evaluate(dict(sizes))

    @property
    def stride_factor(self) -> int:
        """A number for proofs of alignment: it has the divisors that all values of the extent have, and a
        prime number above those that anything is aligned to."""
        return self.divisor * UNALIGNED

    @property
    def expr(self) -> Expr:
        """As an expression of kernels, to which sizes are given as `int`."""
        return to_expr(self.form)

    def __str__(self) -> str:
        terms = [name if c == 1 else f"{c} * {name}" for name, c in self.form.terms]
        rest = self.form.const
        return " + ".join(terms) + (f" {'+' if rest > 0 else '-'} {abs(rest)}" if rest else "")


def open_extent(form: Affine, sizes: Iterable[OpenSize]) -> OpenExtent:
    """The extent of that form. Requires factors above 0."""
    mine = {s.name: s for s in sizes if form.coefficient(s.name)}
    least = form.evaluate({n: s.least for n, s in mine.items()})
    most = form.evaluate({n: s.most for n, s in mine.items()})
    divisor = gcd(form.const, *(c * mine[n].multiple for n, c in form.terms))
    return OpenExtent(form, least, most, divisor)


def corners(sizes: Iterable[OpenSize]) -> list[dict[str, int]]:
    """The sizes at every combination of the ends of their ranges. An inequality between affine functions of
    the sizes holds in the ranges if it holds at these."""
    each = [[(s.name, n) for n in dict.fromkeys((s.least, s.most))] for s in sizes]
    return [dict(chosen) for chosen in product(*each)]
