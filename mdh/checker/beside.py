"""K127, K128: stages that share a launch (`stage Q beside P`)."""

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from mdh.checker.footprint import shared_bytes, store_bytes
from mdh.checker.parallel_loops import Shared
from mdh.checker.subject import at, listed
from mdh.diagnostics import Diagnostic, Failed
from mdh.hardware import BLOCKED, Combine, Engine
from mdh.ir.inner import without
from mdh.ir.plan import StagePlan
from mdh.ir.program import DimKind, Program, Stage
from mdh.ir.shared_launch import BesideError, Order, Touched, arranged
from mdh.ir.turns import Turns
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.model import Beside, Library, Section, Within

APART, UNITS = "K127", "K128"
WARP = 32
Sections = Mapping[str, Section]
"""Of the stages that have kernels or are computed `in` others, by name."""


def unknown_hosts(program: Program, sections: Sections) -> Iterator[Diagnostic]:
    """K127. A stage shares the launch of another one that has a kernel and shares no other's launch."""
    for name, section in sections.items():
        how = section.how
        if not isinstance(how, Beside):
            continue
        host = sections.get(how.host)
        kernels = [
            n for n, s in sections.items() if n != name and not isinstance(s.how, Within | Beside | Library)
        ]
        hint = f"stages that it may name: {listed(kernels)}" if kernels else "leave `beside` out"
        if how.host == name:
            why = "it has to be another one's"
        elif host is None:
            why = "no such stage has a kernel"
        elif isinstance(host.how, Library):
            why = f"a call of `{host.how.name}` computes that stage"
        elif isinstance(host.how, Within):
            why = f"that stage is computed in `{host.how.reader}`"
        elif isinstance(host.how, Beside):
            why = f"that stage shares the launch of `{host.how.host}`"
            hint = f"write `beside {host.how.host}`, too"
        else:
            continue
        headline = f"stage `{name}` cannot share the launch of `{how.host[:60]}`: {why}"
        yield Diagnostic(APART, headline, at(how.span), help=hint)


def launches(program: Program, sections: Sections, shared: Sequence[Shared]) -> Order:
    """The launches of a turn, by the numbers of the stages that have kernels; empty if no stages share one.
    shared: the loops whose iterations units share. Requires that all hosts are known. Raises Failed K127."""
    groups: dict[str, list[str]] = {}
    for name, section in sections.items():
        if isinstance(section.how, Beside):
            groups.setdefault(section.how.host, [section.how.host]).append(name)
    if not groups:
        return ()
    inner = {name for name, section in sections.items() if isinstance(section.how, Within)}
    kernels = without(program, inner)
    names = [s.name for s in kernels.stages]
    numbers = {name: n for n, name in enumerate(names)}
    whole = (x.loop.stages for x in shared)
    spans = (Turns(f"loop {s[0]}", f"loop {s[0]}", 1, numbers[s[0]], numbers[s[-1]]) for s in whole)
    loops = (*spans, *kernels.loops)
    touched = [_touched(program, name, sections) for name in names]
    try:
        return arranged(touched, loops, [tuple(numbers[n] for n in group) for group in groups.values()])
    except BesideError as unfit:
        raise Failed(_apart(kernels, sections, unfit)) from unfit


def _touched(program: Program, name: str, sections: Sections) -> Touched:
    """What the kernel of a stage reads and writes, the stages included that it computes for itself."""
    stage = next(s for s in program.stages if s.name == name)
    out, own = Touched(stage.read, stage.written), set[str]()
    for other in program.stages:
        section = sections.get(other.name)
        if section is not None and isinstance(section.how, Within) and section.how.reader == name:
            out |= Touched(_touched(program, other.name, sections).read, frozenset())
            own |= other.written
    return Touched(out.read - own, out.written)


def _apart(program: Program, sections: Sections, unfit: BesideError) -> Diagnostic:
    first, second = (program.stages[n].name for n in (unfit.first, unfit.second))
    name = second if isinstance(sections[second].how, Beside) else first
    other = first if name == second else second
    headline = f"stage `{name}` cannot share a launch with `{other}`"
    labels = at(_how(sections[name]).span)
    hint = f"leave `beside` out: stage `{name}` then has a launch of its own"
    if unfit.between:
        names = [program.stages[n].name for n in unfit.between]
        what = f"{listed(names)} must run behind `{first}` and in front of `{second}`"
    elif unfit.arrays:
        writes = [n for n in (unfit.first, unfit.second) if program.stages[n].written & set(unfit.arrays)]
        writer = program.stages[writes[0]].name
        what = f"`{writer}` writes {listed(unfit.arrays)}, which the other one reads or writes"
    else:
        what = "they are not in the same loops around stages"
    return Diagnostic(APART, f"{headline}: {what}", labels, help=hint)


def _how(section: Section) -> Beside:
    assert isinstance(section.how, Beside)
    return section.how


def unfit_blocks(
    order: Order, plans: Sequence[StagePlan], sections: Sections, machine: Machine, target: str
) -> Iterator[Diagnostic]:
    """K128. The blocks of all stages of a launch are blocks of one grid, without clusters, roles and tensor
    maps, which a launch has once. On a GPU a stage whose blocks have fewer threads than others' needs no
    barrier: none of its threads waits for another one."""
    for launch in (x for x in order if len(x) > 1):
        members = [plans[n] for n in launch]
        most = max(p.block_threads for p in members)
        blocks = sum(prod(p.units(layer) for layer in BLOCKED) for p in members)
        for plan in members:
            others = [p for p in members if p.block_threads == most]
            yield from _unfit(plan, members[0], others[0], sections, machine, target)
        limit = machine.grid_limits[0]
        if blocks > limit:
            last = members[-1].stage.name
            what = f"a launch of {blocks} blocks, `{machine.name}` allows {limit} in a line"
            headline = f"with stage `{last}` beside `{members[0].stage.name}`: {what}"
            witness = (("blocks", blocks), ("limit", limit))
            place = at(_how(sections[last]).span)
            yield Diagnostic(UNITS, headline, place, help="larger tiles of blocks", witness=witness)


def _unfit(
    plan: StagePlan, host: StagePlan, widest: StagePlan, sections: Sections, machine: Machine, target: str
) -> Iterator[Diagnostic]:
    name, first = plan.stage.name, host.stage.name
    section = sections[name]
    span = section.how.span if isinstance(section.how, Beside) else section.span

    def wrong(what: str, help_: str) -> Diagnostic:
        if name == first:
            headline = f"other stages cannot share the launch of `{first}`: {what}"
        else:
            headline = f"stage `{name}` cannot share the launch of `{first}`: {what}"
        return Diagnostic(UNITS, headline, at(span), help=help_)

    if plan.clustered:
        yield wrong("its blocks form clusters", "split over BLK alone")
    if plan.roles is not None or plan.streamed:
        used = "@combine(stream)" if plan.streamed else "@roles"
        yield wrong(f"it uses {used}, which shares out a whole launch", f"leave {used} out")
    elif _boxed(plan):
        yield wrong("the copy engine moves its tiles", "use `@copy(async)` or a plain copy, and plain stores")
    if machine.kind == "cpu" or plan.block_threads == widest.block_threads:
        return
    if (why := _meeting(plan, target)) is not None:
        mine, most = plan.block_threads, widest.block_threads
        what = f"its blocks have {mine} threads, those of `{widest.stage.name}` {most}, and {why}"
        yield wrong(what, f"split over {most} threads in both, or without what makes threads wait")


def _boxed(plan: StagePlan) -> bool:
    read = (x.engine for step in plan.steps for x in step.stagings)
    stored = (x.engine for step in plan.steps for x in step.holdings)
    return Engine.TMA in {*read, *stored} or any(_boxed(x.plan) for x in plan.inner)


def _meeting(plan: StagePlan, target: str) -> str | None:
    """Why threads of the stage's blocks wait for one another; None if they do not. Lanes of whole warps may,
    where the language has shuffles."""
    kinds = {d.kind for d in plan.stage.dims}
    if DimKind.PS in kinds or plan.stage.scattered:
        return "it is a prefix sum or a histogram, whose threads wait for one another"
    if shared_bytes(plan, plan.tiles, cpu=False) + store_bytes(plan.program, plan, plan.tiles):
        return "these share memory"
    ways = _ways(plan)
    lanes = (
        {Combine.SHUFFLE} if LANGUAGES[target].shuffles and plan.block_threads % WARP == 0 else set[Combine]()
    )
    across = {Combine.KERNEL, Combine.ATOMIC}
    return "these combine their parts of a sum" if ways - lanes - across else None


def _ways(plan: StagePlan) -> set[Combine]:
    """How the stage and those inside of it combine parts."""
    own = {m for methods in plan.combines for m in methods}
    return own.union(*(_ways(x.plan) for x in plan.inner))


def independent(program: Program, first: Stage, second: Stage) -> bool:
    """Whether the two stages of a program, each with a kernel, may share a launch."""
    touched = [Touched(s.read, s.written) for s in program.stages]
    numbers = tuple(program.stages.index(s) for s in (first, second))
    try:
        arranged(touched, program.loops, [numbers])
    except BesideError:
        return False
    return True
