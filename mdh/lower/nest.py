"""What all parts of one kernel's lowering share: the plan's loops, buffers, and scopes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from mdh.hardware import THREADED, Combine, Space
from mdh.ir.affine import Affine, from_expr, to_expr
from mdh.ir.dtype import DType
from mdh.ir.expr import Binary, Const, Expr, Load, Var, map_children, substitute
from mdh.ir.kernel import Buf, Stmt
from mdh.ir.layout import Guard, Level, Levels, strides_for
from mdh.ir.names import unused
from mdh.ir.plan import StagePlan
from mdh.ir.program import Buffer, Stage
from mdh.ir.tile import Item
from mdh.lower.fold import Fold
from mdh.lower.instance import Instance
from mdh.lower.names import Names
from mdh.machine import Machine

Key = tuple[str, tuple[Affine, ...]]
"""A buffer and the linear part of an access's index: accesses that differ by constants share a key."""


@dataclass(frozen=True)
class Scope:
    """What is known at a place: live instances, loop variables with one known value, full levels."""

    live: Mapping[Key, Instance] = field(default_factory=dict)
    fixed: Mapping[str, int] = field(default_factory=dict)
    full: frozenset[str] = frozenset()
    values: Mapping[str, Expr] = field(default_factory=dict)
    """Level variables that stand for an expression (digits of a cooperative loop's counter)."""
    position: int = 0
    peels: int = 0
    limits: Mapping[str, int] = field(default_factory=dict)
    """Loop variables that take fewer values here than their level has parts."""
    ends: Mapping[str, int] = field(default_factory=dict)
    """Last values of loops that end early, whether or not this is the part in which they do."""

    def at(self, position: int) -> "Scope":
        return replace(self, position=position)

    def limited(self, var: str, count: int) -> "Scope":
        """Where a loop has only its first `count` parts."""
        return replace(self, limits={**self.limits, var: count})

    def at_part(self, var: str, part: int) -> "Scope":
        """In one part of a loop, whose number is known."""
        return replace(self, fixed={**self.fixed, var: part})


@dataclass(frozen=True, slots=True)
class Region:
    """Partial results of fold `fold` in SM or RM, open from before item `opens` to the end of its loops.

    variables: per dim of the output, the inside levels as (name, radix); names in code order are `loops`.
    lanes: vector levels of reduction dims, whose partial results stay apart until the region closes.
    """

    fold: int
    space: Space
    opens: int
    bufs: tuple[Buf, ...]
    axes: tuple[tuple[tuple[str, int], ...], ...]
    loops: tuple[str, ...]
    lanes: tuple[str, ...]
    step: int

    def index(self, scope_values: Mapping[str, Expr]) -> tuple[Expr, ...]:
        """Index of the element that the current level variables own."""
        out = []
        for axis in self.axes:
            aff = Affine.of(dict(axis))
            out.append(substitute(to_expr(aff), dict(scope_values)))
        return tuple(out)


Leaf = Callable[["Nest", Scope], list[Stmt]]


@dataclass(frozen=True)
class Nest:
    """One kernel under construction. `buffers`: every DM buffer it may name, by program or workspace name."""

    name: str
    stage: Stage
    plan: StagePlan
    machine: Machine
    target: str
    folds: tuple[Fold, ...]
    levels: Levels
    items: tuple[Item, ...]
    buffers: Mapping[str, Buffer]
    sizes: Mapping[str, int]
    names: set[str]
    """In use in this kernel, or not to be hidden by it."""
    tid: str
    """The variable that holds the linear thread id."""
    module: Names
    regions: tuple[Region, ...] = ()
    shared: dict[str, Buf] = field(default_factory=dict)
    """SM buffers of the kernel, declared once; filled while the body is made."""
    room: int = 0
    """Bytes of a block's shared memory that the checker has not counted."""
    slack: dict[str, int] = field(default_factory=dict)
    """Elements behind the last one of such a buffer that idle lanes of vectors read."""
    wanted: dict[str, list[Buf]] = field(default_factory=dict)
    """The same by the name that was asked for."""
    leaf: "Leaf | None" = None
    """Takes over at item `leaf_at` in place of the scalar statement (scatters, phases of a scan)."""
    leaf_at: int = -1
    opened: int = -1
    """Regions that open at items up to this one are open."""
    managed: set[str] = field(default_factory=set)
    """SM buffers whose barriers a pipelined loop places itself."""
    partials: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Folds whose state is kept in workspaces: one name a component, dim 0 the part where blocks split."""
    passes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Scans whose blocks look back: the workspaces of what each part passes on (`look_back_buffers`)."""
    counter: str = ""
    """Workspace of the tickets that number the blocks, where the grid's own numbers do not."""
    carried: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Folds whose unfinished state waits in workspaces between outer sequential reduction loops."""

    @property
    def cpu(self) -> bool:
        return self.machine.kind == "cpu"

    @property
    def threads(self) -> int:
        if self.cpu:
            return 1
        n = 1
        for layer in THREADED:
            n *= self.plan.units(layer)
        return n

    @property
    def clustered(self) -> tuple[int, ...]:
        """Folds whose parts the blocks of a cluster combine through distributed shared memory."""
        return tuple(f for f, methods in enumerate(self.plan.combines) if Combine.CLUSTER in methods)

    def thread_levels(self) -> tuple[Level, ...]:
        """Levels whose units are threads of the block (none on a CPU, where threads are loops)."""
        return () if self.cpu else tuple(lv for lv in self.levels.all if lv.layer in THREADED)

    def fresh(self, stem: str) -> str:
        name = unused(stem, self.names)
        self.names.add(name)
        return name

    def workspace(self, stem: str) -> str:
        """A name for device memory of this kernel and those that follow it."""
        name = self.module.workspace(stem, self.names)
        self.names.add(name)
        return name

    def below(self, position: int) -> frozenset[str]:
        """Variables of the loops after item `position`."""
        return frozenset(it.var for it in self.items[position + 1 :] if isinstance(it, Level))

    def copies(self, items: Iterable[Item]) -> bool:
        """Whether copies stand among the items."""
        return any(isinstance(it, int) and self.plan.steps[it].stagings for it in items)

    def dim_index(self, name: str) -> int | None:
        for d, dim in enumerate(self.stage.dims):
            if dim.name == name:
                return d
        return None

    # -- index functions -------------------------------------------------------------------------------

    def access(self, index: tuple[Expr, ...]) -> tuple[Affine, ...] | None:
        """Index functions over dims (named by position), or None where one is not affine (a gather)."""
        out = []
        for e in index:
            aff = from_expr(substitute(e, {n: Const(v, Var(n).dtype) for n, v in self.sizes.items()}))
            if aff is None:
                return None
            terms = {}
            for name, c in aff.terms:
                d = self.dim_index(name)
                if d is None:
                    return None
                terms[str(d)] = c
            out.append(Affine.of(terms, aff.const))
        return tuple(out)

    def over_levels(self, aff: Affine) -> Affine:
        """An affine function of dims as one of level variables."""
        return aff.substitute({str(d): ix for d, ix in enumerate(self.levels.index)})

    def ranges(self, scope: Scope) -> dict[str, tuple[int, int]]:
        """Inclusive range of every level variable, as far as the scope knows."""
        out = {}
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
            and g.offset.bounds(ranges)[1] >= g.bound
        ]

    def condition(self, guards: list[Guard], scope: Scope) -> Expr | None:
        return conjunction([less(self.expr(g.offset, scope), g.bound) for g in guards])

    def expr(self, aff: Affine, scope: Scope) -> Expr:
        """Text form of an affine function of level variables at a scope."""
        fixed = {n: Affine((), v) for n, v in scope.fixed.items() if n not in scope.values}
        return substitute(to_expr(aff.substitute(fixed)), dict(scope.values))

    # -- scalar expressions ------------------------------------------------------------------------------

    def translate(self, e: Expr, scope: Scope) -> Expr:
        """A program expression at the current point: dims become indices, loads read the live instances."""
        match e:
            case Var(name, dtype):
                d = self.dim_index(name)
                if d is not None:
                    return self.expr(self.levels.index[d], scope)
                return Const(self.sizes[name], dtype) if name in self.sizes else e
            case Load():
                return self.load(e, scope)
            case _:
                return map_children(e, lambda c: self.translate(c, scope))

    def load(self, e: Load, scope: Scope) -> Load:
        index = self.access(e.index)
        if index is None:
            return Load(e.buffer, tuple(self.translate(i, scope) for i in e.index), e.dtype)
        instance = scope.live.get(key_of(e.buffer, index))
        if instance is None:
            where = tuple(self.expr(self.over_levels(i), scope) for i in index)
            return Load(e.buffer, where, e.dtype)
        return Load(instance.buf.name, self.at(instance, index, scope), e.dtype)

    def at(self, instance: Instance, index: tuple[Affine, ...], scope: Scope) -> tuple[Expr, ...]:
        """Index expressions of a program element in an instance, its slot included."""
        local = instance.local(tuple(self.over_levels(i) for i in index))
        where = tuple(self.expr(i, scope) for i in local)
        if instance.slot is None:
            return where
        return (self.expr(instance.slot, scope), *where)

    def declare(self, buf: Buf) -> Buf:
        """An SM buffer: one declaration serves every version of the code that uses it."""
        same = self.wanted.setdefault(buf.name, [])
        for known in same:
            if replace(known, name=buf.name) == buf:
                return known
        new = replace(buf, name=self.fresh(buf.name))
        same.append(new)
        self.shared[new.name] = new
        return new


def key_of(buffer: str, index: tuple[Affine, ...]) -> Key:
    return buffer, tuple(Affine(i.terms, 0) for i in index)


def conjunction(terms: list[Expr]) -> Expr | None:
    out: Expr | None = None
    for t in terms:
        out = t if out is None else Binary("&&", out, t, Var("").dtype)
    return out


def less(e: Expr, bound: int) -> Expr:
    return Binary("<", e, Const(bound, Var("").dtype), Var("").dtype)


def dm_buf(buffer: Buffer, *, readonly: bool) -> Buf:
    """The kernel's view of a program array: row major, 16-byte aligned."""
    order = tuple(range(len(buffer.shape)))
    return Buf(
        buffer.name, Space.DM, buffer.dtype, buffer.shape, strides_for(buffer.shape, order),
        readonly=readonly, align=16,
    )  # fmt: skip


def element_type(nest: Nest, buffer: str) -> DType:
    return nest.buffers[buffer].dtype
