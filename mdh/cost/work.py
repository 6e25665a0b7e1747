"""What a stage computes, whatever its schedule is: operations as the C writes them, and instructions."""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

from mdh.cost.tensor import tensor_peak
from mdh.decompose.accesses import AccessGroup, StageKey, access_groups, accesses_of
from mdh.ir.affine import Affine
from mdh.ir.atoms import atoms_of, factor_type
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, children, loads
from mdh.ir.plan import InnerStage, Plan, StagePlan
from mdh.ir.product_sum import summed_product, summed_reads
from mdh.ir.program import DimKind, Program, Stage
from mdh.ir.turns import times
from mdh.machine import Machine

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})
SLOW_CALLS = frozenset(
    {"exp", "log", "sin", "cos", "tan", "pow", "tanh", "exp2", "log2", "erf", "atan", "erfc", "asinh",
     "acosh", "atanh"}
)  # fmt: skip
CALL_COST, ROOT_COST, DIVIDE_COST, PLAIN_COST = 20, 12, 8, 1
"""Instructions of a transcendental function, a root, a division and any other operation."""


def work_of(plan: Plan) -> tuple[int, int]:
    """Operations and compulsory bytes of all stages."""
    turns = [times(plan.computed.loops, n) for n in range(len(plan.stages))]
    pairs = list(zip(turns, plan.stages, strict=True))
    ops = sum(n * plan_operations(s) for n, s in pairs)
    return ops, sum(n * plan_bytes(s) for n, s in pairs)


def computed_stages(plan: StagePlan) -> tuple[Stage, ...]:
    """The stages that a kernel computes, as in the C: its own last."""
    return (*(s for x in plan.inner for s in _inside(x)), plan.stage)


def _inside(inner: InnerStage) -> tuple[Stage, ...]:
    return (*(s for x in inner.plan.inner for s in _inside(x)), inner.stage)


def plan_operations(plan: StagePlan) -> int:
    """Operations of all stages that a kernel computes, of each point once."""
    return sum(map(operations, computed_stages(plan)))


def plan_bytes(plan: StagePlan) -> int:
    """Compulsory bytes of all stages that a kernel computes. What is a tile of the kernel alone has none, and
    what several read counts once."""
    *inner, _ = stages = computed_stages(plan)
    near = frozenset[str]().union(*(s.written for s in inner))
    least: dict[tuple[str, bool], int] = {}
    for stage in stages:
        for key, count in _least_bytes(plan.program, stage).items():
            if key[0] not in near:
                least[key] = max(count, least.get(key, 0))
    return sum(least.values())


def compulsory_bytes(program: Program, stage: Stage) -> int:
    """Of the distinct elements that the stage reads and writes: the least that DM can carry."""
    return sum(_least_bytes(program, stage).values())


def _least_bytes(program: Program, stage: Stage) -> dict[tuple[str, bool], int]:
    """The same by (array, whether it is written)."""
    accesses, out = accesses_of(program, stage), dict[tuple[str, bool], int]()
    for buffer, store in dict.fromkeys((a.buffer, a.store) for a in accesses):
        known = program.buffer_of[buffer]
        mine = [a.index for a in accesses if (a.buffer, a.store) == (buffer, store)]
        extents = (
            _touched(program, stage, [index[k] for index in mine], whole)
            for k, whole in enumerate(known.shape)
        )
        out[buffer, store] = prod(extents) * known.dtype.bytes
    return out


def _touched(program: Program, stage: Stage, functions: Sequence[Affine | None], whole: int) -> int:
    """Of `whole` elements of a dimension those between the first and the last that the functions reach; of
    one function alone, which may have holes, no more than it has values."""
    dims = {str(d): dim.extent for d, dim in enumerate(stage.dims)}
    # the turns of other loops are launches of their own
    trips = {**dict.fromkeys(program.turns, 1), **program.levels, **dims}
    ranges = {name: (0, n - 1) for name, n in trips.items()}
    known = [f for f in functions if f is not None]
    if len(known) < len(functions):
        return whole
    ends = [f.bounds(ranges) for f in known]
    extent = max(high for _, high in ends) - min(low for low, _ in ends) + 1
    if len(set(known)) == 1:
        extent = min(extent, prod(trips[name] for name in known[0].names))
    return min(whole, extent)


def peak_of(machine: Machine, *stages: Stage, tensor_cores: bool, allowed: Container[str] = ()) -> float:
    """Operations a second at best: those of f64 where a result is of that type. tensor_cores: those of tensor
    cores where some stage is a product that they compute, and the machine's file knows them. allowed: as in
    Program."""
    if tensor_cores and (known := max(_tensor_peak(machine, s, allowed) for s in stages)):
        return known
    wide = any(t.bits == 64 and t.is_float for s in stages for r in s.results for t in r.types)
    return machine.peak_f64 if wide else machine.peak_f32


def _tensor_peak(machine: Machine, stage: Stage, allowed: Container[str]) -> float:
    reads = summed_reads(stage)
    if isinstance(reads, str) or any(r.op is not None and r.op.ordered for r in stage.results):
        return 0.0
    left, right = (factor_type(f.dtype, allowed) for f in reads[:2])
    types = (left, right, reads[2])
    fits = any((a.left, a.right, a.acc) == types for a in atoms_of(machine.compute_capability))
    return tensor_peak(machine, left) if fits else 0.0


def operations(stage: Stage) -> int:
    """All operations of a stage, epilogues included."""
    scalar = [*(let.value for let in stage.lets), *(v for r in stage.results for v in r.values)]
    joined = sum(len(r.values) for r in stage.results if r.op is not None)
    points = prod(d.extent for d in stage.dims)
    finish = sum(map(_operations, _epilogues(stage)))
    return points * (sum(map(_operations, scalar)) + joined) + finished(stage) * finish


def finished(stage: Stage) -> int:
    """Elements of a result."""
    return prod(d.extent for d in stage.dims if d.kind is not DimKind.PW)


def _epilogues(stage: Stage) -> list[Expr]:
    return [o.value for r in stage.results if r.op is not None for o in r.outputs]


def _operations(e: Expr) -> int:
    return sum(
        isinstance(n, Call)
        or (isinstance(n, Binary) and n.op in _ARITHMETIC)
        or (isinstance(n, Unary) and n.op == "-")
        for n in _computed(e)
    )


def _computed(e: Expr) -> Iterator[Expr]:
    """The expression and its operands, recursively. Subscripts are left out: address units compute them."""
    if not isinstance(e, Load):
        yield e
        for child in children(e):
            yield from _computed(child)


@dataclass(frozen=True)
class StageWork:
    """fused: multiply-adds of a point; other: its further instructions; epilogue: instructions of a finished
    result. widths: bytes of each partial result. updated: a result starts from what is in memory. called:
    functions or conversions take part, whose vectors may be narrower. arg: a result holds a position."""

    stage: Stage
    accesses: tuple[AccessGroup, ...]
    fused: int
    other: float
    epilogue: float
    widths: tuple[int, ...]
    value_bytes: int
    is_float: bool
    updated: bool
    called: bool
    arg: bool

    @cached_property
    def kinds(self) -> tuple[DimKind, ...]:
        return tuple(d.kind for d in self.stage.dims)

    @cached_property
    def extents(self) -> tuple[int, ...]:
        return tuple(d.extent for d in self.stage.dims)

    @property
    def scan(self) -> bool:
        return DimKind.PS in self.kinds

    @property
    def reduces(self) -> bool:
        return self.stage.results[0].op is not None


def stage_work(program: Program, stage: Stage) -> StageWork:
    """It is kept for the plans of the same stage that follow."""
    return _stage_work(StageKey(program, stage))


@lru_cache(maxsize=256)
def _stage_work(key: StageKey) -> StageWork:
    stage = key.stage
    fused, other = _point(stage)
    types = [t for r in stage.results for t in r.types]
    return StageWork(
        stage,
        access_groups(key.program, stage),
        fused,
        other,
        sum(map(_instructions, _epilogues(stage))),
        tuple(sum(t.bytes for t in r.types) for r in stage.results),
        max((t.bytes for t in types), default=4),
        any(t.is_float for t in types),
        any(s is not None and any(True for _ in loads(s)) for r in stage.results for s in r.starts),
        any(isinstance(n, Call | Cast) for e in stage.expressions() for n in _computed(e)),
        any(r.op is not None and r.op.name.startswith("arg") for r in stage.results),
    )


def _point(stage: Stage) -> tuple[int, float]:
    """(multiply-adds, other instructions) of a point. A multiply-add does the last product of a sum of
    products."""
    fused, other = 0, sum(_instructions(let.value) for let in stage.lets)
    for r in stage.results:
        for value in r.values:
            other += _instructions(value)
            if summed_product(r.op, value) is not None:
                fused, other = fused + 1, other - PLAIN_COST
            elif r.op is not None:
                other += PLAIN_COST
    return fused, other


def _instructions(e: Expr) -> float:
    return sum(_cost(n) for n in _computed(e))


def _cost(e: Expr) -> int:
    match e:
        case Binary("/" | "%", _, right, _):
            return PLAIN_COST if isinstance(right, Const) else DIVIDE_COST
        case Call(fn, _, _):
            return CALL_COST if fn in SLOW_CALLS else ROOT_COST if fn in ("sqrt", "rsqrt") else PLAIN_COST
        case Binary() | Unary() | Select():
            return PLAIN_COST
        case _:
            return 0
