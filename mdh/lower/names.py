"""Names of a module: what mdh makes up never takes the place of what the C function names, nor of another.

A kernel's variables, registers, shared buffers and workspaces live in one space with the C function's
parameters, arrays and locals, and with the loops of the stage; kernels have a space of their own.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from mdh.ir.names import fresh, unused
from mdh.ir.plan import Plan, StagePlan
from mdh.ir.program import Stage


@dataclass(slots=True)
class Names:
    """`program`: parameters, arrays and scalars of the C function, and counters of turns. variables: those of
    the stages' loops and units. `memory`: workspaces made so far."""

    program: frozenset[str]
    variables: frozenset[str]
    memory: set[str] = field(default_factory=set)
    kernels: set[str] = field(default_factory=set)

    def inside(self, stage: Stage) -> set[str]:
        """What no variable of a kernel for `stage` may be called."""
        own = {d.name for d in stage.dims} | {let.name for let in stage.lets}
        return set(self.program | self.memory | own)

    def workspace(self, stem: str, kernel: Collection[str] = ()) -> str:
        """A new name for device memory; `kernel`: names in use in the kernel that asks for it."""
        name = unused(stem, {*self.program, *self.variables, *self.memory, *kernel})
        self.memory.add(name)
        return name

    def kernel(self, stem: str) -> str:
        return fresh(stem, self.kernels)

    def dim(self, stem: str, stage: Stage) -> str:
        """A loop that a stage of mdh's own has beside loops and locals of the C function's."""
        return unused(stem, self.inside(stage))


def names_of(plan: Plan) -> Names:
    program = plan.computed
    variables = frozenset(v for stage in plan.stages for v in _variables(stage))
    return Names(frozenset({*program.params, *program.buffer_of, *program.turns}), variables)


def _variables(plan: StagePlan) -> set[str]:
    own = set(plan.call.around) if plan.call else {lv.var for lv in plan.tiles.levels.all}
    return own.union(*(_variables(x.plan) for x in plan.inner))
