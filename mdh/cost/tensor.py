"""A model of products of matrices on tensor cores: sums by blocks, whose warps multiply with atoms.

A block copies a slice of both factors to shared memory some slots ahead. Its warps load fragments from there
and multiply them. With few warps on a multiprocessor they seldom do both at once.

The constants are rounded from the schedules of matmul_bf16, matmul_double and matmul_int8_t on an H100
(artifacts/h100/tensor_cores.md): the estimate is off by 5 % at the mean of ten of them.
"""

from dataclasses import dataclass
from math import inf

from mdh.cost.gpu import PRODUCTS, WORD, Joining, busiest, joined, parted, transfer
from mdh.ir.atoms import Atom
from mdh.ir.dtype import DType
from mdh.machine import Machine

WARP_SHARE = 0.63
"""Part of the data sheet's rate that atoms of a warp reach from compute capability 9.0 on, where only atoms
of a warp group reach all of it. Source: microbenchmarks of Hopper. Atoms of f64 reach all."""
GROUP_SHARE = 0.85
"""The share that atoms of warp groups reach (artifacts/h100/tensor_cores.md)."""
SHARED_BYTES, L2_BYTES = 128.0, 32.0
"""Bytes a cycle that a multiprocessor gets from shared memory, and from the second-level cache for copies."""
TOGETHER, TOGETHER_F64 = 1.0, 1.7
"""Exponents with which multiplications and shared memory are joined (see `joined`). Those of f64 take long,
and registers leave room for more warps."""
SCHEDULERS = 4
"""Warps that a multiprocessor needs so that all of its tensor cores multiply."""
EXPOSED = 190.0
"""Cycles of a slice in which a block alone on a multiprocessor waits for its own warps, or warps alone on a
scheduler for what they have loaded."""
LATENCY = 1000.0
"""Cycles until the copies of a slice arrive."""
PLAIN = 3.0
"""What a copied byte costs at shared memory where threads move it element by element, in bytes."""
BLOCK = 2000.0
"""Cycles of a block before its first slice and after its last one."""


@dataclass(frozen=True, slots=True)
class AtomWork:
    """What a candidate has to do.

    warps: of a block. resident: blocks that a multiprocessor holds at once. blocks: all of them. slices: of a
    block. For a block in a slice: multiplies, its multiply-adds; fragments, bytes that warps load from shared
    memory; copied, bytes that come in, of which `turned` are moved element by element. slots: of a copy.
    moved: bytes of memory traffic, written: bytes of the results. parts: of the sum, joined as `joining`
    says.
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
    moved: int
    written: int
    parts: int = 1
    joining: Joining = Joining.KERNEL


def tensor_peak(machine: Machine, factor: DType) -> float:
    """Operations a second of the machine's tensor cores for factors of a type; 0: none, or not known."""
    if factor.bytes == 1:
        return machine.tensor_i8
    if factor.bytes == WORD:
        return machine.tensor_tf32
    return machine.tensor_f64 if factor.bytes == 8 else machine.tensor_f16


def atom_rate(machine: Machine, atom: Atom) -> float:
    """Multiply-adds that a multiprocessor does in a cycle."""
    newest = (machine.compute_capability or 0) >= 90 and atom.left.bytes <= WORD
    peak = tensor_peak(machine, atom.left) / (2 * machine.units * machine.clock)
    return peak * (GROUP_SHARE if atom.grouped else WARP_SHARE if newest else 1.0)


def atom_cycles(rate: float, work: tuple[float, float], atom: Atom, warps: float) -> float:
    """Cycles of a multiprocessor with so many warps for multiply-adds and bytes of shared memory, as `work`
    says. rate: its multiply-adds in a cycle."""
    multiplies, shared = work
    overlap = inf if atom.grouped else TOGETHER if atom.left.bytes <= WORD else TOGETHER_F64
    reached = rate * min(1.0, warps / SCHEDULERS)
    return float(joined(overlap, multiplies / reached, shared / SHARED_BYTES))


def atom_seconds(work: AtomWork, machine: Machine) -> float:
    """An estimate for the whole product."""
    shared = work.fragments + work.copied + (PLAIN - 1.0) * work.turned
    rate = atom_rate(machine, work.atom)

    def cycles(count: int) -> float:
        """Of so many blocks at once."""
        if not count:
            return 0.0
        warps = count * work.warps
        busy = atom_cycles(rate, (count * work.multiplies, count * shared), work.atom, warps)
        near = count * work.copied / L2_BYTES
        waited = LATENCY / (work.slots - 1) if work.slots > 1 else LATENCY + busy
        exposed = EXPOSED * max(1.0 / count**2, min(1.0, SCHEDULERS / warps))
        return work.slices * max(max(busy, near) + exposed, waited) + BLOCK

    full, rest = divmod(busiest(machine, work.blocks), work.resident)
    busy = (full * cycles(work.resident) + cycles(rest)) / machine.clock
    alone: float = joined(inf, busy, transfer(machine, work.moved, PRODUCTS.reached))
    parts = work.parts * work.written if work.parts > 1 else 0
    return parted(alone, PRODUCTS, machine, parts, work.joining)
