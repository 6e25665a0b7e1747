"""Random sums with few elements along an atom's k: windows over images with few channels, and short products.

Elements of arrays that a sum does not take are NaN or infinite here and there, so that a lane that multiplies
one of them by zero shows in the result.
"""

from dataclasses import dataclass
from random import Random

import numpy as np

from mdh.ir.kernel import Module
from mdh.ir.program import Program
from tests.atoms.blocks import Array, numpy_type
from tests.atoms.products import TYPES, lowered, whole_numbers
from tests.atoms.warps import run

KINDS = {"f16": (16, 8), "bf16": (16, 8), "i8": (32, 16), "u8": (32, 16), "f64": (4, 8, 16)}
"""To the places of atoms along k."""
WHOLE = ("i8", "u8")


@dataclass(frozen=True)
class Layer:
    """C[n][p][q][k] += A[n][stride p + r][stride q + s][c] * B[k][r][s][c], with `more` columns and channels
    in both arrays that no sum takes."""

    kind: str
    sizes: dict[str, int]
    stride: int
    more: tuple[int, int]
    dilation: int = 1

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        z = self.sizes
        rows = self.stride * (z["p"] - 1) + z["r"]
        columns = self.stride * (z["q"] - 1) + self.dilation * (z["s"] - 1) + 1 + self.more[0]
        return {
            "A": (z["n"], rows, columns, z["c"] + self.more[1]),
            "B": (z["k"], z["r"], z["s"], z["c"] + self.more[1]),
            "C": (z["n"], z["p"], z["q"], z["k"]),
        }

    @property
    def text(self) -> str:
        factor, total = TYPES[self.kind]
        a, b, c = ("".join(f"[{n}]" for n in self.shapes[x]) for x in "ABC")
        loops = {d: f"for (int {d} = 0; {d} < {n}; {d}++)" for d, n in self.sizes.items()}
        outer, inner = (" ".join(loops[d] for d in dims) for dims in ("npqk", "rsc"))
        column = f"{self.stride} * q + {self.dilation} * s"
        read = f"({total})A[n][{self.stride} * p + r][{column}][c] * ({total})B[k][r][s][c]"
        return (
            f"#include <stdint.h>\nvoid f(const {factor} A{a}, const {factor} B{b}, {total} C{c}) {{\n"
            f"  {outer} {{\n    {total} sum = 0;\n    {inner}\n      sum += {read};\n"
            "    C[n][p][q][k] = sum;\n  }\n}\n"
        )

    def expected(self, arrays: dict[str, Array]) -> Array:
        wide = np.int64 if self.kind in WHOLE else np.float64
        a, b = (arrays[x].astype(wide) for x in "AB")
        z, out = self.sizes, np.zeros(self.shapes["C"], wide)
        for r in range(z["r"]):
            for s in range(z["s"]):
                at = self.dilation * s
                rows = slice(r, r + self.stride * (z["p"] - 1) + 1, self.stride)
                part = a[:, rows, at : at + self.stride * (z["q"] - 1) + 1 : self.stride, : z["c"]]
                with np.errstate(invalid="ignore"):
                    out += np.einsum("npqc,kc->npqk", part, b[:, r, s, : z["c"]])
        return out


def drawn(rng: Random) -> tuple[Layer, str]:
    """A layer and a schedule; a few of them are refused."""
    kind = rng.choice(list(KINDS))
    c = rng.choice((1, 2, 3, 3, 3, 5, 6, 7, 12, 15, 19))
    sizes = {"n": rng.choice((1, 2)), "p": rng.choice((2, 3, 4)), "q": rng.choice((16, 24, 32)),
             "k": rng.choice((8, 16)), "r": rng.choice((1, 2, 3)), "s": rng.choice((1, 3, 5, 7)),
             "c": c}  # fmt: skip
    layer = Layer(
        kind,
        sizes,
        rng.choice((1, 2, 2)),
        (rng.choice((0, 0, 1)), rng.choice((0, 0, 0, 1, 2))),
        rng.choice((1, 1, 1, 2)),
    )
    depth = rng.choice(KINDS[kind])
    within = min(c, rng.choice((c, c, 8, 4, 3)), depth)
    room = 1 << (within - 1).bit_length()
    along = max(1, min(sizes["s"], depth // room, rng.choice((8, 4, 4, 3, 2))))
    return layer, "\n".join(_steps(rng, layer, along, within)) + "\n"


def _steps(rng: Random, layer: Layer, along: int, within: int) -> list[str]:
    z = layer.sizes
    high = 8 if layer.kind == "f64" and rng.random() < 0.5 else 16
    atom = rng.choice(((1, high), (2, high // 2)))
    block = {
        "p": atom[0] * rng.choice((1, 1, 2)),
        "q": atom[1] * rng.choice((1, 2)),
        "k": rng.choice((8, 16)),
    }
    block = {d: min(n, z[d]) for d, n in block.items()}
    a, b = (f"{x}:SM[{_layout(rng, x)}]{rng.choice(('', '', '@pad(1)', '@pad(2)', '@pad(4)'))}" for x in "AB")
    stages = rng.choice(("", "@stages(2)"))
    tile = f"1, {block['p']}, {block['q']}, {block['k']}"
    units = ("^, BLK.z, BLK.y, BLK.x", "BLK.z, BLK.y, BLK.x, ^")[block["k"] == z["k"]]
    lines = [f"( {tile}, ^, ^, ^ ) ( ^, ^ ; ^ ) ( {units}, ^, ^, ^ )"]
    form = rng.randrange(4)
    if form == 0:
        # what atoms take is staged in parts, which are cut too
        part = f"1, {min(z['s'], along * rng.choice((1, 1, 2)))}, {min(z['c'], within * rng.choice((1, 2)))}"
        lines.append(
            f"( ^, ^, ^, ^, {part} ) ( {a}, {b} ; C:RM[1,2,3,4] ) ( ^, ^, ^, ^, FOR.1, ^, ^ ) {stages}"
        )
    elif form == 1:
        lines[0] = f"( {tile}, ^, ^, ^ ) ( ^, {b} ; ^ ) ( {units}, ^, ^, ^ )"
        row = f"( ^, {atom[0]}, ^, ^, ^, ^, ^ ) ( {a}, ^ ; C:RM[1,2,3,4] )"
        lines.append(f"{row} ( ^, FOR.1, ^, ^, ^, ^, ^ ) {stages if atom[0] < block['p'] else ''}")
        lines.append("( ^, ^, ^, ^, 1, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, FOR.2, ^, ^ )")
        block["p"] = min(atom[0], block["p"])
    else:
        lines.append(f"( ^, ^, ^, ^, ^, ^, ^ ) ( {a}, {b} ; C:RM[1,2,3,4] ) ( ^, ^, ^, ^, ^, ^, ^ )")
        lines.append("( ^, ^, ^, ^, 1, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^, ^, FOR.1, ^, ^ )")
    warps = f"( 1, {block['p']}, {atom[1]}, {rng.choice((8, block['k']))}, ^, ^, ^ )"
    lines.append(f"{warps} ( ^, ^ ; ^ ) ( ^, ^, WRP.x, WRP.y, ^, ^, ^ )")
    deep = ("^", "MMA.k", "MMA.k")
    last = f"( 1, {atom[0]}, {atom[1]}, 8, 1, {along}, {within} )"
    lines.append(f"{last} ( ^, ^ ; ^ ) ( ^, MMA.m, MMA.m, MMA.n, {', '.join(deep)} )")
    return [f"{n}: (de-)comp{line}" for n, line in enumerate(lines, 1)]


def _layout(rng: Random, array: str) -> str:
    if rng.random() < 0.7:
        return "1,2,3,4"
    front = rng.sample((1, 2, 3), 3)
    return ",".join(map(str, (*front, 4))) if rng.random() < 0.7 else "1,2,4,3"


def inputs(layer: Layer, program: Program, seed: int) -> dict[str, Array]:
    """Small integers. Of floats, those that no sum takes are NaN, and so are a few others."""
    out = whole_numbers(program, seed)
    if layer.kind in WHOLE:
        return out
    rng = np.random.default_rng(seed)
    odd = np.array([np.nan, np.inf, -np.inf])
    for name in "AB":
        x = out[name]
        if layer.more[1]:
            x[..., layer.sizes["c"] :] = np.nan
        if name == "A" and layer.more[0]:
            x[:, :, -layer.more[0] :] = np.nan
        few = rng.random(x.shape) < (0.0, 0.002, 0.01)[seed % 3]
        x[few] = rng.choice(odd, int(few.sum())).astype(x.dtype)
    return out


def computed(layer: Layer, schedule: str, seed: int) -> tuple[Array, Array]:
    """What the kernels compute in the interpreter, and what is right."""
    program, module = lowered(layer.text, schedule)
    return _run(layer, program, module, seed)


def right(layer: Layer, program: Program, module: Module, seed: int) -> bool:
    """Whether the kernels compute what they should."""
    try:
        found, want = _run(layer, program, module, seed)
    except AssertionError:
        return False
    return np.array_equal(found, want, equal_nan=layer.kind not in WHOLE)


def _run(layer: Layer, program: Program, module: Module, seed: int) -> tuple[Array, Array]:
    arrays = inputs(layer, program, seed)
    want = layer.expected(arrays)
    arrays["C"] = np.full(arrays["C"].shape, 77, numpy_type(program.buffer_of["C"].dtype))
    with np.errstate(invalid="ignore"):
        run(module, arrays, seed=seed)
    return arrays["C"].astype(want.dtype), want
