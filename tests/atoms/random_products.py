"""Random products: their C, and schedules with warp groups, warps or threads, whose factors boxes bring."""

from dataclasses import dataclass, field
from random import Random

from mdh.ir.atoms import GROUP_LANES
from tests.atoms.products import ALLOWED, EIGHTHS, TYPES, factor_types, read, stored

COLUMNS = (8, 16, 24, 32, 40, 64, 96, 128)
BYTES = {"bf16": 2, "f16": 2, "i8": 1, "u8": 1, "f32": 4, "f64": 8, "tf32": 4, **dict.fromkeys(EIGHTHS, 1)}
AS = {"tf32": " @as(tf32)"}
NARROW = {
    "bf16": "__bf16",
    "f16": "_Float16",
    "f8e4m3": "fp8_e4m3",
    "f8e5m2": "__bf16",
    "f8mixed": "fp8_e5m2",
}
ORDERS = ("", "", "@persistent", "@order(grouped(2))", "@order(hilbert)", "@persistent @order(hilbert)")
Tiles = dict[str, int]


@dataclass(frozen=True)
class Case:
    text: str
    schedule: str


@dataclass
class Draft:
    """A product and its steps so far. kind: of the factors. orders: the dimensions of A and of B, the slowest
    first. bias: an array that is added at the end, and the result is cut at 0. adds: to what C holds."""

    kind: str
    sizes: Tiles
    orders: dict[str, str]
    batched: bool = False
    bias: bool = False
    narrow: bool = False
    adds: bool = False
    clustered: bool = False
    lines: list[str] = field(default_factory=list)

    @property
    def dims(self) -> str:
        return "bijk" if self.batched else "ijk"

    @property
    def held(self) -> str:
        return "C:RM[1,2,3]" if self.batched else "C:RM[1,2]"

    @property
    def text(self) -> str:
        total = TYPES[self.kind][1]
        of = factor_types(self.kind)
        out = NARROW.get(self.kind, total) if self.narrow else total
        loops = "".join(f"  for (int {d} = 0; {d} < {self.sizes[d]}; {d}++)\n" for d in self.dims[:-1])
        arrays = [f"const {of[x]} {x}{self._shape(order)}" for x, order in self.orders.items()]
        arrays += [f"const {total} bias[{self.sizes['j']}]"] if self.bias else []
        arrays.append(f"{out} C{self._shape(self.dims[:-1])}")
        a, b = (x + "".join(f"[{d}]" for d in order) for x, order in self.orders.items())
        done = "(sum + bias[j] > 0 ? sum + bias[j] : 0)" if self.bias else "sum"
        into = "C" + "".join(f"[{d}]" for d in self.dims[:-1])
        if self.adds and not (self.bias or self.narrow):
            return f"""#include <mdh.h>
void product({", ".join(arrays)}) {{{ALLOWED.get(self.kind, "")}
{loops}    for (int k = 0; k < {self.sizes["k"]}; k++)
      {into} += {read(self.kind, a)} * {read(self.kind, b)};
}}
"""
        return f"""#include <mdh.h>
void product({", ".join(arrays)}) {{{ALLOWED.get(self.kind, "")}
{loops}  {{
    {total} sum = 0;
    for (int k = 0; k < {self.sizes["k"]}; k++)
      sum += {read(self.kind, a)} * {read(self.kind, b)};
    {into} = {stored(out, done)};
  }}
}}
"""

    def _shape(self, order: str) -> str:
        return "".join(f"[{self.sizes[d]}]" for d in order)

    def step(
        self, tiles: Tiles, cores: dict[str, str], a: str = "^", b: str = "^", c: str = "^", more: str = ""
    ) -> None:
        listed = [", ".join(str(x.get(d, "^")) for d in self.dims) for x in (tiles, cores)]
        inputs = ", ".join((a, b, "^") if self.bias else (a, b))
        number = len(self.lines) + 1
        self.lines.append(f"{number}: (de-)comp( {listed[0]} ) ( {inputs} ; {c} ) ( {listed[1]} ) {more}")

    def case(self) -> Case:
        return Case(self.text, "\n".join(self.lines) + "\n")

    def staged(self, rng: Random, name: str, swizzle: int) -> str:
        said = ",".join(str(d + 1) for d in range(len(self.orders[name])))
        how = "tma, multicast" if self.clustered and rng.random() < 0.3 else "tma"
        return f"{name}:SM[{said}]@copy({how})" + (f"@swizzle({swizzle})" if swizzle else "")


def _draft(rng: Random, kind: str, block: Tiles, *, along_k: bool) -> Draft:
    """A product of some blocks of this size, at an edge or not."""
    unit = 16 // BYTES[kind]
    sizes = {}
    for d, n in block.items():
        count = rng.choice((1, 1, 2) if d != "k" else (1, 2, 3, 5))
        sizes[d] = n * count - rng.choice((0, 0, 1, 2, 3)) * unit * (count > 1)
    if rng.random() < 0.1:
        d = rng.choice("ijk")
        sizes[d] -= rng.randrange(unit)
    sizes = {d: max(n, 1) for d, n in sizes.items()} | {"b": rng.choice((1, 2, 3))}
    orders = {
        x: order if along_k or rng.random() < 0.5 else order[::-1] for x, order in (("A", "ik"), ("B", "jk"))
    }
    batched = rng.random() < 0.15
    if batched:
        orders = {x: rng.choice((f"b{o}", f"b{o}", f"{o[0]}b{o[1]}")) for x, o in orders.items()}
    return Draft(
        kind,
        sizes,
        orders,
        batched,
        rng.random() < 0.15,
        rng.random() < 0.2,
        rng.random() < 0.1,
        rng.random() < 0.1,
    )


def _swizzle(rng: Random, name: str, draft: Draft, block: Tiles) -> int:
    """One that fits the row, mostly."""
    row = block[draft.orders[name][-1]] * BYTES[draft.kind]
    fits = [s for s in (128, 64, 32) if row % s == 0]
    return rng.choice(fits) if fits and rng.random() < 0.93 else rng.choice((32, 64, 128))


def slots(rng: Random) -> str:
    unroll = rng.choice(("", "", " @unroll(2)", " @unroll"))
    return rng.choice(("", "@stages(2)", "@stages(3)", "@stages(4)")) + unroll


def roles(rng: Random, math: int) -> str:
    if rng.random() < 0.4:
        return ""
    wrong = rng.random() < 0.03
    turns = rng.choice(("", "", ", turns"))
    math *= rng.choice((2, 2, 3)) if turns else 1
    registers = {2: ", regs=24/240", 3: ", regs=24/152", 4: ", regs=40/112"}.get(math, "")
    return f" @roles(load=1, math={math + wrong}{rng.choice(('', registers))}{turns})"


def promotion(rng: Random, kind: str) -> str:
    """`@promote`, mostly where it has an effect."""
    drawn = rng.random() < (0.6 if kind in EIGHTHS else 0.02)
    return f" @promote({rng.choice((64, 128, 256))})" if drawn else ""


def _grid(rng: Random, draft: Draft, block: Tiles, more: str) -> None:
    """The first steps: blocks, mostly over i and j, alone or in clusters."""
    i, j = rng.choice((("BLK.y", "BLK.x"), ("BLK.x", "BLK.y"), ("BLK.x", "FOR.1"), ("^", "BLK.x")))
    tiles, cores = {"i": block["i"], "j": block["j"]}, {"i": i, "j": j}
    extra = rng.choice(ORDERS) if "BLK.y" in (i, j) else ""
    c = "^"
    if draft.batched:
        tiles["b"], cores["b"] = min(rng.choice((1, 1, 2, 3)), draft.sizes["b"]), "BLK.z"
    elif draft.clustered:
        outer = {d: min(2 * block[d], draft.sizes[d]) if rng.random() < 0.7 else block[d] for d in "ij"}
        draft.step(outer, {"i": "CLU.y", "j": "CLU.x"}, more=extra)
        cores, extra = {"i": "BLK.y", "j": "BLK.x"}, ""
    elif rng.random() < 0.1 and draft.sizes["k"] > block["k"] and not draft.bias:
        tiles["k"], cores["k"] = block["k"] * rng.choice((1, 2)), "BLK.z"
        c = rng.choice(("^", "^@combine(atomic)", "^@combine(kernel)"))
    draft.step(tiles, cores, c=c, more=extra + more)


def _staging(rng: Random, draft: Draft, block: Tiles, factors: dict[str, str]) -> None:
    """The steps that stage the factors: one, or one for each."""
    loop = rng.choice(("FOR.1", "FOR.1", "FOR.1", "^"))
    way = rng.random()
    batch: tuple[Tiles, dict[str, str]] = ({}, {})
    if draft.batched and rng.random() < 0.4:
        batch = ({"b": 1}, {"b": rng.choice(("FOR.2", "FOR.1"))})
        loop = "FOR.3" if batch[1]["b"] == "FOR.2" else "FOR.2"
    tiles, cores = {"k": block["k"], **batch[0]}, {"k": loop, **batch[1]}
    if way < 0.85:
        held = draft.held + ("@combine(stream)" if "@persistent" in draft.lines[0] and way < 0.3 else "")
        draft.step(tiles, cores, factors["A"], factors["B"], held, slots(rng))
    elif way < 0.93:
        # one of them stays while the other one's parts come
        draft.step({}, {}, factors["A"], more=rng.choice(("", "@stages(2)")))
        draft.step(tiles, cores, b=factors["B"], c=draft.held, more=slots(rng))
    else:
        draft.step(tiles, cores, factors["A"], c=draft.held, more=slots(rng))
        half = max(1, block["j"] // 2)
        draft.step({"j": half}, {"j": "FOR.4"}, b=factors["B"], more=slots(rng))


def by_groups(rng: Random) -> Case:
    """Many schedules are refused."""
    kind = rng.choice(("bf16", "bf16", "f16", "i8", "u8", "tf32", "tf32", *EIGHTHS))
    size, n = BYTES[kind], rng.choice(COLUMNS)
    depth = 32 // size
    groups = rng.choice(
        ((1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 1), (3, 1, 1), (2, 1, 1), (1, 1, 2), (2, 1, 2))
    )
    m_is, n_is = "ij" if rng.random() < 0.9 else "ji"
    own = {
        m_is: 64 * rng.choice((1, 1, 2)), n_is: n * rng.choice((1, 1, 2)),
        "k": depth * rng.choice((1, 2, 2, 4, 3)),
    }  # fmt: skip
    block = {"i": own["i"] * groups[0], "j": own["j"] * groups[1], "k": own["k"] * groups[2]}
    draft = _draft(rng, kind, block, along_k=size != 2 and rng.random() < 0.95)
    held = {"i": "A", "j": "B"}[m_is] if rng.random() < 0.3 else ""
    if held and not draft.batched and rng.random() < 0.5:
        draft.orders[held] = draft.orders[held][::-1]
    factors = {x: draft.staged(rng, x, _swizzle(rng, x, draft, block)) for x in "AB"}
    _grid(rng, draft, block, roles(rng, groups[0] * groups[1] * groups[2]))
    _staging(rng, draft, block, factors)
    if groups != (1, 1, 1):
        cyclic = rng.choice(("", "", "", "@cyclic(8)", "@cyclic(64)"))
        split = {d: f"WGP.{axis}{cyclic}" for d, axis, g in zip("ijk", "yxz", groups, strict=True) if g > 1}
        draft.step({d: own[d] for d in split}, split)
    if held:
        place = f"{held}:RM[{'1,2,3' if draft.batched else '1,2'}]"
        draft.step({}, {}, *((place, "^") if held == "A" else ("^", place)))
    if rng.random() < 0.1:
        # a loop over parts of what a group computes, or of what is staged
        d, tile = rng.choice(((m_is, 64), ("k", depth), (n_is, n)))
        draft.step({d: tile}, {d: "FOR.5"})
    batch = {"b": 1} if draft.batched else {}
    inflight = rng.choice(("", "", " @inflight(0)", " @inflight(1)", " @inflight(2)"))
    atom = {m_is: 64, n_is: n, "k": depth, **batch}
    more = f"@atom(wgmma){inflight}{AS.get(kind, '')}{promotion(rng, kind)}"
    draft.step(atom, {m_is: "MMA.m", n_is: "MMA.n", "k": "MMA.k"}, more=more)
    return draft.case()


def by_warps(rng: Random) -> Case:
    """Atoms of warps, whose fragments come from boxes."""
    kind = rng.choice(("bf16", "f16", "i8", "f64", "tf32", *EIGHTHS))
    size, m = BYTES[kind], 16
    depths = (32,) if kind in EIGHTHS else (32 // size, 16 // size)
    if kind == "f64":
        m, depths = rng.choice(((8, (4,)), (16, (4, 8, 16))))
    atom = {"i": m, "j": 8, "k": rng.choice(depths)}
    warps = rng.choice(((1, 1, 1), (2, 2, 1), (4, 1, 1), (2, 1, 1), (1, 1, 2), (2, 1, 2)))
    own = {
        "i": m * rng.choice((1, 2)),
        "j": 8 * rng.choice((1, 2, 4)),
        "k": atom["k"] * rng.choice((1, 2, 4)),
    }
    block = {"i": own["i"] * warps[0], "j": own["j"] * warps[1], "k": own["k"] * warps[2]}
    draft = _draft(rng, kind, block, along_k=size == 1)
    factors = {x: draft.staged(rng, x, rng.choice((0, _swizzle(rng, x, draft, block)))) for x in "AB"}
    if rng.random() < 0.1:
        factors["A"] = factors["A"].replace("@copy(tma)", "")
    _grid(rng, draft, block, roles(rng, 1) if warps in ((4, 1, 1), (2, 2, 1)) else "")
    _staging(rng, draft, block, factors)
    split = {d: f"WRP.{axis}" for d, axis, w in zip("ijk", "yxz", warps, strict=True) if w > 1}
    if split:
        draft.step({d: own[d] for d in split}, split)
    batch = {"b": 1} if draft.batched else {}
    cores = {"i": "MMA.m", "j": "MMA.n", "k": "MMA.k"}
    draft.step({**atom, **batch}, cores, more=AS.get(kind, "") + promotion(rng, kind))
    return draft.case()


def by_threads(rng: Random) -> Case:
    """A product of floats."""
    threads = (rng.choice((4, 8, 16)), rng.choice((4, 8, 16)))
    own = {"i": rng.choice((1, 2, 4)), "j": rng.choice((1, 2, 4))}
    block = {"i": threads[0] * own["i"], "j": threads[1] * own["j"], "k": rng.choice((4, 8, 12))}
    draft = _draft(rng, "f32", block, along_k=False)
    factors = {x: draft.staged(rng, x, rng.choice((0, 0, _swizzle(rng, x, draft, block)))) for x in "AB"}
    if rng.random() < 0.1:
        factors["A"] = factors["A"].replace("@copy(tma)", "")
    count = threads[0] * threads[1]
    _grid(rng, draft, block, roles(rng, count // GROUP_LANES) if count % GROUP_LANES == 0 else "")
    _staging(rng, draft, block, factors)
    cyclic = [rng.choice(("", "", f"@cyclic({rng.choice((1, 2))})")) for _ in range(2)]
    batch = {"b": 1} if draft.batched else {}
    draft.step({**own, **batch}, {"i": f"THR.y{cyclic[0]}", "j": f"THR.x{cyclic[1]}"})
    if rng.random() < 0.5:
        ranks = ("1,2,3" if draft.batched else "1,2",) * 2
        draft.step({"k": 1}, {"k": "FOR.9"}, f"A:RM[{ranks[0]}]", f"B:RM[{ranks[1]}]", more="@unroll")
    return draft.case()


def by_windows(rng: Random) -> Case:
    """A sum over a window and over k, by warp groups. A is read at i + r, in a loop around the atoms."""
    kind, n = rng.choice(("bf16", "f16")), rng.choice((8, 16, 32, 64))
    groups, depth, window = rng.choice((1, 2)), 16 * rng.choice((1, 2, 4)), rng.choice((2, 3, 4))
    m, rows = 64 * groups, rng.choice((1, 1, 2))
    k = depth * rng.choice((1, 2, 3)) - rng.choice((0, 0, 8))
    i, j = m * rng.choice((1, 2)) - rng.choice((0, 0, 8)), n * rng.choice((1, 2))
    k, i, along_k = max(k, depth), max(i, m), rng.random() < 0.5
    b, read = (f"[{window}][{j}][{k}]", "[r][j][k]") if along_k else (f"[{window}][{k}][{j}]", "[r][k][j]")
    factor = TYPES[kind][0]
    text = f"""void f(const {factor} A[{i + window - 1}][{k}], const {factor} B{b}, float C[{i}][{j}]) {{
  for (int i = 0; i < {i}; i++)
    for (int j = 0; j < {j}; j++) {{
      float sum = 0;
      for (int r = 0; r < {window}; r++)
        for (int k = 0; k < {k}; k++)
          sum += (float)A[i + r][k] * (float)B{read};
      C[i][j] = sum;
    }}
}}
"""
    widths = {"A": depth * 2, "B": (depth if along_k else n) * 2}
    swizzles = {
        x: rng.choice([s for s in (32, 64, 128) if width % s == 0] or [32]) for x, width in widths.items()
    }
    a = f"A:SM[1,2]@copy(tma)@swizzle({swizzles['A']})"
    b = f"B:SM[1,2,3]@copy(tma)@swizzle({swizzles['B']})"
    outer = rng.choice(("^", rows if window % rows == 0 or rng.random() < 0.5 else "^"))
    order = rng.choice((("FOR.1", "FOR.2"), ("FOR.2", "FOR.1")))
    more = rng.choice(("", "@persistent")) + roles(rng, groups)
    lines = [
        f"( {m}, {n}, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^, ^ ) {more}",
        *([f"( ^, ^, {outer}, ^ ) ( ^, ^ ; ^ ) ( ^, ^, FOR.3, ^ )"] if outer not in ("^", 1) else []),
        f"( ^, ^, 1, {depth} ) ( {a}, {b} ; C:RM[1,2] ) ( ^, ^, {order[0]}, {order[1]} ) {slots(rng)}",
        *(["( 64, ^, ^, ^ ) ( ^, ^ ; ^ ) ( WGP.y, ^, ^, ^ )"] if groups > 1 else []),
        f"( 64, {n}, 1, 16 ) ( ^, ^ ; ^ ) ( MMA.m, MMA.n, ^, MMA.k ) @atom(wgmma)",
    ]
    steps = (f"{number}: (de-)comp{line}" for number, line in enumerate(lines, 1))
    return Case(text, "\n".join(steps) + "\n")
