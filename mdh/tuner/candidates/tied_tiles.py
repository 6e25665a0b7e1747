"""Makes a search space from a schedule with atoms of tensor cores: tiles, and the number of slots, are holes
with names. Conditions say what these must have in common.

The conditions only count: multiples of what an atom or a swizzle takes as one, bytes of shared memory,
registers and warp groups. Whether a point is legal, the checker says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm, prod

from mdh.checker.options import argument, number
from mdh.checker.rules.group_registers import OTHERS
from mdh.checker.rules.roles import MOST, UNIT
from mdh.hardware import Engine, Layer, Space
from mdh.ir.atoms import GROUP_LANES, LANES, WORD, Atom
from mdh.ir.expr import Load, Var, walk
from mdh.ir.product_sum import summed_reads
from mdh.ir.program import Program, Stage
from mdh.ir.tile import BOX_LINE, SWIZZLE_LINE
from mdh.machine import Machine
from mdh.schedule.default.grid import ceil_div, round_up
from mdh.schedule.model import (
    Arg,
    ArgCall,
    Attr,
    BufferPlace,
    Hole,
    Mem,
    NameRef,
    Operation,
    Section,
    Step,
    TileEntry,
    Unit,
    Where,
    WhereExpr,
)
from mdh.schedule.where import evaluate, names_of
from mdh.tuner.space.atoms import fitting_atoms

_TIMES = (1, 2, 3, 4)
_PARTS = (1, 2, 3, 4, 6, 8, 12, 16)
"""The multiples of a slot's least depth, and of the tiles of warps; also parts of a sum."""
_WIDEST = 256
"""Columns of the widest atom, and the most of a block."""
_COLUMNS = 16
"""Of tiles that no swizzle ties to wider ones."""
_SLOTS = (2, 3, 4, 5, 6, 7, 8)
_BOOKS = 1024
"""Bytes of shared memory for tokens, and to begin at whole lines."""
_BOXES = 2 * 64 * SWIZZLE_LINE
"""Bytes through which the results of a warp group leave by the copy engine."""


@dataclass(frozen=True, slots=True)
class TiedTiles:
    """A section with atoms like `atom`, which multiply `left` and `right`. axes: dimensions of m, n and k.
    prefix: of names."""

    program: Program
    stage: Stage
    section: Section
    machine: Machine
    axes: dict[str, int]
    atom: Atom
    left: Load
    right: Load
    prefix: str

    @property
    def opened(self) -> Section:
        """The section with holes and conditions."""
        steps = tuple(self._step(s, step) for s, step in enumerate(self.section.steps))
        wheres = tuple(Where(w) for w in self._conditions() if names_of(w))
        return replace(self.section, steps=steps, wheres=wheres)

    @property
    def values(self) -> tuple[int, ...]:
        """What the holes were, in their order."""
        out: list[int] = []
        for s, step in enumerate(self.section.steps):
            out.extend(int(str(t.value)) for d, t in enumerate(step.tiles) if self._open(s, d))
            for attr in step.attrs:
                first = attr.args[0].value if attr.args else None
                if attr.name == "stages" and isinstance(first, int):
                    out.append(first)
                elif attr.name == "order" and isinstance(first, ArgCall):
                    out.append(int(str(first.args[0].value)))
        return tuple(out)

    def _step(self, s: int, step: Step) -> Step:
        tiles = tuple(
            TileEntry(Hole(self._name(s, d), self._sizes(s, d)), t.attrs) if self._open(s, d) else t
            for d, t in enumerate(step.tiles)
        )
        return replace(step, tiles=tiles, attrs=tuple(self._attr(s, a) for a in step.attrs))

    def _attr(self, s: int, attr: Attr) -> Attr:
        first = attr.args[0] if attr.args else Arg(0)
        if attr.name == "stages" and isinstance(first.value, int):
            slots = tuple(sorted({*_SLOTS, first.value}))
            return replace(attr, args=(replace(first, value=Hole(self._slots_name(s), slots)),))
        if attr.name == "order" and isinstance(first.value, ArgCall):
            return replace(attr, args=(replace(first, value=replace(first.value, args=(Arg(Hole()),))),))
        return attr

    def _open(self, s: int, d: int) -> bool:
        """Whether a tile is a hole. Along m and k the atoms of warp groups have one size."""
        value = self.section.steps[s].tiles[d].value
        atoms = s == len(self.section.steps) - 1
        fixed = self.atom.grouped and atoms and d != self.axes["n"]
        return isinstance(value, int) and value > 1 and not fixed

    def _name(self, s: int, d: int) -> str:
        return f"{self.prefix}{self.stage.dims[d].name}_{s + 1}"

    def _slots_name(self, s: int) -> str:
        return f"{self.prefix}slots_{s + 1}"

    def _sizes(self, s: int, d: int) -> tuple[int, ...] | None:
        """The set of a hole; None: the default domain, which knows the sizes of atoms."""
        axis = next((x for x, dim in self.axes.items() if dim == d), None)
        step, atoms = self.section.steps[s], s == len(self.section.steps) - 1
        if axis is None or (atoms and not self.atom.grouped):
            return None
        core, extent = step.cores[d].value, self.stage.dims[d].extent
        layer = _layer(core)
        unit = self._unit(axis)
        if axis == "k" and layer is not None:
            found = {round_up(ceil_div(extent, n), unit) for n in _PARTS}
        elif axis == "k":
            found = {unit * n for n in (_TIMES if unit > self.atom.k else (1, 2, 4, 8))}
        else:
            times = range(1, _WIDEST // unit + 1) if self.atom.grouped else _PARTS
            found = {unit * n for n in times if unit * n <= _WIDEST}
            if layer is Layer.CLU:
                found |= {2 * n for n in found}
        return tuple(sorted({n for n in found if n <= extent} | {int(str(step.tiles[d].value))}))

    def _unit(self, axis: str) -> int:
        """What tiles along an axis are multiples of."""
        along = {"m": self.atom.m, "n": _COLUMNS, "k": self.atom.k}[axis]
        if not self.atom.grouped:
            return along
        for load, own in ((self.left, "m"), (self.right, "n")):
            if axis not in (own, "k"):
                continue
            attrs = [a for _, m in self._staged() if _buffer(m) == load.buffer for a in m.attrs]
            span = next((number(a) or 0 for a in attrs if a.name == "swizzle"), 0) // self.atom.left.bytes
            fast = self._dims(load)[-1] == self.axes[axis]
            along = lcm(along, (span or 1) if fast else BOX_LINE * self._shared_by(attrs, own))
        if axis == "n" and self._boxed():
            along = lcm(along, SWIZZLE_LINE // self.atom.acc.bytes)
        return along

    def _shared_by(self, attrs: Sequence[Attr], own: str) -> int:
        """How many blocks share the copy of the factor along m or n: each brings whole patterns of rows."""
        if not any(a.name == "copy" and any(arg.value == "multicast" for arg in a.args) for a in attrs):
            return 1
        others = (n for d, n in self._blocks().items() if d != self.axes[own])
        return prod(evaluate(n, self._written) for n in others)

    def _staged(self) -> Iterator[tuple[int, Mem]]:
        """The copies in shared memory, with their steps."""
        for s, step in enumerate(self.section.steps):
            for mem in step.inputs:
                if isinstance(mem.value, BufferPlace) and mem.value.region is Space.SM:
                    yield s, mem

    def _boxed(self) -> bool:
        """Whether results leave by the copy engine."""
        stores = (
            a for step in self.section.steps for m in step.outputs for a in m.attrs if a.name == "store"
        )
        return any(a.args and a.args[0].value == Engine.TMA for a in stores)

    def _dims(self, load: Load) -> tuple[int | None, ...]:
        """For each subscript the dimension that it is; None: it is none alone."""
        known = {d.name: i for i, d in enumerate(self.stage.dims)}
        return tuple(known.get(e.name) if isinstance(e, Var) else None for e in load.index)

    def _tile(self, s: int, d: int) -> WhereExpr:
        """The tile of a dimension at a step: its own or the last one above."""
        for i in range(s, -1, -1):
            if self._open(i, d):
                return NameRef(self._name(i, d), True)
            value = self.section.steps[i].tiles[d].value
            if isinstance(value, int):
                return value
        return self.stage.dims[d].extent

    def _parts(self, layer: Layer) -> WhereExpr:
        """The units of a layer."""
        out: WhereExpr = 1
        for s, step in enumerate(self.section.steps):
            for d, core in enumerate(step.cores):
                if _layer(core.value) is layer:
                    out = _times(out, _ceil(self._tile(s - 1, d), self._tile(s, d)))
        return out

    def _conditions(self) -> Iterator[WhereExpr]:
        yield from self._clusters()
        yield from self._turns()
        if self.atom.grouped:
            yield from self._group_registers()
        else:
            yield _most(self._warp_registers(), self.machine.registers_per_thread)
        yield self._shared()

    def _clusters(self) -> Iterator[WhereExpr]:
        """A cluster keeps its blocks along each dimension."""
        if any(_layer(core.value) is Layer.CLU for step in self.section.steps for core in step.cores):
            for blocks in self._blocks().values():
                yield Operation("==", (blocks, evaluate(blocks, self._written)))

    def _blocks(self) -> dict[int, WhereExpr]:
        """The parts of each dimension that is split over BLK."""
        cores = (
            (s, d, core) for s, step in enumerate(self.section.steps) for d, core in enumerate(step.cores)
        )
        found = ((s, d) for s, d, core in cores if _layer(core.value) is Layer.BLK)
        return {d: _ceil(self._tile(s - 1, d), self._tile(s, d)) for s, d in found}

    def _turns(self) -> Iterator[WhereExpr]:
        """No more slots than turns of the loop, which would say the same program again."""
        for s, step in enumerate(self.section.steps):
            tiles = ((d, t.value) for d, t in enumerate(step.tiles) if isinstance(t.value, int))
            loops = [d for d, _ in tiles if not isinstance(step.cores[d].value, Unit)]
            if any(a.name == "stages" for a in step.attrs) and len(loops) == 1:
                turns = _ceil(self._tile(s - 1, loops[0]), self._tile(s, loops[0]))
                slots = NameRef(self._slots_name(s), True)
                few = Operation("==", (slots, _SLOTS[0]))
                yield Operation("or", (few, Operation("<=", (slots, turns))))

    def _shared(self) -> WhereExpr:
        """Slots of both factors, tokens and boxes of results fit shared memory."""
        used: WhereExpr = _BOOKS if self.atom.grouped else 0
        if self._boxed():
            used = _plus(used, _times(_BOXES, self._parts(Layer.WGP)))
        for s, mem in self._staged():
            load = self.left if _buffer(mem) == self.left.buffer else self.right
            assert isinstance(mem.value, BufferPlace) and isinstance(mem.value.layout, tuple)
            pad = next((number(a) or 0 for a in mem.attrs if a.name == "pad"), 0)
            size: WhereExpr = self.program.buffer_of[load.buffer].dtype.bytes
            for place in mem.value.layout:
                d = self._dims(load)[int(str(place)) - 1]
                length = 1 if d is None else self._tile(s, d)
                size = _times(size, _plus(length, pad) if place == mem.value.layout[-1] else length)
            stages = any(a.name == "stages" for a in self.section.steps[s].attrs)
            used = _plus(used, _times(size, NameRef(self._slots_name(s), True) if stages else 1))
        return _most(used, self.machine.shared_per_block)

    @property
    def _sums(self) -> int:
        """Sums of each result: with `@promote` a second one takes over."""
        return 2 if any(a.name == "promote" for a in self.section.steps[-1].attrs) else 1

    def _warp_registers(self) -> WhereExpr:
        """32-bit registers of a lane: its results, and the fragments of both factors."""
        last = len(self.section.steps) - 1
        m, n = (self._tile(last - 1, self.axes[x]) for x in "mn")
        k = self._tile(last, self.axes["k"])
        results = _times(_times(m, n), self.atom.acc.bytes * self._sums)
        factors = _times(_times(_plus(m, n), k), self.atom.left.bytes)
        return Operation("/", (_plus(results, factors), LANES * WORD))

    def _group_registers(self) -> Iterator[WhereExpr]:
        """Results of a thread fit its share of the registers, and the warp groups fit a block."""
        attr = next((a for step in self.section.steps for a in step.attrs if a.name == "roles"), None)
        shares = None if attr is None else argument(attr, "regs")
        copying = (number(attr, "load") or 0) if attr is not None else 0
        groups = self._parts(Layer.WGP)
        m, n = (self._tile(len(self.section.steps) - 2, self.axes[x]) for x in "mn")
        held = _plus(
            Operation("/", (_times(m, n), GROUP_LANES * WORD // (self.atom.acc.bytes * self._sums))), OTHERS
        )
        if shares is not None:
            # the shares are those of so many warp groups
            yield Operation("==", (groups, evaluate(groups, self._written)))
            yield _most(held, int(str(shares.value).partition("/")[2]))
            return
        threads = _times(_plus(groups, copying), GROUP_LANES)
        share = Operation("/", (self.machine.registers_per_unit, _times(threads, UNIT)))
        yield _most(threads, self.machine.threads_per_block)
        yield _most(held, MOST - UNIT)
        yield Operation("<=", (held, _times(share, UNIT)))

    @property
    def _written(self) -> dict[str, int]:
        """What the holes were, by name."""
        steps = enumerate(self.section.steps)
        tiles = ((s, d, t.value) for s, step in steps for d, t in enumerate(step.tiles))
        return {self._name(s, d): v for s, d, v in tiles if isinstance(v, int)}


def tied_tiles(
    program: Program, stage: Stage, section: Section, machine: Machine, prefix: str
) -> TiedTiles | None:
    """None for a section without atoms, or where several dimensions share an axis of them."""
    last = section.steps[-1] if section.steps else None
    reads = summed_reads(stage)
    if last is None or isinstance(reads, str):
        return None
    units = [(c.value, d) for d, c in enumerate(last.cores) if isinstance(c.value, Unit)]
    axes = {unit.axis: d for unit, d in units if unit.layer is Layer.MMA}
    alone = len(units) == len(axes) == len("mnk")
    shape = tuple(last.tiles[axes[x]].value for x in "mnk") if alone else ()
    atom = next((a for a in fitting_atoms(stage, section, machine) if a.shape == shape), None)
    if atom is None:
        return None
    left, right = _ordered(reads[0], reads[1], stage.dims[axes["m"]].name)
    return TiedTiles(program, stage, section, machine, axes, atom, left, right, prefix)


def _ordered(left: Load, right: Load, name: str) -> tuple[Load, Load]:
    """The factor along m first."""
    along = any(isinstance(x, Var) and x.name == name for e in left.index for x in walk(e))
    return (left, right) if along else (right, left)


def _layer(core: object) -> Layer | None:
    return core.layer if isinstance(core, Unit) else None


def _buffer(mem: Mem) -> str:
    return mem.value.buffer if isinstance(mem.value, BufferPlace) else ""


def _times(a: WhereExpr, b: WhereExpr) -> WhereExpr:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    if a == 1 or b == 1:
        return b if a == 1 else a
    return Operation("*", (a, b))


def _plus(a: WhereExpr, b: WhereExpr) -> WhereExpr:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if a == 0 else a
    return Operation("+", (a, b))


def _ceil(a: WhereExpr, b: WhereExpr) -> WhereExpr:
    """a / b, rounded up."""
    if a == b:
        return 1
    if isinstance(a, int) and isinstance(b, int):
        return ceil_div(a, b)
    return Operation("/", (Operation("-", (_plus(a, b), 1)), b))


def _most(a: WhereExpr, limit: int) -> WhereExpr:
    return Operation("<=", (a, limit))
