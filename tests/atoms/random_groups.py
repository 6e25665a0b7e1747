"""Random programs and schedules of them with warp groups, the copy engine, roles and slots."""

from dataclasses import dataclass
from random import Random

from mdh.ir.atoms import GROUP_LANES
from tests.atoms.products import TYPES

COLUMNS = (8, 16, 24, 32, 40, 64, 96, 128)
BYTES = {"bf16": 2, "f16": 2, "i8": 1, "u8": 1}
THREADS = 512


@dataclass(frozen=True)
class Case:
    text: str
    schedule: str


def drawn(rng: Random) -> Case:
    """Many schedules are refused."""
    return rng.choice((_by_groups, _by_groups, _by_groups, _by_warps, _plain_product, _stencil, _map))(rng)


# -- products ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    """A product's arrays. kind: of the factors. order: of the dimensions of A and of B, the slowest first."""

    kind: str
    sizes: dict[str, int]
    orders: tuple[str, str]
    batched: bool
    factor: str
    total: str

    @property
    def text(self) -> str:
        def array(order: str) -> str:
            return "".join(f"[{self.sizes[d]}]" for d in order)

        def read(name: str, order: str) -> str:
            return name + "".join(f"[{d}]" for d in order)

        out = "bij" if self.batched else "ij"
        loops = "".join(f"for (int {d} = 0; {d} < {self.sizes[d]}; {d}++)\n" for d in out)
        (a, b), total = self.orders, self.total
        return f"""#include <stdint.h>
void product(const {self.factor} A{array(a)}, const {self.factor} B{array(b)}, {total} C{array(out)}) {{
{loops}{{
      {total} sum = 0;
      for (int k = 0; k < {self.sizes["k"]}; k++)
        sum += ({total}){read("A", a)} * ({total}){read("B", b)};
      {read("C", out)} = sum;
    }}
}}
"""


def _arrays(rng: Random, kind: str, block: tuple[int, int, int], unit: int, *, along_k: bool) -> _Layout:
    """unit: elements of 16 bytes."""
    counts = (rng.choice((1, 1, 2)), rng.choice((1, 1, 2)), rng.choice((1, 2, 3, 5)))
    sizes = [n * c - rng.choice((0, 0, 1, 2, 3)) * unit * (c > 1) for n, c in zip(block, counts, strict=True)]
    if rng.random() < 0.1:
        sizes[rng.randrange(3)] -= rng.randrange(unit)
    m, n, k = (max(size, 1) for size in sizes)
    orders = [
        "ik" if along_k or rng.random() < 0.5 else "ki",
        "jk" if along_k or rng.random() < 0.5 else "kj",
    ]
    batched = rng.random() < 0.15
    if batched:
        orders = [rng.choice((f"b{x}", f"b{x}", f"{x[0]}b{x[1]}")) for x in orders]
    factor, total = TYPES.get(kind, ("float", "float"))
    return _Layout(kind, {"b": 2, "i": m, "j": n, "k": k}, (orders[0], orders[1]), batched, factor, total)


def _line(step: int, arrays: _Layout, tiles: list[object], entries: str, cores: list[str], more: str) -> str:
    """A step of a product; a batch's own loop over blocks comes first."""
    if arrays.batched:
        tiles, cores = ["1" if step == 1 else "^", *tiles], ["BLK.z" if step == 1 else "^", *cores]
    return f"{step}: (de-)comp( {', '.join(map(str, tiles))} ) ( {entries} ) ( {', '.join(cores)} ) {more}"


def _held(arrays: _Layout) -> str:
    return "C:RM[1,2,3]" if arrays.batched else "C:RM[1,2]"


def _staged(name: str, arrays: _Layout, swizzle: int) -> str:
    order = arrays.orders["AB".index(name)]
    said = ",".join(str(d + 1) for d in range(len(order)))
    return f"{name}:SM[{said}]@copy(tma)" + (f"@swizzle({swizzle})" if swizzle else "")


def _swizzle(rng: Random, name: str, arrays: _Layout, block: tuple[int, int, int], size: int) -> int:
    """One that fits the row, mostly."""
    row = block["ijk".index(arrays.orders["AB".index(name)][-1])] * size
    fits = [s for s in (128, 64, 32) if row % s == 0]
    return rng.choice(fits) if fits and rng.random() < 0.93 else rng.choice((32, 64, 128))


def _slots(rng: Random) -> str:
    return rng.choice(("", "@stages(2)", "@stages(3)", "@stages(4)")) + rng.choice(
        ("", "", " @unroll(2)", " @unroll")
    )


def _grid(rng: Random) -> tuple[list[str], str]:
    cores = rng.choice(
        (["BLK.y", "BLK.x", "^"], ["BLK.x", "BLK.y", "^"], ["BLK.x", "FOR.1", "^"], ["^", "BLK.x", "^"])
    )
    extra = rng.choice(
        ("", "", "@persistent", "@order(grouped(2))", "@order(hilbert)", "@persistent @order(grouped(2))")
    )
    return list(cores), extra if "BLK.y" in cores else ""


def _roles(rng: Random, math: int) -> str:
    if rng.random() < 0.4:
        return ""
    wrong = rng.random() < 0.03
    registers = rng.choice(("", {2: ", regs=24/240", 3: ", regs=24/152", 4: ", regs=40/112"}.get(math, "")))
    return f" @roles(load=1, math={math + wrong}{registers})"


def _by_groups(rng: Random) -> Case:
    kind = rng.choice(("bf16", "bf16", "f16", "i8", "u8"))
    size, n = BYTES[kind], rng.choice(COLUMNS)
    depth = 32 // size
    groups = rng.choice(((1, 1), (2, 1), (1, 2), (2, 2), (3, 1)))
    own = (64 * rng.choice((1, 1, 2)), n * rng.choice((1, 1, 2)), depth * rng.choice((1, 2, 2, 4, 3)))
    block = (own[0] * groups[0], own[1] * groups[1], own[2])
    arrays = _arrays(rng, kind, block, 16 // size, along_k=size == 1 and rng.random() < 0.95)
    cores, extra = _grid(rng)
    factors = ", ".join(_staged(x, arrays, _swizzle(rng, x, arrays, block, size)) for x in "AB")
    split = [f"WGP.{axis}" if g > 1 else "^" for axis, g in zip("yx", groups, strict=True)]
    inflight = rng.choice(("", "", " @inflight(0)", " @inflight(1)", " @inflight(2)"))
    more = f"{extra}{_roles(rng, groups[0] * groups[1])}"
    lines = [
        _line(1, arrays, [block[0], block[1], "^"], "^, ^ ; ^", cores, more),
        _line(
            2,
            arrays,
            ["^", "^", block[2]],
            f"{factors} ; {_held(arrays)}",
            ["^", "^", rng.choice(("FOR.1", "FOR.1", "^"))],
            _slots(rng),
        ),
    ]
    if groups != (1, 1):
        lines.append(_line(3, arrays, [own[0], own[1], "^"], "^, ^ ; ^", [*split, "^"], ""))
    if rng.random() < 0.1:
        # a loop over parts of what a group computes, or of what is staged
        tiles = rng.choice(([64, "^", "^"], ["^", "^", depth], ["^", n, "^"]))
        lines.append(
            _line(
                len(lines) + 1, arrays, tiles, "^, ^ ; ^", ["FOR.2" if t != "^" else "^" for t in tiles], ""
            )
        )
    atom = ["MMA.m", "MMA.n", "MMA.k"]
    lines.append(_line(len(lines) + 1, arrays, [64, n, depth], "^, ^ ; ^", atom, f"@atom(wgmma){inflight}"))
    return Case(arrays.text, "\n".join(lines) + "\n")


def _by_warps(rng: Random) -> Case:
    """Atoms of warps, whose fragments come from boxes."""
    kind = rng.choice(("bf16", "f16", "i8"))
    size = BYTES[kind]
    m, n, k = 16, 8, rng.choice((16 // size * 2, 16 // size))
    warps = rng.choice(((1, 1), (2, 2), (4, 1), (2, 1)))
    own = (m * rng.choice((1, 2)), n * rng.choice((1, 2, 4)), k * rng.choice((1, 2, 4)))
    block = (own[0] * warps[0], own[1] * warps[1], own[2])
    arrays = _arrays(rng, kind, block, 16 // size, along_k=size == 1)
    cores, extra = _grid(rng)
    swizzles = (rng.choice((0, _swizzle(rng, x, arrays, block, size))) for x in "AB")
    factors = ", ".join(_staged(x, arrays, s) for x, s in zip("AB", swizzles, strict=True))
    if rng.random() < 0.2:
        factors = factors.replace("@copy(tma)", "", 1)
    split = [f"WRP.{axis}" if g > 1 else "^" for axis, g in zip("yx", warps, strict=True)]
    roles = _roles(rng, 1) if warps in ((4, 1), (2, 2)) else ""
    lines = [
        _line(1, arrays, [block[0], block[1], "^"], "^, ^ ; ^", cores, extra + roles),
        _line(
            2, arrays, ["^", "^", block[2]], f"{factors} ; {_held(arrays)}", ["^", "^", "FOR.1"], _slots(rng)
        ),
    ]
    if warps != (1, 1):
        lines.append(_line(3, arrays, [own[0], own[1], "^"], "^, ^ ; ^", [*split, "^"], ""))
    lines.append(_line(len(lines) + 1, arrays, [m, n, k], "^, ^ ; ^", ["MMA.m", "MMA.n", "MMA.k"], ""))
    return Case(arrays.text, "\n".join(lines) + "\n")


def _plain_product(rng: Random) -> Case:
    """A product of floats by threads."""
    threads = (rng.choice((4, 8, 16)), rng.choice((4, 8, 16)))
    own = (rng.choice((1, 2, 4)), rng.choice((1, 2, 4)))
    block = (threads[0] * own[0], threads[1] * own[1], rng.choice((4, 8, 12)))
    arrays = _arrays(rng, "f32", block, 4, along_k=False)
    cores, extra = _grid(rng)
    swizzles = (rng.choice((0, 0, _swizzle(rng, x, arrays, block, 4))) for x in "AB")
    factors = ", ".join(_staged(x, arrays, s) for x, s in zip("AB", swizzles, strict=True))
    if rng.random() < 0.2:
        factors = factors.replace("@copy(tma)", "", 1)
    threaded = threads[0] * threads[1]
    roles = _roles(rng, threaded // GROUP_LANES) if threaded % GROUP_LANES == 0 else ""
    cyclic = [rng.choice(("", "", f"@cyclic({rng.choice((1, 2))})")) for _ in range(2)]
    lines = [
        _line(1, arrays, [block[0], block[1], "^"], "^, ^ ; ^", cores, extra + roles),
        _line(
            2, arrays, ["^", "^", block[2]], f"{factors} ; {_held(arrays)}", ["^", "^", "FOR.1"], _slots(rng)
        ),
        _line(
            3, arrays, [own[0], own[1], "^"], "^, ^ ; ^", [f"THR.y{cyclic[0]}", f"THR.x{cyclic[1]}", "^"], ""
        ),
    ]
    if rng.random() < 0.5:
        held = "1,2,3" if arrays.batched else "1,2"
        entries = f"A:RM[{held}], B:RM[{held}] ; ^"
        lines.append(_line(4, arrays, ["^", "^", 1], entries, ["^", "^", "FOR.1"], "@unroll"))
    return Case(arrays.text, "\n".join(lines) + "\n")


# -- maps --------------------------------------------------------------------------------------


def _tiled(rng: Random, sizes: list[int], tiles: list[int], inputs: list[str], more: str) -> str:
    """Blocks, a loop over parts that are staged, and threads, of a map in one to three dimensions."""
    rank, staged = len(sizes), ", ".join(inputs)
    names = "zyx"[-rank:]
    parts = [rng.choice((1, 1, 2, 3)) for _ in tiles]
    parts = [p if t * p <= n else 1 for p, t, n in zip(parts, tiles, sizes, strict=True)]
    block = [t * p for t, p in zip(tiles, parts, strict=True)]
    fors = [f"FOR.{d + 1}" if p > 1 else "^" for d, p in enumerate(parts)]
    nothing = ", ".join("^" for _ in inputs)
    own = [rng.choice([n for n in (1, 1, 2, 4) if t % n == 0]) for t in tiles]
    threads = 1
    for t, o in zip(tiles, own, strict=True):
        threads *= t // o
    grid = ", ".join(f"BLK.{x}" for x in names)
    roles = ""
    if threads % GROUP_LANES == 0 and threads <= THREADS and rng.random() < 0.7:
        roles = _roles(rng, threads // GROUP_LANES)
    cyclic = [rng.choice(("", "", "@cyclic(1)")) for _ in tiles]
    cores = ", ".join(
        f"THR.{x}{c}" if t > o else "^" for x, t, o, c in zip(names, tiles, own, cyclic, strict=True)
    )
    more_blocks = rng.choice(("", "@persistent"))
    lines = [f"1: (de-)comp( {_listed(block)} ) ( {nothing} ; ^ ) ( {grid} ) {more_blocks}{roles}"]
    if block == tiles:
        lines = [lines[0].replace(f"( {nothing} ;", f"( {staged} ;", 1)]
    else:
        lines.append(f"2: (de-)comp( {_listed(tiles)} ) ( {staged} ; ^ ) ( {', '.join(fors)} ) {more}")
    lines.append(f"{len(lines) + 1}: (de-)comp( {_listed(own)} ) ( {nothing} ; ^ ) ( {cores} )")
    return "\n".join(lines) + "\n"


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def _stencil(rng: Random) -> Case:
    """A map of neighbours in one to three dimensions, whose part of the input has a halo."""
    rank = rng.choice((1, 2, 2, 3))
    tiles = [rng.choice((4, 8)) for _ in range(rank - 1)] + [rng.choice((4, 8, 16, 32))]
    halo = [rng.choice((0, 1, 2)) for _ in range(rank - 1)] + [rng.choice((0, 4, 4, 2, 8))]
    counts = [rng.choice((1, 2, 3)) for _ in tiles]
    sizes = [max(t, t * c - rng.choice((0, 0, 1, 3))) for t, c in zip(tiles, counts, strict=True)]
    shape = [n + h for n, h in zip(sizes, halo, strict=True)]
    if rng.random() < 0.9:
        shape[-1] = -(-shape[-1] // 4) * 4
    names = "ijk"[:rank]
    reads = []
    for _ in range(rng.choice((1, 2, 3, 5))):
        at = [rng.randrange(h + 1) for h in halo]
        reads.append("A" + "".join(f"[{x} + {n}]" for x, n in zip(names, at, strict=True)))
    corner = "A" + "".join(f"[{x} + {h}]" for x, h in zip(names, halo, strict=True))
    first = "A" + "".join(f"[{x}]" for x in names)
    loops = "".join(f"  for (int {x} = 0; {x} < {n}; {x}++)\n" for x, n in zip(names, sizes, strict=True))
    array, out = ("".join(f"[{n}]" for n in each) for each in (shape, sizes))
    into = "C" + "".join(f"[{x}]" for x in names)
    value = " + ".join([first, corner, *reads])
    text = f"void f(const float A{array}, float C{out}) {{\n{loops}    {into} = {value};\n}}\n"
    staged = f"A:SM[{_listed([d + 1 for d in range(rank)])}]@copy(tma)" + rng.choice(
        ("", "", "@swizzle(32)", "@swizzle(128)")
    )
    return Case(text, _tiled(rng, sizes, tiles, [staged], _slots(rng)))


def _map(rng: Random) -> Case:
    """A transpose, or a map of two arrays of any small type."""
    kind = rng.choice(("float", "float", "double", "_Float16", "int8_t", "int32_t"))
    unit = {"float": 4, "double": 2, "_Float16": 8, "int8_t": 16, "int32_t": 4}[kind]
    tiles = [rng.choice((4, 8, 16)), rng.choice((1, 2, 4)) * unit]
    counts = [rng.choice((1, 2, 3)) for _ in tiles]
    sizes = [max(t, t * c - rng.choice((0, 0, 1, 3))) for t, c in zip(tiles, counts, strict=True)]
    if rng.random() < 0.85:
        sizes[1] = -(-sizes[1] // unit) * unit
    m, n = sizes
    other = rng.choice((f"B[{m}][{n}]", f"B[{n}]", f"B[{-(-m // unit) * unit}]", ""))
    read = {"B[": "B[i][j]" if other.count("[") == 2 else "B[j]" if other == f"B[{n}]" else "B[i]"}.get(
        other[:2], ""
    )
    transposed = rng.random() < 0.4
    into, out = ("C[j][i]", f"C[{n}][{m}]") if transposed else ("C[i][j]", f"C[{m}][{n}]")
    swizzle = rng.choice(("", "", "@swizzle(32)", "@swizzle(64)"))
    inputs = [f"A:SM[1,2]@copy(tma){swizzle}"]
    if other:
        rank = other.count("[")
        inputs.append(f"B:SM[{'1,2' if rank == 2 else '1'}]{rng.choice(('@copy(tma)', '@copy(tma)', ''))}")
    params = f"const {kind} A[{m}][{n}]" + (f", const {kind} {other}" if other else "")
    value = f"A[i][j] + {read}" if read else "A[i][j]"
    text = f"""#include <stdint.h>
void f({params}, {kind} {out}) {{
  for (int i = 0; i < {m}; i++)
    for (int j = 0; j < {n}; j++)
      {into} = {value};
}}
"""
    return Case(text, _tiled(rng, sizes, tiles, inputs, _slots(rng)))
