"""Random C with values under conditions: conditional stores, choices between reads, choices in sums.

What compilers make of them (masked reads and stores, blends) differs with types, widths, strides and how the
loops are unrolled, so all of that is drawn. All values are small integers, so every result is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from mdh.source import Source

TYPES = ("float", "double", "int8_t", "uint8_t", "int16_t", "uint16_t", "int", "int64_t")
CONDITIONS = ("int", "int8_t", "int16_t", "int64_t", "float")
_SIZES = ((256,), (512,), (96,), (101,), (8, 64), (12, 48), (5, 37), (24, 32))


@dataclass(frozen=True, slots=True)
class Conditional:
    """A program and the name of its form."""

    source: Source
    form: str


def random_conditional(seed: int) -> Conditional:
    """The program of a seed."""
    rng = Random(seed)
    form = rng.choice(tuple(FORMS))
    sizes = rng.choice(_SIZES)
    loops = "ij"[: len(sizes)]
    draw = _Draw(rng, rng.choice(TYPES), rng.choice(CONDITIONS), sizes)
    body = FORMS[form](draw)
    head = "".join(
        f"{'  ' * d}  for (int {x} = 0; {x} < {n}; {x}++)\n"
        for d, (x, n) in enumerate(zip(loops, sizes, strict=True))
    )
    params = ", ".join(draw.parameters)
    text = f"#include <stdint.h>\nvoid f_{seed}({params}) {{\n{head}{'  ' * len(sizes)}  {body}\n}}\n"
    return Conditional(Source(f"conditional_{seed}.c", text), form)


class _Draw:
    """What a body is put together from; arrays become parameters as they are named."""

    def __init__(self, rng: Random, ctype: str, ctest: str, sizes: tuple[int, ...]) -> None:
        self.rng, self.ctype, self.ctest, self.sizes = rng, ctype, ctest, sizes
        self.declared: dict[str, str] = {}

    @property
    def parameters(self) -> list[str]:
        return list(self.declared.values())

    def element(self, name: str, ctype: str, *, out: bool = False) -> str:
        shape = "".join(f"[{n}]" for n in self.sizes)
        self.declared.setdefault(name, f"{'' if out else 'const '}{ctype} {name}{shape}")
        return name + "".join(f"[{x}]" for x in "ij"[: len(self.sizes)])

    def out(self) -> str:
        return self.element("y", self.ctype, out=True)

    def read(self) -> str:
        """A read of the values' type: at the loops' place, or at one beside it in an array with room."""
        name = self.rng.choice("abd")
        kind = self.rng.randrange(4)
        if kind > 1:
            return self.element(name, self.ctype)
        *outer, last = self.sizes
        by, more = (self.rng.choice((2, 3)), 0) if kind else (1, self.rng.choice((1, 3, 8)))
        name += f"{by}_{more}"
        shape = "".join(f"[{n}]" for n in (*outer, last * by + more))
        self.declared.setdefault(name, f"const {self.ctype} {name}{shape}")
        *before, x = list("ij"[: len(self.sizes)])
        at = f"{by} * {x}" if by > 1 else f"{x} + {more}"
        return name + "".join(f"[{o}]" for o in (*before, at))

    def value(self) -> str:
        kind = self.rng.randrange(5)
        if kind == 0:
            return str(self.rng.randrange(4))
        if kind == 1:
            return f"{self.read()} {self.rng.choice('+-')} {self.read()}"
        return self.read()

    def test(self) -> str:
        c = self.element("c", self.ctest)
        kind = self.rng.randrange(6)
        if kind < 2:
            return c if self.ctest != "float" else f"{c} != 0"
        if kind == 2:
            return f"{c} > {self.rng.randrange(3)}"
        if kind == 3:
            return f"{self.read()} > {self.element('c', self.ctest)}"
        joint = self.rng.choice(("&&", "||"))
        return f"{c} > 0 {joint} {self.read()} {self.rng.choice('<>')} {self.rng.randrange(3)}"


def _kept(d: _Draw) -> str:
    return f"if ({d.test()}) {d.out()} = {d.value()};"


def _kept_choice(d: _Draw) -> str:
    return f"{d.out()} = {d.test()} ? {d.value()} : {d.out()};"


def _choice(d: _Draw) -> str:
    return f"{d.out()} = {d.test()} ? {d.value()} : {d.value()};"


def _branches(d: _Draw) -> str:
    out = d.out()
    return f"{{ if ({d.test()}) {out} = {d.value()}; else {out} = {d.value()}; }}"


def _added(d: _Draw) -> str:
    return f"{d.out()} += {d.test()} ? {d.value()} : {d.rng.choice(('0', d.value()))};"


def _nested(d: _Draw) -> str:
    inner = f"({d.test()} ? {d.value()} : {d.value()})"
    return f"{d.out()} = {d.test()} ? {inner} : {d.rng.choice((d.out(), d.value()))};"


def _local(d: _Draw) -> str:
    return f"{{ {d.ctype} v = {d.value()}; if ({d.test()}) v = {d.value()}; {d.out()} = v; }}"


def _summed(d: _Draw) -> str:
    """A sum over the last loop of what a condition lets through."""
    out = "s" + "".join(f"[{x}]" for x in "ij"[: len(d.sizes) - 1]) if len(d.sizes) > 1 else "s[0]"
    shape = "".join(f"[{n}]" for n in d.sizes[:-1]) or "[1]"
    d.declared["s"] = f"{d.ctype} s{shape}"
    if d.rng.random() < 0.5:
        return f"if ({d.test()}) {out} += {d.value()};"
    return f"{out} += {d.test()} ? {d.value()} : 0;"


FORMS: dict[str, Callable[[_Draw], str]] = {
    "kept": _kept, "kept_choice": _kept_choice, "choice": _choice, "branches": _branches, "added": _added,
    "nested": _nested, "local": _local, "summed": _summed,
}  # fmt: skip
