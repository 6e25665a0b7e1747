"""What compilers and runtimes are known to get wrong, for targets to spell around."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """What compilers and runtimes get wrong. Texts go around MASKED_READS and NEGATIONS; the others, which a
    self-test finds, have no way around."""

    MASKED_READS = "masked-reads"
    """Reads under a condition take the condition of other elements."""
    NEGATIONS = "negations"
    """The minimum or maximum of three integers loses the minus of one, and (short)-x is 32768 for -32768."""
    FUNCTIONS = "functions"
    """A function of math.h is wrong for single numbers."""
    HALVES = "halves"
    """Floats are rounded otherwise than to the nearest half or bfloat, even where there are two."""
    BARRIERS = "barriers"
    """Work-items of a group do not see what others wrote before a barrier."""
    CRASH = "crash"
    """The compiler or the runtime ends the process."""


@dataclass(frozen=True, slots=True)
class CompilerFaults:
    """lanes: vector functions of which a lane spoils others, as `sin_f32x8`."""

    kinds: frozenset[Fault] = frozenset()
    lanes: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.kinds or self.lanes)


NONE = CompilerFaults()
POCL = CompilerFaults(lanes=frozenset(f"{fn}_f32x{n}" for fn in ("sin", "cos", "tan") for n in (2, 4, 8)))
"""PoCL 3.0 with SLEEF: where a lane is 39,000 or more, or infinite, all lanes are reduced as such ones are,
and small ones come out wrong."""
ASSUMED: Mapping[str, CompilerFaults] = {
    "cuda": CompilerFaults(frozenset({Fault.NEGATIONS})),
    "opencl": POCL,
    "c": CompilerFaults(frozenset({Fault.MASKED_READS})),
}
"""By language, of texts that are written for no device at hand: folders must be right on any."""
