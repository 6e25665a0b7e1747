"""Why cases are slower than the best peer, or than the machine's memory, where they are."""

from fnmatch import fnmatch

REACHED = 0.9
"""Of the memory's speed, by cases that it bounds."""
CACHED = (
    "its data stays in or near the last-level cache, which others share: both sides' times move by 10 to "
    "40 % from run to run"
)
RATIO = (
    ("matmul 1x*", CACHED), ("matvec 4096", CACHED),
    ("batched *", CACHED), ("matmul transposed *", CACHED),
    ("dot *", "both read at the memory's speed"), ("row maximum *", "both read at the memory's speed"),
)  # fmt: skip
ROOF = (
    ("scan *", "parts' sums come first, so that the input is read twice: two thirds at most"),
    ("histogram *", "one private count an element bounds it, not memory"),
    ("jacobi3d *", "planes above and below come from the cache a second and a third time"),
    ("row argmax *", "positions beside values: twice the comparisons of a maximum"),
    ("batched transposed *", "26 columns fill three vectors and a quarter"),
    ("matmul 10x*", "5 us, of which a launch on two cores takes 1.5"),
)

COLUMNS = (
    "the default goes along whole rows, and so down columns of the other factor; tiles of 64x16 take a tenth "
    "of the time"
)
TURNED = (
    "the default turns one factor around as it packs it; vectors along the rows of the other one need no "
    "packing and take a fifth of the time"
)
FUSED = "the default makes no dimension of two neighbours on a CPU; with `fuse` it takes 0.7 of the time"
LETTERS = "tiles go along single letters, of 24: 8x16 results at once, with idle lanes"
BLOCKS = "blocks have 18 rows, and each packs all of the second factor; with 132 it takes 0.7 of the time"
EINSUMS = (
    ("ab,ba->*", COLUMNS), ("ba,cb->ac*", TURNED), ("abcd,cdef->abef*", FUSED),
    ("abcd,cdef->feba*", LETTERS),
    ("aab,bc->ac*", BLOCKS),
    ("ab,b->a*", "the default reads one row at a time, the shipped schedule of matvec four"),
)  # fmt: skip
"""By text and sizes."""


def short(name: str, ratio: float, roof: float, bound: str) -> str:
    """Where a case falls short, and why; empty where it does not. ratio: the best peer's time over ours;
    roof: the least time over ours, by what bounds it."""
    said = []
    if round(ratio, 2) < 1:
        said.append(f"{ratio:.2f} of the best peer" + why(RATIO, name))
    if bound == "memory" and round(roof, 2) < REACHED:
        said.append(f"{roof:.0%} of the memory's speed" + why(ROOF, name))
    return f"{name}: " + "; ".join(said) if said else ""


def why(known: tuple[tuple[str, str], ...], name: str) -> str:
    """The reason that is known for a case, as the end of a sentence."""
    return next((f", since {reason}" for pattern, reason in known if fnmatch(name, pattern)), "")
