"""K129: how the turns of a loop around stages are launched (`loop t( t ) { … @launch(graph) }`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mdh.checker.holes import unbound_holes
from mdh.checker.options import no_effect, word
from mdh.checker.subject import at, listed
from mdh.diagnostics import Diagnostic, Failed
from mdh.hardware import Launching
from mdh.ir.parallel_loop import ParallelLoop
from mdh.ir.program import Program
from mdh.ir.turns import Turns, named_loops
from mdh.language import LANGUAGES
from mdh.poly.parallel_loops import parallel_loops
from mdh.schedule.canonical import canonical_section
from mdh.schedule.model import Caret, ForEntry, Schedule, Section

CODE = "K129"


@dataclass(frozen=True)
class InTurns:
    """A loop whose turns run one after another, and the section that a schedule has of it."""

    loop: Turns
    section: Section
    launch: Launching | None

    @property
    def said(self) -> Section:
        """The section without what is no part of the schedule."""
        steps = tuple(replace(s, comments=(), remark="") for s in self.section.steps)
        return canonical_section(replace(self.section, steps=steps, comments=()))


def loops_in_turns(program: Program) -> dict[str, Turns]:
    """The loops of a program whose turns run one after another, by their names in schedules."""
    return named_loops(program.loops, (x.name for x in parallel_loops(program)))


def loops_with_launches(program: Program, schedule: Schedule) -> tuple[InTurns, ...]:
    """The loops that the schedule has sections of, and whose turns run one after another. Raises Failed K129,
    K110, S154, S159."""
    if not schedule.loops or not program.loops:
        return ()
    known = loops_in_turns(program)
    found: list[Diagnostic] = []
    out: list[InTurns] = []
    for section in (s for s in schedule.loops if s.name in known):
        loop = known[str(section.name)]
        wrong = list(_wrong(loop, section))
        found += wrong
        if not wrong:
            said = next((a for a in section.steps[0].attrs if a.name == "launch"), None)
            out.append(InTurns(loop, section, None if said is None else Launching(str(word(said)))))
    if found:
        raise Failed(*found)
    return tuple(out)


def _wrong(loop: Turns, section: Section) -> Iterator[Diagnostic]:
    name = section.name
    if section.counters != (loop.name,):
        headline = f"the counter of loop `{name}` is `{loop.name}`, not {listed(section.counters)}"
        yield Diagnostic("S159", headline, at(section.span), help=f"write `loop {name}( {loop.name} )`")
        return
    holes = list(unbound_holes(section))
    if holes:
        yield from holes
        return
    form = "(de-)comp( 1 ) ( FOR.1 )"
    steps = [s for s in section.steps if (len(s.tiles), len(s.cores)) == (1, 1)]
    if len(steps) != 1 or len(section.steps) != 1:
        headline = f"loop `{name}` has one step, for its turns run one after another"
        place = section.steps[1].span if len(section.steps) > 1 else section.span
        yield Diagnostic(CODE, headline, at(place), help=f"write {form}, and `@launch(graph)` behind it")
        return
    (step,) = steps
    (tile,), (core,) = step.tiles, step.cores
    for attr in (*tile.attrs, *core.attrs, *(a for a in step.attrs if a.name != "launch")):
        yield no_effect(attr, "a step of a loop")
    if tile.value != 1 and not isinstance(tile.value, Caret):
        headline = f"loop `{name}` runs turn by turn, so its tile is 1"
        yield Diagnostic(CODE, headline, at(tile.span or step.span), help=f"write {form}")
    if not isinstance(core.value, Caret | ForEntry):
        headline = f"the turns of loop `{name}` depend on one another, so no units can share them"
        yield Diagnostic(CODE, headline, at(core.span or step.span), help=f"write {form}")


def unfit_launches(
    program: Program, turned: Sequence[InTurns], shared: Sequence[ParallelLoop], target: str
) -> Iterator[Diagnostic]:
    """K129. All launches of a call are made in one way, so it is said at a loop that is in no other one. Not
    all languages have graphs. `persistent` is not lowered. shared: the loops whose iterations units share.
    """
    language = LANGUAGES[target]
    for x in turned:
        name, step = x.section.name, x.section.steps[0]
        span = next((a.span for a in step.attrs if a.name == "launch"), step.span)
        whole = next((s for s in shared if x.loop.var in s.turns), None)
        outer = next(_around(program, x.loop), None)
        if whole is not None:
            why = f"loop `{name}` is in loop `{whole.name}`, whose units run all turns in one kernel"
            yield Diagnostic(CODE, why, at(x.section.span), help="leave one of the two sections out")
        elif x.launch is Launching.PERSISTENT:
            why = "`@launch(persistent)` is not lowered: mdh makes no kernel that goes through turns"
            legal = Launching.GRAPH if language.graphs else Launching.HOST
            yield Diagnostic(CODE, why, at(span), help=f"write `@launch({legal})`")
        elif x.launch is Launching.GRAPH and not language.graphs:
            why = f"{language.title} has no graphs of launches"
            yield Diagnostic(CODE, why, at(span), help=f"write `@launch({Launching.HOST})`")
        elif x.launch is not None and outer is not None:
            known = next(n for n, o in loops_in_turns(program).items() if o is outer)
            why = f"loop `{name}` is in loop `{known}`, and all launches of a call are made in the same way"
            yield Diagnostic(CODE, why, at(span), help=f"write it at `loop {known}( {outer.name} )`")


def _around(program: Program, loop: Turns) -> Iterator[Turns]:
    """The loops around one, from outside."""
    for x in program.loops:
        if x is loop:
            return
        if x.first <= loop.first and loop.last <= x.last:
            yield x


def with_launches(program: Program, turned: Sequence[InTurns]) -> Program:
    """The program, whose loops know how their kernels are launched."""
    said = {x.loop.var: x.launch for x in turned}
    loops = tuple(replace(x, launch=said.get(x.var)) for x in program.loops)
    return replace(program, loops=loops) if said else program
