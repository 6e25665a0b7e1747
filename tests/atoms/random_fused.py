"""Random contractions for tensor cores in which rows, columns and terms have several dimensions each."""

from dataclasses import dataclass
from math import prod
from random import Random

from tests.atoms.products import TYPES, read

NARROW = {"bf16": "__bf16", "f16": "_Float16"}


@dataclass(frozen=True)
class Contraction:
    """sides: the extents of the dimensions of rows, of columns and of terms. layout: N as it stands, T
    transposed, of A and of B. apart: other loops stand between those of the rows."""

    kind: str
    sides: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]
    layout: str
    narrow: bool
    apart: bool

    @property
    def groups(self) -> set[tuple[str, ...]]:
        """Neighbours, without those of one iteration, which are in no one's way."""
        pairs = (
            zip(names, extents, strict=True) for names, extents in zip(self.names, self.sides, strict=True)
        )
        return {tuple(n for n, e in side if e > 1) for side in pairs}

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(f"{x}{n}" for n in range(len(s))) for x, s in zip("ijk", self.sides, strict=True))

    @property
    def text(self) -> str:
        of, total = TYPES[self.kind]
        rows, columns, terms = self.names
        extents = {
            n: e for g, s in zip(self.names, self.sides, strict=True) for n, e in zip(g, s, strict=True)
        }
        orders = {
            "A": rows + terms if self.layout[0] == "N" else terms + rows,
            "B": terms + columns if self.layout[1] == "N" else columns + terms,
            "C": rows + columns,
        }
        index = {x: "".join(f"[{n}]" for n in order) for x, order in orders.items()}
        shape = {x: "".join(f"[{extents[n]}]" for n in order) for x, order in orders.items()}
        out = NARROW.get(self.kind, total) if self.narrow else total
        loops = [*rows, *columns]
        if self.apart:
            loops = [*rows[1:], *columns, *rows[:1]]
        nest = "".join(f"for (int {n} = 0; {n} < {extents[n]}; {n}++) " for n in loops)
        inner = "".join(f"for (int {n} = 0; {n} < {extents[n]}; {n}++) " for n in terms)
        product = f"{read(self.kind, 'A' + index['A'])} * {read(self.kind, 'B' + index['B'])}"
        return f"""#include <stdint.h>
void contraction(const {of} A{shape["A"]}, const {of} B{shape["B"]}, {out} C{shape["C"]}) {{
  {nest}{{
    {total} sum = 0;
    {inner}sum += {product};
    C{index["C"]} = ({out})sum;
  }}
}}
"""


def contraction(rng: Random) -> Contraction:
    kind = rng.choice(("bf16", "f16", "f16", "i8", "f64", "f32"))
    depth = {"i8": 128, "f64": 16, "f32": 16}.get(kind, 64)
    sides = (
        _cut(rng, rng.choice((16, 32, 48, 70, 98))), _cut(rng, rng.choice((16, 32, 64))),
        _cut(rng, depth * rng.choice((1, 1, 2))),
    )  # fmt: skip
    layout = "NT" if kind == "i8" else rng.choice(("NN", "NT", "TN", "TT"))
    return Contraction(kind, sides, layout, rng.random() < 0.5, rng.random() < 0.3)


def _cut(rng: Random, size: int) -> tuple[int, ...]:
    """Extents whose product is the size."""
    out: list[int] = []
    for _ in range(rng.choice((0, 1, 1, 2))):
        left = size // prod(out)
        out.append(rng.choice([n for n in range(1, left + 1) if left % n == 0]))
    return (*out, size // prod(out))
