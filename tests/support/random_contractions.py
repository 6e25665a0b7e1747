"""Random contractions of two tensors whose indices stand in any order everywhere."""

from dataclasses import dataclass
from math import prod
from random import Random

from bench.cases import contraction_text

_NAMES = "abcdefgh"


@dataclass(frozen=True)
class Tensors:
    """Letters of the indices of both factors and of the result, and the indices' extents."""

    left: str
    right: str
    result: str
    sizes: dict[str, int]
    kind: str = "float"

    @property
    def einsum(self) -> str:
        return f"{self.left},{self.right}->{self.result}"

    @property
    def text(self) -> str:
        return contraction_text(self.left, self.right, self.result, self.sizes, self.kind)


def tensors(rng: Random, *, most: int = 4096) -> Tensors:
    """most: elements of the result."""
    while True:
        counts = rng.choice((1, 2, 2, 3)), rng.choice((1, 2, 2, 3)), rng.choice((1, 1, 2))
        names = iter(_NAMES)
        rows, columns, summed = ("".join(next(names) for _ in range(n)) for n in counts)
        sizes = {n: rng.choice((2, 3, 5, 7, 8, 9, 12, 16, 17, 33)) for n in rows + columns}
        sizes |= {n: rng.choice((2, 3, 5, 8, 17, 20, 33)) for n in summed}
        if prod(sizes[n] for n in rows + columns) <= most and (len(rows) > 1 or len(columns) > 1):
            left, right, result = (
                "".join(rng.sample(g, len(g))) for g in (rows + summed, columns + summed, rows + columns)
            )
            return Tensors(left, right, result, sizes, rng.choice(("float", "float", "double")))
