"""Which kernels are launched before those in front have ended. (CUDA: programmatic dependent launch.)

Such a kernel awaits those in front at its head, after its tokens have begun. It lets the next kernel begin as
its blocks end, not before: blocks that came while others still run would not be spread evenly over the
machine. What it reads must be read by ordinary loads then: loads of
memory that nobody writes while the kernel runs, which compilers make of restricted pointers to constants, may
be moved in front of any wait. Ordinary loads keep their places among stores, so that a kernel which reads on
after it has written would wait for each of them; it keeps the other loads, and is launched in its turn.
"""

from collections.abc import Iterable

from mdh.hardware import CacheHint, Engine
from mdh.ir.copy_engine import InitTokens
from mdh.ir.kernel import AwaitKernels, Barrier, Buf, If, Move, Stmt
from mdh.ir.walk import bodies, reads, statements, writes
from mdh.language import LANGUAGES
from mdh.machine import Machine

CAPABILITY = 90
"""The first compute capability whose kernels can await those in front, times ten."""


def begins_early(body: tuple[Stmt, ...], buffers: Iterable[Buf], target: str, machine: Machine) -> bool:
    """buffers: of device memory."""
    if not LANGUAGES[target].dependent_launch or (machine.compute_capability or 0) < CAPABILITY:
        return False
    written = {b.name for b in buffers if not b.readonly}
    constant = {b.name for b in buffers if b.readonly}
    kept = any(
        isinstance(s, Move) and s.cache == CacheHint.KEEP and s.src in constant for s in statements(body)
    )
    return not kept and not _reads_on(body, constant, written, wrote=False)[0]


def awaiting(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The body of a kernel that begins early. Tokens lie in shared memory, so they need not wait."""
    begun = (n for n, s in enumerate(body) if any(isinstance(x, InitTokens) for x in statements((s,))))
    first = next(begun, None)
    head = 0
    if first is not None:
        head = next(n for n, s in enumerate(body) if n > first and isinstance(s, Barrier)) + 1
    return (*body[:head], AwaitKernels(), *body[head:])


def _reads_on(
    body: tuple[Stmt, ...], constant: set[str], written: set[str], *, wrote: bool
) -> tuple[bool, bool]:
    """Whether constants are read after something is written, and whether something is written by the end."""
    for s in body:
        # a copy that the hardware makes by itself is no load
        copies = isinstance(s, Move) and s.engine == Engine.ASYNC
        if wrote and not copies and not constant.isdisjoint(reads(s)):
            return True, True
        wrote = wrote or not written.isdisjoint(writes(s))
        ends = []
        for inner in bodies(s):
            after, end = _reads_on(inner, constant, written, wrote=wrote)
            if not after and end and not wrote and not isinstance(s, If):
                # the next turn of a loop
                after, end = _reads_on(inner, constant, written, wrote=True)
            if after:
                return True, True
            ends.append(end)
        wrote = wrote or any(ends)
    return False, wrote
