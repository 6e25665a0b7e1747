"""All chains of a schedule joined: the exact number of structurally legal points, and the way to each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mdh.tune.space.chain import Chain, Choice
from mdh.tune.space.free import Group
from mdh.tune.space.paths import Path, Paths
from mdh.tune.space.signature import NEUTRAL, Signature, assigned, assignments
from mdh.tune.space.tally import Rests, Tally
from mdh.tune.values import Value

_KNOWN = 20_000
"""Nearest paths that are kept."""
Claims = list[tuple[int, int, int]]
"""Splits over one layer: the axes they may take, their chain, their step."""


@dataclass
class Joint:
    """chains: in the order of stages and dimensions; groups: all that no tile depends on."""

    chains: tuple[Chain, ...]
    groups: tuple[Group, ...]
    paths: tuple[Paths, ...] = field(init=False)
    tallies: tuple[Tally, ...] = field(init=False)
    _variables: tuple[tuple[int, ...], ...] = field(init=False)
    _known: dict[tuple[int, Signature, tuple[Value | None, ...]], tuple[Signature, Path]] = field(
        init=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        self._variables = tuple(
            tuple(v for e in c.entries for v in (e.tile, e.core) if v is not None) for c in self.chains
        )
        shapes: dict[object, Paths] = {}
        self.paths = tuple(Paths(c, shapes.setdefault(c.shape, Paths(c))) for c in self.chains)
        rests = Rests()
        later: frozenset[int] = frozenset()
        tallies: list[Tally] = []
        for i in reversed(range(len(self.chains))):
            following = tallies[-1] if tallies else None
            tallies.append(Tally(self.paths[i], self._closes(i), later, following, rests))
            later |= self.chains[i].shared
        self.tallies = tuple(reversed(tallies))

    @property
    def count(self) -> int:
        return self.free * self.completions(0, NEUTRAL)

    @property
    def free(self) -> int:
        n = 1
        for group in self.groups:
            n *= len(group.rows)
        return n

    def completions(self, i: int, acc: Signature) -> int:
        """In how many ways chains i, i + 1, … complete what the chains before them have claimed."""
        return 1 if i == len(self.chains) else self.tallies[i].completions(acc)

    def join(self, i: int, acc: Signature, signature: Signature) -> tuple[int, Signature] | None:
        """Behind chain i: ways to give out axes (1 within a stage), and what the next chain finds."""
        return self.tallies[i].join(acc, signature)

    def _closes(self, i: int) -> bool:
        """Chain i is the last one of its stage."""
        return i + 1 == len(self.chains) or self.chains[i + 1].stage != self.chains[i].stage

    def unrank(self, rank: int) -> dict[int, Value]:
        """variable -> value of the point of a rank below `count`."""
        values: dict[int, Value] = {}
        for group in self.groups:
            rank, n = divmod(rank, len(group.rows))
            values.update(zip(group.variables, group.rows[n], strict=True))
        acc, walked = NEUTRAL, []
        for i, paths in enumerate(self.paths):
            for signature, n in paths.table.items():
                after = self.join(i, acc, signature)
                ways = 0 if after is None else n * after[0] * self.completions(i + 1, after[1])
                if rank < ways:
                    break
                rank -= ways
            assert after is not None
            n_after = self.completions(i + 1, after[1])
            own, rank = divmod(rank, n_after)
            own, axes = divmod(own, after[0])
            walked.append(paths.unrank(signature, own))
            acc = after[1]
            if self._closes(i):
                self._assign(walked, i, self._axes_of(walked, i, axes), values)
        return values

    def rank(self, values: Mapping[int, Value]) -> int | None:
        """The inverse of `unrank`."""
        acc, ranks = NEUTRAL, []
        walked: list[Path] = []
        for i, paths in enumerate(self.paths):
            path = self._path(i, values)
            found = None if path is None else paths.rank(path)
            if path is None or found is None:
                return None
            walked.append(path)
            signature, own = found
            skipped = 0
            for other, n in paths.table.items():
                if other == signature:
                    break
                ways = self.join(i, acc, other)
                skipped += 0 if ways is None else n * ways[0] * self.completions(i + 1, ways[1])
            after = self.join(i, acc, signature)
            if after is None:
                return None
            axes = self._rank_axes(walked, i, values) if self._closes(i) else 0
            if axes is None:
                return None
            ranks.append((skipped, own * after[0] + axes, self.completions(i + 1, after[1])))
            acc = after[1]
        total = 0
        for skipped, own, n_after in reversed(ranks):
            total += skipped + own * n_after
        for group in reversed(self.groups):
            row = tuple(values.get(v) for v in group.variables)
            if row not in group.rows:
                return None
            total = total * len(group.rows) + group.rows.index(row)
        return total

    def nearest(self, wish: Mapping[int, Value]) -> dict[int, Value]:
        """The values of a legal point near the wished ones, chain after chain. Requires count > 0."""
        values: dict[int, Value] = {}
        for group in self.groups:
            values.update(zip(group.variables, group.nearest(wish), strict=True))
        acc = NEUTRAL
        walked: list[Path] = []
        for i in range(len(self.chains)):
            found = self._near(i, acc, wish)
            walked.append(found[1])
            after = self.join(i, acc, found[0])
            assert after is not None
            acc = after[1]
            if self._closes(i):
                self._assign(walked, i, self._axes_near(walked, i, wish), values)
        return values

    def _near(self, i: int, acc: Signature, wish: Mapping[int, Value]) -> tuple[Signature, Path]:
        """Searches take small steps, which leave most chains as they were: the nearest paths are kept."""
        said = tuple(wish.get(v) for v in self._variables[i])
        found = self._known.get((i, acc, said))
        if found is None:
            found = self.paths[i].nearest(wish, lambda s: self._leads_on(i, acc, s))
            assert found is not None
            if len(self._known) >= _KNOWN:
                self._known.clear()
            self._known[i, acc, said] = found
        return found

    def _leads_on(self, i: int, acc: Signature, signature: Signature) -> bool:
        after = self.join(i, acc, signature)
        return after is not None and self.completions(i + 1, after[1]) > 0

    def _claims(self, walked: Sequence[Path], i: int) -> dict[str, Claims]:
        """The splits over each layer in the stage that chain i closes."""
        out: dict[str, Claims] = {}
        stage = self.chains[i].stage
        for c in (c for c in range(i + 1) if self.chains[c].stage == stage):
            tile = self.chains[c].extent
            for s, (size, choice) in enumerate(walked[c]):
                if choice.layer is not None and size < tile:
                    out.setdefault(choice.layer, []).append((choice.axes, c, s))
                tile = size
        return {layer: sorted(claims) for layer, claims in sorted(out.items())}

    def _axes_of(self, walked: Sequence[Path], i: int, rank: int) -> dict[tuple[int, int], int]:
        """(chain, step) -> axis, of the rank-th way to give out axes."""
        axes: dict[tuple[int, int], int] = {}
        for claims in self._claims(walked, i).values():
            masks = tuple(c[0] for c in claims)
            rank, n = divmod(rank, assignments(masks))
            axes.update(_given(claims, list(assigned(masks))[n]))
        return axes

    def _rank_axes(self, walked: Sequence[Path], i: int, values: Mapping[int, Value]) -> int | None:
        rank, base = 0, 1
        for claims in self._claims(walked, i).values():
            ways = list(assigned(tuple(c[0] for c in claims)))
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
        return "xyz".find(str(values.get(core, "")).rpartition(".")[2] or "?")

    def _axes_near(
        self, walked: Sequence[Path], i: int, wish: Mapping[int, Value]
    ) -> dict[tuple[int, int], int]:
        axes: dict[tuple[int, int], int] = {}
        for claims in self._claims(walked, i).values():
            said = tuple(self._said_axis(c, wish) for c in claims)
            ways = assigned(tuple(c[0] for c in claims))
            axes.update(
                _given(claims, min(ways, key=lambda w: sum(a != b for a, b in zip(w, said, strict=True))))
            )
        return axes

    def _assign(
        self,
        walked: Sequence[Path],
        i: int,
        axes: Mapping[tuple[int, int], int],
        values: dict[int, Value],
    ) -> None:
        """The values that the paths of a stage stand for."""
        stage = self.chains[i].stage
        for c in (c for c in range(i + 1) if self.chains[c].stage == stage):
            for s, (entry, (tile, choice)) in enumerate(zip(self.chains[c].entries, walked[c], strict=True)):
                if entry.tile is not None:
                    values[entry.tile] = tile
                if entry.core is not None:
                    values[entry.core] = _word(choice, axes.get((c, s)))

    def _path(self, i: int, values: Mapping[int, Value]) -> Path | None:
        """The path that the values of a point walk."""
        out: list[tuple[int, Choice]] = []
        tile = self.chains[i].extent
        for entry in self.chains[i].entries:
            size = entry.fixed if entry.tile is None else values.get(entry.tile)
            size = tile if size in (None, "^") else min(int(size), tile)
            if entry.core is None:
                choice = entry.choices[0]
            else:
                said = str(values.get(entry.core, ""))
                fitting = [c for c in entry.choices if _word_fits(c, said)]
                if not fitting:
                    return None
                choice = fitting[0]
            out.append((size, choice))
            tile = size
        return tuple(out)


def _given(claims: Claims, axes: tuple[int, ...]) -> dict[tuple[int, int], int]:
    return {(chain, step): axis for (_, chain, step), axis in zip(claims, axes, strict=True)}


def _word(choice: Choice, axis: int | None) -> str:
    if choice.layer is None:
        return choice.word
    lowest = (choice.axes & -choice.axes).bit_length() - 1
    return f"{choice.layer}.{'xyz'[lowest if axis is None else axis]}"


def _word_fits(choice: Choice, word: str) -> bool:
    layer, _, axis = word.partition(".")
    if choice.layer is None:
        return choice.word == word
    return layer == choice.layer and axis in tuple("xyz") and bool(choice.axes >> "xyz".index(axis) & 1)
