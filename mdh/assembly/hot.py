"""The hot loop of a kernel: of the innermost loops of its machine code, the one that runs the most
statements.

A backward jump closes a loop. Its statements are the lines of the text that its instructions come from, each
as often as the loops of the text run it. Compilers unroll loops and keep a copy for the rest: both have the
same statements, and the longer one is the loop."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mdh.assembly.listing import Instruction, Listing
from mdh.assembly.trips import trips_of

_MOST_NAMES = 8


@dataclass(frozen=True)
class HotLoop:
    """The instructions of a loop, in order. first: its place in the function. statements: of the text, that
    all its runs execute, for one unit. around: whether it is a loop; a kernel without one is shown whole."""

    function: str
    kind: str
    first: int
    instructions: tuple[Instruction, ...]
    statements: int
    around: bool = True

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines of the text that it comes from."""
        return tuple(sorted({i.line for i in self.instructions if i.line is not None}))

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """The most frequent instructions."""
        return tuple(Counter(i.name for i in self.instructions).most_common(_MOST_NAMES))


def hot_loop(listings: Sequence[Listing], source: str, parts: Mapping[str, int]) -> HotLoop | None:
    """None if there are no instructions. parts: of the levels that loops of the text are named after."""
    trips = trips_of(source, parts)
    found = [_measured(listing, *ends, trips) for listing in listings for ends in _innermost(listing)]
    if found:
        # the first of equal ones: what compilers make for the rest of a loop stands behind it
        return max(found, key=lambda loop: (loop.statements, len(loop.instructions)))
    whole = [
        _measured(x, 0, len(x.instructions) - 1, trips, around=False) for x in listings if x.instructions
    ]
    return max(whole, key=lambda loop: (loop.statements, len(loop.instructions)), default=None)


def _innermost(listing: Listing) -> list[tuple[int, int]]:
    """The first and the last instruction of each loop that holds no other one."""
    jumps = {
        (i.target, n) for n, i in enumerate(listing.instructions) if i.target is not None and i.target <= n
    }
    # jumps to one place close one loop
    ends = {target: max(n for t, n in jumps if t == target) for target, _ in jumps}
    # a jump to itself is what follows the last instruction of a kernel
    loops = [(first, last) for first, last in ends.items() if first < last]
    return [
        (a, b) for a, b in sorted(loops)
        if not any((c, d) != (a, b) and a <= c and d <= b for c, d in loops)
    ]  # fmt: skip


def _measured(
    listing: Listing, first: int, last: int, trips: Sequence[int], *, around: bool = True
) -> HotLoop:
    mine = listing.instructions[first : last + 1]
    lines = {i.line for i in mine if i.line is not None and i.line <= len(trips)}
    statements = sum(trips[line - 1] for line in lines)
    return HotLoop(listing.function, listing.kind, first, mine, statements, around)
