"""All chains of a schedule joined: the exact number of structurally legal points, and the way to each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf, prod

from mdh.hardware import Layer
from mdh.results.trial import Value
from mdh.tuner.space.chain import Chain, Choice, words_of
from mdh.tuner.space.conditions import Condition
from mdh.tuner.space.frames import Frame, Nesting
from mdh.tuner.space.free import VariableGroup
from mdh.tuner.space.ladder import Ladder
from mdh.tuner.space.paths import Path, Paths
from mdh.tuner.space.signature import AXES, NEUTRAL, Signature, assigned
from mdh.tuner.space.tally import MOST_PAIRS, Fork, Onward, Rests, Strand, Tally

_KNOWN = 20_000
"""Nearest paths that are kept."""
Claims = list[tuple[int, int, int]]
"""Splits over one layer: the axes they may take, their chain, their step."""
Way = tuple[Strand, Signature]
"""A frame, and what the chains before have claimed in it."""


@dataclass
class Joint:
    """chains: in the order of stages and dimensions; groups: all that no tile depends on.

    nestings: for each stage that has chains the frames of its layers; None: layers of different dimensions
    need not nest. conditions: on numbers of the chains; counting raises TooManyError if these have too many
    combinations.
    """

    chains: tuple[Chain, ...]
    groups: tuple[VariableGroup | Ladder, ...]
    nestings: tuple[Nesting, ...] | None
    conditions: tuple[Condition, ...] = ()
    stages: tuple[tuple[int, ...], ...] = field(init=False)
    """The chains of each stage."""
    strands: tuple[tuple[Strand, ...], ...] = field(init=False)
    """For each stage one a frame."""
    _known: dict[object, tuple[Path, tuple[Way, ...]]] = field(init=False, default_factory=dict)
    _closing: dict[int, tuple[Condition, ...]] = field(init=False)

    def __post_init__(self) -> None:
        numbers = dict.fromkeys(c.stage for c in self.chains)
        self.stages = tuple(tuple(i for i, c in enumerate(self.chains) if c.stage == s) for s in numbers)
        shapes: dict[object, Paths] = {}
        rests, fork = Rests(MOST_PAIRS if self.conditions else None), None
        later: frozenset[int] = frozenset()
        self._closing = self._last_chains()
        strands: list[tuple[Strand, ...]] = []
        for n, members in reversed(list(enumerate(self.stages))):
            frames = (None,) if self.nestings is None else self.nestings[n].frames
            here = [self._strand(members, frame, fork, later, rests, shapes) for frame in frames]
            strands.append(tuple(here))
            fork = Fork(here)
            later = later.union(*(self._read(i) for i in members))
        self.strands = tuple(reversed(strands))

    def _strand(
        self, members: Sequence[int], frame: Frame | None, fork: Fork | None, later: frozenset[int],
        rests: Rests, shapes: dict[object, Paths],
    ) -> Strand:  # fmt: skip
        tallies: list[Tally] = []
        following: Onward | None = fork
        due = 0 if frame is None else frame.due
        for i in reversed(members):
            chain = self.chains[i] if frame is None else frame.chain(self.chains[i])
            paths = shapes.setdefault(chain.shape, Paths(chain))
            conditions = self._closing.get(i, ())
            tallies.append(Tally(chain, paths, not tallies, due, later, following, rests, conditions))
            following = tallies[-1]
            later |= self._read(i)
        return tuple(reversed(tallies))

    def _last_chains(self) -> dict[int, tuple[Condition, ...]]:
        """The conditions whose variables are all known behind a chain, by its number."""
        last = {v: i for i, c in enumerate(self.chains) for e in c.entries for v in (e.tile, e.core)}
        out: dict[int, tuple[Condition, ...]] = {}
        for condition in self.conditions:
            i = max(last[v] for v in condition.names)
            out[i] = (*out.get(i, ()), condition)
        return out

    def _read(self, i: int) -> frozenset[int]:
        """The variables whose values in earlier chains matter to a chain."""
        return self.chains[i].shared.union(*(c.names for c in self._closing.get(i, ())))

    def dimensions(self, stage: int, count: int) -> tuple[Chain, ...]:
        """The chains of a stage's dimensions. Behind them are those of numbers that are no tiles."""
        return tuple(c for c in self.chains if c.stage == stage)[:count]

    @property
    def count(self) -> int:
        total = 1 if not self.strands else sum(s[0].completions(NEUTRAL) for s in self.strands[0])
        return self.free * total

    @property
    def work(self) -> int:
        """How many sums the count took."""
        return sum(tally.work for strands in self.strands for strand in strands for tally in strand)

    @property
    def free(self) -> int:
        return prod(group.count for group in self.groups)

    @property
    def said(self) -> tuple[tuple[tuple[set[int], set[Choice]], ...], ...]:
        """For each chain and step the tiles and choices that some frame with a point has."""
        out = []
        for members, strands in zip(self.stages, self.strands, strict=True):
            some = [s for s in strands if s[0].completions(NEUTRAL)] or strands
            for n in range(len(members)):
                # frames share the paths of chains that are the same in them
                own = {id(s[n].paths): s[n].paths for s in some}
                spoken = [paths.spoken for paths in own.values()]
                out.append(
                    tuple(
                        (set().union(*(t for t, _ in step)), set().union(*(c for _, c in step)))
                        for step in zip(*spoken, strict=True)
                    )
                )
        return tuple(out)

    def unrank(self, rank: int) -> dict[int, Value]:
        """variable -> value of the point of a rank below `count`."""
        values: dict[int, Value] = {}
        for group in self.groups:
            rank, n = divmod(rank, group.count)
            values.update(zip(group.variables, group.unrank(n), strict=True))
        acc = NEUTRAL
        for members, strands in zip(self.stages, self.strands, strict=True):
            for strand in strands:
                ways = strand[0].completions(acc)
                if rank < ways:
                    break
                rank -= ways
            walked: list[Path] = []
            for tally in strand:
                signature, rank = tally.place(acc, rank)
                after = tally.join(acc, signature)
                assert after is not None
                own, rank = divmod(rank, tally.onward(after[1]))
                own, axes = divmod(own, after[0])
                walked.append(tally.paths.unrank(signature, own))
                acc = after[1]
            self._assign(walked, members, self._axes_of(walked, members, axes), values)
        return values

    def rank(self, values: Mapping[int, Value]) -> int | None:
        """The inverse of `unrank`."""
        acc, ranks = NEUTRAL, []
        for stage, members in enumerate(self.stages):
            walked = [path for path in (self._path(i, values) for i in members) if path is not None]
            number = self._strand_of(stage, walked) if len(walked) == len(members) else None
            axes = None if number is None else self._rank_axes(walked, members, values)
            if number is None or axes is None:
                return None
            skipped = sum(s[0].completions(acc) for s in self.strands[stage][:number])
            for tally, path in zip(self.strands[stage][number], walked, strict=True):
                found = tally.paths.rank(path)
                after = None if found is None else tally.join(acc, found[0])
                if found is None or after is None:
                    return None
                skipped += tally.before(acc, found[0])
                last = axes if tally.closes else 0
                ranks.append((skipped, found[1] * after[0] + last, tally.onward(after[1])))
                acc, skipped = after[1], 0
        total = 0
        for skipped, within, onward in reversed(ranks):
            total += skipped + within * onward
        for group in reversed(self.groups):
            own = group.rank(tuple(values.get(v) for v in group.variables))
            if own is None:
                return None
            total = total * group.count + own
        return total

    def _strand_of(self, stage: int, walked: Sequence[Path]) -> int | None:
        """The number of the frame that the paths of a stage lie in."""
        if self.nestings is None:
            return 0
        splits: dict[int, set[Layer]] = {}
        for i, path in zip(self.stages[stage], walked, strict=True):
            for s, layer in _splits(self.chains[i].extent, path):
                splits.setdefault(s, set()).add(layer)
        frame = self.nestings[stage].frame(splits)
        return None if frame is None else self.nestings[stage].frames.index(frame)

    def nearest(self, wish: Mapping[int, Value]) -> dict[int, Value]:
        """The values of a legal point near the wished ones, chain after chain: each comes as close as some
        frame lets it that those before it can be walked in. Requires count > 0."""
        values: dict[int, Value] = {}
        for group in self.groups:
            values.update(zip(group.variables, group.nearest(wish), strict=True))
        acc = NEUTRAL
        for members, strands in zip(self.stages, self.strands, strict=True):
            ways = tuple((strand, acc) for strand in strands if strand[0].completions(acc))
            walked: list[Path] = []
            for n, i in enumerate(members):
                path, ways = self._near(i, n, ways, wish)
                walked.append(path)
            acc = ways[0][1]
            self._assign(walked, members, self._axes_near(walked, members, wish), values)
        return values

    def _near(
        self, i: int, n: int, ways: tuple[Way, ...], wish: Mapping[int, Value]
    ) -> tuple[Path, tuple[Way, ...]]:
        """Searches take small steps, which leave most chains as they were: the nearest paths are kept."""
        mine = (v for e in self.chains[i].entries for v in (e.tile, e.core) if v is not None)
        key = (i, tuple((id(strand), acc) for strand, acc in ways), tuple(wish.get(v) for v in mine))
        found = self._known.get(key)
        if found is None:
            found = _nearest(ways, n, wish)
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    def _claims(
        self, walked: Sequence[Path], members: Sequence[int]
    ) -> Iterator[tuple[Claims, list[tuple[int, ...]]]]:
        """For each layer of a stage the splits over it, and the ways to give out its axes."""
        out: dict[str, Claims] = {}
        for c, path in zip(members, walked, strict=True):
            for s, layer in _splits(self.chains[c].extent, path):
                out.setdefault(layer, []).append((path[s][1].axes, c, s))
        for _, claims in sorted(out.items()):
            claims.sort()
            yield claims, list(assigned(tuple(c[0] for c in claims)))

    def _axes_of(
        self, walked: Sequence[Path], members: Sequence[int], rank: int
    ) -> dict[tuple[int, int], int]:
        """(chain, step) -> axis, of the rank-th way to give out axes."""
        axes: dict[tuple[int, int], int] = {}
        for claims, ways in self._claims(walked, members):
            rank, n = divmod(rank, len(ways))
            axes.update(_given(claims, ways[n]))
        return axes

    def _rank_axes(
        self, walked: Sequence[Path], members: Sequence[int], values: Mapping[int, Value]
    ) -> int | None:
        rank, base = 0, 1
        for claims, ways in self._claims(walked, members):
            said = tuple(self._said_axis(c, values) for c in claims)
            if said not in ways:
                return None
            rank += base * ways.index(said)
            base *= len(ways)
        return rank

    def _said_axis(self, claim: tuple[int, int, int], values: Mapping[int, Value]) -> int:
        axes, chain, step = claim
        core = self.chains[chain].entries[step].core
        if core is None:
            return axes.bit_length() - 1
        return AXES.find(str(values.get(core, "")).rpartition(".")[2] or "?")

    def _axes_near(
        self, walked: Sequence[Path], members: Sequence[int], wish: Mapping[int, Value]
    ) -> dict[tuple[int, int], int]:
        axes: dict[tuple[int, int], int] = {}
        for claims, ways in self._claims(walked, members):
            said = tuple(self._said_axis(c, wish) for c in claims)
            axes.update(_given(claims, min(ways, key=partial(_differing, said))))
        return axes

    def _assign(
        self,
        walked: Sequence[Path],
        members: Sequence[int],
        axes: Mapping[tuple[int, int], int],
        values: dict[int, Value],
    ) -> None:
        """The values that the paths of a stage stand for."""
        for c, path in zip(members, walked, strict=True):
            for s, (entry, (tile, choice)) in enumerate(zip(self.chains[c].entries, path, strict=True)):
                if entry.tile is not None:
                    values[entry.tile] = tile
                if entry.core is not None:
                    values[entry.core] = _word(choice, axes.get((c, s)))

    def _path(self, i: int, values: Mapping[int, Value]) -> Path | None:
        """The path that the values of a point walk."""
        out: list[tuple[int, Choice]] = []
        tile = self.chains[i].extent
        for entry in self.chains[i].entries:
            tile = entry.size(values, tile)
            if entry.core is None:
                choice = entry.choices[0]
            else:
                said = str(values.get(entry.core, ""))
                fitting = [c for c in entry.choices if said in words_of(c)]
                if not fitting:
                    return None
                choice = fitting[0]
            out.append((tile, choice))
        return tuple(out)


def _nearest(ways: Sequence[Way], n: int, wish: Mapping[int, Value]) -> tuple[Path, tuple[Way, ...]]:
    """The path of the n-th chain of a stage that comes closest in some frame, and the frames in which it can
    be walked, with what they find behind it."""
    least = inf
    best: list[tuple[Path, Strand, Signature]] = []
    for strand, before in ways:
        tally = strand[n]
        found = tally.paths.nearest(tally.chain.entries, wish, partial(tally.leads_on, before), least)
        if found is None:
            continue
        after = tally.join(before, found[1])
        assert after is not None
        best = [*(best if found[0] == least else ()), (found[2], strand, after[1])]
        least = found[0]
    nearest = best[0][0]
    return nearest, tuple((strand, after) for path, strand, after in best if path == nearest)


def _splits(extent: int, path: Path) -> Iterator[tuple[int, Layer]]:
    """Step and layer of each split of a path over a core layer."""
    tile = extent
    for s, (size, choice) in enumerate(path):
        if choice.layer is not None and size < tile:
            yield s, choice.layer
        tile = size


def _given(claims: Claims, axes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    return {(chain, step): axis for (_, chain, step), axis in zip(claims, axes, strict=True)}


def _differing(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    return sum(x != y for x, y in zip(a, b, strict=True))


def _word(choice: Choice, axis: int | None) -> str:
    return words_of(choice)[0] if choice.layer is None or axis is None else f"{choice.layer}.{AXES[axis]}"
