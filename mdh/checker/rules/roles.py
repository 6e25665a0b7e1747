"""K174: with `@roles`, some warp groups of a block only copy, and the others only compute. K110 for
`@inflight`, which has an effect only there."""

from collections.abc import Iterator

from mdh.checker.options import number
from mdh.checker.rules.combine import choose_combines
from mdh.checker.subject import Subject, parts, step_name
from mdh.diagnostics import Diagnostic, Label
from mdh.hardware import THREADED, Combine, Engine, Layer, Space
from mdh.ir.atoms import GROUP_LANES
from mdh.ir.plan import Roles, StagePlan
from mdh.ir.program import DimKind
from mdh.ir.tile import Copy, Hold, Loop, Node, Units, walk
from mdh.machine import Machine
from mdh.wording import plural

CODE, EFFECT, STEP = "K174", "K110", "K170"
UNIT, LEAST, MOST = 8, 24, 256
"""Registers that a warp group can ask for: multiples of 8 in this range, the end not included."""
IN_BLOCK = (Combine.SHARED, Combine.CLUSTER, Combine.TICKET)


def check_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Computing threads are `math` warp groups. Everything staged in SM is copied by tma, and something is.
    Nothing else needs all threads of the block at once. Registers are multiples of 8 and fit the block's;
    the group that copies gives some back, and the others ask for more. With `turns` the computing groups are
    two or more times those that the steps split over, and a block has several tiles."""
    roles = subject.plan.roles
    if roles is None:
        return
    wrong = _groups(subject, roles)
    yield from wrong
    yield from _copies(subject)
    yield from _together(subject)
    if roles.turns and not subject.plan.grid.persistent:
        headline = "warp groups take tiles by turns, and a block has only one tile"
        yield _wrong(subject, headline, "`@persistent` on the outermost grid step, or leave `turns` out")
    if roles.registers is not None and not wrong:
        yield from _registers(subject, roles, roles.registers)


def _groups(subject: Subject, roles: Roles) -> list[Diagnostic]:
    """The numbers of threads and of warp groups do not go together."""
    threads = subject.plan.threads
    groups, rest = divmod(threads, GROUP_LANES)
    if rest:
        headline = f"whole warp groups compute: {roles.math * GROUP_LANES} threads"
        said = f"parts of WGP, WRP and THR that multiply to a multiple of {GROUP_LANES}"
        return [_wrong(subject, f"{headline}, the steps split over {threads}", said)]
    if roles.turns and (roles.math % groups or roles.math == groups):
        tile = f"a tile takes {plural(groups, 'warp group')}"
        headline = f"`math={roles.math}` makes no whole teams that take turns: {tile}"
        said = f"`math={2 * groups}` or another multiple of {groups}, or leave `turns` out"
        said = said if groups > 1 else "`math=2` or more, or leave `turns` out"
        return [_wrong(subject, headline, said)]
    if not roles.turns and roles.math != groups:
        headline = (
            f"`math={roles.math}` is {roles.math * GROUP_LANES} threads, the steps split over {threads}"
        )
        return [_wrong(subject, headline, f"`math={groups}`")]
    return []


def _wrong(subject: Subject, headline: str, said: str) -> Diagnostic:
    return Diagnostic(CODE, headline, at_roles(subject), help=said)


def at_roles(subject: Subject) -> tuple[Label, ...]:
    steps = range(len(subject.plan.steps))
    return tuple(label for s in steps for label in subject.at_step_attr(s, "roles"))


def _copies(subject: Subject) -> Iterator[Diagnostic]:
    staged = [(i, s) for i, step in enumerate(subject.plan.steps) for s in step.stagings]
    shared = [(i, s) for i, s in staged if s.region is Space.SM]
    if not shared:
        yield _wrong(subject, "no input is staged in SM: there is nothing to copy", "leave `@roles` out")
    for i, staging in shared:
        if staging.engine is not Engine.TMA:
            headline = f"all threads copy `{staging.buffer}`, and with roles one warp group does"
            labels = subject.at_entry_attr(i, staging.buffer, "copy")
            yield Diagnostic(CODE, headline, labels, help="@copy(tma), or leave `@roles` out")


def _together(subject: Subject) -> Iterator[Diagnostic]:
    for i, step in enumerate(subject.plan.steps):
        for holding in step.holdings:
            if holding.region is Space.SM:
                headline = f"`{holding.buffer}` is held in SM, which all threads of a block share"
                labels = subject.at_entry(i, holding.buffer)
                name = step_name(step, step.number)
                said = f"hold `{holding.buffer}:RM[…]` in {name}, or leave `@roles` out"
                yield Diagnostic(CODE, headline, labels, help=said)
    methods = [m for each in choose_combines(subject).combines for m in each if m in IN_BLOCK]
    if methods:
        headline = f"partial results meet by `{methods[0]}`, which needs all threads of a block"
        layers = (Layer.CLU, Layer.BLK, *THREADED)
        labels = tuple(
            label
            for s, step in enumerate(subject.plan.steps)
            for x in step.splits
            if x.layer in layers and subject.stage.dims[x.dim].kind is not DimKind.CC
            for label in subject.at_core(s, x.dim, parts(x.parts))
        )
        said = "a loop instead" if methods[0] is Combine.SHARED else "`@combine(kernel)`"
        yield Diagnostic(CODE, headline, labels, help=f"{said}, or leave `@roles` out")


def _registers(subject: Subject, roles: Roles, registers: tuple[int, int]) -> Iterator[Diagnostic]:
    wrong = [n for n in registers if not askable(n)]
    if wrong:
        headline = f"{plural(wrong[0], 'register')} of a thread cannot be asked for"
        yield _wrong(subject, headline, f"multiples of {UNIT} from {LEAST} to {MOST - UNIT}")
        return
    groups, machine = roles.load + roles.math, subject.machine
    each = share_of(subject.plan, machine)
    blocks = max(1, subject.plan.grid.occupancy)
    first = machine.registers_per_unit // blocks // (groups * GROUP_LANES) // UNIT * UNIT
    asked = roles.load * registers[0] + roles.math * registers[1]
    if asked > each * groups:
        headline = (
            f"the roles ask for {asked * GROUP_LANES} registers, a block of {groups} warp groups has"
            f" {each * groups * GROUP_LANES}"
        )
        most = most_of(subject.plan, machine, registers[0])
        said = f"`regs={registers[0]}/{most}`" if most >= LEAST else "fewer warp groups"
        yield _wrong(subject, headline, said)
    elif not registers[0] <= first <= registers[1]:
        headline = f"each thread of {groups} warp groups begins with {min(first, MOST)} registers"
        fewer, more = min(registers[0], each), max(registers[1], each)
        said = f"`regs={fewer}/{more}`: less for copies, more for the others"
        yield _wrong(subject, headline, "leave `regs` out" if first > each else said)


def check_turns(subject: Subject) -> Iterator[Diagnostic]:
    """With `turns`, a team computes a tile while others have to wait, and finishes its results while they
    compute. So results are held in RM outside of all loops and copies of a tile, and finished after them."""
    if subject.plan.teams == 1:
        return
    first = next(
        (n for n in walk(subject.tiles.body) if not isinstance(n, Units) and not _to_registers(n)), None
    )
    if isinstance(first, Hold) and first.tile.space is Space.RM:
        return
    where: tuple[Label, ...] = ()
    what, said = "a team holds no results in RM", "hold them there"
    if isinstance(first, Loop):
        dim = subject.stage.dims[first.level.dim].name
        where = subject.at_core(first.level.step, first.level.dim)
        what = f"a loop over `{dim}` is around what a team holds of its results"
        said = "smaller tiles over BLK instead of the loop"
    elif isinstance(first, Copy):
        where = subject.at_entry(first.step, first.tile.buffer)
        what = f"`{first.tile.buffer}` is copied before a team holds its results"
        said = f"hold them in RM at the step that copies `{first.tile.buffer}`"
    headline = f"{what}, so that the next team would wait until they are stored"
    said = f"{said}, or leave `turns` out"
    yield Diagnostic(CODE, headline, (*at_roles(subject), *where), help=said)


def _to_registers(node: Node) -> bool:
    return isinstance(node, Copy) and node.tile.space is Space.RM


def askable(count: int) -> bool:
    """Whether a thread can ask for so many registers."""
    return count % UNIT == 0 and LEAST <= count < MOST


def share_of(plan: StagePlan, machine: Machine) -> int:
    """Registers of a thread where all threads of a block have equally many."""
    blocks = max(1, plan.grid.occupancy)
    return min(MOST - UNIT, machine.registers_per_unit // blocks // plan.block_threads // UNIT * UNIT)


def most_of(plan: StagePlan, machine: Machine, copying: int) -> int:
    """The most registers of a thread that computes, if one that copies has `copying`. Some are left over."""
    roles = plan.roles
    assert roles is not None
    left = share_of(plan, machine) * (roles.load + roles.math) - roles.load * copying
    return min(MOST - 2 * UNIT, left // roles.math // UNIT * UNIT)


def check_inflight(subject: Subject) -> Iterator[Diagnostic]:
    """K110. `@inflight(n)` lets n groups of atoms run on while a warp group goes to its next slot. So there
    are roles, the atoms are those of warp groups, and there are more than n slots."""
    plan = subject.plan
    for i, step in enumerate(plan.steps):
        if step.inflight is None or step.product is None:
            continue
        here, said = "", "leave it out"
        slots = _slots(subject)
        if not step.product.atom.grouped:
            here = f"on `@atom({step.product.atom.word})`, which has ended when the next one begins"
        elif step.product.held is not None and step.inflight > len(step.register_groups) - 1:
            here = "on atoms with a factor in registers: "
            if len(step.register_groups) > 1:
                here += "those of half a turn run on while the registers of the next ones are loaded"
                said = "`@inflight(1)`, or leave it out"
            else:
                here += "they end before the registers of the only part of k are loaded again"
        elif step.promoted_turns == 1:
            here = f"with `@promote({step.promote})`, which awaits all atoms in each turn"
            said = "leave it out, or let @promote take over after several turns"
        elif plan.roles is None:
            here = "without `@roles`: all atoms end before their slot is filled again"
            said = "leave it out, or add `@roles` to the step with BLK"
        elif step.inflight >= slots and step.inflight:
            here = f"with {plural(slots, 'slot')}: each is filled again only when its atoms have ended"
            said = f"`@stages({step.inflight + 1})` or more, or leave it out"
        if here:
            headline = f"`@inflight({step.inflight})` has no effect {here}"
            yield Diagnostic(EFFECT, headline, subject.at_step_attr(i, "inflight"), help=said)


def check_promote(subject: Subject) -> Iterator[Diagnostic]:
    """K110. `@promote(n)` adds to a second accumulator what atoms keep fewer bits of than f32 has.

    K170. It counts along one dimension of k.
    """
    for i, step in enumerate(subject.plan.steps):
        if step.promote is not None and step.product is not None and not step.product.atom.coarse:
            atom = step.product.atom
            headline = f"`@promote({step.promote})` has no effect on atoms that multiply {atom.left}"
            said = f"leave it out: they keep all bits of {atom.acc}"
            yield Diagnostic(EFFECT, headline, subject.at_step_attr(i, "promote"), help=said)
        elif step.promote is not None and step.product is not None and len(step.product.k) > 1:
            headline = (
                f"`@promote({step.promote})` counts elements along one dimension, and MMA.k has several"
            )
            said = "one dimension on MMA.k; steps outside take the loops over the others"
            yield Diagnostic(STEP, headline, subject.at_step_attr(i, "promote"), help=said)


def _slots(subject: Subject) -> int:
    """The most slots that are said of a step whose inputs are copied by tma, also where its loop has one part
    at these sizes."""
    steps = enumerate(subject.plan.steps)
    boxed = [subject.written(i) for i, s in steps if any(x.engine is Engine.TMA for x in s.stagings)]
    attrs = [a for step in boxed if step is not None for a in step.attrs if a.name == "stages"]
    return max((number(a) or 1 for a in attrs), default=1)
