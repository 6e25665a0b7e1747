"""Random contractions of two tensors whose indices stand in any order everywhere."""

from dataclasses import dataclass
from math import prod
from random import Random

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
        def array(names: str) -> str:
            return "".join(f"[{self.sizes[n]}]" for n in names)

        def element(names: str) -> str:
            return "".join(f"[{n}]" for n in names)

        def loops(names: str) -> str:
            return " ".join(f"for (int {n} = 0; {n} < {self.sizes[n]}; {n}++)" for n in names)

        summed = "".join(n for n in self.left if n not in self.result)
        target, factors = f"X{element(self.result)}", f"lhs{element(self.left)} * rhs{element(self.right)}"
        lhs, rhs = f"const {self.kind} lhs{array(self.left)}", f"const {self.kind} rhs{array(self.right)}"
        return (
            f"void contraction({lhs}, {rhs}, {self.kind} X{array(self.result)}) {{ {loops(self.result)} {{\n"
            f"  {target} = 0;\n  {loops(summed)} {target} += {factors}; }} }}\n"
        )


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
