"""The few arrays that all statements of a random program share, and subscripts that stay inside them.

A dimension is a size by its text: `N`, `2 * N` (two halves, or every second element), `N + M` (a window),
`16` (bins). Subscripts are in range for every value of the sizes, given the ranges of the loop variables.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.soundness.tree import Param

FLOATS = ("float", "double", "_Float16")
INTEGERS = (
    "int", "unsigned", "int8_t", "uint8_t", "int16_t", "uint16_t", "int64_t", "uint64_t", "short",
    "unsigned char", "long", "uint32_t",
)  # fmt: skip
BINS = 16
VECTORS, MATRICES = ("x", "y", "z", "w"), ("A", "B")


@dataclass(frozen=True, slots=True)
class Range:
    """A loop variable: `low` to `size - 1 - top`."""

    size: str
    low: int = 0
    top: int = 0


Vars = dict[str, Range]


@dataclass(frozen=True, slots=True)
class Array:
    name: str
    ctype: str
    dims: tuple[str, ...]
    const: bool = False
    flat: bool = False
    pad: int = 0

    @property
    def is_float(self) -> bool:
        return self.ctype in FLOATS

    def at(self, index: Sequence[str]) -> str:
        if not self.flat:
            return self.name + "".join(f"[{i}]" for i in index)
        if len(index) == 1:
            return f"{self.name}[{index[0]}]"
        row = self.dims[1] if not self.pad else f"({self.dims[1]} + {self.pad})"
        return f"{self.name}[({index[0]}) * {row} + {index[1]}]"


@dataclass
class Pool:
    """shifted: how often a subscript is none of the plain ones."""

    rng: Random
    sizes: dict[str, int]
    main: str
    others: tuple[str, ...]
    shifted: float
    arrays: dict[str, Array] = field(default_factory=dict)
    limits: dict[str, tuple[str, str]] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)
    scalar_types: dict[str, str] = field(default_factory=dict)
    macros: list[str] = field(default_factory=list)
    temps: set[str] = field(default_factory=set)

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def ctype(self) -> str:
        return self.main if self.chance(0.75) else self.rng.choice(self.others)

    def fill(self) -> None:
        """The arrays, of which a program uses some."""
        rng = self.rng
        for n in VECTORS:
            self._add(n, ("N",), const=False)
        for n in MATRICES:
            square = self.chance(0.4)
            self._add(n, ("N", "N" if square else "M"), const=self.chance(0.4))
        self._add("u", ("M",), const=self.chance(0.3))
        self._add("C", rng.choice((("N", "M"), ("N", "N"), ("M", "N"), ("N", "M", "K"))), const=False)
        self._add("r", ("K",), const=False)
        self._add("c", ("N + M",), const=self.chance(0.5))
        self._add("d", ("2 * N",), const=False)
        self._add("s", ("1",), const=False)
        self._add("h", (str(BINS),), const=False)
        self.arrays["p"] = Array("p", rng.choice(("int", "int", "int64_t", "uint8_t", "short")), ("N",), True)
        self.arrays["q"] = Array("q", rng.choice(("int", "int", "unsigned", "int8_t")), ("M",), True)
        self.arrays["e"] = Array("e", "int", ("N",), True)
        self.arrays["g"] = Array("g", rng.choice(("int", "uint8_t")), ("N",), True)
        self.limits |= {"p": ("0", "N - 1"), "q": ("0", "N - 1"), "e": ("3", "N + 2"), "g": ("0", "40")}
        for n, kind in (("alpha", self.main if self.main != "_Float16" else "float"), ("n", "int")):
            self.scalar_types[n] = kind
            self.scalars[n] = rng.choice((1, 2, 3))

    def _add(self, name: str, dims: tuple[str, ...], *, const: bool) -> None:
        flat = len(dims) == 2 and self.chance(0.15)
        pad = self.rng.choice((0, 1, 3)) if flat else 0
        self.arrays[name] = Array(name, self.ctype(), dims, const, flat, pad)

    def params(self) -> dict[str, Param]:
        out = {n: Param(t) for n, t in self.scalar_types.items()}
        for a in self.arrays.values():
            if a.name not in self.temps:
                out[a.name] = Param(a.ctype, a.dims, a.const, a.flat)
        return out

    def locals(self) -> dict[str, Param]:
        return {n: Param(self.arrays[n].ctype, self.arrays[n].dims) for n in sorted(self.temps)}

    def writable(self, *dims: str) -> list[Array]:
        return [a for a in self.arrays.values() if not a.const and a.dims == dims]

    def data(self) -> list[Array]:
        """All arrays that are not of indices."""
        return [a for a in self.arrays.values() if a.name not in self.limits]

    # subscripts

    def element(self, array: Array, v: Vars, *, plain: float = -1.0, own: bool = False) -> str:
        """Some element of `array`; plain: how often each subscript is a loop variable as it is; own: most
        often one that no other iteration has."""
        plain = 1.0 - self.shifted if plain < 0 else plain
        taken: list[str] = []
        index = []
        for dim in array.dims:
            if array.flat:
                plain = max(plain, 0.97)
            i, var = self._subscript(dim, v, taken, plain, own and self.chance(0.93))
            taken += [var] if var else []
            index.append(i)
        return array.at(index)

    def _subscript(self, dim: str, v: Vars, taken: Sequence[str], plain: float, own: bool) -> tuple[str, str]:
        rng = self.rng
        mine = [n for n, r in v.items() if r.size == dim]
        fresh = [n for n in mine if n not in taken]
        if dim in self.sizes:
            if not mine:
                return self._elsewhere(dim, v), ""
            name = rng.choice(fresh or mine)
            return (name if self.chance(plain) else self.moved(dim, name, v[name], own)), name
        if dim == "1":
            return "0", ""
        if dim == str(BINS):
            return self.bin(v), ""
        if dim.startswith("2"):
            return self._half(v, plain)
        return self._window(v, own), ""

    def moved(self, size: str, name: str, r: Range, own: bool) -> str:
        """Another element than that of the loop's own number."""
        rng = self.rng
        ways = [f"{size} - 1 - {name}"] * 2 + ([] if own else ["0", f"{size} - 1"])
        ways += [f"{name} - {c}" for c in range(1, r.low + 1)] * 4
        ways += [f"{name} + {c}" for c in range(1, r.top + 1)] * 4
        if size == "N" and not own:
            ways += [f"p[{name}]", f"p[{name}]", f"e[{name}] - 3"]
        return rng.choice(ways)

    def _elsewhere(self, dim: str, v: Vars) -> str:
        rng = self.rng
        ways = ["0", "0", f"{dim} - 1"]
        if dim == "N":
            ways += [f"q[{n}]" for n, r in v.items() if r.size == "M"] * 3
        return rng.choice(ways)

    def bin(self, v: Vars) -> str:
        ways = ["3"]
        for n, r in v.items():
            if r.size == "N":
                ways += [f"g[{n}] & 15"] * 2 + [f"{n} & 15"] * self.chance(0.1)
            if r.size == "M":
                ways += [f"q[{n}] & 15"]
        return self.rng.choice(ways)

    def _half(self, v: Vars, plain: float) -> tuple[str, str]:
        mine = [n for n, r in v.items() if r.size == "N"]
        if not mine:
            return self.rng.choice(("0", "N", "2 * N - 1")), ""
        n = self.rng.choice(mine)
        if self.chance(plain):
            return self.rng.choice((n, f"2 * {n}")), n
        return self.rng.choice((f"{n} + N", f"2 * {n} + 1", f"2 * N - 1 - {n}", f"N - 1 - {n}")), n

    def _window(self, v: Vars, own: bool) -> str:
        mine = [n for n, r in v.items() if r.size == "N"]
        other = [n for n, r in v.items() if r.size == "M"]
        if mine and other and not own and self.chance(0.7):
            return f"{self.rng.choice(mine)} + {self.rng.choice(other)}"
        if mine:
            n = self.rng.choice(mine)
            return self.rng.choice((n, f"{n} + 1", f"{n} + M"))
        return self.rng.choice(other) if other else "0"
