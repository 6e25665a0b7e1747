"""What random C functions are made of: loops, arrays, index functions, and the text around them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from random import Random

EXTENTS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 19, 23, 24, 29, 31, 32, 37, 41, 53, 64, 67, 97, 101)
EIGHTHS = ("fp8_e4m3", "fp8_e5m2")
POINTS = 3000
"""Most points of an iteration box: an interpreter must run it in a moment."""


@dataclass(frozen=True, slots=True)
class Loop:
    """`var` takes start + step * x for 0 <= x < extent."""

    var: str
    extent: int
    start: int = 0
    step: int = 1

    @property
    def head(self) -> str:
        v, last = self.var, self.start + self.step * (self.extent - 1)
        if self.step < 0:
            return f"for (int {v} = {self.start}; {v} >= {last}; {v} -= {-self.step})"
        move = f"{v}++" if self.step == 1 else f"{v} += {self.step}"
        if self.extent % 2:
            return f"for (int {v} = {self.start}; {v} < {last + 1}; {move})"
        return f"for (int {v} = {self.start}; {v} <= {last}; {move})"

    @property
    def low(self) -> int:
        return min(self.start, self.start + self.step * (self.extent - 1))

    @property
    def high(self) -> int:
        return max(self.start, self.start + self.step * (self.extent - 1))


@dataclass
class Writer:
    """The function under construction: parameters in order and nests of text. eighths: draws which floats are
    kept in 8 bits; None: none is."""

    rng: Random
    params: dict[str, str] = field(default_factory=dict)
    below: dict[str, int] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)
    body: list[str] = field(default_factory=list)
    eighths: Random | None = None

    def loops(self, count: int, points: int = POINTS, *, plain: bool = False) -> list[Loop]:
        """`count` loops of at most `points` points together; `plain`: all start at 0 and step by 1."""
        rng, out, left = self.rng, [], points
        for n in range(count):
            extent = rng.choice([e for e in EXTENTS if e <= max(1, left)])
            if rng.random() < 0.6 and n + 1 < count:
                extent = min(extent, 17)
            left //= extent
            start, step = (
                (0, 1) if plain else (rng.choice((0, 0, 0, 0, 1, 3)), rng.choice((1, 1, 1, 1, 2, 3, -1)))
            )
            out.append(Loop("ijklmn"[n], extent, start + (extent - 1 if step < 0 else 0), step))
        rng.shuffle(out)
        return [Loop("ijklmn"[n], x.extent, x.start, x.step) for n, x in enumerate(out)]

    def array(
        self, name: str, ctype: str, indices: Sequence[Sequence[tuple[int, Loop]]], *, written: bool
    ) -> "Array":
        """A parameter big enough for `indices` (a sum of coefficient * loop each) at some offsets."""
        rng = self.rng
        slack = [rng.choice((0, 0, 0, 1, 2)) if not written else rng.choice((0, 0, 0, 1)) for _ in indices]
        lows = [sum(min(c * x.low, c * x.high) for c, x in terms) for terms in indices]
        highs = [sum(max(c * x.low, c * x.high) for c, x in terms) for terms in indices]
        shape = [h - lo + s + 1 for lo, h, s in zip(lows, highs, slack, strict=True)]
        flat = not written and len(shape) > 0 and rng.random() < 0.15
        const = "" if written else "const "
        dims = "".join(f"[{n}]" for n in shape)
        self.params[name] = f"{const}{ctype} *{name}" if flat else f"{const}{ctype} {name}{dims}"
        made = Array(
            name, ctype, tuple(tuple(t) for t in indices), tuple(shape), tuple(lows), tuple(slack), flat
        )
        return made if written else self.shortened(made)

    def shortened(self, a: "Array") -> "Array":
        """An array of floats, perhaps in 8 bits. A written one is from here on `stored` to alone."""
        if self.eighths is None or a.ctype != "float" or self.eighths.random() < 0.4:
            return a
        kind = self.eighths.choice(EIGHTHS)
        self.params[a.name] = self.params[a.name].replace("float", kind, 1)
        return replace(a, ctype=kind)

    def text(self, name: str) -> str:
        head = "#include <math.h>\n#include <stdint.h>\n" + "#include <mdh.h>\n" * (self.eighths is not None)
        args = ", ".join(self.params.values())
        return f"{head}void {name}({args}) {{\n" + "\n".join(self.body) + "\n}\n"


@dataclass(frozen=True, slots=True)
class Array:
    name: str
    ctype: str
    indices: tuple[tuple[tuple[int, Loop], ...], ...]
    shape: tuple[int, ...]
    lows: tuple[int, ...]
    slack: tuple[int, ...]
    flat: bool

    def at(self, offsets: Sequence[int] | None = None) -> str:
        """A C access, which 8-bit floats are converted by; offsets within the slack."""
        place = self._place(offsets)
        return f"{self.ctype}_to_float({place})" if self.ctype in EIGHTHS else place

    def stored(self, value: str) -> str:
        """The statement that stores a value."""
        held = f"{self.ctype}_from_float({value})" if self.ctype in EIGHTHS else value
        return f"{self._place(None)} = {held};"

    def _place(self, offsets: Sequence[int] | None) -> str:
        offsets = offsets or (0,) * len(self.shape)
        parts = [
            affine(terms, off - low) for terms, low, off in zip(self.indices, self.lows, offsets, strict=True)
        ]
        if not self.flat:
            return self.name + "".join(f"[{p}]" for p in parts)
        strides = [prod(self.shape[n + 1 :]) for n in range(len(parts))]
        flat = " + ".join(f"({p}) * {s}" if s != 1 else p for p, s in zip(parts, strides, strict=True))
        return f"{self.name}[{flat}]"

    def anywhere(self, rng: Random) -> str:
        return self.at([rng.randint(0, s) for s in self.slack])


def affine(terms: Sequence[tuple[int, Loop]], constant: int) -> str:
    words = [x.var if c == 1 else f"{c} * {x.var}" for c, x in terms]
    text = " + ".join(words) or "0"
    if constant:
        text += f" {'+' if constant > 0 else '-'} {abs(constant)}"
    return text.removeprefix("0 + ")


def nest(loops: Sequence[Loop], body: Sequence[str], depth: int = 1) -> list[str]:
    """The loops around the lines of `body`."""
    out = []
    for n, loop in enumerate(loops):
        brace = " {" if n + 1 == len(loops) and len(body) > 1 else ""
        out.append("  " * (depth + n) + loop.head + brace)
    out += ["  " * (depth + len(loops)) + line for line in body]
    if loops and len(body) > 1:
        out.append("  " * (depth + len(loops) - 1) + "}")
    return out


def index_of(rng: Random, loops: Sequence[Loop], *, mixed: bool = True) -> list[list[tuple[int, Loop]]]:
    """Index functions over some of `loops`: one each, strided or reversed, or the sum of two (a window)."""
    chosen = [x for x in loops if rng.random() < 0.75] or list(loops[:1])
    rng.shuffle(chosen)
    out: list[list[tuple[int, Loop]]] = []
    while chosen:
        terms = [(rng.choice((1, 1, 1, 1, 1, 2, -1)), chosen.pop())]
        if mixed and chosen and rng.random() < 0.2:
            terms.append((rng.choice((1, 1, 2)), chosen.pop()))
        out.append(terms)
    return out[:4]
