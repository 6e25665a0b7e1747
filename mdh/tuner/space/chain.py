"""The tiles and layers of one dimension, step after step.

A chain is a walk through the steps in text order. Its state is the tile so far and what the splits so far
have claimed; paths that reach the same state have the same futures, so they are counted together.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from mdh.hardware import Layer
from mdh.results.trial import Value
from mdh.tuner.space.atoms import FREE, DividedTiles
from mdh.tuner.space.signature import AXES, NEUTRAL, Bounds, Signature, split


@dataclass(frozen=True, slots=True)
class Choice:
    """What may stand in a core entry. layer None: a sequential loop, `word` is its spelling. Else a split
    over the layer on one of `axes` (a bit set); which one is decided when all dimensions are known."""

    layer: Layer | None
    axes: int = 0
    word: str = "^"


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a frame (see `frames`) allows at a step: splits over `layers`; one over `marked` leaves `mark`."""

    layers: frozenset[Layer]
    marked: frozenset[Layer]
    mark: int


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One step of one dimension.

    tile: the variable of a tile hole, `tiles` its set (None: the default domain); else `fixed` (None: `^`).
    core: the variable of a core hole. inherited: a later `^` or the implied step repeats the loop
    position (a layer has none), so that it matters also where this step has one part. allowed: by the frame;
    None: every layer. divided: what an MMA step asks of the tiles.
    """

    tile: int | None
    tiles: tuple[Value, ...] | None
    fixed: int | None
    core: int | None
    choices: tuple[Choice, ...]
    inherited: bool = False
    allowed: Allowed | None = None
    divided: DividedTiles = FREE

    def domain(self, parent: int) -> tuple[int, ...]:
        """The values of a tile hole inside of a tile."""
        if self.tiles is not None:
            return _members(self.tiles, parent)
        atom = self.divided.sizes
        return default_tiles(parent) if atom is None else _members(atom[: self.divided.usual], parent)

    def size(self, values: Mapping[int, Value], parent: int) -> int:
        """The tile that a point has here, inside of the tile above."""
        size = self.fixed if self.tile is None else values.get(self.tile)
        return parent if size is None or size == "^" else min(int(size), parent)

    def layer(self, values: Mapping[int, Value]) -> Layer | None:
        """The layer that a point has here."""
        if self.core is None:
            return self.choices[0].layer
        return Layer.named(str(values[self.core]).partition(".")[0])


class State(NamedTuple):
    """depth: of the last layer, -1 before the first and where labels give the code another order.

    A tuple, as signatures are: tables of many thousands of them are looked up all the time.
    """

    tile: int
    signature: Signature
    depth: int = -1


class Edge(NamedTuple):
    """One decision: the tile and the choice that lead from a state to the next."""

    before: State
    tile: int
    choice: Choice


Reached = dict[State, list[Edge]]


@dataclass(frozen=True)
class Chain:
    """One dimension of one stage. vectors: legal numbers of lanes; ordered: text order is code order.

    shared: variables that other chains read too, or that this one reads twice: their values are kept.
    kept: those among them that the signature of the whole chain names.
    """

    stage: int
    extent: int
    entries: tuple[ChainStep, ...]
    bounds: Bounds
    vectors: tuple[int, ...]
    ordered: bool
    shared: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    allowed: Mapping[int, frozenset[Value]] = field(default_factory=dict)

    @property
    def shape(self) -> object:
        """Equal for chains that have the same paths; which variables they fill may differ."""
        entries = tuple(replace(e, tile=_if_any(e.tile), core=_if_any(e.core)) for e in self.entries)
        own = id(self) if self.shared or self.allowed else 0
        return own, self.extent, entries, self.bounds, self.vectors, self.ordered

    def layers(self) -> list[Reached]:
        """The states behind each step with the edges that lead there; only what a path reaches."""
        out: list[Reached] = [{State(self.extent, NEUTRAL): []}]
        for entry in self.entries:
            following: Reached = {}
            for state in out[-1]:
                for edge, after in self.steps(entry, state):
                    following.setdefault(after, []).append(edge)
            out.append(following)
        if out[-1] and any(e.divided is not FREE for e in self.entries):
            _prune(out)
        return out

    def steps(self, entry: ChainStep, state: State) -> Iterator[tuple[Edge, State]]:
        for tile in self._tiles(entry, state):
            if not entry.divided.fits(state.tile, tile):
                continue
            parts = -(-state.tile // tile)
            for choice in entry.choices if parts > 1 else _single(entry):
                after = self._after(entry, state, tile, choice, parts)
                if after is not None:
                    yield Edge(state, tile, choice), after

    def end(self, state: State) -> Signature:
        """What the chain as a whole leaves to agree on."""
        names = tuple(pair for pair in state.signature.names if pair[0] in self.kept)
        return state.signature._replace(names=names)

    def _tiles(self, entry: ChainStep, state: State) -> tuple[int, ...]:
        if entry.tile is None:
            return (state.tile if entry.fixed is None else min(entry.fixed, state.tile),)
        sizes = entry.domain(state.tile)
        known = dict(state.signature.names).get(entry.tile) if self.shared else None
        if known is not None:
            sizes = tuple(s for s in sizes if s == known)
        legal = self.allowed.get(entry.tile)
        return sizes if legal is None else tuple(s for s in sizes if s in legal)

    def _after(self, entry: ChainStep, state: State, tile: int, choice: Choice, parts: int) -> State | None:
        signature, depth = state.signature, state.depth
        if choice.layer is not None and parts > 1:
            level = choice.layer.depth
            if self.ordered and level < depth:
                return None
            if choice.layer == Layer.VEC and (tile != 1 or parts not in self.vectors):
                return None
            mark, frame = 0, entry.allowed
            if frame is not None:
                if choice.layer not in frame.layers:
                    return None
                mark = frame.mark if choice.layer in frame.marked else 0
            claimed = split(self.bounds, signature, choice.layer, choice.axes, parts, mark)
            if claimed is None:
                return None
            signature, depth = claimed, level
        if not self.shared:
            return State(tile, signature, depth if self.ordered else -1)
        names = dict(signature.names)
        for variable, value in ((entry.tile, tile), (entry.core, words_of(choice)[0])):
            if (
                variable is not None
                and variable in self.shared
                and names.setdefault(variable, value) != value
            ):
                return None
        if len(names) != len(signature.names):
            signature = signature._replace(names=tuple(sorted(names.items())))
        return State(tile, signature, depth if self.ordered else -1)


def _prune(layers: list[Reached]) -> None:
    """Removes the states from which no path goes on to the end: tiles that no atom divides are no values."""
    for layer, following in zip(reversed(layers[:-1]), reversed(layers[1:]), strict=True):
        alive = {e.before for edges in following.values() for e in edges}
        for state in [s for s in layer if s not in alive]:
            del layer[state]


def _if_any(variable: int | None) -> int | None:
    return None if variable is None else 0


@cache
def words_of(choice: Choice) -> tuple[str, ...]:
    """Its spellings, one for each axis."""
    if choice.layer is None:
        return (choice.word,)
    return tuple(f"{choice.layer}.{axis}" for n, axis in enumerate(AXES) if choice.axes >> n & 1)


@cache
def default_tiles(parent: int) -> tuple[int, ...]:
    """Language section 6: divisors of the parent tile, and powers of two up to it; descending."""
    sizes = {1 << n for n in range(parent.bit_length())}
    n = 1
    while n * n <= parent:
        if parent % n == 0:
            sizes |= {n, parent // n}
        n += 1
    return tuple(sorted(sizes, reverse=True))


@cache
def _members(values: tuple[Value, ...], parent: int) -> tuple[int, ...]:
    """Those that fit the parent tile; `^` is the parent itself."""
    sizes = {parent if v == "^" else int(v) for v in values}
    return tuple(sorted((s for s in sizes if s <= parent), reverse=True))


@cache
def _single(entry: ChainStep) -> tuple[Choice, ...]:
    """Where a step has one part, spellings that say the same are one: no unit is claimed."""
    loops = tuple(c for c in entry.choices if c.layer is None)
    split = tuple(c for c in entry.choices if c.layer is not None)
    return (*loops, *split[:1]) if entry.inherited else (loops or split)[:1]
