"""K174: with `@roles`, some warp groups of a block only copy, and the others only compute."""

from collections.abc import Iterator

from mdh.checker.rules.combine import choose_combines
from mdh.checker.subject import Subject, step_name
from mdh.diagnostics import Diagnostic
from mdh.hardware import THREADED, Combine, Engine, Layer, Space
from mdh.ir.atoms import GROUP_LANES
from mdh.ir.plan import Roles
from mdh.wording import plural

CODE = "K174"
UNIT, LEAST, MOST = 8, 24, 256
"""Registers that a warp group can ask for: multiples of 8 in this range, the end not included."""
IN_BLOCK = (Combine.SHARED, Combine.CLUSTER, Combine.TICKET)


def check_roles(subject: Subject) -> Iterator[Diagnostic]:
    """Computing threads are `math` warp groups. Everything staged in SM is copied by tma, and something is.
    Nothing else needs all threads of the block at once. Registers are multiples of 8 and fit the block's;
    the group that copies gives some back, and the others ask for more."""
    roles = subject.plan.roles
    if roles is None:
        return
    threads = 1
    for layer in THREADED:
        threads *= subject.plan.units(layer)
    if threads != roles.math * GROUP_LANES:
        headline = (
            f"`math={roles.math}` is {roles.math * GROUP_LANES} threads, the steps split over {threads}"
        )
        whole, rest = divmod(threads, GROUP_LANES)
        said = f"`math={whole}`" if not rest else f"WGP, WRP and THR parts of {GROUP_LANES} threads each"
        yield _wrong(subject, headline, said)
    yield from _copies(subject)
    yield from _together(subject)
    if roles.registers is not None:
        yield from _registers(subject, roles, roles.registers)


def _wrong(subject: Subject, headline: str, said: str) -> Diagnostic:
    found = (label for s in range(len(subject.plan.steps)) for label in subject.at_step_attr(s, "roles"))
    return Diagnostic(CODE, headline, tuple(found), help=said)


def _copies(subject: Subject) -> Iterator[Diagnostic]:
    staged = [(i, s) for i, step in enumerate(subject.plan.steps) for s in step.stagings]
    shared = [(i, s) for i, s in staged if s.region is Space.SM]
    if not shared:
        yield _wrong(subject, "no input is staged in SM: there is nothing to copy", "leave `@roles` out")
    for i, staging in shared:
        if staging.engine is not Engine.TMA:
            headline = f"`{staging.buffer}` is copied by all threads, not by one role of them"
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
        split = [layer for layer in (*THREADED, Layer.CLU, Layer.BLK) if subject.plan.units(layer) > 1]
        labels = tuple(label for layer in split for label in subject.split_spans(layer))
        yield Diagnostic(CODE, headline, labels, help="`@combine(kernel)`, or leave `@roles` out")


def _registers(subject: Subject, roles: Roles, registers: tuple[int, int]) -> Iterator[Diagnostic]:
    wrong = [n for n in registers if n % UNIT or not LEAST <= n < MOST]
    if wrong:
        headline = f"{plural(wrong[0], 'register')} of a thread cannot be asked for"
        yield _wrong(subject, headline, f"multiples of {UNIT} from {LEAST} to {MOST - UNIT}")
        return
    groups = roles.load + roles.math
    blocks = max(1, subject.plan.grid.occupancy)
    first = subject.machine.registers_per_unit // blocks // (groups * GROUP_LANES) // UNIT * UNIT
    each = min(first, MOST - UNIT)
    asked = roles.load * registers[0] + roles.math * registers[1]
    if asked > each * groups:
        headline = (
            f"the roles ask for {asked * GROUP_LANES} registers, a block of {groups} warp groups has"
            f" {each * groups * GROUP_LANES}"
        )
        most = (each * groups - roles.load * registers[0]) // roles.math // UNIT * UNIT
        said = f"`regs={registers[0]}/{min(most, MOST - 16)}`" if most >= LEAST else "fewer warp groups"
        yield _wrong(subject, headline, said)
    elif not registers[0] <= first <= registers[1]:
        headline = f"each thread of {groups} warp groups begins with {min(first, MOST)} registers"
        fewer, more = min(registers[0], each), max(registers[1], each)
        said = f"`regs={fewer}/{more}`: less for copies, more for the others"
        yield _wrong(subject, headline, "leave `regs` out" if first > each else said)
