"""How core layers nest over the steps of a stage: K106, in a form that can be counted with the tiles. Whether
one point keeps it, the checker's own function says (see `outline`).

Layers fall into bands, outer to inner. A frame is the deepest band reached at each step, in code order. Every
choice of layers that nests by bands has exactly one frame. Inside a frame the dimensions are independent:
each step allows some layers, and where the frame goes deeper some dimension must do so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement

from mdh.hardware import BLOCKED, THREADED, Layer
from mdh.tuner.space.chain import Allowed, Chain

GRID, BLOCK, THREAD = (Layer.NOD, Layer.DEV, *BLOCKED), THREADED, (Layer.VEC, Layer.MMA)
Bands = tuple[tuple[Layer, ...], ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """One way in which the layers of a stage nest.

    depths: for each step in code order, the deepest band so far. steps: for each step in text order, what it
    allows. due: the marks that the dimensions together must set, as a bit set.
    """

    depths: tuple[int, ...]
    steps: tuple[Allowed, ...]
    due: int

    def chain(self, chain: Chain) -> Chain:
        """The chain restricted to this frame."""
        entries = tuple(replace(e, allowed=a) for e, a in zip(chain.entries, self.steps, strict=True))
        return replace(chain, entries=entries)


@dataclass(frozen=True, slots=True)
class Nesting:
    """The frames of one stage. order: its steps in code order."""

    bands: Bands
    order: tuple[int, ...]
    frames: tuple[Frame, ...]

    @staticmethod
    def of(chains: Sequence[Chain], order: Sequence[int], bands: Bands) -> "Nesting":
        """The frames, without those that no choice of the entries can fill."""
        possible = [{c.layer for x in chains for c in x.entries[s].choices} for s in order]
        frames = []
        for depths in combinations_with_replacement(range(len(bands)), len(order)):
            rises = [n for n, (a, b) in enumerate(zip((0, *depths), depths, strict=False)) if b > a]
            if all(possible[n] & set(bands[depths[n]]) for n in rises):
                frames.append(_frame(depths, rises, order, bands))
        return Nesting(bands, tuple(order), tuple(frames))

    def frame(self, splits: Mapping[int, set[Layer]]) -> Frame | None:
        """The frame of these layers (by step); None if they do not nest."""
        depth, depths = 0, []
        for s in self.order:
            found = [n for n, band in enumerate(self.bands) if splits.get(s, set()) & set(band)]
            if found and found[0] < depth:
                return None
            depth = max((depth, *found))
            depths.append(depth)
        return next((f for f in self.frames if f.depths == tuple(depths)), None)


def _frame(depths: tuple[int, ...], rises: Sequence[int], order: Sequence[int], bands: Bands) -> Frame:
    steps: dict[int, Allowed] = {}
    before = 0
    for n, (s, depth) in enumerate(zip(order, depths, strict=True)):
        layers = frozenset(layer for band in bands[before : depth + 1] for layer in band)
        mark = 1 << rises.index(n) if n in rises else 0
        steps[s] = Allowed(layers, frozenset(bands[depth]) if mark else frozenset(), mark)
        before = depth
    return Frame(depths, tuple(steps[s] for s in range(len(order))), (1 << len(rises)) - 1)
