"""Random maps: stencils, transposes and others, whose inputs boxes bring to threads."""

from random import Random

from mdh.ir.atoms import GROUP_LANES
from tests.atoms.random_products import Case, roles, slots

THREADS = 512


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
    apart = ""
    if threads % GROUP_LANES == 0 and threads <= THREADS and rng.random() < 0.7:
        apart = roles(rng, threads // GROUP_LANES)
    cyclic = [rng.choice(("", "", "@cyclic(1)")) for _ in tiles]
    cores = ", ".join(
        f"THR.{x}{c}" if t > o else "^" for x, t, o, c in zip(names, tiles, own, cyclic, strict=True)
    )
    more_blocks = rng.choice(("", "@persistent"))
    lines = [f"1: (de-)comp( {_listed(block)} ) ( {nothing} ; ^ ) ( {grid} ) {more_blocks}{apart}"]
    if block == tiles:
        lines = [lines[0].replace(f"( {nothing} ;", f"( {staged} ;", 1)]
    else:
        lines.append(f"2: (de-)comp( {_listed(tiles)} ) ( {staged} ; ^ ) ( {', '.join(fors)} ) {more}")
    lines.append(f"{len(lines) + 1}: (de-)comp( {_listed(own)} ) ( {nothing} ; ^ ) ( {cores} )")
    return "\n".join(lines) + "\n"


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def stencil(rng: Random) -> Case:
    """A map of neighbours in one to three dimensions, whose part of the input has a halo."""
    rank = rng.choice((1, 2, 2, 3))
    tiles = [rng.choice((4, 8)) for _ in range(rank - 1)] + [rng.choice((4, 8, 16, 32))]
    if rank < 3 and rng.random() < 0.15:
        tiles[-1] = rng.choice((256, 320, 512, 520))
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
    return Case(text, _tiled(rng, sizes, tiles, [staged], slots(rng)))


def mapped(rng: Random) -> Case:
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
    return Case(text, _tiled(rng, sizes, tiles, inputs, slots(rng)))
