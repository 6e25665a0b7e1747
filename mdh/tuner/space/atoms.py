"""What an MMA step leaves of the space: shapes of atoms, tiles that they divide (K170, K171, K173), and tiles
of whole rows of a swizzle where warp groups read these (K167, K172)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import lcm

from mdh.checker.rules.banks import SPANS
from mdh.hardware import Layer, Space
from mdh.ir.atoms import WGMMA, Atom, atoms_of, factor_type
from mdh.ir.expr import Var
from mdh.ir.product_sum import summed_reads
from mdh.ir.program import ROUNDINGS, Stage
from mdh.ir.tile import BOX_LINE
from mdh.machine import Machine
from mdh.schedule.model import BufferPlace, Mem, Section, Step, Unit


@dataclass(frozen=True, slots=True)
class DividedTiles:
    """What a step's tiles along a dimension must be. sizes: of an atom, None at other steps; the first
    `usual` of them are the domain of a hole without a set. exact_from: parts divide the tile above exactly
    where that has at most so many elements; 0: never. multiple: of what tiles are multiples. looping: single
    elements may leave a loop over atoms: several dimensions share an axis. cut: a tile may leave a remainder.
    """

    sizes: tuple[int, ...] | None = None
    usual: int = 0
    exact_from: int = 0
    multiple: int = 1
    looping: bool = False
    cut: bool = False

    def fits(self, parent: int, tile: int) -> bool:
        if tile % self.multiple:
            return False
        if self.sizes is None:
            return parent > self.exact_from or parent % tile == 0
        # a dimension that is no axis of atoms has been split to single elements outside
        exact = self.cut or parent % tile == 0
        return tile in self.sizes and exact and (self.looping or tile > 1 or parent == 1)


FREE = DividedTiles()


def fitting_atoms(stage: Stage, section: Section, machine: Machine) -> tuple[Atom, ...]:
    """Those of the machine that multiply and add what the stage does, and are issued by the units that the
    section splits over: warps, or warp groups."""
    reads = summed_reads(stage)
    if isinstance(reads, str) or not section.steps:
        return ()
    said = ROUNDINGS if any(a.name == "as" for a in section.steps[-1].attrs) else ()
    left, right = (factor_type(f.dtype, said) for f in reads[:2])
    types = ((left, right, reads[2]), (right, left, reads[2]))
    known = (a for a in atoms_of(machine.compute_capability) if (a.left, a.right, a.acc) in types)
    grouped = _grouped(section)
    return tuple(a for a in known if a.grouped == grouped)


def _grouped(section: Section) -> bool:
    """Whether warp groups issue the atoms, as the checker decides (`mdh.checker.atoms.by_group`)."""
    said = [a.args[0].value for a in section.steps[-1].attrs if a.name == "atom" and a.args]
    layers = {c.value.layer for s in section.steps for c in s.cores if isinstance(c.value, Unit)}
    alone = Layer.WGP in layers and Layer.WRP not in layers
    return WGMMA in said or (alone and not any(isinstance(word, str) for word in said))


def divided_tiles(stage: Stage, section: Section, machine: Machine, dim: int) -> tuple[DividedTiles, ...]:
    """For each step of the section. Without an MMA step whose axes are written out, everything goes."""
    steps = section.steps
    axes = _axes(steps[-1]) if steps else {}
    atoms = fitting_atoms(stage, section, machine)
    if len(set(axes.values())) < len("mnk") or not atoms:
        return (FREE,) * len(steps)
    axis, extent = axes.get(dim), stage.dims[dim].extent
    staged = max((n for n, step in enumerate(steps) if any(map(_in_shared, step.inputs))), default=None)
    alone = len(axes) == len("mnk")
    grouped = atoms[0].grouped
    # a dimension that the atoms do not take has one element in a slice
    rows = grouped and alone and axis is not None
    whole = _multiple(stage, section, dim) if rows else 1
    sharing = list(axes.values()).count(axis or "")
    # a long dimension alone on k has tiles without remainders, for which lanes need not put zeros
    short = extent < max(a.k for a in atoms)
    cut = axis == "k" and not grouped and (sharing > 1 or short)
    out = []
    for n in range(len(steps) - 1):
        inside = axis is not None and staged is not None and n > staged
        exact = 0 if cut else extent if inside else extent - 1 if axis == "k" else 0
        out.append(DividedTiles(exact_from=exact, multiple=1 if staged is None or n < staged else whole))
    last = _last(atoms, axis, sharing, extent if cut else 0)
    return (*out, replace(last, cut=cut))


def _last(atoms: tuple[Atom, ...], axis: str | None, sharing: int, short: int) -> DividedTiles:
    """Of the MMA step. sharing: dimensions on the axis. short: elements of a dimension that may leave places
    of the axis empty where it is alone on it; 0: it may not."""
    if axis is None:
        return DividedTiles((1,), 1)
    if sharing == 1:
        sizes, usual = _sizes(atoms, axis)
        if 0 < short < max(sizes) and short not in sizes:
            return DividedTiles((short, *sizes), usual + 1)
        return DividedTiles(sizes, usual)
    most = max(_along(a, axis) for a in atoms)
    powers = [1 << n for n in range(most.bit_length()) if 1 << n <= most]
    others = (n for n in range(1, most + 1) if n not in powers)
    return DividedTiles((*powers, *others), len(powers), looping=True)


def _multiple(stage: Stage, section: Section, dim: int) -> int:
    """What tiles of factors in shared memory are multiples of along a dimension. Rows of a swizzle lie along
    the last subscript, and a pattern has BOX_LINE of them."""
    reads = summed_reads(stage)
    spans = {m.value.buffer: _span(m) for s in section.steps for m in s.inputs
             if isinstance(m.value, BufferPlace) and _in_shared(m)}  # fmt: skip
    out = 1
    for load in () if isinstance(reads, str) else reads[:2]:
        plain = [e.name if isinstance(e, Var) else None for e in load.index]
        span = spans.get(load.buffer, 0) // load.dtype.bytes
        if span and stage.dims[dim].name in plain:
            out = lcm(out, span if plain[-1] == stage.dims[dim].name else BOX_LINE)
    return out


def _span(entry: Mem) -> int:
    """The bytes of a row of the entry's swizzle, at least; 0: it has none."""
    value = next((a.args[0].value for a in entry.attrs if a.name == "swizzle" and a.args), 0)
    return value if isinstance(value, int) else min(SPANS)


def _axes(step: Step) -> dict[int, str]:
    units = ((d, c.value) for d, c in enumerate(step.cores) if isinstance(c.value, Unit))
    return {d: u.axis for d, u in units if u.layer is Layer.MMA and isinstance(u.axis, str)}


def _in_shared(entry: object) -> bool:
    place = getattr(entry, "value", None)
    return isinstance(place, BufferPlace) and place.region is Space.SM


def _sizes(atoms: tuple[Atom, ...], axis: str) -> tuple[tuple[int, ...], int]:
    """Sizes along an axis, and the number of the usual ones: those of the atoms with most rows, whose sizes
    along the axes combine freely."""
    most = max(a.m for a in atoms)
    usual = dict.fromkeys(_along(a, axis) for a in atoms if a.m == most)
    return (*usual, *(s for s in _others(atoms, axis) if s not in usual)), len(usual)


def _others(atoms: tuple[Atom, ...], axis: str) -> Iterator[int]:
    yield from dict.fromkeys(_along(a, axis) for a in atoms)


def _along(atom: Atom, axis: str) -> int:
    return dict(zip("mnk", atom.shape, strict=True))[axis]
