"""K153 for atoms of warp groups: what their threads hold fits the registers that they have."""

from collections.abc import Iterator

from mdh.checker.footprint import register_words
from mdh.checker.rules.capacity import REGISTERS, at_promote, labels_of
from mdh.checker.rules.roles import LEAST, UNIT, askable, at_roles, most_of, share_of
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.hardware import Space
from mdh.ir.plan import Product

OTHERS = 26
"""Registers of a thread besides its RM buffers, for descriptors, counters and addresses of results. With
fewer, ptxas of CUDA 13.0 ignores what the roles ask for (C7507)."""


def _words(subject: Subject, product: Product) -> int:
    """Registers of RM buffers, and of a factor that is held in them."""
    if product.held is None:
        return register_words(subject.plan, subject.tiles)
    m, _, k = subject.plan.steps[subject.plan.atoms or 0].atoms
    return register_words(subject.plan, subject.tiles) + m * k * product.atom.a.count // product.atom.packed


def check_group_registers(subject: Subject) -> Iterator[Diagnostic]:
    """K153. RM buffers of a thread and OTHERS registers fit the y of `@roles(regs=x/y)`, or else an equal
    share of the block's registers. Atoms of a warp group run on while its warps go on, so accumulators that
    the compiler spills make each atom wait for the one before it."""
    plan, machine = subject.plan, subject.machine
    product = None if plan.atoms is None else plan.steps[plan.atoms].product
    if product is None or not product.atom.grouped:
        return
    roles = plan.roles
    if roles is not None and not all(map(askable, roles.registers or ())):
        return
    given = None if roles is None else roles.registers
    words = _words(subject, product)
    has = given[1] if given else share_of(plan, machine)
    if words + OTHERS <= has or words > machine.registers_per_thread:
        return
    whose = f"`regs={given[0]}/{given[1]}` gives it" if given else "its share of the block's is"
    headline = f"a thread holds {words} registers of RM buffers and takes about {OTHERS} more, {whose} {has}"
    found = [node for node in subject.tiles.kept if node.tile.space is Space.RM]
    labels = at_roles(subject) if given else ()
    labels = (*labels, *labels_of(subject, found, "registers"), *at_promote(subject)) or subject.at_step(
        plan.atoms or 0
    )
    said, least = "smaller tiles of the warp groups, or fewer of them", given[0] if given else LEAST
    most = 0 if roles is None else most_of(plan, machine, least)
    if most >= words + OTHERS:
        said = f"`regs={least}/{most // UNIT * UNIT}`"
    witness = (("registers", words + OTHERS), ("limit", has))
    yield Diagnostic(REGISTERS, headline, labels, help=said, witness=witness)
