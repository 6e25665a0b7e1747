"""What the atoms of an MMA step cost: instructions, bytes of fragments, registers, cycles of tensor cores."""

from dataclasses import dataclass
from math import prod

from mdh.cost.gpu import WORD, multiply_rate
from mdh.cost.groups import ADDED
from mdh.cost.nest import GRID, LOOP, Body, CostNest
from mdh.cost.tensor import atom_cycles, atom_rate
from mdh.ir.atoms import GROUP_LANES, LANES
from mdh.ir.plan import Product

LOADED = 16
"""Bytes of a lane that one instruction loads of fragments; elements of a word and wider are loaded alone."""
GROUP = GROUP_LANES // LANES
"""Warps of a group."""
DONE = 35.0
"""Cycles until an atom is done."""


@dataclass(frozen=True, slots=True)
class AtomLoop:
    """What a warp does in a run of the loops over atoms, or a warp group that issues them together. body: the
    levels of the atoms and inside of them. atoms: how many; parts: of k, between which fragments are loaded;
    fragments: their bytes of all parts, which atoms of warp groups read of shared memory themselves;
    registers: of a lane, for those of a part."""

    product: Product
    body: Body
    atoms: int
    parts: int
    fragments: int
    registers: int

    @property
    def instructions(self) -> float:
        """Of a warp: atoms and loads of fragments."""
        size = self.product.atom.left.bytes
        if self.product.atom.grouped:
            return float(self.atoms)
        return self.atoms + self.fragments / ((size if size >= WORD else LOADED) * LANES)

    @property
    def latency(self) -> float:
        """Cycles in which a warp alone waits for the fragments and the first result of each part."""
        return DONE if self.product.atom.grouped else self.parts * DONE

    def issuers(self, warps: int) -> int:
        """Of so many warps."""
        return max(1, warps // GROUP) if self.product.atom.grouped else warps

    def buffers(self) -> frozenset[str]:
        return frozenset((self.product.left.buffer, self.product.right.buffer))


def atom_loop(nest: CostNest) -> AtomLoop | None:
    """None where no step has atoms."""
    s = nest.plan.atoms
    product = None if s is None else nest.plan.steps[s].product
    if s is None or product is None:
        return None
    of_var = nest.plan.tiles.levels.of_var
    steps = [of_var(v.var).step for v in nest.levels]
    start = next((n for n, step in enumerate(steps) if step >= s and nest.levels[n].role != GRID), len(steps))
    inside = nest.levels[start:]
    around = nest.levels[start - 1] if start and nest.levels[start - 1].role == LOOP else None
    m, n, k = (
        prod(v.parts for v, step in zip(inside, steps[start:], strict=True) if v.dim in dims and step == s)
        for dims in ({x.dim for x in along} for along in product.axes.values())
    )
    atom = product.atom
    part = (m * atom.m + n * atom.n) * atom.k * atom.left.bytes
    body = Body(start, inside, prod(v.parts for v in inside), around)
    held = 0 if atom.grouped else part // (WORD * LANES)
    return AtomLoop(product, body, m * n * k, k, k * part, held)


def tensor_cycles(nest: CostNest, loop: AtomLoop, times: float, warps: int, resident: int) -> float:
    """Cycles of a block for all of its atoms, their fragments and the copies that fill shared memory. times:
    runs of the loops over atoms. warps: of a block; resident: blocks at once."""
    atom = loop.product.atom
    issuers = loop.issuers(warps)
    multiplies = issuers * times * loop.atoms * atom.m * atom.n * atom.k
    copied = sum(c.elements * c.access.size * nest.runs(c.position) for c in nest.copies)
    shared = issuers * times * loop.fragments + copied
    rate = atom_rate(nest.machine, atom) or multiply_rate(nest.machine, double=atom.left.bytes > WORD) * LANES
    cycles = atom_cycles(rate, (multiplies, shared), atom, warps * resident)
    promote = nest.plan.steps[nest.plan.atoms or 0].promote
    return cycles if promote is None else cycles + ADDED * multiplies / promote / (issuers * resident)
