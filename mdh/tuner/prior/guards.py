"""Where the points of parts that the edge cuts are tested, as the lowering does it."""

from dataclasses import dataclass

from mdh.lower.emit import MOST_PEELS
from mdh.tuner.prior.nest import GRID, LOOP, Level, Nest


@dataclass(frozen=True, slots=True)
class Cut:
    """A level whose last part is smaller. share: of all work that is tested for it; decided: the compiler
    knows the answers."""

    level: Level
    share: float
    decided: bool


def cuts(nest: Nest) -> tuple[Cut, ...]:
    """Blocks have a version for the cut ones, whose place is known at run time; a loop's last part is one of
    its own, whose place the compiler knows, down to MOST_PEELS of them one inside the other. Further in,
    every part tests."""
    found = []
    peels = int(any(v.tail for v in nest.grid))
    for k, v in enumerate(nest.levels):
        if not v.tail:
            continue
        apart = v.role == GRID or (peels < MOST_PEELS and v.parts > 1 and v.role == LOOP)
        share = (1.0 - v.tail) / max(1, v.parts - 1) if apart else 1.0
        within = [w for w in nest.levels[k + 1 :] if w.dim == v.dim and w.parts > 1]
        decided = apart and v.role != GRID and all(w.unrolled for w in within)
        peels += v.role == LOOP and apart
        found.append(Cut(v, share, decided))
    return tuple(found)
