"""A model of products of matrices on tensor cores: sums by blocks, whose warps multiply with atoms.

A block copies a slice of both factors to shared memory some slots ahead. Its warps load fragments from there
and multiply them. With few warps on a multiprocessor they seldom do both at once.
"""

from dataclasses import dataclass, replace
from math import ceil, inf

from mdh.cost.gpu import PRODUCTS, PRODUCTS_F64, WORD, Costs, Joining, busiest, joined, parted, transfer
from mdh.ir.atoms import LANES, Atom
from mdh.ir.dtype import DType
from mdh.machine import Machine

WARP_SHARE = 0.63
"""Part of the data sheet's rate that atoms of a warp reach from compute capability 9.0 on, where only atoms
of a warp group reach all of it. Source: microbenchmarks of Hopper. Atoms of f64 reach all."""
UNPACKED = 0.5
"""Part of the rate of f16 that atoms of a warp reach with 8-bit floats from compute capability 9.0 on. There
ptxas makes of them conversions to f16 and atoms of f16. An estimate."""
GROUP_SHARE = 0.85
"""The share that atoms of warp groups reach (artifacts/h100/tensor_cores.md)."""
SHARED_BYTES = 128.0
"""Bytes a cycle that a multiprocessor gets from shared memory."""
TOGETHER, TOGETHER_F64 = 1.0, 2.33
"""Exponents with which multiplications and shared memory are joined (see `joined`). Those of f64
take long, and load the fragments of the next ones while they run."""
PIECE = 8
"""Bytes that a lane copies at once where rows begin at no multiples of 16 bytes."""
SCHEDULERS = 4
"""Warps that a multiprocessor needs so that all of its tensor cores multiply."""


@dataclass(frozen=True, slots=True)
class AtomCosts:
    """Constants of products whose warps multiply.

    near: bytes a cycle that a multiprocessor gets from the second-level cache for copies. exposed: cycles of
    a slice in which a block alone on a multiprocessor waits for its own warps, or warps alone on a scheduler
    for what they have loaded. latency: cycles until the copies of a slice arrive. plain: what a copied byte
    costs at shared memory where threads move it element by element, in bytes; moved: cycles of a thread for
    such an element. block: cycles of a block before its first slice and after its last one. stored, cut: its
    cycles for each result, and where rows of the results begin at no multiples of 16 bytes; gathered,
    gathered_cut: the same where the results of a block first meet in shared memory. overlap: exponent with
    which the time of the multiprocessors and that of the memory are joined.

    early: slices that copies have less time for than there are slots ahead, as they are waited for before
    the last fragments of the slice in front are loaded. piece: cycles of a scheduler for an instruction that
    copies 8 bytes a lane. straddled: bytes that a row of a copy adds to those from the cache where rows begin
    at no multiples of a cache line.
    """

    near: float
    exposed: float
    latency: float
    plain: float
    moved: float
    block: float
    stored: float
    cut: float
    gathered: float
    gathered_cut: float
    overlap: float
    costs: Costs
    early: int = 0
    piece: float = 0.0
    straddled: float = 0.0


NARROW = AtomCosts(
    19.15, 142.0, 468.0, 4.4, 8.0, 300.0, 0.23, 0.94, 0.1, 0.25, 3.0,
    replace(PRODUCTS, launch=0.79e-6, second=1.3e-6, start=0.465e-6, traffic=0.84, worth=1.0),
)  # fmt: skip
"""Of 8- and 16-bit factors: fitted to 942 timed schedules of 198 products on an H100. What the estimate
chooses takes 1.03 times the best that was timed, as a geometric mean. `gathered_cut` is fitted to 60
schedules of 6 products with odd rows, `gathered` is rounded from 3 products of few terms."""
DOUBLE = AtomCosts(
    31.9, 50.0, 432.0, 1.0, 0.0, 730.0, 0.294, 0.957, 0.0, 0.0, 1.8,
    replace(PRODUCTS_F64, launch=0.535e-6, second=0.557e-6, reached=0.95, worth=1.0),
    early=1, piece=15.5, straddled=61.0,
)  # fmt: skip
"""Of f64: fitted by experiments/fit_atoms.py to 3,636 timed schedules of 125 products and 27 contractions on
an H100. Of the timed ones, what the estimate chooses takes 1.04 times the best, as a geometric mean."""


@dataclass(frozen=True, slots=True)
class AtomWork:
    """What a candidate has to do.

    warps: of a block. resident: blocks that a multiprocessor holds at once. blocks: all of them. slices: of a
    block. For a block in a slice: multiplies, its multiply-adds; fragments, bytes that warps load from shared
    memory; copied, bytes that come in, of which `turned` are moved element by element. slots: of a copy.
    results: of a block; cut: their rows begin at no multiples of 16 bytes; gathered: they meet in
    shared memory. moved: bytes of memory traffic,
    written: bytes of the results. parts: of the sum, joined as `joining` says. runs: of the loop over slices,
    each of which begins without any.
    """

    atom: Atom
    warps: int
    resident: int
    blocks: int
    slices: int
    multiplies: int
    fragments: int
    copied: int
    turned: int
    slots: int
    results: int
    cut: bool
    moved: int
    written: int
    parts: int = 1
    joining: Joining = Joining.KERNEL
    runs: int = 1
    gathered: bool = False
    pieces: int = 0
    straddling: int = 0


def tensor_peak(machine: Machine, factor: DType) -> float:
    """Operations a second of the machine's tensor cores for factors of a type; 0: none, or not known."""
    if factor.bytes == 1:
        return machine.tensor_f8 if factor.is_float else machine.tensor_i8
    if factor.bytes == WORD:
        return machine.tensor_tf32
    return machine.tensor_f64 if factor.bytes == 8 else machine.tensor_f16


def atom_rate(machine: Machine, atom: Atom) -> float:
    """Multiply-adds that a multiprocessor does in a cycle."""
    newest = (machine.compute_capability or 0) >= 90 and atom.left.bytes <= WORD
    unpacked = newest and atom.coarse and not atom.grouped
    speed = machine.tensor_f16 * UNPACKED if unpacked else tensor_peak(machine, atom.left)
    peak = speed / (2 * machine.units * machine.clock)
    return peak * (GROUP_SHARE if atom.grouped else WARP_SHARE if newest else 1.0)


def atom_cycles(rate: float, work: tuple[float, float], atom: Atom, warps: float) -> float:
    """Cycles of a multiprocessor with so many warps for multiply-adds and bytes of shared memory, as `work`
    says. rate: its multiply-adds in a cycle."""
    multiplies, shared = work
    overlap = inf if atom.grouped else TOGETHER if atom.left.bytes <= WORD else TOGETHER_F64
    # of f64, the schedulers with the most warps end last
    busiest = ceil(warps / SCHEDULERS) if atom.left.bytes > WORD else max(1.0, warps / SCHEDULERS)
    reached = rate * warps / (SCHEDULERS * busiest)
    return float(joined(overlap, multiplies / reached, shared / SHARED_BYTES))


def atom_costs(atom: Atom) -> AtomCosts:
    return NARROW if atom.left.bytes <= WORD else DOUBLE


def atom_seconds(work: AtomWork, machine: Machine, fitted: AtomCosts | None = None) -> float:
    """An estimate for the whole product. fitted: the constants, those of the atom's types if None."""
    fitted = fitted or atom_costs(work.atom)
    shared = work.fragments + work.copied + (fitted.plain - 1.0) * work.turned
    moved = work.turned / work.atom.left.bytes / (work.warps * LANES) * fitted.moved
    ways = (fitted.gathered, fitted.gathered_cut) if work.gathered else (fitted.stored, fitted.cut)
    stored = work.results * ways[work.cut]
    rate = atom_rate(machine, work.atom)
    ahead = work.slots - 1 - fitted.early
    pieces = fitted.piece * work.pieces / (PIECE * LANES)

    def cycles(count: int) -> float:
        """Of so many blocks at once."""
        if not count:
            return 0.0
        warps = count * work.warps
        busy = atom_cycles(rate, (count * work.multiplies, count * shared), work.atom, warps)
        busy += count * pieces / min(SCHEDULERS, warps)
        near = count * (work.copied + fitted.straddled * work.straddling) / fitted.near
        waited = fitted.latency / ahead if ahead > 0 else fitted.latency + busy
        exposed = fitted.exposed * max(1.0 / count**2, min(1.0, SCHEDULERS / warps))
        slice_cycles = max(max(busy, near) + exposed, waited) + moved
        begun = (work.runs - 1) * fitted.latency / count
        return work.slices * slice_cycles + begun + count * stored + fitted.block

    full, rest = divmod(busiest(machine, work.blocks), work.resident)
    busy = (full * cycles(work.resident) + cycles(rest)) / machine.clock
    alone: float = joined(fitted.overlap, busy, transfer(machine, work.moved, fitted.costs.reached))
    parts = work.parts * work.written if work.parts > 1 else 0
    return parted(alone, fitted.costs, machine, parts, work.joining)
