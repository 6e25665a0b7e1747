"""K134: the order of the stages, and their parallelism, keep the order of the statements.

For any two statement instances that depend on each other, the one that is first in the text comes first in
the stages. No point of a stage writes what another point of it reads or writes.

A front end proves this before it merges statements (`frontend.dependences`). The checker proves it again for
the program that is about to be compiled, wherever that was made.
"""

from collections.abc import Iterator

from mdh.checker.subject import Draft
from mdh.diagnostics import Diagnostic, Label, labels_at
from mdh.hardware import Space
from mdh.ir.program import Program, Stage
from mdh.ir.statement import LoopVar
from mdh.poly.legality import broken_dependences
from mdh.poly.races import races
from mdh.poly.sets import Point
from mdh.schedule.model import BufferPlace


def check_order(program: Program) -> Iterator[Diagnostic]:
    """The stages keep every dependence of their statements. One diagnostic for each broken pair."""
    told: set[tuple[int, int, str]] = set()
    for b in broken_dependences(program.statements):
        pair = (b.first.number, b.second.number, b.access.buffer)
        if pair in told:
            continue
        told.add(pair)
        first, second = b.first.statement, b.second.statement
        names = [program.stages[s.placement.stage].name for s in (b.first, b.second)]
        one = f"iteration {_iteration(first.loops, b.at)} of this statement, in stage `{names[0]}`"
        other = f"and iteration {_iteration(second.loops, b.then)} of this one, in stage `{names[1]}`"
        yield Diagnostic(
            "K134",
            f"the stages of `{program.name}` lose a dependence on `{b.access.buffer}`",
            (Label(first.span, one), Label(second.span, other)),
            help="make them stages of their own, in the order of the text",
            witness=(("buffer", b.access.buffer), ("first", dict(b.at)), ("second", dict(b.then))),
        )


def check_races(draft: Draft) -> Iterator[Diagnostic]:
    """No point of the stage writes what another point of it reads or writes."""
    stage = draft.stage
    labels = labels_at(stage.span, "points of a stage run in parallel")
    held = _held(draft)
    for race in races(stage, draft.program.turns, held):
        verb = "writes" if race.write else "reads"
        one, other = _point(stage, race.writes), _point(stage, race.touches)
        what = f"point ({one}) of stage `{stage.name}` writes an element of `{race.buffer}`"
        yield Diagnostic(
            "K134",
            f"{what} that point ({other}) {verb}",
            labels,
            help=f"leave `{race.buffer}` as it is: a region stores elements that keep their values, too"
            if race.buffer in held
            else "write to another array, or make two stages of it",
            witness=(("buffer", race.buffer), ("first", dict(race.writes)), ("second", dict(race.touches))),
        )


def _held(draft: Draft) -> frozenset[str]:
    """The outputs that the schedule holds in a region: all of their elements are stored, changed or not."""
    places = (m.value for step in draft.steps for m in step.outputs)
    return frozenset(p.buffer for p in places if isinstance(p, BufferPlace) and p.region is not Space.DM)


def _iteration(loops: tuple[LoopVar, ...], at: Point) -> str:
    return "(" + ", ".join(f"{v.cname} = {v.at(at)}" for v in loops) + ")"


def _point(stage: Stage, at: Point) -> str:
    return ", ".join(f"{d.name} = {d.at(at[d.name])}" for d in stage.dims)
