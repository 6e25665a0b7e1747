"""The passes over the statements of a kernel, in their order. Each file states what its pass requires and
guarantees."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from mdh.ir.kernel import Buf, Kernel, Stmt
from mdh.lower.passes.ahead import read_ahead
from mdh.lower.passes.barriers import place_barriers
from mdh.lower.passes.divide import divide_by_reciprocals
from mdh.lower.passes.predicate import predicate
from mdh.lower.passes.prune import prune
from mdh.lower.passes.reuse import reuse_shared
from mdh.lower.passes.simplify import simplify
from mdh.lower.passes.specialise import specialise
from mdh.lower.passes.uniquify import uniquify
from mdh.lower.passes.unroll import unroll_registers
from mdh.lower.passes.unswitch import unswitch
from mdh.lower.passes.vectorise import vectorise
from mdh.lower.passes.wide_atomics import widen_atomics
from mdh.lower.passes.widen import widen
from mdh.lower.passes.width import widen_indices

CPU_UNROLLED = 512
"""Statements that loops over registers may unroll to on a CPU, whose compiler takes its time over more."""

Body = tuple[Stmt, ...]
Observer = Callable[[str, Kernel], None]
"""Called with a pass's name and the kernel after it."""
BEFORE = "body"
"""The name that comes with the kernel before its first pass."""


def unobserved(name: str, kernel: Kernel) -> None:
    """The observer that looks at nothing."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What passes know of a kernel besides its statements.

    bufs: its buffers of device and shared memory by name. names: those in use; passes add to it. guarded:
    arrays with a read that only a condition keeps inside. managed: shared buffers that place their barriers
    themselves; shared: the others. divergent: variables whose value depends on the thread. adds_vectors: the
    device has atomic additions of vectors. strict: floats keep to the letter.
    """

    cpu: bool
    strict: bool
    threads: int
    adds_vectors: bool
    bufs: dict[str, Buf]
    names: set[str]
    guarded: frozenset[str]
    managed: frozenset[str]
    shared: frozenset[str]
    divergent: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pass:
    """name: the word of `--dump lower.NAME`; applies: to which kernels."""

    name: str
    run: Callable[[Kernel, Facts], Body]
    applies: Callable[[Facts], bool] = lambda facts: True


PASSES = (
    Pass("prune", lambda k, f: prune(k.body)),
    Pass("predicate", lambda k, f: predicate(k.body, f.bufs), lambda f: not f.cpu),
    Pass("simplify", lambda k, f: simplify(k.body, k.launch)),
    Pass("uniquify", lambda k, f: uniquify(k.body, f.names), lambda f: f.cpu),
    Pass("unswitch", lambda k, f: unswitch(k.body), lambda f: not f.cpu),
    Pass("vectorise", lambda k, f: vectorise(k.body, f.bufs, f.names, wide=f.cpu, guarded=f.guarded)),
    Pass(
        "specialise",
        lambda k, f: specialise(k.body, f.bufs, f.names, strict=f.strict),
        lambda f: any(b.values is not None for b in f.bufs.values()),
    ),
    Pass("unroll", lambda k, f: unroll_registers(k.body, most=CPU_UNROLLED if f.cpu else None)),
    Pass(
        "wide_atomics",
        lambda k, f: widen_atomics(k.body, f.bufs, f.names, f.guarded),
        lambda f: f.adds_vectors,
    ),
    Pass("widen", lambda k, f: widen(k.body, f.bufs, f.names, f.guarded), lambda f: not f.cpu),
    Pass(
        "divide",
        lambda k, f: divide_by_reciprocals(k.body, f.bufs, f.names),
        lambda f: not f.cpu and not f.strict,
    ),
    Pass("ahead", lambda k, f: read_ahead(k.body, f.bufs, f.names), lambda f: not f.cpu),
    Pass("reuse", lambda k, f: reuse_shared(k.body, f.managed), lambda f: f.threads > 1),
    Pass("barriers", lambda k, f: place_barriers(k.body, f.shared, f.divergent), lambda f: f.threads > 1),
    Pass("width", lambda k, f: widen_indices(k.body, k.launch)),
)


PASS_NAMES = (BEFORE, *(one.name for one in PASSES))
"""What an observer may be called with, in order."""


def run_passes(kernel: Kernel, facts: Facts, observe: Observer) -> Body:
    """The kernel's statements after every pass that applies to it."""
    observe(BEFORE, kernel)
    for one in PASSES:
        if one.applies(facts):
            kernel = replace(kernel, body=one.run(kernel, facts))
            observe(one.name, kernel)
    return kernel.body
