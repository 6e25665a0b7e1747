"""Stages that a library computes: kernels that are calls.

BLAS does not read its factors where alpha is 0, and does not read the old result where beta is 0. C
multiplies by the zero, which keeps NaN. So where these numbers are not known before a call, the kernel asks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.construct import ZERO
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Select, Var, substitute, walk
from mdh.ir.kernel import Alloc, Buf, Comment, For, If, Kernel, Launch, Let, Stmt, Store
from mdh.ir.library_call import CallOperand, LibraryCall, MatrixCall
from mdh.ir.names import fresh
from mdh.ir.plan import StagePlan
from mdh.ir.program import Dim, DimKind, component
from mdh.ir.walk import expressions, map_expressions, reads, statements, writes
from mdh.lower.nest import dm_buf
from mdh.lower.passes.table import BEFORE
from mdh.lower.stages import Built, Context, map_stage

_ONE = Const(1, I32)
_ALONE = (1, 1, 1)


def lower_call(context: Context, name: str, plan: StagePlan, found: LibraryCall) -> Built:
    """The kernel of a stage that a library computes. name: of the kernel."""
    taken = set(context.names.program | context.names.memory)
    loops = {d.name: fresh(d.name, taken) for d in plan.stage.dims}
    values = {**plan.program.size_constants, **{old: Var(new, I32) for old, new in loops.items()}}
    stage = _Stage(plan, loops, values, found.call.out)
    call = map_expressions(found.call, stage.here)
    assert isinstance(call, MatrixCall)
    around = [d for d in plan.stage.dims if d.name in found.around]
    if isinstance(call.beta, Const):
        body = stage.nested([call], around)
    else:
        kept = Var(fresh("kept", taken), call.dtype)
        zero, one = _is_zero(call.beta), Const(1.0, call.dtype)
        body = [
            If(zero, tuple(stage.multiplied(call.beta))),
            Let(kept.name, Select(zero, one, call.beta, call.dtype), call.dtype),
            *stage.nested([replace(call, beta=kept)], around),
        ]
    if not isinstance(call.alpha, Const):
        body = [If(_is_zero(call.alpha), tuple(stage.plain(fresh("sum", taken))), tuple(body))]
    out = Built((_kernel(context, name, plan, (Comment(f"by {found.library}"), *body)),))
    dims = tuple(stage.of_kind(DimKind.CC))
    for o in found.rest:
        out += map_stage(context, f"{name}_finish", plan.stage, dims, o.buffer, o.index, o.value)
    return out


class _Stage:
    """The loops of a stage under the names that they have in the kernel."""

    def __init__(
        self, plan: StagePlan, loops: Mapping[str, str], values: dict[str, Expr], out: CallOperand
    ) -> None:
        self.stage, self.loops, self.values = plan.stage, loops, values
        self.result = plan.stage.results[0]
        self.output = next(o for o in self.result.outputs if o.buffer == out.buffer)

    def here(self, e: Expr) -> Expr:
        """An expression of the program in the kernel."""
        return substitute(e, self.values)

    def nested(self, body: list[Stmt], dims: Iterable[Dim]) -> list[Stmt]:
        """The body inside of loops over these dimensions, the first outermost."""
        for d in reversed(list(dims)):
            body = [For(self.loops[d.name], ZERO, Const(d.extent, I32), _ONE, tuple(body))]
        return body

    def of_kind(self, kind: DimKind) -> list[Dim]:
        return [d for d in self.stage.dims if d.kind is kind]

    def multiplied(self, number: Expr) -> list[Stmt]:
        """All results times a number."""
        at, t = tuple(map(self.here, self.output.index)), number.dtype
        product = Binary("*", number, Load(self.output.buffer, at, t), t)
        return self.nested([Store(self.output.buffer, at, product)], self.of_kind(DimKind.CC))

    def plain(self, total: str) -> list[Stmt]:
        """What the C says, point by point. total: the name of the sum."""
        t, start = self.result.types[0], self.result.starts[0]
        sum_ = Load(total, (), t)
        first = Const(0.0, t) if start is None else self.here(start)
        term = Store(total, (), Binary("+", sum_, self.here(self.result.values[0]), t))
        value = substitute(self.here(self.output.value), {component(0): sum_})
        body = [
            Alloc(Buf(total, Space.RM, t, (), ()), first),
            *self.nested([term], self.of_kind(DimKind.PW)),
            Store(self.output.buffer, tuple(map(self.here, self.output.index)), value),
        ]
        return self.nested(body, self.of_kind(DimKind.CC))


def _is_zero(e: Expr) -> Expr:
    return Binary("==", e, Const(0.0, e.dtype), I32)


def _kernel(context: Context, name: str, plan: StagePlan, body: tuple[Stmt, ...]) -> Kernel:
    """One unit runs the calls, which share out their work themselves."""
    program, every = plan.program, list(statements(body))
    written = set[str]().union(*map(writes, every))
    used = written.union(*map(reads, every))
    buffers = tuple(
        dm_buf(program.buffer_of[n], readonly=n not in written) for n in program.buffer_order if n in used
    )
    named = {n.name for s in every for e in expressions(s) for n in walk(e) if isinstance(n, Var)}
    scalars = tuple((s.name, s.dtype) for s in program.numbers if s.name in named)
    number = [s.name for s in program.stages].index(plan.stage.name)
    where = tuple(f for x in program.loops if x.first <= number <= x.last for f in x.where)
    turns = tuple((var, 0, count - 1) for var, count in program.turns.items())
    launch = Launch(_ALONE, _ALONE, sizes=turns, where=where)
    kernel = Kernel(name, plan.stage.name, buffers, scalars, launch, body)
    context.observe(BEFORE, kernel)
    return kernel
