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

LETTERS = (
    "the result has its letters in reverse, so neither rows nor columns become one dimension: vectors go "
    "along one letter, of 24, and a quarter of their lanes idles"
)
EINSUMS = (("abcd,cdef->feba*", LETTERS),)
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
