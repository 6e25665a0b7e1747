"""What all parts of one kernel's lowering share: the plan, its tile tree, buffers, and names."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mdh.decompose.accesses import affine_index
from mdh.hardware import Combine, Layer, Space
from mdh.ir.affine import Affine, to_expr
from mdh.ir.construct import ZERO, add, conjunction, div, less, mod, sub
from mdh.ir.domain import StageDomain, domain_of
from mdh.ir.dtype import DType
from mdh.ir.expr import Const, Expr, Load, Var, map_children, substitute
from mdh.ir.kernel import Buf, Stmt
from mdh.ir.layout import Guard, Level, Levels, row_major
from mdh.ir.plan import Product, StagePlan
from mdh.ir.program import Buffer, DimKind, Program, Stage
from mdh.ir.tile import Item, Tiles
from mdh.lower.declarations import Declarations
from mdh.lower.fold import Fold
from mdh.lower.scope import Instance, Region, Role, Scope, Stream, key_of
from mdh.machine import Machine


@dataclass(frozen=True)
class Nest:
    """One kernel that is being lowered. buffers: every array and workspace that it may name."""

    name: str
    program: Program
    plan: StagePlan
    machine: Machine
    target: str
    folds: tuple[Fold, ...]
    tiles: Tiles
    buffers: Mapping[str, Buffer]
    declarations: Declarations
    tid: str
    """The variable that holds the linear thread id."""
    room: int
    """Bytes of a block's shared memory that the checker has not counted."""
    regions: tuple[Region, ...] = ()
    partials: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Folds whose state is kept in workspaces: one name a component, dim 0 the part where blocks split."""
    passes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Scans whose blocks look back: the workspaces of what each part passes on (`look_back_buffers`)."""
    counter: str = ""
    """Workspace of the tickets that number the blocks, where the grid's own numbers do not."""
    stream: Stream | None = None
    """How blocks share the iterations of all tiles, where they do."""
    role: Role | None = None
    """Of the threads that the code is for, where some only copy; None: of all threads."""
    carried: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Folds whose unfinished state waits in workspaces between outer sequential reduction loops."""
    states: Mapping[str, Instance] = field(default_factory=dict)
    """The tiles of a pass, by array (`lower/carried.py`)."""
    inner: tuple["Nest", ...] = ()
    """Of the stages that this kernel computes for itself, in the plan's order."""
    within: str = ""
    """The name of the reader, if its kernel computes this stage. Empty for a stage with its own kernel."""
    placed: Mapping[str, Buf] = field(default_factory=dict)
    """What stands for arrays that the stage of a nest in another one writes."""
    around: tuple[tuple[str, Instance], ...] = ()
    """The tiles around the nest of a stage in another one, by array, the innermost last. Stages inside of it
    may read some that it does not read."""

    @property
    def stage(self) -> Stage:
        return self.plan.stage

    @cached_property
    def domain(self) -> StageDomain | None:
        """Where points change anything; None: everywhere."""
        return domain_of(self.stage, self.program.turns)

    @property
    def levels(self) -> Levels:
        return self.tiles.levels

    @property
    def items(self) -> tuple[Item, ...]:
        """Loops and steps in code order."""
        return self.tiles.order

    @property
    def cpu(self) -> bool:
        return self.machine.kind == "cpu"

    @property
    def threads(self) -> int:
        return 1 if self.cpu else self.plan.threads

    @property
    def team(self) -> Expr:
        """Which of the teams that take tiles by turns the thread is in."""
        teams = self.plan.teams
        return ZERO if teams == 1 else Var(self.declarations.turns(teams).team)

    @property
    def product(self) -> Product | None:
        """What atoms of tensor cores compute; None without them."""
        s = self.plan.atoms
        return None if s is None else self.plan.steps[s].product

    @property
    def warp_atoms(self) -> bool:
        """Whether single warps issue the atoms, rather than warp groups."""
        return self.product is not None and not self.product.atom.grouped

    @property
    def clustered(self) -> tuple[int, ...]:
        """Folds whose parts the blocks of a cluster combine through distributed shared memory."""
        return tuple(f for f, methods in enumerate(self.plan.combines) if Combine.CLUSTER in methods)

    def dims(self, *kinds: DimKind) -> frozenset[int]:
        return frozenset(d for d, dim in enumerate(self.stage.dims) if dim.kind in kinds)

    def thread_levels(self) -> tuple[Level, ...]:
        """Levels whose units are threads of the block (none on a CPU, where threads are loops)."""
        return self.tiles.threads

    def grid_levels(self, *kinds: DimKind) -> list[Level]:
        """Levels over dims of these kinds whose units are blocks or clusters."""
        found = (lv for lv in self.levels.all if lv.layer in (Layer.BLK, Layer.CLU))
        return [lv for lv in found if self.stage.dims[lv.dim].kind in kinds]

    def regions_of(self, fold: int) -> tuple[Region, ...]:
        """From outside in."""
        return tuple(r for r in self.regions if r.fold == fold)

    def fresh(self, stem: str) -> str:
        """A name that nothing in the kernel has."""
        return self.declarations.fresh(stem)

    def register(self, stem: str, t: DType) -> Buf:
        """A scalar in a register, under a name that nothing in the kernel has."""
        return Buf(self.fresh(stem), Space.RM, t, (), ())

    def declare(self, buf: Buf) -> Buf:
        """An SM buffer: one declaration serves every version of the code that uses it."""
        return self.declarations.declare(buf)

    def dm_buf(self, name: str) -> Buf:
        """An array or workspace, which this kernel may write, or the tile that stands for it."""
        return self.placed.get(name) or dm_buf(self.buffers[name], readonly=False)

    def below(self, position: int) -> frozenset[str]:
        """Variables of the loops after item `position`."""
        return frozenset(it.var for it in self.items[position + 1 :] if isinstance(it, Level))

    def copies(self, items: Iterable[Item]) -> bool:
        """Whether copies stand among the items."""
        return any(isinstance(it, int) and self.plan.steps[it].stagings for it in items)

    # -- index functions -------------------------------------------------------------------------------

    def access(self, index: tuple[Expr, ...]) -> tuple[Affine, ...] | None:
        """Index functions over dims (named by position), or None where one is not affine (a gather)."""
        return affine_index(self.program, self.stage, index)

    def ranges(self, scope: Scope) -> dict[str, tuple[int, int]]:
        """Inclusive range of every level variable, as far as the scope knows."""
        out = {var: (0, trips - 1) for var, trips in self.program.turns.items()}
        for lv in self.levels.all:
            if lv.var in scope.fixed:
                out[lv.var] = (scope.fixed[lv.var], scope.fixed[lv.var])
            elif lv.var in scope.limits:
                out[lv.var] = (0, scope.limits[lv.var] - 1)
            elif lv.var in scope.full and not lv.cyclic:
                out[lv.var] = (0, lv.full_parts - 1)
            else:
                out[lv.var] = (0, lv.parts - 1)
        return out

    def guards(self, scope: Scope, dims: frozenset[int] | None = None) -> list[Guard]:
        """Guards that the scope does not already imply (restricted to `dims`)."""
        ranges = self.ranges(scope)
        return [
            g
            for g in self.levels.guards
            if (dims is None or g.dim in dims)
            and g.level.var not in scope.full
            and (g.open is None or g.dim not in scope.inside)
            and g.offset.bounds(ranges)[1] >= g.least
        ]

    def condition(self, guards: Iterable[Guard], scope: Scope) -> Expr | None:
        return conjunction([less(self.expr(g.offset, scope), bound_of(g)) for g in guards])

    def exists(self, scope: Scope, *kinds: DimKind) -> Expr | None:
        """The condition that the point lies inside the dims of these kinds, None where that is known."""
        return self.condition(self.guards(scope, self.dims(*kinds)), scope)

    def expr(self, aff: Affine, scope: Scope) -> Expr:
        """Text form of an affine function of level variables at a scope."""
        fixed = {n: Affine((), v) for n, v in scope.fixed.items() if n not in scope.values}
        return substitute(to_expr(aff.substitute(fixed)), dict(scope.values))

    # -- scalar expressions ------------------------------------------------------------------------------

    def translate(self, e: Expr, scope: Scope) -> Expr:
        """A program expression at the current point: dims become indices, loads read the live instances."""
        match e:
            case Var(name, dtype):
                d = next((d for d, dim in enumerate(self.stage.dims) if dim.name == name), None)
                if d is not None:
                    return self.expr(self.levels.index[d], scope)
                sizes = self.program.sizes
                return Const(sizes[name], dtype) if name in sizes else e
            case Load():
                return self.load(e, scope)
            case _:
                return map_children(e, lambda c: self.translate(c, scope))

    def indices(self, index: tuple[Expr, ...], scope: Scope) -> tuple[Expr, ...]:
        """A program index at the current point."""
        return tuple(self.translate(e, scope) for e in index)

    def load(self, e: Load, scope: Scope) -> Load:
        index = self.access(e.index)
        if index is None:
            return self._gathered(e, scope)
        instance = scope.live.get(key_of(e.buffer, index))
        if instance is None:
            where = tuple(self.expr(self.levels.over(i), scope) for i in index)
            return Load(e.buffer, where, e.dtype)
        return Load(instance.buf.name, self.at(instance, index, scope), e.dtype)

    def _gathered(self, e: Load, scope: Scope) -> Load:
        """A read at an index that is data: of the whole array, in device memory or in shared memory."""
        where, instance = self.indices(e.index, scope), scope.live.get((e.buffer, ()))
        if instance is None:
            return Load(e.buffer, where, e.dtype)
        slot = () if instance.slot is None else (self.expr(instance.slot, scope),)
        return Load(instance.buf.name, (*slot, *where), e.dtype)

    def at(self, instance: Instance, index: tuple[Affine, ...], scope: Scope) -> tuple[Expr, ...]:
        """Index expressions of a program element in an instance, its slot included."""
        local = instance.local(tuple(self.levels.over(i) for i in index))
        where = tuple(self.expr(i, scope) for i in local)
        if instance.span:
            block, rest = self._within_block(local[-1], instance.span, scope)
            where = (block, *where[:-1], rest)
        return where if instance.slot is None else (self.expr(instance.slot, scope), *where)

    def _within_block(self, place: Affine, span: int, scope: Scope) -> tuple[Expr, Expr]:
        """(number of the block, place in it) of a place in a row that is cut into blocks."""
        blocks = {v: c // span for v, c in place.terms if c % span == 0}
        rest = Affine.of({v: c for v, c in place.terms if c % span}, place.const % span)
        low, high = rest.bounds(self.ranges(scope))
        if not any(v in scope.values for v in place.names) and low >= 0 and high < span:
            return self.expr(Affine.of(blocks, place.const // span), scope), self.expr(rest, scope)
        whole = self.expr(place, scope)
        return div(whole, span), mod(whole, span)


def bound_of(guard: Guard) -> Expr | int:
    """The bound, of the open sizes where they give it."""
    return guard.bound if guard.open is None else guard.open.expr


def whole_parts(level: Level) -> Expr | int:
    """The number of full parts, of the open sizes where they give it."""
    return level.full_parts if level.open is None else div(level.open.expr, level.tile)


def last_part(level: Level) -> Expr | int:
    """The number of the last part that begins inside."""
    count = all_parts(level)
    return count - 1 if isinstance(count, int) else sub(count, 1)


def all_parts(level: Level) -> Expr | int:
    """The number of parts that begin inside, of the open sizes where they give it."""
    if level.open is None:
        return level.parts
    whole = level.open.expr if level.exact else add(level.open.expr, level.tile - 1)
    return div(whole, level.tile)


Emit = Callable[[Nest, Scope], list[Stmt]]
"""Makes the code from a place on."""


def dm_buf(buffer: Buffer, *, readonly: bool) -> Buf:
    """The kernel's view of a program array: row major, 16-byte aligned."""
    factors = buffer.shape
    if buffer.open:
        each = zip(buffer.shape, buffer.open, strict=True)
        factors = tuple(n if o is None else o.stride_factor for n, o in each)
    strides = row_major(factors)
    return Buf(
        buffer.name, Space.DM, buffer.dtype, buffer.shape, strides, readonly=readonly, align=16,
        open=buffer.open, values=buffer.values,
    )  # fmt: skip
