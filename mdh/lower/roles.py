"""Roles: the first warp groups of a block compute, and one more copies for them."""

from dataclasses import replace

from mdh.ir.construct import equal, less
from mdh.ir.copy_engine import SetRegisters
from mdh.ir.expr import Var
from mdh.ir.kernel import If, Stmt
from mdh.lower.launch import bind_blocks
from mdh.lower.nest import Nest
from mdh.lower.scope import Role
from mdh.lower.turns import begin_turns, turn_of


def in_roles(nest: Nest, math: list[Stmt], load: list[Stmt]) -> list[Stmt]:
    """Both roles, each with its share of the registers. One thread of the group that copies does it all.

    math, load: what each does for a tile of the grid.
    """
    roles = nest.plan.roles
    assert roles is not None
    computing = nest.threads * nest.plan.teams
    math = [*begin_turns(nest), *bind_blocks(replace(nest, role=Role.MATH), turn_of(nest, math))]
    load = bind_blocks(replace(nest, role=Role.LOAD), load)
    copying: list[Stmt] = [If(equal(Var(nest.tid), computing), tuple(load))]
    if roles.registers is not None:
        fewer, more = roles.registers
        copying = [SetRegisters(fewer, more=False), *copying]
        math = [SetRegisters(more, more=True), *math]
    return [If(less(Var(nest.tid), computing), tuple(math), tuple(copying))]
