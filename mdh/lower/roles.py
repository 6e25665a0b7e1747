"""Roles: the first warp groups of a block compute, and one more copies for them."""

from mdh.ir.construct import equal, less
from mdh.ir.copy_engine import SetRegisters
from mdh.ir.expr import Var
from mdh.ir.kernel import If, Stmt
from mdh.lower.nest import Nest


def in_roles(nest: Nest, math: list[Stmt], load: list[Stmt]) -> list[Stmt]:
    """Both roles, each with its share of the registers. One thread of the group that copies does it all."""
    roles = nest.plan.roles
    assert roles is not None
    copying: list[Stmt] = [If(equal(Var(nest.tid), nest.threads), tuple(load))]
    if roles.registers is not None:
        fewer, more = roles.registers
        copying = [SetRegisters(fewer, more=False), *copying]
        math = [SetRegisters(more, more=True), *math]
    return [If(less(Var(nest.tid), nest.threads), tuple(math), tuple(copying))]
