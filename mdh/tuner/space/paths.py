"""The paths of a chain, counted once: how many lead to each signature, which has a rank, which is near."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from math import inf, log2

from mdh.results.trial import Value
from mdh.tuner.space.chain import Chain, ChainStep, Choice, Edge, State
from mdh.tuner.space.signature import AXES, Signature

Path = tuple[tuple[int, Choice], ...]
"""A tile and a choice for each step."""


@dataclass(frozen=True)
class Paths:
    """The walks of chains of one shape through their states. chain: one of these chains."""

    chain: Chain

    @cached_property
    def layers(self) -> list[dict[State, list[Edge]]]:
        return self.chain.layers()

    @cached_property
    def spoken(self) -> tuple[tuple[set[int], set[Choice]], ...]:
        """For each step, the tiles and choices of paths that start with it."""
        edges = [[e for edges in layer.values() for e in edges] for layer in self.layers[1:]]
        return tuple(({e.tile for e in step}, {e.choice for e in step}) for step in edges)

    @cached_property
    def onward(self) -> list[dict[State, list[tuple[Choice, list[tuple[int, State]]]]]]:
        """The tiles and states that each state leads to, by choice."""
        out: list[dict[State, list[tuple[Choice, list[tuple[int, State]]]]]] = []
        for before, layer in zip(self.layers, self.layers[1:], strict=False):
            edges: dict[State, dict[Choice, list[tuple[int, State]]]] = {state: {} for state in before}
            for after, arriving in layer.items():
                for edge in arriving:
                    edges[edge.before].setdefault(edge.choice, []).append((edge.tile, after))
            out.append({state: list(ways.items()) for state, ways in edges.items()})
        return out

    @cached_property
    def counts(self) -> list[dict[State, int]]:
        """The number of paths from the start to each state."""
        out = [dict.fromkeys(self.layers[0], 1)]
        for layer in self.layers[1:]:
            out.append({s: sum(out[-1][e.before] for e in edges) for s, edges in layer.items()})
        return out

    @cached_property
    def ends(self) -> dict[Signature, list[State]]:
        """Final states by the signature that they leave."""
        out: dict[Signature, list[State]] = {}
        for state in self.layers[-1]:
            out.setdefault(self.chain.end(state), []).append(state)
        return out

    @cached_property
    def table(self) -> dict[Signature, int]:
        """Number of paths by signature."""
        return {s: sum(self.counts[-1][state] for state in states) for s, states in self.ends.items()}

    def unrank(self, signature: Signature, rank: int) -> Path:
        """The path of a rank below `table[signature]`."""
        path: list[tuple[int, Choice]] = []
        state = None
        for state in self.ends[signature]:
            if rank < self.counts[-1][state]:
                break
            rank -= self.counts[-1][state]
        assert state is not None
        for level in range(len(self.layers) - 1, 0, -1):
            for edge in self.layers[level][state]:
                n = self.counts[level - 1][edge.before]
                if rank < n:
                    path.append((edge.tile, edge.choice))
                    state = edge.before
                    break
                rank -= n
        return tuple(reversed(path))

    def rank(self, path: Path) -> tuple[Signature, int] | None:
        """The inverse; None for what is no path."""
        states = [next(iter(self.layers[0]))]
        for entry, wanted in zip(self.chain.entries, path, strict=True):
            after = [a for e, a in self.chain.steps(entry, states[-1]) if (e.tile, e.choice) == wanted]
            if not after:
                return None
            states.append(after[0])
        rank = 0
        for level in range(len(states) - 1, 0, -1):
            for edge in self.layers[level][states[level]]:
                if (edge.before, edge.tile, edge.choice) == (states[level - 1], *path[level - 1]):
                    break
                rank += self.counts[level - 1][edge.before]
        signature = self.chain.end(states[-1])
        for state in self.ends[signature]:
            if state == states[-1]:
                return signature, rank
            rank += self.counts[-1][state]
        return None

    def nearest(
        self, steps: Sequence[ChainStep], wish: Mapping[int, Value], fits: Callable[[Signature], bool],
        most: float = inf,
    ) -> tuple[float, Signature, Path] | None:  # fmt: skip
        """The path nearest to the wished values (variable -> value) with a fitting signature, and its
        distance; None if none is within `most`. steps: of the chain that the wish is for."""
        # small steps leave most chains as they are, so most wishes can be met exactly
        wished = self._wished(steps, wish)
        if wished is not None and fits(wished[0]):
            return 0.0, *wished
        order = count()
        start = next(iter(self.layers[0]))
        queue: list[tuple[float, int, int, State, Path]] = [(0.0, 0, next(order), start, ())]
        seen: set[tuple[int, State]] = set()
        tiles: list[dict[tuple[int, int] | int, float]] = [{} for _ in steps]
        while queue:
            cost, level, _, state, path = heappop(queue)
            level = -level
            if (level, state) in seen:
                continue
            seen.add((level, state))
            if level == len(steps):
                signature = self.chain.end(state)
                if fits(signature):
                    return cost, signature, path
                continue
            entry, known, parent = steps[level], tiles[level], state.tile
            relative = entry.tile is not None and wish.get(entry.tile, "^") == "^"
            for choice, ways in self.onward[level][state]:
                word = cost + _word_distance(wish, entry.core, choice)
                if word > most:
                    continue
                for tile, after in ways:
                    key = (tile, parent) if relative else tile
                    far = known.get(key)
                    if far is None:
                        far = known[key] = _tile_distance(wish, entry.tile, tile, parent)
                    if word + far <= most and (level + 1, after) not in seen:
                        longer = (*path, (tile, choice))
                        heappush(queue, (word + far, -level - 1, next(order), after, longer))
        return None

    def _wished(self, steps: Sequence[ChainStep], wish: Mapping[int, Value]) -> tuple[Signature, Path] | None:
        """The first path that is exactly as wished, if there is one."""
        state = next(iter(self.layers[0]))
        path: list[tuple[int, Choice]] = []
        for entry, onward in zip(steps, self.onward, strict=True):
            found = next(
                (
                    (tile, choice, after)
                    for choice, ways in onward[state]
                    if not _word_distance(wish, entry.core, choice)
                    for tile, after in ways
                    if not _tile_distance(wish, entry.tile, tile, state.tile)
                ),
                None,
            )
            if found is None:
                return None
            path.append(found[:2])
            state = found[2]
        return self.chain.end(state), tuple(path)


def _tile_distance(wish: Mapping[int, Value], variable: int | None, tile: int, parent: int) -> float:
    if variable is None:
        return 0.0
    wanted = wish.get(variable, parent)
    if wanted == tile:
        return 0.0
    return abs(log2(tile / (parent if wanted == "^" else max(int(wanted), 1))))


def _word_distance(wish: Mapping[int, Value], variable: int | None, choice: Choice) -> float:
    """0 for the wished word, or its layer on its axis; 1 for its layer on others; 2 for another layer."""
    if variable is None or variable not in wish:
        return 0.0
    layer, _, axis = str(wish[variable]).partition(".")
    if choice.layer is None:
        if choice.word == wish[variable]:
            return 0.0
        return 0.5 if layer in ("FOR", "^") else 2.0
    if layer != choice.layer:
        return 2.0
    return 0.0 if choice.axes >> AXES.index(axis) & 1 else 1.0
