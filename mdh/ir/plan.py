"""A Plan: a schedule that the checker has proven legal for a program and a machine.

Only `mdh.check` makes Plans; `mdh.lower` accepts nothing else, so the type is the proof that the check ran.
All `^`, aliases, defaults and fallbacks are resolved; every step, the implied last one included, is explicit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from mdh.hardware import THREADED, BlockOrder, CacheHint, Combine, Engine, Layer, Space
from mdh.ir.atoms import GROUP_LANES, Atom, Fragment, spread
from mdh.ir.expr import Load
from mdh.ir.fusion import Group
from mdh.ir.inlining import InlineStage
from mdh.ir.library_call import LibraryCall
from mdh.ir.open_size import OpenExtent
from mdh.ir.parallel_loop import LoopPlan
from mdh.ir.program import Program, Stage
from mdh.ir.shared_launch import Order
from mdh.ir.tile import Tiles
from mdh.machine import Machine
from mdh.shown import Shown
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class Split:
    """One dimension at one step: a tile of `parent` elements falls into ceil(parent / tile) parts of `tile`.

    layer, axis: the core layer and axis whose units take the parts (axis 0, 1, 2 = x, y, z). None means a
    sequential loop, at place `rank` among the step's loops: 0 is outermost; FOR.n come first, then unnumbered
    dimensions in their order. cyclic: if > 0, @cyclic(n): element e of the parent goes to unit (e div n) mod
    parts. open: the extent that is split, if open sizes give it at the call; parent is its largest value.
    """

    dim: int
    parent: int
    tile: int
    layer: Layer | None
    axis: int = 0
    rank: int = 0
    cyclic: int = 0
    span: Span | None = field(default=None, compare=False, repr=False)
    """The entry of the third group; None if the user wrote none."""
    open: OpenExtent | None = None

    @property
    def parts(self) -> int:
        return -(-self.parent // self.tile)

    @property
    def exact(self) -> bool:
        """Whether there is no remainder, so that every part is full."""
        whole = self.parent if self.open is None else self.open.divisor
        return whole % self.tile == 0


@dataclass(frozen=True, slots=True)
class Staging:
    """`B:R[l]` of an input: a copy into region SM or RM at the start of the body of the step's loops.

    layout: permutation of the buffer's dimensions, 0-based, the slowest first. vec: elements an access; None
    for the widest that is proven aligned. engine: `plain` or `async`; fallbacks are resolved.
    """

    buffer: str
    region: Space
    layout: tuple[int, ...]
    pad: int = 0
    swizzle: int = 0
    engine: Engine = Engine.PLAIN
    vec: int | None = None
    cache: CacheHint = CacheHint.DEFAULT
    window: bool = False
    multicast: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Holding:
    """`C:R[l]` of an output, or attributes on its `^`: where partial results live.

    region: None if no region opens at this step and the entry only carries attributes. pad: elements behind
    each row of the fastest dimension. combine: how parts of
    a reduction that core layers split are combined (shuffle, shared, cluster, atomic, ticket, kernel), or
    `stream`; None if this entry does not say. engine: `tma` if the copy engine stores the results, `subtile`
    columns at once.
    """

    buffer: str
    region: Space | None
    layout: tuple[int, ...]
    pad: int = 0
    combine: Combine | None = None
    vec: int | None = None
    cache: CacheHint = CacheHint.DEFAULT
    engine: Engine = Engine.PLAIN
    subtile: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AtomDim:
    """A dimension on an axis of an atom: it has `tile` elements in `room` places, of which the last ones may
    be empty. weight: places from an element to the next one; elements of the dimensions behind it lie between
    them."""

    dim: int
    tile: int
    room: int
    weight: int

    def of(self, place: int) -> int:
        """The element at a place along the axis."""
        return place // self.weight % self.room


@dataclass(frozen=True)
class Product:
    """What the atoms of an MMA step compute: C += A B. m, n, k: the dimensions that they run over, the last
    one of each axis the fastest. left, right: the reads of A and B. held: index of the step at which an entry
    puts A into registers for atoms of warp groups; None: they read it in shared memory. spread: the rows of
    an atom have the numbers that `mdh.ir.atoms.spread` gives them."""

    atom: Atom
    m: tuple[AtomDim, ...]
    n: tuple[AtomDim, ...]
    k: tuple[AtomDim, ...]
    left: Load
    right: Load
    held: int | None = None
    spread: bool = False

    @property
    def a(self) -> Fragment:
        return spread(self.atom.a) if self.spread else self.atom.a

    @property
    def c(self) -> Fragment:
        return spread(self.atom.c) if self.spread else self.atom.c

    @property
    def axes(self) -> dict[str, tuple[AtomDim, ...]]:
        return {"m": self.m, "n": self.n, "k": self.k}

    @property
    def dims(self) -> tuple[AtomDim, ...]:
        return (*self.m, *self.n, *self.k)

    @cached_property
    def taken(self) -> frozenset[int]:
        """All dimensions that the atoms run over."""
        return frozenset(x.dim for x in self.dims)


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step. number: its 1-based position in the text; the implied last steps have one too.

    splits: one per dimension, in dimension order. stages: slots of the staged buffers; 1 means no pipeline.
    unroll: 1 for none, 0 for full, n for a factor; None leaves it to the lowering. product: of an MMA step,
    whose parts are sequential loops; implied steps then split an atom into the elements of its lanes.
    inflight: groups of its atoms that may still run when the next part of the factors is awaited. promote:
    elements of the reduction after which a second accumulator takes over, at the latest; None: there is none.
    """

    number: int
    label: int
    splits: tuple[Split, ...]
    stagings: tuple[Staging, ...]
    holdings: tuple[Holding, ...]
    stages: int = 1
    unroll: int | None = None
    text: str = ""
    """The step in canonical schedule text, for comments in the kernel; empty for the implied step."""
    wrapped: tuple[str, ...] = ()
    """The same text in lines, if it is too long for one."""
    product: Product | None = None
    inflight: int | None = None
    promote: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def register_groups(self) -> tuple[tuple[int, int], ...]:
        """Of an MMA step with a factor in registers, the parts of k in two groups: registers of one are
        loaded while atoms of the other run. Each is (first part, behind the last part), counted along the
        first dimension of k that has several."""
        along = self.product.k if self.product is not None else ()
        parts = next((p for x in along if (p := self.splits[x.dim].parts) > 1), 1)
        half = -(-parts // 2)
        return ((0, half), (half, parts)) if parts > 1 else ((0, 1),)

    @property
    def promoted_turns(self) -> int:
        """Turns of the loops around an MMA step after which its second accumulator takes over; 1 also where
        it does so within a turn. 0: it has none."""
        if self.promote is None or self.product is None:
            return 0
        return max(1, self.promote // prod(self.splits[x.dim].parent for x in self.product.k))

    @property
    def atoms(self) -> tuple[int, int, int]:
        """Atoms along m, n and k that the unit of an MMA step issues."""
        axes = () if self.product is None else (self.product.m, self.product.n, self.product.k)
        m, n, k = (prod(self.splits[x.dim].parts for x in dims) for dims in axes)
        return m, n, k


def with_open_splits(steps: Sequence[PlanStep], stage: Stage) -> tuple[PlanStep, ...]:
    """The steps, in which the outermost split of each dimension whose extent is open knows that extent."""
    out = list(steps)
    for d, dim in enumerate(stage.dims):
        at = next((s for s, step in enumerate(out) if step.splits[d].parts > 1), None)
        if dim.open is not None and at is not None:
            splits = out[at].splits
            known = replace(splits[d], open=dim.open)
            out[at] = replace(out[at], splits=(*splits[:d], known, *splits[d + 1 :]))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Roles:
    """`@roles`: `load` warp groups of a block copy, the others, of which there are `math`, compute.

    registers: of each thread that copies, and of each that computes; None: the compiler's share for both.
    turns: the groups that compute form teams, which take the tiles of the block by turns.
    """

    load: int
    math: int
    registers: tuple[int, int] | None = None
    turns: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Attributes of the outermost grid step: order of blocks (`rows`, `grouped`, `hilbert`), @persistent, and
    @occupancy (blocks a multiprocessor; 0 if not stated). one_cluster: the grid is a single cluster."""

    order: BlockOrder = BlockOrder.ROWS
    group: int = 1
    persistent: bool = False
    occupancy: int = 0
    one_cluster: bool = False


@dataclass(frozen=True)
class StagePlan:
    """The plan of one stage. steps are in hierarchy (text) order; `code_order` lists their indices in code
    (label) order.

    combines[result index]: the methods that combine the parts of reduction dimensions split over core layers,
    from inside out: `shuffle` among lanes, `shared` among threads of a block, `cluster` among blocks of a
    cluster, and one of `kernel`, `atomic`, `ticket` across the grid. Levels that nothing is split over have
    no method.
    """

    program: Program
    """As the stage's schedule sees it: with this stage alone, and arrays in other shapes, if it fuses
    dimensions."""
    stage: Stage
    steps: tuple[PlanStep, ...]
    code_order: tuple[int, ...]
    grid: Grid
    combines: tuple[tuple[Combine, ...], ...]
    roles: Roles | None = None
    fused: tuple[Group, ...] = ()
    """Dimensions of the C that are one in `stage`."""
    decomposed: Tiles | None = field(default=None, compare=False, repr=False)
    """The tile tree; set once all fields above are settled."""
    inner: tuple["InnerStage", ...] = ()
    """The stages that this one's kernel computes where it stages their results, in the order of the C."""
    near: Mapping[str, Space] = field(default_factory=dict)
    """Arrays that this stage reads and writes in tiles of the kernel that it is a part of, and where these
    lie."""
    call: LibraryCall | None = None
    """What computes the stage instead of a kernel of mdh's own. There are no steps then, and no tile tree."""

    @property
    def tiles(self) -> Tiles:
        """The tile tree of a checked plan."""
        assert self.decomposed is not None, "the plan has not been checked"
        return self.decomposed

    @property
    def atoms(self) -> int | None:
        """Index of the step whose parts are atoms of tensor cores."""
        return next((s for s, step in enumerate(self.steps) if step.product is not None), None)

    @property
    def clustered(self) -> bool:
        """Whether the blocks of the grid form clusters."""
        return self.grid.one_cluster or self.units(Layer.CLU) > 1

    @property
    def streamed(self) -> bool:
        """Whether the blocks of the grid share the iterations of all tiles evenly (`@combine(stream)`)."""
        return any(h.combine is Combine.STREAM for step in self.steps for h in step.holdings)

    @property
    def threads(self) -> int:
        """Threads that compute a tile of a block together: those that the steps split over."""
        return prod(self.units(layer) for layer in THREADED)

    @property
    def teams(self) -> int:
        """Sets of so many threads that take the tiles of a block by turns; 1: the same threads take all."""
        if self.roles is None or not self.roles.turns:
            return 1
        return max(1, self.roles.math * GROUP_LANES // self.threads)

    @property
    def block_threads(self) -> int:
        """All threads of a block on a GPU: those that compute, and those that only copy."""
        copying = 0 if self.roles is None else self.roles.load * GROUP_LANES
        return self.threads * self.teams + copying

    def units(self, layer: Layer) -> int:
        """The number of units of a layer: the product of its parts over all dimensions."""
        n = 1
        for step in self.steps:
            for split in step.splits:
                if split.layer == layer:
                    n *= split.parts
        return n

    @cached_property
    def opens(self) -> tuple[Split, ...]:
        """The splits whose number of parts the call gives."""
        return tuple(s for step in self.steps for s in step.splits if s.open is not None)

    def axis_parts(self, layer: Layer | None, axis: int) -> int:
        for step in self.steps:
            for split in step.splits:
                if split.layer == layer and split.axis == axis:
                    return split.parts
        return 1


@dataclass(frozen=True)
class InnerStage:
    """A stage that the kernel of its reader computes, at the reader's step with index `step`, which stages
    its results.

    stage: as in the C. plan: of the stage that fills the staged tiles; its program's loops are the units and
    loops around them. computed: how many points are computed in all.
    """

    stage: Stage
    step: int
    plan: StagePlan
    computed: int


def inner_arrays(plan: StagePlan) -> frozenset[str]:
    """The arrays that a kernel has tiles of, and that are nowhere else."""
    return frozenset[str]().union(*(x.stage.written | inner_arrays(x.plan) for x in plan.inner))


@dataclass(frozen=True)
class Plan(Shown):
    """The checked schedule of every stage. target: `cuda`, `opencl` or `c`; text: the schedule as text.

    program: what the C says. computed: the same as the kernels compute it: the `inline` stages are part of
    those that read them, and those inside of other stages' plans are left out. `stages` are the plans of its
    stages.
    """

    program: Program
    computed: Program
    machine: Machine
    target: str
    stages: tuple[StagePlan, ...]
    text: str
    deterministic: bool = False
    inline: tuple[InlineStage, ...] = ()
    loops: tuple[LoopPlan, ...] = ()
    """The loops that units share, in the order of their stages."""
    order: Order = ()
    """The launches of a turn by the numbers of their stages, where stages share some (`beside`); else empty.
    """

    @property
    def launches(self) -> Order:
        """The numbers of the stages of each launch, in the order in which they run."""
        return self.order or tuple((n,) for n in range(len(self.stages)))

    def __repr__(self) -> str:
        return f"<mdh.Plan {self.program.name} for {self.machine.name} ({self.target})>"

    @property
    def alone(self) -> bool:
        """Whether the C has a single stage, whose steps need no section."""
        return len(self.program.stages) == 1
