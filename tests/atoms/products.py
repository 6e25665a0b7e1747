"""Products in every layout as C, schedules with atoms for them, and what they must compute."""

from dataclasses import dataclass, replace

import numpy as np

from mdh.ir.kernel import Module
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.source import Source
from tests.atoms.blocks import Array, numpy_type
from tests.atoms.warps import run

TYPES = {
    "bf16": ("__bf16", "float"), "f16": ("_Float16", "float"), "f64": ("double", "double"),
    "f32": ("float", "float"),
    "i8": ("int8_t", "int32_t"), "u8": ("uint8_t", "int32_t"),
    "f8e4m3": ("fp8_e4m3", "float"), "f8e5m2": ("fp8_e5m2", "float"), "f8mixed": ("fp8_e4m3", "float"),
    "tf32": ("float", "float"),
}  # fmt: skip
"""Of the factors, to the type of the sum. Factors of one kind have two types: see `factor_types`."""
ALLOWED = {"tf32": "\n#pragma mdh allow(tf32)"}
"""What the function says of itself, by the type of the factors."""
EIGHTHS = ("f8e4m3", "f8e5m2", "f8mixed")


def factor_types(kind: str) -> dict[str, str]:
    """The C types of A and of B."""
    left = TYPES[kind][0]
    return {"A": left, "B": "fp8_e5m2" if kind == "f8mixed" else left}


def read(kind: str, element: str) -> str:
    """An element of A or B as a term of the sum."""
    if kind in EIGHTHS:
        return f"{factor_types(kind)[element[0]]}_to_float({element})"
    return f"({TYPES[kind][1]}){element}"


def stored(out: str, value: str) -> str:
    """A value as the C stores it in an array of type `out`."""
    return f"{out}_from_float({value})" if out.startswith("fp8") else f"({out}){value}"


@dataclass(frozen=True)
class Product:
    """C = A B. layout: N as it stands, T transposed, of A and of B."""

    kind: str
    layout: str
    m: int
    n: int
    k: int
    out: str = ""

    @property
    def text(self) -> str:
        total, of = TYPES[self.kind][1], factor_types(self.kind)
        a, b = (self.m, self.k), (self.k, self.n)
        shapes = [s if x == "N" else s[::-1] for s, x in zip((a, b), self.layout, strict=True)]
        (a0, a1), (b0, b1) = shapes
        left = "A[i][k]" if self.layout[0] == "N" else "A[k][i]"
        right = "B[k][j]" if self.layout[1] == "N" else "B[j][k]"
        out = self.out or total
        arrays = f"const {of['A']} A[{a0}][{a1}], const {of['B']} B[{b0}][{b1}], {out} C[{self.m}][{self.n}]"
        return f"""#include <mdh.h>
void product({arrays}) {{{ALLOWED.get(self.kind, "")}
  for (int i = 0; i < {self.m}; i++)
    for (int j = 0; j < {self.n}; j++) {{
      {total} sum = 0;
      for (int k = 0; k < {self.k}; k++)
        sum += {read(self.kind, left)} * {read(self.kind, right)};
      C[i][j] = {stored(out, "sum")};
    }}
}}
"""

    def expected(self, arrays: dict[str, Array]) -> Array:
        """In the widest type."""
        wide = np.int64 if self.kind in ("i8", "u8") else np.float64
        a, b = (arrays[x].astype(wide) for x in "AB")
        a, b = (x if t == "N" else x.T for x, t in zip((a, b), self.layout, strict=True))
        return a @ b


@dataclass(frozen=True)
class Tiling:
    """A schedule of a product: tiles of a block, of a warp, and the atom. layouts: of A and B in SM."""

    block: tuple[int, int, int]
    warp: tuple[int, int]
    atom: tuple[int, int, int]
    stages: int = 2
    copy: str = "async"
    rows: tuple[str, str] = ("@pad(8)", "@pad(8)")
    layouts: tuple[str, str] = ("1,2", "1,2")
    grid: str = ""
    more: str = ""
    held: str = "C:RM[1,2]"

    @property
    def text(self) -> str:
        (bm, bn, bk), (wm, wn), (m, n, k) = self.block, self.warp, self.atom
        a, b = (
            f"{x}:SM[{layout}]{rows}@copy({self.copy})"
            for x, layout, rows in zip("AB", self.layouts, self.rows, strict=True)
        )
        stages = f" @stages({self.stages})" if self.stages > 1 else ""
        return f"""1: (de-)comp( {bm}, {bn}, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ ) {self.grid}
2: (de-)comp( ^, ^, {bk} ) ( {a}, {b} ; {self.held} ) ( ^, ^, FOR.1 ){stages}
3: (de-)comp( {wm}, {wn}, ^ ) ( ^, ^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( {m}, {n}, {k} ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, MMA.k ) {self.more}
"""


def planned(
    c: str, schedule: str, machine: str = "h200", units: int = 0, **defines: int
) -> tuple[Program, Plan]:
    """units: multiprocessors, if not the machine's. With few, blocks of @persistent have many tiles."""
    pipeline = Pipeline()
    target = load_machine(machine)
    target = replace(target, units=units) if units else target
    program = pipeline.read(Source("input.c", c), defines=defines)
    steps = pipeline.schedule(Source("schedule.mdh", schedule))
    return program, pipeline.check(program, steps, target, "cuda").plan


def lowered(
    c: str, schedule: str, machine: str = "h200", units: int = 0, **defines: int
) -> tuple[Program, Module]:
    program, plan = planned(c, schedule, machine, units, **defines)
    return program, Pipeline().lower(plan)


def whole_numbers(program: Program, seed: int = 0) -> dict[str, Array]:
    """Small integers, whose sums are exact in every type."""
    draw = np.random.default_rng(seed)
    out = {}
    for b in program.buffers:
        low = 0 if b.dtype.kind == "uint" else -3
        out[b.name] = draw.integers(low, 4, b.shape).astype(numpy_type(b.dtype))
    return out


def computed(
    c: str, schedule: str, scalars: dict[str, float] | None = None, machine: str = "h200", seed: int = 0,
    units: int = 0, **defines: int,
) -> tuple[dict[str, Array], dict[str, Array]]:  # fmt: skip
    """Arrays before and after the kernels ran in the interpreter."""
    program, module = lowered(c, schedule, machine, units, **defines)
    before = whole_numbers(program, seed)
    after = {name: a.copy() for name, a in before.items()}
    run(module, after, scalars or {}, seed)
    return before, after
