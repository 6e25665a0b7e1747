"""Proves that stages may compute a map where they read it, and makes the program in which they do.

A load of the map's array gives way to the map's value at the point that computes the element. That is the
value that the array would hold if four things are true. The map has computed the element when it is read. No
other stage has overwritten it since. What the map reads is still as it was. And no point of the reading stage
changes what another point now reads.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.ir.domain import holding
from mdh.ir.expr import Expr, Load, loads
from mdh.ir.inlining import (
    InlineStage,
    InliningError,
    MapOutput,
    Read,
    map_outputs,
    negated,
    place_of,
    substituted,
    with_loads,
)
from mdh.ir.program import Condition, Dim, DimKind, Output, Program, Stage
from mdh.ir.size import excess
from mdh.ir.turns import Turns
from mdh.poly.elements import StageAccess, access_of, covered, meet, possible, writes_of
from mdh.poly.races import races


@dataclass(frozen=True)
class Inlined:
    """program: with readers that compute the stages, and without those that have no kernel."""

    program: Program
    stages: tuple[InlineStage, ...]


def inlined(program: Program, names: Collection[str]) -> Inlined:
    """The program in which the named stages are computed by their readers. Raises InliningError, with the
    name of the stage in its note.

    The last stage is replaced first. So a stage that reads another one of them has given way to its readers
    when that one is replaced.
    """
    found = []
    for number in reversed(range(len(program.stages))):
        stage = program.stages[number]
        if stage.name in names:
            try:
                program, one = _Inlining(program, number).done()
            except InliningError as unfit:
                unfit.add_note(stage.name)
                raise
            found.append(one)
    return Inlined(program, tuple(reversed(found)))


class _Inlining:
    """One stage gives way to its readers."""

    def __init__(self, program: Program, number: int) -> None:
        self.program, self.number = program, number
        self.stage = program.stages[number]
        self.outputs = map_outputs(program, self.stage)
        names = [m.buffer for m in self.outputs]
        if len(set(names)) < len(names):
            raise InliningError("it writes an array in two places")
        self.loops = [x for x in program.loops if x.first <= number <= x.last]
        self.reads: list[Read] = []
        self.partly = set[str]()
        """Arrays of which readers need elements that the stage leaves as they are."""

    def done(self) -> tuple[Program, InlineStage]:
        stages = list(self.program.stages)
        for m in self.outputs:
            for r, reader in enumerate(self.program.stages):
                if r != self.number and m.buffer in reader.read:
                    stages[r] = self._without_loads(m, r, stages[r])
        if not self.reads:
            raise InliningError("no stage reads what it computes")
        kept = self._kept()
        self._demand_inputs(kept)
        for r, reader in enumerate(stages):
            self._demand_sound(reader, self.program.stages[r])
        points = prod(d.extent for d in self.stage.dims)
        one = InlineStage(self.stage.name, points, tuple(self.reads), bool(kept))
        results = tuple(x for n, x in enumerate(self.stage.results) if n in kept)
        stages[self.number] = replace(self.stage, results=results)
        return _with_stages(self.program, stages, None if kept else self.number), one

    def _kept(self) -> set[int]:
        """The results that are needed in memory: outputs of the function, and what later turns of a loop read
        of elements that a turn leaves as they are."""
        temps = {b.name for b in self.program.buffers if b.temp}
        lasting = self.partly if self.loops else set()
        return {m.result for m in self.outputs if m.buffer not in temps or m.buffer in lasting}

    # -- one reader --------------------------------------------------------------------------------------

    def _without_loads(self, m: MapOutput, r: int, reader: Stage) -> Stage:
        starts = (e for x in reader.results for e in x.starts if e is not None)
        if reader.scattered and any(x.buffer == m.buffer for e in starts for x in loads(e)):
            why = f"stage `{reader.name}` adds to its values, at places that are data"
            raise InliningError(why, reader=self.program.stages[r])
        indices = [i for o in _outputs(reader) for i in o.index]
        indices += [i for e in reader.expressions() for x in loads(e) for i in x.index]
        indices += [let.value for let in reader.lets]
        if any(x.buffer == m.buffer for i in indices for x in loads(i)):
            why = f"its values are subscripts or locals in stage `{reader.name}`"
            raise InliningError(why, reader=self.program.stages[r])
        kept = tuple(d for d in reader.dims if d.kind is not DimKind.PW)

        def change(load: Load, conds: tuple[Condition, ...], every: bool) -> Expr:
            if load.buffer != m.buffer:
                return load
            return self._computed(m, r, load, conds, reader.dims if every else kept)

        return with_loads(reader, change)

    def _computed(
        self, m: MapOutput, r: int, load: Load, conds: tuple[Condition, ...], dims: tuple[Dim, ...]
    ) -> Expr:
        """What stands in place of a load; the load itself where it does not meet what the map computes."""
        reader = self.program.stages[r]
        extents = self._extents(reader)
        pair = (*self._writes(self.stage, m.buffer), self._access(reader, load, conds))
        if not meet(pair) or not self._behind(r, load):
            return load
        place = place_of(m, load, self.program, reader)
        where = holding(conds, extents)
        if not possible(reader, where, place.terms, extents) or self._overwritten(r, pair, load):
            return load
        terms = tuple(t for t in place.terms if possible(reader, where, (negated(t),), extents))
        if terms:
            self.partly.add(m.buffer)
        turns = prod(x.trips for x in self._loops(r) if x not in self.loops)
        here = replace(place, terms=terms)
        self.reads.append(Read(reader.name, load, here, dims, conds, turns))
        return substituted(m, load, place, terms)

    def _writes(self, stage: Stage, buffer: str) -> list[StageAccess]:
        return writes_of(self.program, stage, buffer, self._extents(stage))

    def _access(self, reader: Stage, load: Load, conds: tuple[Condition, ...]) -> StageAccess:
        return access_of(self.program, reader, load.index, conds, self._extents(reader))

    def _extents(self, stage: Stage) -> dict[str, int]:
        return {**{d.name: d.extent for d in stage.dims}, **self.program.turns}

    def _behind(self, r: int, load: Load) -> bool:
        """Whether the reader comes behind the map. Raises InliningError if it reads another turn's value."""
        reader = self.program.stages[r]
        inside = {x.var for x in self._loops(r)}
        access = (load.buffer, load.index)
        if r < self.number:
            if shared := [x for x in self.loops if x.var in inside]:
                why = f"stage `{reader.name}` reads what an earlier turn of `{shared[-1].name}` has computed"
                raise InliningError(why, access, reader)
            return False
        if outer := [x for x in self.loops if x.var not in inside]:
            why = f"stage `{reader.name}` reads what the last turn of `{outer[0].name}` has computed"
            raise InliningError(why, access, reader)
        return True

    def _loops(self, number: int) -> list[Turns]:
        return [x for x in self.program.loops if x.first <= number <= x.last]

    def _between(self, r: int) -> list[int]:
        """The stages that run behind the map and in front of the reader, in any turn."""
        inner = [x for x in self._loops(r) if not x.first <= self.number <= x.last]
        turned = range(inner[0].first, inner[0].last + 1) if inner else range(0)
        return sorted({*range(self.number + 1, r), *turned})

    def _overwritten(self, r: int, pair: Sequence[StageAccess], load: Load) -> bool:
        """Whether another stage writes all that the load reads of the map. Raises InliningError if it writes
        a part. pair: the accesses of the map and of the load."""
        reader, partly = self.program.stages[r], None
        for q in self._between(r):
            other = self.program.stages[q]
            found = [w for w in self._writes(other, load.buffer) if meet((*pair, w))]
            if q < r and any(covered(pair, w) for w in found):
                return True
            partly = other if found else partly
        if partly is None:
            return False
        what = f"stage `{partly.name}` overwrites a part of `{load.buffer}`"
        raise InliningError(
            f"{what} before stage `{reader.name}` reads it", (load.buffer, load.index), partly,
            (("buffer", load.buffer), ("overwritten by", partly.name), ("read by", reader.name)),
        )  # fmt: skip

    # -- all readers -------------------------------------------------------------------------------------

    def _demand_inputs(self, kept: set[int]) -> None:
        """What the map reads is as it was when its readers compute it."""
        numbers = {s.name: n for n, s in enumerate(self.program.stages)}
        own = {o.buffer for n in kept for o in self.stage.results[n].outputs}
        for read in self.reads:
            m = next(m for m in self.outputs if m.buffer == read.load.buffer)
            if m.buffer in m.read and self.loops:
                raise InliningError(f"each turn of `{self.loops[-1].name}` goes on with `{m.buffer}`")
            if changed := sorted(m.read & own):
                what = f"it writes `{changed[0]}`, which it reads: its readers would read what it has written"
                raise InliningError(what, witness=(("buffer", changed[0]), ("read by", read.reader)))
            for q in self._between(numbers[read.reader]):
                other = self.program.stages[q]
                if changed := sorted(m.read & other.written):
                    what = f"stage `{other.name}` changes `{changed[0]}`, which it reads"
                    raise InliningError(
                        f"{what}, before stage `{read.reader}` would compute it", None, other,
                        (("buffer", changed[0]), ("changed by", other.name), ("read by", read.reader)),
                    )  # fmt: skip

    def _demand_sound(self, reader: Stage, before: Stage) -> None:
        """No point of a changed reader writes what another one reads, and no expression is too large."""
        if reader is before:
            return
        if large := next((what for e in reader.expressions() if (what := excess(e))), ""):
            raise InliningError(f"an expression of stage `{reader.name}` then {large}", reader=before)
        stored = [o.buffer for o in _outputs(reader)]
        kept = next((b for m in self.outputs for b in sorted(m.read) if b in stored), None)
        if kept is not None and len(stored) > 1:
            # a point stores its results one after another
            why = f"stage `{reader.name}` stores `{kept}` beside another result, which would then read it"
            raise InliningError(why, reader=before)
        for race in races(reader, self.program.turns):
            points = [
                ", ".join(f"{d.name} = {d.at(at[d.name])}" for d in reader.dims)
                for at in (race.writes, race.touches)
            ]
            what = f"point ({points[0]}) of stage `{reader.name}` writes an element of `{race.buffer}`"
            raise InliningError(
                f"{what} that point ({points[1]}) would then read", None, before,
                (("buffer", race.buffer), ("first", dict(race.writes)), ("second", dict(race.touches))),
            )  # fmt: skip


def _outputs(stage: Stage) -> Iterator[Output]:
    yield from (o for r in stage.results for o in r.outputs)


def _with_stages(program: Program, stages: list[Stage], gone: int | None) -> Program:
    """The program with these stages, without number `gone`, and without arrays that no stage uses."""
    loops = program.loops
    if gone is not None:
        del stages[gone]
        loops = tuple(
            replace(x, first=x.first - (x.first > gone), last=x.last - (x.last >= gone)) for x in loops
        )
    used = {name for s in stages for name in s.read | s.written}
    buffers = tuple(b for b in program.buffers if b.name in used or not (b.temp or b.values))
    return replace(program, stages=tuple(stages), buffers=buffers, loops=loops, statements=())
