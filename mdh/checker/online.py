"""K136: which stages are reduced in one pass (`stage O online t, u`), and where their parts are computed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from mdh.checker.subject import at, listed
from mdh.decompose.image import image
from mdh.decompose.regions import openings, run_start
from mdh.diagnostics import Diagnostic, Failed
from mdh.hardware import Space
from mdh.ir.affine import Affine
from mdh.ir.inner import Side
from mdh.ir.layout import Level
from mdh.ir.online import Joined, online
from mdh.ir.online_terms import OnlineError
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind, Program
from mdh.ir.tile import Tile
from mdh.schedule.model import BufferPlace, Mem, Online, Section, Within

CODE = "K136"


def with_online(program: Program, sections: Mapping[str, Section]) -> Joined:
    """The program in which stages are reduced in one pass where sections say so. sections: by stage. Raises
    Failed K136."""
    stored: dict[str, str] = {}
    for name, section in sections.items():
        if isinstance(section.how, Online):
            inside = [s.name for s in program.stages if name in readers_of(sections, s.name)]
            wrong = list(_unfit(program, name, section.how, inside))
            if wrong:
                raise Failed(*wrong)
            try:
                joined = online(program, name, section.how.names, inside)
            except OnlineError as unfit:
                raise Failed(_refused(name, section.how, unfit)) from unfit
            program = joined.program
            stored |= joined.stored
    return Joined(program, stored)


def renamed(section: Section, names: Mapping[str, str]) -> Section:
    """The section with other names for arrays in its entries."""

    def entry(mem: Mem) -> Mem:
        place = mem.value
        if not isinstance(place, BufferPlace) or place.buffer not in names:
            return mem
        return replace(mem, value=replace(place, buffer=names[place.buffer]))

    if not names:
        return section
    steps = tuple(replace(s, inputs=tuple(map(entry, s.inputs))) for s in section.steps)
    return replace(section, steps=steps)


def readers_of(sections: Mapping[str, Section], name: str) -> list[str]:
    """The stages that a stage is computed in, from inside out."""
    out: list[str] = []
    while name in sections and isinstance(how := sections[name].how, Within) and how.reader not in out:
        out.append(name := how.reader)
    return out


def _unfit(program: Program, name: str, how: Online, inside: list[str]) -> Iterator[Diagnostic]:
    """What is wrong with the names of a pass."""
    spans = how.spans or (how.span,) * len(how.names)
    for n, (one, span) in enumerate(zip(how.names, spans, strict=True)):
        headline = f"stage `{name}` cannot be online with `{one[:60]}`"
        if one not in {s.name for s in program.stages} or one == name:
            known = listed(inside) if inside else f"compute it in `{name}`: `stage NAME in {name}:n`"
            yield Diagnostic(CODE, f"{headline}: there is no such other stage", at(span), help=known)
        elif one not in inside:
            hint = f"`stage {one} in {name}:n`, where step n of `{name}` stages its results"
            yield Diagnostic(CODE, f"{headline}: it is not computed in `{name}`", at(span), help=hint)
        elif one in how.names[:n]:
            yield Diagnostic(CODE, f"{headline} twice", at(span), help="name it once")
    if program.strict_fp:
        headline = f"stage `{name}` cannot be online: --strict-fp keeps sums as the C has them"
        yield Diagnostic(CODE, headline, at(how.span), help="leave `online` or --strict-fp out")


def _refused(name: str, how: Online, unfit: OnlineError) -> Diagnostic:
    others = listed(how.names)
    headline = f"stage `{name}` cannot be online with {others}: in stage `{unfit.stage.name}`, {unfit}"
    labels = (*at(how.span), *at(unfit.stage.span, f"stage `{unfit.stage.name}`"))
    hint = "leave `online` out, and compute the other reductions in kernels of their own"
    return Diagnostic(CODE, headline, labels, help=hint, witness=unfit.witness)


# -- places ------------------------------------------------------------------------------------


class PassError(Exception):
    """The steps of a host do not fit its pass. help: what would."""

    def __init__(self, why: str, help: str) -> None:
        super().__init__(why)
        self.help = help


@dataclass(frozen=True)
class Part:
    """The part of a pass that a turn of the host's loops takes: step: index of the step in whose body it is
    computed. sides: by reduced dimension of the host. outside: variables of units and loops that stay as they
    are during the pass."""

    step: int
    sides: Mapping[str, Side]
    outside: frozenset[str]


def part_of(plan: StagePlan, label: int, *, cpu: bool) -> Part:
    """The part at the host's step with this label. Raises PassError."""
    step = next((s for s, x in enumerate(plan.steps) if x.label == label), None)
    if step is None:
        raise PassError(f"it has no step {label}", "name one of its steps")
    items, stage = plan.tiles.order, plan.stage
    place = items.index(step)
    first = run_start(items, stage, place)
    reduced = {d for d, dim in enumerate(stage.dims) if dim.kind is not DimKind.CC}
    loops = {it.var for it in items if isinstance(it, Level)}
    threads = {lv.var for lv in plan.tiles.threads}
    for lv in (lv for lv in plan.tiles.levels.all if lv.dim in reduced and lv.parts > 1):
        name = stage.dims[lv.dim].name
        if lv.var not in loops | threads:
            what = f"{lv.layer} takes parts of `{name}`, each of which has a state of its own"
            raise PassError(what, f"split `{name}` over loops, threads and vectors")
        if any(isinstance(it, Level) and it.var == lv.var for it in items[:first]):
            raise PassError(f"loops of other dimensions interrupt the one over `{name}`", "another order")
    sides = {stage.dims[d].name: _side(plan, d, place) for d in sorted(reduced)}
    _held(plan, first, place, cpu=cpu)
    during = {it.var for it in items[first:] if isinstance(it, Level)}
    outside = frozenset(lv.var for lv in plan.tiles.levels.all) - during
    return Part(step, sides, outside)


def _side(plan: StagePlan, d: int, place: int) -> Side:
    """What a turn takes of a reduced dimension."""
    levels, name = plan.tiles.levels, plan.stage.dims[d].name
    before = {it.var for it in plan.tiles.order[:place] if isinstance(it, Level)}
    outer = [lv for lv in levels.by_dim[d] if lv.var in before and lv.parts > 1]
    inside = frozenset(lv.var for lv in levels.all) - before
    (axis,) = image(levels, (Affine.var(str(d)),), [(0,)], inside)
    whole = next((lv for lv in levels.by_dim[d] if lv.parts > 1), None)
    if axis.packed or any(lv.cyclic or not (lv.exact or lv is whole) for lv in outer):
        what = f"a turn of its loops takes parts of `{name}` that are no whole range of equal length"
        raise PassError(what, f"tiles of `{name}` that divide each other, threads inside of the step")
    return Side(axis.low, min(axis.box, plan.stage.dims[d].extent))


def _held(plan: StagePlan, first: int, place: int, *, cpu: bool) -> None:
    """The host's partial results are held while the loops of the pass run, each by one thread."""
    for r in plan.stage.results:
        buffers = [o.buffer for o in r.outputs]
        found = openings(plan.tiles.order, plan.stage, plan.steps, buffers, reduces=r.op is not None)
        around = [x for x in found if x.opens <= place]
        mine = around[-1] if around else None
        threads = plan.threads > 1 and not cpu
        if mine is None or mine.opens != first or (threads and any(x.space is not Space.RM for x in found)):
            where = f"`{buffers[0]}:RM[…]` at the step of the pass"
            raise PassError(f"its partial results of `{buffers[0]}` are not held during the pass", where)


def unfit_place(plan: StagePlan, step: int, tile: Tile, part: Part, host: str) -> str:
    """Why a companion cannot be computed at a step of its reader, which fills the tile; empty if it can."""
    if plan.stage.name != host:
        before = plan.tiles.order[: plan.tiles.order.index(step)]
        if any(isinstance(it, Level) and it.parts > 1 for it in before):
            return f"loops of `{plan.stage.name}` would compute it several times in a turn"
    elif step != part.step:
        return f"its results are staged at another step of `{host}` than those of others in the pass"
    moved = sorted({n for axis in tile.axes for n in axis.low.names} - part.outside)
    if moved:
        return f"its tile of `{tile.buffer}` holds a part of its results at a time"
    if any(axis.packed for axis in tile.axes) or tile.slots > 1:
        return f"its tile of `{tile.buffer}` has gaps"
    return ""
