"""The hot loop of a kernel: of the loops of its machine code, the one that executes the most instructions by
itself, without those of loops inside of it.

A backward jump closes a loop. Compilers say that it comes from the line of the text on which the loop
begins, and the text says how often the body of that line runs (`trips`). A loop that compilers unroll runs
less often, and its body is longer, so that the estimate is too high for it, but not for the copy that is
left for the rest. What stands in no loop runs once: where that is more, the function is shown whole."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mdh.assembly.listing import CodeListing, Instruction
from mdh.assembly.trips import headers_of, trips_of

_MOST_NAMES = 8
_ALWAYS = ("BRA", "bra", "bra.uni", "jmp", "b")
"""Jumps, which have a condition only behind an `@`."""


@dataclass(frozen=True)
class HotLoop:
    """The instructions of a loop, in order, with those of loops inside of it. first: its place in the
    function. executed: instructions of all its runs, without those of loops inside, for one unit; an
    estimate. around: whether it is a loop; else it is the whole function."""

    function: str
    kind: str
    first: int
    instructions: tuple[Instruction, ...]
    executed: int
    around: bool = True

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the text that it comes from."""
        return tuple(sorted({i.line for i in self.instructions if i.line is not None}))

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """The most frequent instructions."""
        return tuple(Counter(i.name for i in self.instructions).most_common(_MOST_NAMES))


def hot_loop(listings: Sequence[CodeListing], source: str, parts: Mapping[str, int]) -> HotLoop | None:
    """None if there are no instructions. parts: of the levels that loops of the text are named after."""
    trips, headers = trips_of(source, parts), headers_of(source)
    runs = {line: trips[line - 1] for line in headers}
    found = [loop for listing in listings if listing.instructions for loop in _weighed(listing, runs)]
    # the first of equal ones: what compilers make for the rest of a loop stands behind it
    return max(found, key=lambda loop: (loop.executed, loop.around, len(loop.instructions)), default=None)


def _weighed(listing: CodeListing, runs: Mapping[int, int]) -> list[HotLoop]:
    """The loops of a function, and the function as a whole. runs: of the bodies of loops of the text, by
    line."""
    loops = _loops(listing)
    out: list[HotLoop] = []
    for first, last in [*loops, (0, len(listing.instructions) - 1)]:
        around = len(out) < len(loops)
        inside = {
            n for a, b in loops if (a, b) != (first, last) or not around
            if first <= a and b <= last for n in range(a, b + 1)
        }  # fmt: skip
        own = [n for n in range(first, last + 1) if n not in inside]
        times = _runs(listing, last, own, runs) if around else 1
        mine = listing.instructions[first : last + 1]
        out.append(HotLoop(listing.function, listing.kind, first, mine, times * len(own), around))
    return out


def _runs(listing: CodeListing, last: int, own: Sequence[int], runs: Mapping[int, int]) -> int:
    """How often a loop runs. The source line of its closing jump says which loop of the kernel it is; if that
    line has no loop, the lines of its other instructions do."""
    closing = listing.instructions[last]
    if closing.line is not None and closing.line in runs:
        return runs[closing.line]
    if _always(closing):
        return 1
    lines = {listing.instructions[n].line for n in own}
    return min((runs[line] for line in lines if line is not None and line in runs), default=1)


def _loops(listing: CodeListing) -> list[tuple[int, int]]:
    """The first and the last instruction of each loop. Code that was moved out of the way, behind a loop,
    jumps back into it without a condition: that is no loop."""
    ends: dict[int, int] = {}
    for n, one in enumerate(listing.instructions):
        # a jump to itself is what follows the last instruction of a kernel
        if one.target is not None and one.target < n:
            # jumps to one place close one loop
            ends[one.target] = n
    found = sorted(ends.items())
    sure = [x for x in found if not _always(listing.instructions[x[1]])]
    return [x for x in found if x in sure or not any(_crosses(x, other) for other in sure)]


def _always(one: Instruction) -> bool:
    return one.name in _ALWAYS and not one.text.startswith("@")


def _crosses(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether they overlap, and neither is inside of the other."""
    (a, b), (c, d) = sorted((one, other))
    return a < c <= b < d
