"""Random contractions and convolutions whose atoms take several dimensions on an axis: C and schedules."""

from dataclasses import dataclass, field
from math import prod
from random import Random

from tests.atoms.products import TYPES
from tests.atoms.random_products import BYTES, NARROW, Case

ATOMS = {
    "bf16": ((16, 8, 16), (16, 8, 8)), "f16": ((16, 8, 16),), "i8": ((16, 8, 32), (16, 8, 16)),
    "u8": ((16, 8, 32),), "f64": ((8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16)),
}  # fmt: skip
NAMES = {"m": "pqt", "n": "jlh", "k": "cde"}
Sizes = dict[str, int]


@dataclass
class Nest:
    """A sum of products. axes: the dimensions of the atom, the last one of each axis the fastest; window: by
    dimension of m the reduced one that moves its index, and the stride; batch: dimensions of both factors."""

    kind: str
    axes: dict[str, str]
    sizes: Sizes
    orders: dict[str, str]
    loops: str
    window: dict[str, tuple[str, int]] = field(default_factory=dict)
    batch: str = ""
    narrow: bool = False
    adds: bool = False

    @property
    def summed(self) -> str:
        return self.axes["k"] + self.moved

    @property
    def moved(self) -> str:
        """The reduced dimensions of windows."""
        return "".join(r for r, _ in self.window.values())

    @property
    def dims(self) -> str:
        return self.loops + self.summed

    @property
    def text(self) -> str:
        factor, total = TYPES[self.kind]
        out = NARROW.get(self.kind, total) if self.narrow else total
        arrays = [f"const {factor} {x}{self._shape(x)}" for x in "AB"] + [f"{out} C{self._shape('C')}"]
        head = "".join(f"  for (int {d} = 0; {d} < {self.sizes[d]}; {d}++)\n" for d in self.loops)
        sums = "".join(f"    for (int {d} = 0; {d} < {self.sizes[d]}; {d}++)\n" for d in self.summed)
        term = f"({total})A{self._read('A')} * ({total})B{self._read('B')}"
        into = f"C{self._read('C')}"
        if self.adds and not self.narrow:
            body = f"{sums}      {into} += {term};\n"
        else:
            body = f"  {{\n    {total} sum = 0;\n{sums}      sum += {term};\n    {into} = ({out})sum;\n  }}\n"
        return f"#include <stdint.h>\nvoid f({', '.join(arrays)}) {{\n{head}{body}}}\n"

    def _shape(self, array: str) -> str:
        return "".join(f"[{self._extent(array, d)}]" for d in self.orders[array])

    def _extent(self, array: str, d: str) -> int:
        if array == "A" and d in self.window:
            r, stride = self.window[d]
            return stride * (self.sizes[d] - 1) + self.sizes[r]
        return self.sizes[d]

    def _read(self, array: str) -> str:
        return "".join(f"[{self._index(array, d)}]" for d in self.orders[array])

    def _index(self, array: str, d: str) -> str:
        if array != "A" or d not in self.window:
            return d
        r, stride = self.window[d]
        return f"{d} + {r}" if stride == 1 else f"{stride} * {d} + {r}"


def _tiles(rng: Random, dims: str, size: int, *, exact: bool, last: int) -> Sizes:
    """Tiles of the dimensions of an axis. last: what divides that of the fastest one."""
    if len(dims) == 1:
        return {dims: size}
    out, rest = dict.fromkeys(dims, 1), size
    for d in rng.sample(dims, len(dims)):
        powers = [n for n in (1, 2, 4, 8, 16, 32) if n <= rest]
        out[d] = rng.choice(powers)
        if not exact and rng.random() < 0.4 and out[d] > 2:
            out[d] -= rng.randrange(out[d] // 2)
        rest //= next(n for n in (1, 2, 4, 8, 16, 32) if n >= out[d])
    if rng.random() < 0.8:
        out[dims[-1]] = max(last, out[dims[-1]] // last * last)
    if exact and rng.random() < 0.95:
        out[dims[0]] = max(1, size // prod(n for d, n in out.items() if d != dims[0]))
    return out


def nest_of(rng: Random, kind: str, sizes: Sizes, axes: dict[str, str]) -> Nest:
    """A sum over windows or not, of any layout. sizes: of the dimensions on the axes."""
    moving = axes["m"][: rng.choice((1, 2))] if rng.random() < 0.4 else ""
    window = {d: (r, rng.choice((1, 1, 2))) for d, r in zip(moving, "rs", strict=False)}
    batch = "b" if rng.random() < 0.2 else ""
    sizes |= {r: rng.choice((2, 3)) for r, _ in window.values()} | dict.fromkeys(batch, rng.choice((2, 3)))
    moved = "".join(r for r, _ in window.values())
    a, b = axes["m"] + axes["k"] + batch, axes["n"] + axes["k"] + moved + batch
    near = axes["k"][-1]
    orders = {
        "A": _order(rng, a, near if rng.random() < 0.8 else axes["m"][-1]),
        "B": _order(rng, b, near if rng.random() < 0.8 else axes["n"][-1]),
        "C": _order(rng, axes["m"] + axes["n"] + batch, axes["n"][-1]),
    }
    loops = axes["m"] + axes["n"] + batch
    if rng.random() < 0.3:
        # the order of the loops decides which dimension of an axis is the fastest
        loops = "".join(rng.sample(loops, len(loops)))
    return Nest(kind, axes, sizes, orders, loops, window, batch, rng.random() < 0.2, rng.random() < 0.15)


def drawn_axes(rng: Random) -> dict[str, str]:
    counts = {"m": rng.choice((1, 2, 2, 3)), "n": rng.choice((1, 1, 2, 3)), "k": rng.choice((1, 1, 1, 2))}
    return {x: NAMES[x][: counts[x]] for x in "mnk"}


def _order(rng: Random, dims: str, last: str) -> str:
    """Dimensions of an array, mostly with `last` as the fastest."""
    order = "".join(rng.sample(dims, len(dims)))
    return order.replace(last, "") + last if rng.random() < 0.7 else order


def _atom(rng: Random, kind: str, axes: dict[str, str]) -> Sizes:
    size = dict(zip("mnk", rng.choice(ATOMS[kind]), strict=True))
    whole = {1: 16, 2: 8, 8: 1}[BYTES[kind]]
    out: Sizes = {}
    for x, dims in axes.items():
        last = whole if x == "k" or rng.random() < 0.2 else 1
        out |= _tiles(rng, dims, size[x], exact=x == "k" and rng.random() < 0.6, last=min(last, size[x]))
    return out


def by_axes(rng: Random) -> Case:
    """Many schedules are refused."""
    kind, axes = rng.choice(list(ATOMS)), drawn_axes(rng)
    atom = _atom(rng, kind, axes)
    # extents that are shorter than the atom
    short = {d: rng.randrange(1, atom[d] + 1) for d in axes.values() if len(d) == 1 and rng.random() < 0.15}
    atom |= short
    warp = {d: n if d in short else n * rng.choice((1, 1, 2)) for d, n in atom.items()}
    split = {rng.choice(axes[x]): rng.choice((1, 2)) for x in "mnk" if x != "k" or rng.random() < 0.15}
    block = {d: n if d in short else n * split.get(d, 1) for d, n in warp.items()}
    sizes = {
        d: n * rng.choice((1, 1, 2)) - rng.choice((0, 0, 1)) * rng.randrange(n) for d, n in block.items()
    } | short
    nest = nest_of(rng, kind, {d: max(block[d], n) for d, n in sizes.items()}, axes)
    return Case(nest.text, "\n".join(_steps(rng, nest, block, warp, atom, split)) + "\n")


def _steps(rng: Random, nest: Nest, block: Sizes, warp: Sizes, atom: Sizes, split: Sizes) -> list[str]:
    wide = [d for d in nest.axes["m"] + nest.axes["n"] + nest.batch if block.get(d, 1) < nest.sizes[d]]
    grid = {d: f"BLK.{axis}" for d, axis in zip(rng.sample(wide, len(wide)), "xyz", strict=False)}
    moved = {r: 1 for r, _ in nest.window.values()}
    outer = {d: n for d, n in block.items() if d not in nest.axes["k"]} | dict.fromkeys(nest.batch, 1)
    slices = {d: block[d] for d in nest.axes["k"]}
    a, b = (_staged(rng, x, nest.orders[x], nest) for x in "AB")
    held = (
        f"C:{rng.choice(('RM', 'RM', 'RM', 'SM'))}[{_ranks(nest.orders['C'])}]" if rng.random() < 0.9 else "^"
    )
    stages = rng.choice(("", "", "@stages(2)", "@stages(3)"))
    lines = [_line(nest, outer, grid, "^, ^ ; ^", rng.choice(("", "", "@persistent")) if grid else "")]
    if moved and rng.random() < 0.5:
        # the halo is copied once for the whole window
        lines.append(_line(nest, slices, {}, f"{a}, ^ ; {held}", stages))
        lines.append(_line(nest, moved, {}, f"^, {b} ; ^", rng.choice(("", "@stages(2)"))))
    elif moved:
        lines.append(_line(nest, {**slices, **moved}, {}, f"{a}, {b} ; {held}", stages))
    else:
        lines.append(_line(nest, slices, {}, f"{a}, {b} ; {held}", stages))
    warps = {d: f"WRP.{x}" for d, x in zip((d for d, n in split.items() if n > 1), "xyz", strict=False)}
    if warps:
        lines.append(
            _line(nest, warp if rng.random() < 0.9 else {d: warp[d] for d in warps}, warps, "^, ^ ; ^", "")
        )
    cores = {d: f"MMA.{x}" for x, dims in nest.axes.items() for d in dims}
    lines.append(_line(nest, atom, cores, "^, ^ ; ^", ""))
    return [f"{n}: {line}" for n, line in enumerate(lines, 1)]


def _line(nest: Nest, tiles: Sizes, cores: dict[str, str], entries: str, more: str) -> str:
    cells = ", ".join(str(tiles.get(d, "^")) for d in nest.dims)
    units = ", ".join(cores.get(d, "^") for d in nest.dims)
    return f"(de-)comp( {cells} ) ( {entries} ) ( {units} ) {more}"


def _staged(rng: Random, array: str, order: str, nest: Nest) -> str:
    ranks = _ranks(order)
    whole = 16 // BYTES[nest.kind]
    if rng.random() < (0.9 if whole == 16 else 0.4):
        # rows along k
        place = order.index(nest.axes["k"][-1]) + 1
        ranks = ",".join(str(n) for n in (*(n for n in range(1, len(order) + 1) if n != place), place))
    elif rng.random() < 0.1:
        ranks = ",".join(map(str, rng.sample(range(1, len(order) + 1), len(order))))
    rows = rng.choice(
        ("", f"@pad({whole})", f"@pad({whole})", "@pad(4)", "@swizzle(32)") if whole > 2 else ("", "@pad(2)")
    )
    straight = ranks == _ranks(order) and rng.random() < 0.3
    return f"{array}:SM[{ranks}]{rows}{'@copy(async)' if straight else ''}"


def _ranks(order: str) -> str:
    return ",".join(str(n + 1) for n in range(len(order)))


def by_group_axes(rng: Random) -> Case:
    """Convolutions and contractions by warp groups: rows of an atom along two or three dimensions."""
    kind, swizzle = rng.choice(("bf16", "f16", "i8")), rng.choice((128, 128, 64, 32))
    size = BYTES[kind]
    axes = {"m": NAMES["m"][: rng.choice((2, 2, 3))], "n": "j", "k": "c"}
    depth = swizzle // size * rng.choice((1, 1, 2))
    fast = rng.choice((8, 8, 16, 32, 4, 7, 6))
    atom = dict.fromkeys(axes["m"], 1) | {
        axes["m"][-1]: fast,
        "j": rng.choice((8, 16, 24, 32)),
        "c": 32 // size,
    }
    room = next(n for n in (1, 2, 4, 8, 16, 32, 64) if n >= fast)
    atom[axes["m"][-2]] = rng.choice(
        (64 // room, 64 // room, 64 // room, max(1, 64 // room - 1), max(1, 32 // room))
    )
    if len(axes["m"]) == 3 and rng.random() < 0.4:
        atom[axes["m"][-2]] = max(1, atom[axes["m"][-2]] // 2)
        atom["p"] = 2
    groups = rng.choice(axes["m"]) if rng.random() < 0.3 else ""
    looped = {d: rng.choice((1, 1, 1, 2)) for d in axes["m"] + "j"}
    warp = {d: n * looped.get(d, 1) for d, n in atom.items()} | {"c": depth}
    block = {d: n * (2 if d == groups else 1) for d, n in warp.items()}
    sizes = {
        d: n * rng.choice((1, 1, 2)) - rng.choice((0, 0, 1)) * rng.randrange(n) for d, n in block.items()
    }
    whole = 16 // size
    sizes = {d: max(block[d], n) for d, n in sizes.items()}
    sizes["c"] = max(block["c"], sizes["c"] // whole * whole)
    nest = nest_of(rng, kind, sizes, axes)
    natural = {"A": nest.batch + axes["m"] + "c", "B": nest.batch + "j" + nest.moved + "c"}
    nest.orders |= natural if rng.random() < 0.85 else {"A": natural["A"]}
    if rng.random() < 0.7:
        nest.orders["C"] = nest.batch + axes["m"] + "j"
    nest.loops = nest.batch + axes["m"] + "j"
    return Case(nest.text, "\n".join(_group_steps(rng, nest, block, warp, atom, groups, swizzle)) + "\n")


def _group_steps(
    rng: Random, nest: Nest, block: Sizes, warp: Sizes, atom: Sizes, groups: str, swizzle: int
) -> list[str]:
    wide = [d for d in nest.axes["m"] + "j" + nest.batch if block.get(d, 1) < nest.sizes[d]]
    grid = {d: f"BLK.{axis}" for d, axis in zip(rng.sample(wide, len(wide)), "xyz", strict=False)}
    if not grid:
        grid = {"j": "BLK.x"}
    outer = {d: n for d, n in block.items() if d != "c"} | dict.fromkeys(nest.batch, 1)
    stages = rng.choice(("", "@stages(2)", "@stages(3)"))
    grid_said, role = rng.choice(("", "@persistent")), ""
    if rng.random() < 0.6:
        by_turns = bool(grid_said) and rng.random() < 0.6
        role = f"@roles(load=1, math={(2 if groups else 1) * (2 if by_turns else 1)}{', turns' * by_turns})"
    leaves = "@store(tma)" if rng.random() < 0.6 else ""
    if leaves and rng.random() < 0.5:
        leaves = f"@store(tma, subtile={rng.choice((8, 16))})"
    held = f"C:RM[{_ranks(nest.orders['C'])}]{leaves}"
    moved = dict.fromkeys(nest.moved, 1)
    a, b = (f"{x}:SM[{_ranks(nest.orders[x])}]@copy(tma)@swizzle({swizzle})" for x in "AB")
    lines = [_line(nest, outer, grid, "^, ^ ; ^", f"{grid_said} {role}")]
    if moved and rng.random() < 0.6:
        # the halo is copied once for a dimension of the window, or for all of them
        once = dict(rng.sample(sorted(moved.items()), rng.randrange(len(moved))))
        lines.append(_line(nest, {"c": block["c"], **once}, {}, f"{a}, ^ ; {held}", stages))
        lines.append(_line(nest, moved, {}, f"^, {b} ; ^", rng.choice(("", "@stages(2)", "@stages(3)"))))
    else:
        lines.append(_line(nest, {"c": block["c"], **moved}, {}, f"{a}, {b} ; {held}", stages))
    if groups:
        lines.append(_line(nest, {groups: warp[groups]}, {groups: "WGP.y"}, "^, ^ ; ^", ""))
    if rng.random() < 0.2:
        # rows in registers may lie in shared memory as for warps
        lines.append(_line(nest, {}, {}, f"A:RM[{_ranks(nest.orders['A'])}], ^ ; ^", ""))
    cores = {d: f"MMA.{x}" for x, dims in nest.axes.items() for d in dims}
    late = rng.choice((" @inflight(2)", " @inflight(0)")) if role and rng.random() < 0.2 else ""
    lines.append(_line(nest, atom, cores, "^, ^ ; ^", f"@atom(wgmma){late}"))
    return [f"{n}: {line}" for n, line in enumerate(lines, 1)]
